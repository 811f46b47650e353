"""Long documents that are scored in overlapping windows."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from formulations import LabelSet, Trellis
from formulations.dtypes import Floats, Integers
from formulations.messages import counted
from formulations.score_numbers import one_notice, score_array
from ilpinfer.adapters.alignment import Alignment, Key, align
from ilpinfer.adapters.decisions import AdapterError, check_choice
from ilpinfer.adapters.encoding import words_of
from ilpinfer.corpus.logits import SCALES, from_logits, log_softmax

COMBINATIONS = ("center", "mean")


@dataclass(frozen=True, eq=False)
class MergedWindows:
    """The pieces of a document, with the combined scores of its windows."""

    logits: Floats  # (S, K)
    offsets: list[tuple[int, int]]
    word_ids: list[int] | None
    window: Integers  # (S,)
    position: Integers  # (S,)

    def __repr__(self) -> str:
        pieces, labels = self.logits.shape
        windows = counted(len(np.unique(self.window)), "window")
        return f"MergedWindows({counted(pieces, 'piece')}, {counted(labels, 'label')}, {windows})"


@one_notice
def join_windows(
    logits: Sequence[Any],
    offsets: Sequence[Any],
    labels: LabelSet | Sequence[str] | Mapping[Any, str] | None = None,
    *,
    tokens: Sequence[str] | None = None,
    word_ids: Sequence[Sequence[int | None]] | None = None,
    text: str | None = None,
    combine: str = "center",
    pool: str = "first",
    scale: str = "",
    transitions: Any = None,
    start: Any = None,
    end: Any = None,
    scheme: str = "",
    never: Iterable[str] = (),
) -> Trellis:
    """One trellis of a document that was scored in overlapping windows, so that rules hold across windows.

    Parameters
    ----------
    logits : sequence of array_like of shape (S_w, K)
        Scores in nats of W windows, in order.
    offsets : sequence of int or sequence of tuple of (int, int)
        First piece of each window, or begin and end characters of its pieces, as in the `offset_mapping` of a tokenizer;
        special pieces have begin = end.
    labels : LabelSet, sequence of str or mapping of object to str, optional
        K names, or an `id2label` mapping.
    tokens : sequence of str, optional
        Texts that rules may look at, one for each piece or word; taken from the text if not given.
    word_ids : sequence of sequence of int or None, optional
        For each window the word of each piece, counted over the document; None for special pieces. If given,
        tokens of the trellis are words, else pieces.
    text : str, optional
        Text of the document. With character offsets, the call checks that no window is missing.
    combine : {"center", "mean"}, default "center"
        "center" takes a piece's scores from the window in which the piece is farthest from a cut (the first one of equals);
        "mean" is the mean over all windows of its log probabilities, or of its raw scores if `scale` is "raw".
    pool : {"first", "mean", "max"}, default "first"
        Conversion of pieces to words; see `ilpinfer.models.external.from_logits`.
    scale : {"log-softmax", "raw"}, optional
        Normalisation of rows. If not given, "raw" with transitions, else "log-softmax".
    transitions, start, end : array_like of shape (K, K) or (K,), optional
        Scores in nats of steps [from, to], of first and of last labels; zeros if not given.
    scheme : str, optional
        Scheme of the labels; inferred from their names if not given.
    never : iterable of str, optional
        Labels that are never predicted, such as `[PAD]`; see `Trellis`.

    Returns
    -------
    Trellis
        Scores of the S pieces, or of the words, of the document.

    Raises
    ------
    AdapterError
        For windows that are out of order, leave out a part of the document, or split it differently.
    ValueError
        For input that `ilpinfer.models.external.from_logits` refuses.

    Examples
    --------
    >>> first, second = [[2.0, 0.0], [0.0, 3.0], [0.5, 0.0]], [[0.0, 0.9], [0.0, 1.0], [4.0, 0.0]]
    >>> trellis = join_windows([first, second], [0, 1], ["O", "name"], tokens=["by", "Ada", "Byron", "."])
    >>> trellis.tokens, trellis.labels.names
    (('by', 'Ada', 'Byron', '.'), ('O', 'name'))
    """
    scale = scale or ("raw" if transitions is not None else "log-softmax")
    merged = merge_windows(logits, offsets, word_ids=word_ids, text=text, combine=combine, scale=scale)
    if tokens is None and text is not None and not _numbered(offsets):
        tokens = token_texts(text, merged.offsets, merged.word_ids)
    return from_logits(
        merged.logits,
        labels,
        tokens=tokens,
        word_ids=merged.word_ids,
        pool=pool,
        scale=scale,
        transitions=transitions,
        start=start,
        end=end,
        scheme=scheme,
        never=never,
    )


@one_notice
def merge_windows(
    logits: Sequence[Any],
    offsets: Sequence[Any],
    *,
    word_ids: Sequence[Sequence[int | None]] | None = None,
    text: str | None = None,
    combine: str = "center",
    scale: str = "log-softmax",
) -> MergedWindows:
    """Merge the pieces of a document that was scored in overlapping windows.

    Parameters and errors as for `join_windows`, except one.

    Parameters
    ----------
    scale : {"log-softmax", "raw"}, default "log-softmax"
        Whether "mean" averages log-probabilities or raw scores.

    Returns
    -------
    MergedWindows
        Logits, offsets and word ids, which `ilpinfer.adapters.huggingface.entities` takes.

    Examples
    --------
    >>> merged = merge_windows([[[1.0, 0.0], [2.0, 0.0]], [[7.0, 0.0], [3.0, 0.0]]], [0, 1])
    >>> merged.logits.tolist(), merged.window.tolist()
    ([[1.0, 0.0], [2.0, 0.0], [3.0, 0.0]], [0, 0, 1])
    """
    check_choice("scale", scale, SCALES)
    rows = [score_array(each, f"logits of window {w}", 2) for w, each in enumerate(logits)]
    if not rows:
        raise AdapterError("logits has no window; give an array (S, K) for each")
    for what, given in (("offsets", offsets), ("word_ids", word_ids)):
        if given is not None and len(given) != len(rows):
            raise AdapterError(f"{what} has {len(given)} windows, but logits has {len(rows)}")
    widths = [each.shape[1] for each in rows]
    if len(set(widths)) > 1:
        w = next(w for w, width in enumerate(widths) if width != widths[0])
        raise AdapterError(f"logits of window {w} has {widths[w]} labels, but window 0 has {widths[0]}")
    keys = [_keys(w, each, len(rows[w])) for w, each in enumerate(offsets)]
    words = None if word_ids is None else [_words(w, ids, len(rows[w])) for w, ids in enumerate(word_ids)]
    numbered = _numbered(offsets)
    keep = [
        [i for i, (a, b) in enumerate(pieces) if (a < b if words is None else words[w][i] is not None)]
        for w, pieces in enumerate(keys)
    ]
    return merge(rows, keys, keep, words, text=text, numbered=numbered, combine=combine, scale=scale)


def merge(
    rows: Sequence[Floats],
    keys: Sequence[Sequence[Key]],
    keep: Sequence[Sequence[int]],
    words: Sequence[Sequence[int | None]] | None = None,
    *,
    text: str | None = None,
    numbered: bool = False,
    combine: str = "center",
    scale: str = "log-softmax",
) -> MergedWindows:
    """As `merge_windows`, from checked windows."""
    check_choice("combine", combine, COMBINATIONS)
    kept = [[pieces[i] for i in chosen] for pieces, chosen in zip(keys, keep, strict=True)]
    aligned = align(kept, text, numbered)
    window, place = _owners(aligned, [len(each) for each in kept])
    position = np.array([keep[w][i] for w, i in zip(window, place, strict=True)], np.int64)
    if combine == "center":
        scores = [rows[w][i] for w, i in zip(window, position, strict=True)]
        merged = np.array(scores).reshape(len(position), rows[0].shape[1])
    else:
        merged = np.zeros((len(position), rows[0].shape[1]))
        count = np.zeros((len(position), 1))
        for w, first in enumerate(aligned.first):
            part = slice(first, first + len(keep[w]))
            scored = rows[w][list(keep[w])] if len(keep[w]) else rows[w][:0]
            merged[part] += log_softmax(scored) if scale == "log-softmax" else scored
            count[part] += 1
        merged /= np.maximum(count, 1)
    ids = None if words is None else [words[w][i] for w, i in zip(window, position, strict=True)]
    return MergedWindows(
        merged,
        [(int(key[0]), int(key[1])) for key in aligned.keys],
        None if ids is None else [-1 if each is None else each for each in ids],
        window,
        position,
    )


def token_texts(text: str, offsets: Sequence[tuple[int, int]], words: Sequence[int] | None) -> list[str]:
    if words is None:
        return [text[begin:end] for begin, end in offsets]
    result, end = list[str](), 0
    for group in words_of(words, range(len(words))):
        begin = offsets[group[0]][0]
        result += _between(text[end:begin], words[group[0]] - len(result))
        end = offsets[group[-1]][1]
        result.append(text[begin:end])
    return result


def _between(text: str, count: int) -> list[str]:
    """The texts of `count` words without a piece; empty if white space does not separate the text into as many words."""
    parts = text.split()
    return parts if len(parts) == count else [""] * min(count, len(text))


def _owners(aligned: Alignment, lengths: Sequence[int]) -> tuple[Integers, Integers]:
    """For each piece, the window in which it is farthest from a cut of the document, and its index there."""
    total = len(aligned.keys)
    best = np.full(total, -1)
    window, place = np.zeros(total, np.int64), np.zeros(total, np.int64)
    for w, (first, length) in enumerate(zip(aligned.first, lengths, strict=True)):
        i = np.arange(length)
        left = i if first else np.full(length, total)
        right = i[::-1] if first + length < total else np.full(length, total)
        distance = np.minimum(left, right)
        part = slice(first, first + length)
        better = distance > best[part]
        best[part][better] = distance[better]
        window[part][better] = w
        place[part][better] = i[better]
    return window, place


def _numbered(offsets: Sequence[Any]) -> bool:
    return all(isinstance(each, int | np.integer) for each in offsets)


def _keys(w: int, given: Any, pieces: int) -> list[Key]:
    if isinstance(given, int | np.integer):
        return [(int(given) + i, int(given) + i + 1) for i in range(pieces)]
    try:
        result = [(int(a), int(b)) for a, b in given]
    except (TypeError, ValueError):
        raise AdapterError(
            f"offsets of window {w} is {given!r:.60}; expected the number of its first piece, or begin and end of each"
        ) from None
    if len(result) != pieces:
        raise AdapterError(
            f"offsets of window {w} has {counted(len(result), 'piece')}, but its logits have {pieces}"
        )
    for i, (a, b) in enumerate(result):
        if not 0 <= a <= b:
            raise AdapterError(f"offsets of window {w}, piece {i} is {(a, b)}; expected 0 <= begin <= end")
    return list(result)


def _words(w: int, given: Sequence[int | None], pieces: int) -> list[int | None]:
    result = [None if each is None or each < 0 else int(each) for each in given]
    if len(result) != pieces:
        raise AdapterError(
            f"word_ids of window {w} has {counted(len(result), 'piece')}, but its logits have {pieces}"
        )
    return result
