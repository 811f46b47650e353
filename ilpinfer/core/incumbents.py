"""Incumbents of a method: labellings better than all before them."""

import math
from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar

from formulations.dtypes import LabelIds
from formulations.plain_values import PlainRecord


@dataclass(frozen=True)
class Improvement:
    """A labelling better than all before it, as a method reports it."""

    seconds: float  # since the start, without compilation
    value: int  # grid units
    path: LabelIds  # label ids (T,)


@dataclass(frozen=True)
class Incumbent(PlainRecord):
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
    >>> from ilpinfer import Trellis
    >>> trellis = Trellis([0.0, -1.0], [[[0.0, -1.0], [-2.0, 0.5]]], labels=["a", "b"])
    >>> [incumbent.score for incumbent in ilpinfer.decode(trellis, method="beam").incumbents]
    [0.0]
    """

    seconds: float
    score: float
    violations: dict[str, int]
    TITLE: ClassVar = "incumbent"
    NULL: ClassVar = MappingProxyType({"score": -math.inf})
