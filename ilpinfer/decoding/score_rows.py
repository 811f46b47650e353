"""Scores of many sequences as one row per token, from padded arrays with lengths or a mask, or lists of arrays."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from formulations import Trellis
from formulations.arguments import iterable, texts
from formulations.automata.lattice import Lattice
from formulations.dtypes import Floats, Integers
from formulations.grid import FORBIDDEN, LIMIT, Grid, add, check_total, is_forbidden, snap_scores
from formulations.labels.label_set import LabelSet, named_labels
from formulations.messages import brief, counted
from formulations.problem.known_labels import Given, allowed_ids
from formulations.problem.score_arrays import shared_pool
from formulations.score_numbers import (
    MASK,
    check_columns,
    float_array,
    floats,
    in_memory,
    one_notice,
    place,
    refuse_masked,
)
from ilpinfer.exact.compiled import Sequences
from ilpinfer.kernels.native import kernels
from ilpinfer.system.threads import thread_pool

MOST_ALONE = 2**17
"""Largest number of scores that one thread converts to the grid: starting more threads would take longer."""


@dataclass(frozen=True, eq=False)
class ScoreRows:
    """The concatenated tokens of N sequences, and their scores on the grid, including the scores of the ends."""

    labels: LabelSet
    node: Grid
    """(R, K)"""
    pool: Grid
    """(1, K, K)"""
    begins: Integers
    """(N+1,) first row of each sequence, then R."""
    cells: Integers
    """(R,) the place of each row in an array (N, T)."""
    width: int
    """T"""
    words: Sequence[Sequence[str]] | None
    """The tokens of each sequence; None if not given."""
    known: Sequence[dict[int, tuple[int, ...]]] | None
    """Allowed label ids of some tokens of each sequence."""

    def __len__(self) -> int:
        return len(self.begins) - 1

    @property
    def lengths(self) -> Integers:
        """(N,) numbers of tokens."""
        return np.diff(self.begins)

    def tokens(self, n: int) -> Sequence[str]:
        """The tokens of a sequence; empty texts if not given."""
        return ("",) * int(self.begins[n + 1] - self.begins[n]) if self.words is None else self.words[n]

    def sequences(self, places: Integers) -> Sequences:
        """Some of the sequences as arrays of a call."""
        lengths = self.lengths[places]
        ends = np.append(0, np.cumsum(lengths))
        rows = np.arange(ends[-1])
        if len(places) < len(self):
            rows += np.repeat(self.begins[places] - ends[:-1], lengths)
        words = list[str]()
        if self.words is not None:
            words += chain.from_iterable(self.words[n] for n in places.tolist())
        return Sequences(words, ends.tolist(), self.pool, emission=self.node, rows=rows)

    def trellis(self, n: int) -> Trellis:
        """The trellis of one sequence."""
        node = self.node[self.begins[n] : self.begins[n + 1]]
        lattice = Lattice(node, self.pool, np.zeros(max(len(node) - 1, 0), np.int64))
        known = {} if self.known is None else self.known[n]
        given = tuple(sorted(known.items()))
        return Trellis._of(lattice=lattice, labels=self.labels, tokens=tuple(self.tokens(n)), _given=given)


@dataclass(frozen=True)
class RowTrellises(Sequence[Trellis]):
    """The trellises of some of the rows, made on access."""

    rows: ScoreRows
    places: Integers

    def __len__(self) -> int:
        return len(self.places)

    def __getitem__(self, n: Any) -> Any:
        return self.rows.trellis(int(self.places[n]))


@one_notice
def score_rows(
    emissions: Any,
    transitions: Any,
    labels: LabelSet | None,
    *,
    lengths: Any = None,
    mask: Any = None,
    start: Any = None,
    end: Any = None,
    tokens: Iterable[Sequence[str]] | None = None,
    given: Iterable[Given | None] | None = None,
    threads: int = 1,
) -> ScoreRows:
    """The rows of a batch; see `Decoder.decode_scores`."""
    values, chosen, begins, cells, width = _values(emissions, lengths, mask)
    K = values.shape[1]
    labels = named_labels(None, K) if labels is None else labels
    if len(labels) != K:
        raise ValueError(
            f"emissions has {counted(K, 'column')}, but there are {counted(len(labels), 'label')}"
        )
    if isinstance(emissions, list | tuple):
        for n, each in enumerate(emissions):
            check_columns(each, labels.names, f"emissions[{n}]")
    node = np.empty((len(cells), K), np.int64)
    largest = _snap(values, chosen, node, threads)
    if np.isnan(largest):
        places = np.stack(np.divmod(cells, max(width, 1)), axis=1)
        node = snap_scores(values[chosen], "emissions", places)
    shared = shared_pool(np.zeros((K, K)) if transitions is None else transitions, K)
    pool, more = (_general_pool(transitions, K), np.nan) if shared is None else shared
    extra = {name: snap_scores(x, name) for name, x in (("start", start), ("end", end)) if x is not None}
    for name, array in extra.items():
        _need(name, array, (K,))
    longest = max(1, int(np.diff(begins).max(initial=1)))
    if extra or not longest * (largest + more) < -MASK:
        _check_totals(node, begins, {"transitions": pool[0], **extra})
    some = np.diff(begins) > 0
    for name, rows in (("start", begins[:-1][some]), ("end", begins[1:][some] - 1)):
        if name in extra:
            node[rows] = add(node[rows], extra[name])
    if len(labels.never_ids):
        node[:, labels.never_ids] = FORBIDDEN
    words = None if tokens is None else _words(tokens, begins, cells, width)
    known = None if given is None else _known(given, labels, begins, cells, width, node)
    return ScoreRows(labels, node, pool, begins, cells, width, words, known)


def _snap(values: Floats, chosen: Integers, node: Grid, threads: int) -> float:
    """Fill rows of the grid with chosen rows of numbers; returns the largest absolute value, NaN for values of the general path."""
    if threads == 1 or node.size < MOST_ALONE:
        return kernels.snap(values, chosen, -MASK, node)
    slices = zip(np.array_split(chosen, threads), np.array_split(node, threads), strict=True)
    with thread_pool(threads) as pool:
        return float(np.max([*pool.map(lambda part: kernels.snap(values, part[0], -MASK, part[1]), slices)]))


def _general_pool(transitions: Any, K: int) -> Grid:
    """Transitions of any kind as a pool."""
    pool = snap_scores(transitions, "transitions")
    _need("transitions", pool, (K, K))
    return pool[None]


def _need(name: str, array: Grid, shape: tuple[int, ...]) -> None:
    if array.shape != shape:
        of = counted(shape[0], "label")
        raise ValueError(f"{name} has shape {array.shape}; expected {shape}, as emissions has {of}")


def _values(emissions: Any, lengths: Any, mask: Any) -> tuple[Floats, Integers, Integers, Integers, int]:
    """Rows of numbers, rows (R,) with a token, first row of each sequence (N+1,), their places in (N, T), and T."""
    if isinstance(emissions, list | tuple):
        if lengths is not None or mask is not None:
            raise ValueError("lengths and mask are for padded emissions (N, T, K); a list has arrays (T, K)")
        return _listed(emissions)
    array = float_array(emissions, "emissions")
    if array.ndim != 3 or not array.shape[2]:
        raise ValueError(
            f"emissions has shape {array.shape}; expected (N, T, K), padded, or a list of arrays (T, K)"
        )
    N, T, K = array.shape
    inside, rows = _inside(N, T, lengths, mask), array.reshape(N * T, K)
    if inside is None:
        cells = np.arange(N * T)
        return rows, cells, np.arange(N + 1) * T, cells, T
    cells = np.flatnonzero(inside)
    return rows, cells, np.append(0, np.cumsum(inside.sum(axis=1))), cells, T


def _inside(N: int, T: int, lengths: Any, mask: Any) -> Any:
    """(N, T) places with a token; None if all have one."""
    if lengths is not None and mask is not None:
        raise ValueError("give lengths or a mask, not both")
    if lengths is not None:
        refuse_masked(lengths, "lengths", "give 0 for a sequence without tokens")
        counts = floats(lengths, "lengths")
        if counts.shape != (N,) or not ((counts >= 0) & (counts <= T) & (counts == np.rint(counts))).all():
            raise ValueError(
                f"lengths is {brief(np.asarray(in_memory(lengths)).tolist())}; expected {counted(N, 'whole number')} from 0 to {T}"
            )
        return np.arange(T) < counts[:, None]
    if mask is None:
        return None
    refuse_masked(mask, "mask", "give true where emissions has a token")
    known = np.asarray(in_memory(mask))
    if known.shape != (N, T):
        raise ValueError(f"mask has shape {known.shape}; expected ({N}, {T})")
    odd = np.zeros((N, T), bool) if known.dtype == bool else ~np.isin(known, (0, 1))
    if odd.any():
        value = known[odd][0]
        raise ValueError(
            f"mask{place(odd)} is {brief(value.item())}; expected true or 1 where emissions has a token, else 0"
        )
    return known.astype(bool)


def _listed(emissions: Sequence[Any]) -> tuple[Floats, Integers, Integers, Integers, int]:
    """As `_values`, for a list of arrays (T, K)."""
    arrays = [float_array(each, f"emissions[{n}]") for n, each in enumerate(emissions)]
    shapes = [each.shape for each in arrays]
    K = next((shape[1] for shape in shapes if len(shape) == 2 and shape[1]), 0)
    if not K:
        raise ValueError(
            "emissions has no array of scores (T, K); give zeros((0, K)) for a sequence without tokens"
        )
    for n, shape in enumerate(shapes):
        if shape[1:] != (K,) and shape != (0,):
            raise ValueError(f"emissions[{n}] has shape {shape}; expected (T, {K})")
    lengths = np.array([shape[0] for shape in shapes], np.int64)
    begins, width = np.append(0, np.cumsum(lengths)), int(lengths.max())
    values = np.concatenate([each for each in arrays if len(each)] or [np.zeros((0, K))])
    rows = np.arange(len(values))
    return (
        values,
        rows,
        begins,
        rows + np.repeat(np.arange(len(lengths)) * width - begins[:-1], lengths),
        width,
    )


def _check_totals(node: Grid, begins: Integers, extra: dict[str, Grid]) -> None:
    """Raise ValueError if the scores of a sequence could exceed 2^31 nats."""
    sizes = [np.abs(x).max(where=~is_forbidden(x), initial=0) for x in (node, *extra.values())]
    if sum(sizes) * max(1, int(np.diff(begins).max(initial=1))) <= LIMIT:
        return
    for n, (begin, end) in enumerate(zip(begins[:-1].tolist(), begins[1:].tolist(), strict=True)):
        T, own = end - begin, node[begin:end]
        times = {"transitions": max(T - 1, 0), "start": 1, "end": 1}
        terms: list[tuple[str, Grid, int | Grid]] = [(f"emissions[{n}]", own, np.ones(T, np.int64))]
        check_total([*terms, *((name, x, times[name]) for name, x in extra.items())])


def _words(
    tokens: Iterable[Sequence[str]], begins: Integers, cells: Integers, width: int
) -> list[Sequence[str]]:
    """The tokens of each sequence: one per row, or one per place of a padded array."""
    each = list(iterable(tokens, "tokens", "a list of texts for each sequence"))
    if len(each) != len(begins) - 1:
        raise ValueError(
            f"tokens has {counted(len(each), 'list')}, but emissions {counted(len(begins) - 1, 'sequence')}"
        )
    found = list[Sequence[str]]()
    for n, own in enumerate(each):
        own = texts(own, f"tokens[{n}]")
        rows = cells[begins[n] : begins[n + 1]] - n * width
        if len(own) == width != len(rows):
            own = tuple(own[t] for t in rows.tolist())
        if len(own) != len(rows):
            raise ValueError(
                f"tokens[{n}] has {counted(len(own), 'token')}, but emissions[{n}] {counted(len(rows), 'token')}"
            )
        found.append(own)
    return found


def _known(
    given: Iterable[Given | None],
    labels: LabelSet,
    begins: Integers,
    cells: Integers,
    width: int,
    node: Grid,
) -> list[dict[int, tuple[int, ...]]]:
    """Allowed label ids of each sequence by token; all other labels are forbidden there."""
    each = list(iterable(given, "given", "a dictionary or None for each sequence"))
    if len(each) != len(begins) - 1:
        raise ValueError(
            f"given has {counted(len(each), 'entry')}, but emissions {counted(len(begins) - 1, 'sequence')}"
        )
    found = list[dict[int, tuple[int, ...]]]()
    for n, one in enumerate(each):
        rows = (cells[begins[n] : begins[n + 1]] - n * width).tolist()
        place = {column: t for t, column in enumerate(rows)}
        known = dict[int, tuple[int, ...]]()
        for column, allowed in allowed_ids(one, labels, width, {}).items():
            if column not in place:
                raise ValueError(f"given[{n}] has a label of token {column}, where emissions has none")
            known[place[column]] = allowed
            row = node[begins[n] + place[column]]
            row[~np.isin(np.arange(len(row)), allowed)] = FORBIDDEN
        found.append(known)
    return found


def groups(lengths: Integers, kind: Any) -> Iterator[Integers]:
    """The indices of sequences with the same kind of length, without empty sequences."""
    kinds = {T: kind(T) for T in np.flatnonzero(np.bincount(lengths)).tolist() if T}
    if len(set(kinds.values())) == 1 and lengths.all():
        yield np.arange(len(lengths))
        return
    table = np.array([kinds.get(T, -1) for T in range(int(lengths.max(initial=0)) + 1)])
    each = table[lengths]
    for one in sorted(set(kinds.values())):
        yield np.flatnonzero(each == one)
