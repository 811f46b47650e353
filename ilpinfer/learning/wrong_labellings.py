"""Wrong labellings, which mined rules have to detect: predictions, or right labellings with one run changed at random."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from formulations import LabelSet
from formulations.dtypes import Integers
from formulations.labels.schemes import OUTSIDE
from ilpinfer.learning.labellings import LabelArrays

Runs = list[tuple[int, int]]
"""(label of the first token, number of tokens) of the maximal stretches of a labelling in the same fields, in order."""
Kinds = Sequence[int]
"""Labels to draw from."""


def corrupt(
    labels: LabelSet, labellings: Sequence[Integers], random: np.random.Generator
) -> Iterator[tuple[int, Integers]]:
    """Wrong labellings with the number of their sequence: one for each possible change of `CHANGES`."""
    kinds = sorted({int(labels.run_forms[label, 0]) for ids in labellings for label in np.unique(ids)})
    for number, ids in enumerate(labellings):
        runs = _read(labels, ids)
        for change in CHANGES:
            changed = change(runs, kinds, labels, random)
            if changed is not None:
                result = _write(labels, changed)
                if not np.array_equal(result, ids):
                    yield number, result


def _read(labels: LabelSet, ids: Integers) -> Runs:
    kinds = labels.run_forms[ids, 0]
    begins = np.concatenate([[True], labels.change[ids[:-1] + 1, ids[1:]] | (kinds[1:] != kinds[:-1])])
    starts = np.flatnonzero(begins)
    lengths = np.diff([*starts, len(ids)])
    return list(zip(kinds[starts].tolist(), lengths.tolist(), strict=True))


def _write(labels: LabelSet, runs: Runs) -> Integers:
    result: list[int] = []
    before = -1
    for kind, length in runs:
        first, inner, last, only, first_again, only_again = labels.run_forms[kind].tolist()
        if kind == before:
            first, only = first_again, only_again
        result += [only] if length == 1 else [first, *[inner] * (length - 2), last]
        before = kind
    return np.array(result, np.int64)


def _outside(labels: LabelSet) -> int | None:
    return labels.names.index(OUTSIDE) if OUTSIDE in labels.names else None


def _other(kind: int, kinds: Kinds, random: np.random.Generator) -> int | None:
    others = [k for k in kinds if k != kind]
    return others[random.integers(len(others))] if others else None


def _relabel(runs: Runs, kinds: Kinds, labels: LabelSet, random: np.random.Generator) -> Runs | None:
    place = int(random.integers(len(runs)))
    kind, length = runs[place]
    other = _other(kind, kinds, random)
    return None if other is None else [*runs[:place], (other, length), *runs[place + 1 :]]


def _swap(runs: Runs, kinds: Kinds, labels: LabelSet, random: np.random.Generator) -> Runs | None:
    if len(runs) < 2:
        return None
    place = int(random.integers(len(runs) - 1))
    return [*runs[:place], runs[place + 1], runs[place], *runs[place + 2 :]]


def _split(runs: Runs, kinds: Kinds, labels: LabelSet, random: np.random.Generator) -> Runs | None:
    """An inner token of a run becomes `O`, or moves to another field if there is no `O`."""
    outside = _outside(labels)
    long = [i for i, (kind, length) in enumerate(runs) if length > 2 and kind != outside]
    if not long:
        return None
    place = long[random.integers(len(long))]
    kind, length = runs[place]
    between = _other(kind, kinds, random) if outside is None else outside
    if between is None:
        return None
    at = int(random.integers(1, length - 1))
    return [*runs[:place], (kind, at), (between, 1), (kind, length - at - 1), *runs[place + 1 :]]


def _drop(runs: Runs, kinds: Kinds, labels: LabelSet, random: np.random.Generator) -> Runs | None:
    """A run becomes `O`, or a part of its neighbour if there is no `O`."""
    outside = _outside(labels)
    inside = [i for i, (kind, _) in enumerate(runs) if kind != outside]
    if not inside or (outside is None and len(runs) < 2):
        return None
    place = inside[random.integers(len(inside))]
    length = runs[place][1]
    if outside is not None:
        return [*runs[:place], (outside, length), *runs[place + 1 :]]
    near = place - 1 if place else 1
    joined = list(runs)
    joined[near] = (runs[near][0], runs[near][1] + length)
    return joined[:place] + joined[place + 1 :]


def _move(runs: Runs, kinds: Kinds, labels: LabelSet, random: np.random.Generator) -> Runs | None:
    """The border between two runs moves; both keep a token."""
    wide = [i for i in range(len(runs) - 1) if runs[i][1] + runs[i + 1][1] > 2]
    if not wide:
        return None
    place = wide[random.integers(len(wide))]
    (one, length), (other, length_of_other) = runs[place : place + 2]
    choices = [n for n in range(1, length + length_of_other) if n != length]
    moved = choices[random.integers(len(choices))]
    pair = [(one, moved), (other, length + length_of_other - moved)]
    return [*runs[:place], *pair, *runs[place + 2 :]]


CHANGES: tuple[Callable[[Runs, Kinds, LabelSet, np.random.Generator], Runs | None], ...] = (
    _relabel,
    _swap,
    _split,
    _drop,
    _move,
)


MOST_LABELLINGS = 10_000
"""Largest number of wrong labellings, drawn at random."""


class PredictionsError(ValueError):
    """Error for predictions that cannot be used; the message gives the reason."""


@dataclass(frozen=True, eq=False)
class WrongLabellings:
    sequence: Integers  # (S,)
    ids: tuple[Integers, ...]

    def __len__(self) -> int:
        return len(self.ids)

    def table(self, right: LabelArrays) -> LabelArrays:
        """The labellings as arrays, with the tokens of the right labellings."""
        begin = right.begin
        places = [
            np.arange(begin[m], begin[m] + len(ids)) for m, ids in zip(self.sequence, self.ids, strict=True)
        ]
        none = np.zeros(0, np.int64)
        return LabelArrays(
            right.labels,
            np.concatenate([none, *self.ids]),
            np.array([len(ids) for ids in self.ids], np.int64),
            right.words,
            right.tokens[np.concatenate([none, *places])],
        )


def random_errors(labels: LabelSet, labellings: Sequence[Integers], seed: int) -> WrongLabellings:
    """Right labellings with one random change each, at most `MOST_LABELLINGS`."""
    random = np.random.default_rng([seed, 1])
    per = max(1, MOST_LABELLINGS // 5)
    chosen = list(range(len(labellings)))
    if len(chosen) > per:
        chosen = sorted(random.permutation(len(labellings))[:per].tolist())
    pairs = list(corrupt(labels, [labellings[i] for i in chosen], random))
    return WrongLabellings(
        np.array([chosen[number] for number, _ in pairs], np.int64), tuple(ids for _, ids in pairs)
    )


def prediction_errors(
    labels: LabelSet, labellings: Sequence[Integers], predictions: Sequence[Sequence[str] | None]
) -> WrongLabellings:
    ids = [None if names is None else labels.ids(names) for names in predictions]
    pairs = [
        (number, found)
        for number, (right, found) in enumerate(zip(labellings, ids, strict=True))
        if found is not None and not np.array_equal(right, found)
    ]
    if not pairs:
        raise PredictionsError(
            "predictions contain no error, so rules cannot be tested on them; give predictions of a model that was trained "
            "without the sequences, or no predictions to test rules on random errors"
        )
    return WrongLabellings(
        np.array([number for number, _ in pairs], np.int64), tuple(found for _, found in pairs)
    )
