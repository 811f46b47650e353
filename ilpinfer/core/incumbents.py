"""Incumbents of a method: labellings better than all before them."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from formulations.dtypes import LabelIds
from formulations.plain_values import number, of_type, table


@dataclass(frozen=True)
class Improvement:
    """A labelling better than all before it, as a method reports it."""

    seconds: float  # since the start, without compilation
    value: int  # grid units
    path: LabelIds  # label ids (T,)


@dataclass(frozen=True)
class Incumbent:
    """A labelling that was the best so far at some time.

    Parameters
    ----------
    seconds : float
        Time since the start in seconds, without compilation.
    score : float
        Score in nats, penalties subtracted.
    violations : dict of str to int
        Number of violations of each rule, zeros included.

    Examples
    --------
    >>> import ilpinfer
    >>> from formulations import Trellis
    >>> trellis = Trellis([0.0, -1.0], [[[0.0, -1.0], [-2.0, 0.5]]], labels=["a", "b"])
    >>> [incumbent.score for incumbent in ilpinfer.decode(trellis, method="beam").incumbents]
    [0.0]
    """

    seconds: float
    score: float
    violations: dict[str, int]

    def to_dict(self) -> dict[str, Any]:
        """Plain values; a score that is not finite becomes None.

        Returns
        -------
        dict of str to object
            Values for JSON.
        """
        score = None if np.isinf(self.score) else self.score
        return {"seconds": self.seconds, "score": score, "violations": self.violations}

    @classmethod
    def from_dict(cls, values: Any, what: str = "incumbent") -> "Incumbent":
        """The incumbent of the values that `to_dict` returns.

        Parameters
        ----------
        values : object
            A dictionary as `to_dict` returns it.
        what : str, default "incumbent"
            Name of the value in messages.

        Returns
        -------
        Incumbent
            The incumbent.

        Raises
        ------
        ValueError
            For other values.
        """
        given = table(values, ("seconds", "score", "violations"), what)
        counts = of_type(dict[str, int], given["violations"], f"{what}: violations")
        score = number(given["score"], f"{what}: score", -math.inf)
        return cls(number(given["seconds"], f"{what}: seconds"), score, counts)
