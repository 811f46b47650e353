"""A sequence as it came from a file or a caller, and the error for one that cannot be used."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from formulations import LabelSet, Trellis
from formulations.errors import InferenceError


class InputError(InferenceError, ValueError):
    """Input that cannot be used; the message names file, place, value and way out."""


class InputNotice(UserWarning):
    """How a file was read where that had to be inferred, such as columns without tabs."""


Notify = Callable[[str], None]
"""Receives a notice."""


@dataclass(frozen=True)
class Example:
    """One sequence as it came.

    Parameters
    ----------
    tokens : T texts
    labels : T label names, or None where there are none
    where : file and line, for messages
    scores : `start` and `edges`, or `emissions` and `transitions` with `start` and `end`, with `label_names`, and with
        `first` for second order; None where a model has to score the tokens
    rank : 1, or the place among several labellings of one sequence, as `ilpinfer decode --top` writes them
    """

    tokens: tuple[str, ...]
    labels: tuple[str, ...] | None
    where: str
    scores: dict[str, Any] | None = None
    rank: int = 1

    def trellis(self, scheme: str = "") -> Trellis:
        """The trellis of given scores."""
        assert self.scores is not None
        scores = dict(self.scores)
        names = scores.pop("label_names")
        dense = Trellis.second_order if "first" in scores else Trellis
        build = dense if "edges" in scores else Trellis.from_emissions
        try:
            labels = None if names is None else LabelSet(tuple(names), scheme)
            return build(**scores, labels=labels, tokens=self.tokens or None)
        except ValueError as error:
            raise InputError(f"{self.where}: {error}") from None
