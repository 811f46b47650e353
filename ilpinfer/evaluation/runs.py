"""Fields of labellings as arrays, and the runs that measures compare."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from formulations import LabelSet
from formulations.dtypes import LabelIds
from formulations.labels.label_set import OUTSIDE

"""Label ids (T,), or None where nothing was predicted."""
Span = tuple[int, int, int]
"""Field, first token, last token."""


@dataclass(frozen=True)
class FieldTable:
    """F fields of K labels, `O` left out.

    A run begins and ends where the labels' scheme says so. Under BIO that is what the script of the CoNLL shared tasks
    does with labels in any order: an `I-x` that follows neither `B-x` nor `I-x` begins a run.

    Parameters
    ----------
    names : F names; with hierarchical labels every prefix path is one
    member : (F, K) whether a label belongs to a field
    begins : (F, K+1, K) whether a step [previous, next] begins a run; row 0 is START, row k+1 label k
    """

    names: tuple[str, ...]
    member: NDArray[np.bool_]
    begins: NDArray[np.bool_]

    @classmethod
    def of(cls, labels: LabelSet, leave_out: Iterable[str] = ()) -> "FieldTable":
        """The fields of a label set, without those that are to be left out."""
        outside = {OUTSIDE, *leave_out}
        chosen = [field for name, field in labels.fields.items() if name not in outside]
        F, K = len(chosen), len(labels)
        return cls(
            tuple(field.name for field in chosen),
            np.array([field.member for field in chosen], bool).reshape(F, K),
            np.array([field.begins for field in chosen], bool).reshape(F, K + 1, K),
        )

    def members(self, path: LabelIds | None, T: int) -> NDArray[np.bool_]:
        """(F, T) whether a token belongs to a field."""
        return np.zeros((len(self.names), T), bool) if path is None else self.member[:, path]

    def spans(self, path: LabelIds | None) -> set[Span]:
        """Every run."""
        if path is None:
            return set()
        inside = self.member[:, path]
        begins = self.begins[:, np.append(0, path[:-1] + 1), path]
        stays = np.zeros_like(inside)
        stays[:, :-1] = inside[:, 1:] & ~begins[:, 1:]
        ends = inside & ~stays
        # Both lists go field by field and from left to right, and within a field begins and ends alternate.
        pairs = zip(np.argwhere(begins).tolist(), np.argwhere(ends).tolist(), strict=True)
        return {(f, first, last) for (f, first), (_, last) in pairs}
