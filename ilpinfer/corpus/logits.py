"""Logits of a neural tagger, and parameters of its CRF layer, as a trellis."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from formulations import LabelSet, Trellis
from formulations.arguments import positive
from formulations.automata.lattice import Lattice
from formulations.dtypes import Floats, Integers
from formulations.grid import Grid
from formulations.labels.label_set import check_label_count
from formulations.labels.names import label_names
from formulations.messages import brief, counted, suggestion
from formulations.problem.score_arrays import MOST_SHARED, shared_pool
from formulations.score_numbers import (
    MASK,
    OneNotice,
    check_columns,
    float_array,
    is_plain,
    one_notice,
    score_array,
)
from ilpinfer.corpus.scores import SequenceScores
from ilpinfer.kernels.native import kernels

POOLS = ("first", "mean", "max")
SCALES = ("log-softmax", "raw")
NO_PIECE = "words without a piece, whose labels all score the same"
MOST_MISSING = 16
"""Largest number of words without a piece if no tokens are given; or the number of words with a piece, if larger."""


@dataclass(frozen=True)
class LogitsOptions:
    """Options for reading files of logits.

    Parameters
    ----------
    names : tuple of str, optional
        K label names, if the files have none.
    pool, scale : str, optional
        See `from_logits`.

    Examples
    --------
    >>> LogitsOptions(names=("O", "name"), pool="mean").pool
    'mean'
    """

    names: tuple[str, ...] | None = None
    pool: str = "first"
    scale: str = ""

    def __post_init__(self) -> None:
        _check("pool", self.pool, POOLS)
        if self.scale:
            _check("scale", self.scale, SCALES)


def from_logits(
    logits: Any,
    labels: LabelSet | Sequence[str] | Mapping[Any, str] | None = None,
    *,
    tokens: Sequence[str] | None = None,
    word_ids: Sequence[int | None] | None = None,
    pool: str = "first",
    scale: str = "",
    temperature: float = 1.0,
    transitions: Any = None,
    start: Any = None,
    end: Any = None,
    scheme: str = "",
    never: Iterable[str] = (),
) -> Trellis:
    """A trellis from logits, and from transitions if the tagger has learnt some.

    Parameters
    ----------
    logits : array_like of shape (T, K) or (S, K)
        Scores in nats of T words, or of S word pieces; arrays, tensors or lists.
    labels : LabelSet, sequence of str or mapping of object to str, optional
        K names, or an `id2label` mapping.
    tokens : sequence of str, optional
        T texts that rules may look at.
    word_ids : sequence of int or None, optional
        (S,) number of the word of each piece, counted from 0; None or -1 for special pieces. A word without a piece, such as
        a control character, has the same score for all labels, and a notice counts such words.
    pool : str, default "first"
        Scores of a word: the scores of its first piece ("first"), the logarithm of the mean probability of its pieces ("mean"),
        or the scores of the piece with the largest probability ("max").
    scale : str, optional
        "log-softmax" normalises each row, "raw" leaves it unchanged. If not given, "raw" with transitions, as a CRF layer reads
        scores, else "log-softmax".
    temperature : float, default 1.0
        Number above 0 by which logits, transitions, `start` and `end` are divided first. It multiplies the weight of penalties
        relative to scores, and leaves the best labelling without rules unchanged. Neural networks are often overconfident
        (Guo et al. 2017); `ilpinfer.learning.fit_temperature` finds the number.
    transitions, start, end : array_like of shape (K, K) or (K,), optional
        Scores in nats of steps [from, to], of first and of last labels; zeros if not given.
    scheme : str, optional
        Scheme of the labels; inferred if not given.
    never : iterable of str, optional
        Labels that are never predicted, such as `[PAD]`; see `Trellis`.

    Returns
    -------
    Trellis
        The trellis of T words.

    Raises
    ------
    ValueError
        For NaN, a temperature that is not above 0, and widths that differ from the number of labels.

    Examples
    --------
    >>> trellis = from_logits([[0.0, 0.0], [9.0, 1.0], [0.0, 3.0]], {0: "O", 1: "name"}, word_ids=[None, 0, 1])
    >>> len(trellis), trellis.labels.names
    (2, ('O', 'name'))
    """
    if hasattr(logits, "columns") and labels is not None:
        check_columns(logits, labels.names if isinstance(labels, LabelSet) else label_names(labels), "logits")
    if positive(temperature, "temperature") != 1.0:
        with OneNotice():
            logits, transitions, start, end = (
                None if scores is None else score_array(scores, name, dimensions) / temperature
                for scores, name, dimensions in (
                    (logits, "logits", 2),
                    (transitions, "transitions", 2),
                    (start, "start", 1),
                    (end, "end", 1),
                )
            )
    if start is None and end is None and pool == "first":
        lattice = _plain_lattice(logits, labels, word_ids, tokens, scale, transitions)
        if lattice is not None:
            return Trellis._from(lattice, labels, tokens, scheme, never)
    names = labels if labels is None or isinstance(labels, LabelSet) else label_names(labels)
    steps = {"transitions": transitions, "start": start, "end": end}
    K = None if names is None else len(names)
    with OneNotice():
        scores = logit_scores(logits, steps, word_ids, pool, scale, K, tokens)
        T = 0 if scores.emissions is None else len(scores.emissions)
        if tokens is not None and len(tokens) != T:
            cut = "; was the input cut short?" if word_ids is not None else ""
            raise ValueError(f"{counted(len(tokens), 'token')}, but logits for {T}{cut}")
        return scores.trellis(names, tokens, scheme, never)


def _plain_lattice(
    logits: Any,
    labels: LabelSet | Sequence[str] | Mapping[Any, str] | None,
    word_ids: Sequence[int | None] | None,
    tokens: Sequence[str] | None,
    scale: str,
    transitions: Any,
) -> Lattice | None:
    """The lattice of logits, by the first piece of each word; None for arguments that need the general path."""
    rows = float_array(logits, "logits")
    if rows.ndim != 2 or not rows.size:
        return None
    S, K = rows.shape
    scale = scale or ("log-softmax" if transitions is None else "raw")
    shared = _no_steps(K) if transitions is None else shared_pool(transitions, K)
    if shared is None or scale not in SCALES or (scale == "raw" and not is_plain(rows)):
        return None
    if labels is not None and not (hasattr(labels, "__len__") and len(labels) == K):
        return None
    chosen = np.arange(S) if word_ids is None else _first_pieces(word_ids, S)
    if chosen is None or not len(chosen) or (tokens is not None and len(tokens) != len(chosen)):
        return None
    T, (pool, more) = len(chosen), shared
    units = np.empty((T, K), np.int64)
    snap = kernels.snap if scale == "raw" else kernels.snap_softmax
    if not T * (snap(rows, chosen, -MASK, units) + more) < -MASK:  # true for NaN, too
        return None
    return Lattice(units, pool, np.zeros(T - 1, np.int64))


def _first_pieces(word_ids: Sequence[int | None], S: int) -> Integers | None:
    """The first of S pieces of each word; None if words are skipped or go back, or an id is not an `int` of at least -1."""
    if not isinstance(word_ids, list | tuple) or len(word_ids) != S:
        return None
    if not {*map(type, word_ids)} <= {int, type(None)}:
        return None
    first = dict(zip(reversed(word_ids), range(S - 1, -1, -1), strict=True))
    for special in (None, -1):
        first.pop(special, None)
    pieces = [*map(first.get, range(len(first)))]
    words = [each for each in word_ids if each is not None and each != -1]
    return None if None in pieces or words != sorted(words) else np.array(pieces, np.int64)


@lru_cache(MOST_SHARED)
def _no_steps(K: int) -> tuple[Grid, float] | None:
    """`shared_pool` of transitions that are all 0."""
    return shared_pool(np.zeros((K, K)), K)


@one_notice
def logit_scores(
    logits: Any,
    steps: Mapping[str, Any],
    word_ids: Sequence[int | None] | None,
    pool: str,
    scale: str,
    K: int | None,
    tokens: Sequence[str] | None = None,
) -> SequenceScores:
    """Emissions, transitions, and `start` and `end` if `steps` has them; see `from_logits`."""
    rows = score_array(logits, "logits", 2)
    if K is not None and not len(rows):
        rows = np.zeros((0, K))
    if K is not None and rows.shape[1] != K:
        raise ValueError(
            f"logits has shape {rows.shape}; expected {counted(K, 'column')}, one for each label"
        )
    check_label_count(rows.shape[1])
    scale = scale or ("raw" if steps.get("transitions") is not None else "log-softmax")
    _check("scale", scale, SCALES)
    _check("pool", pool, POOLS)
    rows = log_softmax(rows) if scale == "log-softmax" else rows
    if word_ids is not None:
        no_opinion = -np.log(rows.shape[1]) if scale == "log-softmax" else 0.0
        rows = pool_pieces(rows, word_ids, pool, tokens, no_opinion)
    transitions, start, end = (
        None if steps.get(name) is None else score_array(steps[name], name, dimensions)
        for name, dimensions in (("transitions", 2), ("start", 1), ("end", 1))
    )
    if transitions is None:
        transitions = np.zeros((rows.shape[1],) * 2)
    return SequenceScores(emissions=rows, transitions=transitions, start=start, end=end)


def log_softmax(rows: Floats) -> Floats:
    """Log probabilities (T, K) of logits; a row of -inf only stays unchanged."""
    if not rows.size:
        return rows
    largest = rows.max(axis=1, keepdims=True)
    if not largest.min() > -np.inf:
        largest[np.isneginf(largest)] = 0.0
    below = rows - largest
    totals = np.exp(below).sum(axis=1, keepdims=True)
    return np.asarray(below - np.log(totals, where=totals > 0.0, out=np.zeros_like(totals)))


def pool_pieces(
    rows: Floats,
    word_ids: Sequence[int | None],
    pool: str = "first",
    tokens: Sequence[str] | None = None,
    no_opinion: float = 0.0,
) -> Floats:
    """Word scores from the scores of their pieces; a word without a piece has `no_opinion` for each label."""
    numbers = _word_numbers(word_ids)
    if len(numbers) != len(rows):
        raise ValueError(
            f"word_ids has {counted(len(numbers), 'number')}; expected one for each of {counted(len(rows), 'piece')}"
        )
    words, first = np.unique(numbers, return_index=True)
    first = first[words >= 0]
    words = words[words >= 0]
    result = np.full((_word_count(words, tokens), rows.shape[1]), no_opinion)
    if pool == "first":
        result[words] = rows[first]
    else:
        for word in words:
            result[word] = _pool(rows[numbers == word], pool)
    return result


def _word_numbers(word_ids: Sequence[int | None]) -> Integers:
    """The word number of each piece, -1 for none; ValueError for ids that are not numbers, or numbers that decrease."""
    if isinstance(word_ids, str | bytes) or not isinstance(word_ids, Iterable):
        raise ValueError(f"word_ids must be a list of whole numbers, not {brief(word_ids)}")
    listed = [-1 if each is None else each for each in word_ids]
    if not {*map(type, listed)} <= {int}:
        listed = [_word_number(each, at) for at, each in enumerate(listed)]
    try:
        numbers = np.array(listed, np.int64)
    except OverflowError:
        raise ValueError(f"word_ids has a number beyond 2^63: {brief(max(listed, key=abs))}") from None
    pieces = np.flatnonzero(numbers >= 0)
    back = np.flatnonzero(np.diff(numbers[pieces]) < 0)
    if len(back):
        before, at = pieces[back[0]], pieces[back[0] + 1]
        raise ValueError(
            f"word_ids[{at}] is word {numbers[at]}, after word {numbers[before]}; give one sequence at a time, with words in order"
        )
    return numbers


def _word_number(value: Any, at: int) -> int:
    if value is None or (isinstance(value, float | np.floating) and math.isnan(value)):
        return -1
    whole = isinstance(value, int | np.integer) or (
        isinstance(value, float | np.floating) and value == int(value)
    )
    if not whole or isinstance(value, bool):
        raise ValueError(f"word_ids[{at}] is {brief(value)}; expected the number of a word, from 0, or None")
    return int(value)


def _word_count(words: Integers, tokens: Sequence[str] | None) -> int:
    """The number of words; `words` have pieces, and words without a piece are counted for a notice."""
    total = int(words[-1]) + 1 if len(words) else 0
    if tokens is not None and total < len(tokens) and not any(map(_has_letter, tokens[total:])):
        total = len(tokens)
    if tokens is not None and total > len(tokens):
        raise ValueError(
            f"{counted(len(tokens), 'token')}, but word_ids has word {total - 1}; words are numbered from 0"
        )
    missing = total - len(words)
    if not missing:
        return total
    each = np.append(words, total) != np.arange(len(words) + 1)
    first = int(each.argmax())
    if tokens is None and missing > max(MOST_MISSING, len(words)):
        raise ValueError(
            f"word_ids: word {first} and {missing - 1} others have no piece; words are numbered 0, 1, 2, …"
        )
    shown = "" if tokens is None or first >= len(tokens) else f" ({str(tokens[first])[:20]!a})"
    with OneNotice() as notice:
        notice.add(NO_PIECE, missing, f"word {first}{shown}")
    return total


def _has_letter(word: Any) -> bool:
    """Whether a word has a letter or a digit, for which every tokenizer makes a piece."""
    return any(map(str.isalnum, str(word)))


def _pool(pieces: Floats, pool: str) -> Floats:
    if pool == "max":
        return np.asarray(pieces[pieces.max(axis=1).argmax()])
    return np.asarray(np.logaddexp.reduce(pieces, axis=0) - np.log(len(pieces)))


def _check(what: str, value: str, known: Sequence[str]) -> None:
    if value not in known:
        raise ValueError(f"no {what} {value!r}{suggestion(value, known)}")


KEYS = {"transitions": 2, "start_transitions": 1, "end_transitions": 1}


@one_notice
def crf_parameters(state: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
    """Transition scores of a CRF layer of pytorch-crf or a compatible package, as arguments of `from_logits`.

    Parameters
    ----------
    state : mapping of str to object
        Arrays or tensors by name, such as `crf.state_dict()` or the result of `numpy.load` for an `.npz` file
        of them. A prefix of all three names, such as `crf.` in the state of a whole tagger, is removed, and
        other names are ignored.

    Returns
    -------
    dict of str to NDArray[Any]
        Arrays `transitions` (K, K) [from, to], `start` and `end` (K,).

    Raises
    ------
    ValueError
        For a missing name, several layers, and shapes that do not match.

    Examples
    --------
    >>> state = {"transitions": [[0.0, 1.0], [2.0, 3.0]], "start_transitions": [0.0, 0.0], "end_transitions": [0.0, 0.0]}
    >>> sorted(crf_parameters(state))
    ['end', 'start', 'transitions']
    """
    prefixes = [
        key.removesuffix("start_transitions") for key in state if f".{key}".endswith(".start_transitions")
    ]
    if len(prefixes) != 1:
        what = f"several layers: {', '.join(prefixes)}" if prefixes else "no start_transitions"
        raise ValueError(f"the CRF layer's state has {what}; expected {', '.join(KEYS)} of one layer")
    result = {}
    for key, dimensions in KEYS.items():
        if prefixes[0] + key not in state:
            raise ValueError(f"the CRF layer's state has no {prefixes[0]}{key}; expected {', '.join(KEYS)}")
        result[key] = score_array(state[prefixes[0] + key], key, dimensions)
    K = len(result["start_transitions"])
    for key, array in result.items():
        if array.shape != (K,) * KEYS[key]:
            raise ValueError(f"{key} has shape {array.shape}; expected {(K,) * KEYS[key]}")
    return {key.removesuffix("_transitions"): array for key, array in result.items()}
