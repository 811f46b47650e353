"""Wrong labellings, which mined rules have to detect."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from formulations import LabelSet
from formulations.dtypes import Integers
from ilpinfer.learning.corruptions import corrupt
from ilpinfer.learning.labellings import Labellings

MOST = 10_000
"""Wrong labellings that are kept, drawn at random."""


class PredictionsError(ValueError):
    """Error for predictions that cannot be used; the message gives the reason.

    Examples
    --------
    >>> from ilpinfer import learning
    >>> issubclass(learning.PredictionsError, ValueError)
    True
    """


@dataclass(frozen=True, eq=False)
class WrongLabellings:
    """S wrong labellings of M sequences."""

    sequence: Integers  # (S,)
    ids: tuple[Integers, ...]

    def __len__(self) -> int:
        return len(self.ids)

    def table(self, right: Labellings) -> Labellings:
        """The labellings as arrays, with the tokens of the right ones."""
        begin = right.begin
        places = [
            np.arange(begin[m], begin[m] + len(ids)) for m, ids in zip(self.sequence, self.ids, strict=True)
        ]
        none = np.zeros(0, np.int64)
        return Labellings(
            right.labels,
            np.concatenate([none, *self.ids]),
            np.array([len(ids) for ids in self.ids], np.int64),
            right.words.select(np.concatenate([none, *places])),
        )


def corrupted(labels: LabelSet, labellings: Sequence[Integers], seed: int) -> WrongLabellings:
    """Right labellings with one random change each, at most `MOST`."""
    random = np.random.default_rng([seed, 1])
    per = max(1, MOST // 5)
    chosen = list(range(len(labellings)))
    if len(chosen) > per:
        chosen = sorted(random.permutation(len(labellings))[:per].tolist())
    pairs = list(corrupt(labels, [labellings[i] for i in chosen], random))
    return WrongLabellings(
        np.array([chosen[number] for number, _ in pairs], np.int64), tuple(ids for _, ids in pairs)
    )


def predicted(
    labels: LabelSet, labellings: Sequence[Integers], predictions: Sequence[Sequence[str] | None]
) -> WrongLabellings:
    """The predictions that differ from the right labellings."""
    ids = [None if names is None else labels.ids(names) for names in predictions]
    pairs = [
        (number, found)
        for number, (right, found) in enumerate(zip(labellings, ids, strict=True))
        if found is not None and not np.array_equal(right, found)
    ]
    if not pairs:
        raise PredictionsError(
            "predictions are the same as the labels everywhere: no wrong labelling is known; give those of a model that "
            "was trained without the sequences, or none, and labels are changed at random"
        )
    return WrongLabellings(
        np.array([number for number, _ in pairs], np.int64), tuple(found for _, found in pairs)
    )
