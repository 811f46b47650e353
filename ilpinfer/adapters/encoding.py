"""Pieces of a tokenizer: their words, their positions in the text, and the entities of labelled pieces."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from formulations.labels.notation import CLOSED, USUAL, form_of, scheme_of
from formulations.messages import counted
from ilpinfer.adapters.decisions import AdapterError
from ilpinfer.corpus.conversion import convert, convertible

Spans = Sequence[tuple[int, int]]


@dataclass(frozen=True)
class Units:
    groups: list[list[int]]
    numbers: list[int]  # of the words that have pieces, from the first one
    spans: list[tuple[int, int]] | None
    tokens: list[str] | None
    written: list[str] | None

    @property
    def all_tokens(self) -> list[str] | None:
        """The tokens, with an empty text for each word without a piece."""
        if self.tokens is None:
            return None
        known = dict(zip(self.numbers, self.tokens, strict=True))
        return [known.get(number, "") for number in range(self.numbers[-1] + 1)]


def units_of(
    S: int,
    word_ids: Sequence[int | None] | None,
    offset_mapping: Sequence[Any] | None,
    text: str | None,
    pieces: Sequence[str] | None,
    to_text: Callable[[list[str]], str],
    by_word: bool,
) -> Units:
    """The units of S pieces; see `ilpinfer.adapters.huggingface.entities`."""
    offsets = None if offset_mapping is None else _offsets(offset_mapping)
    for what, given in (("word_ids", word_ids), ("offset_mapping", offsets), ("pieces", pieces)):
        if given is not None and len(given) != S:
            raise AdapterError(
                f"{what} has {counted(len(given), 'piece')}, but logits has {counted(S, 'row')}"
            )
    if offsets and text is not None and (last := max(end for _, end in offsets)) > len(text):
        raise AdapterError(
            f"offset_mapping ends at character {last}, but the text has {len(text)} characters"
        )
    kept = _kept(S, word_ids, offsets)
    groups = [[i] for i in kept]
    numbers = list(range(len(groups)))
    if word_ids is not None:
        words = _words(word_ids, kept)
        if by_word:
            groups = words_of(words, kept)
            numbers = [number - words[0] for number in dict.fromkeys(words)]
    spans = None if offsets is None else [(offsets[each[0]][0], offsets[each[-1]][1]) for each in groups]
    written = tokens = None
    if pieces is not None:
        strings = [[pieces[i] for i in each] for each in groups]
        tokens = [to_text(each) for each in strings]
        written = tokens if by_word else [pieces[each[0]] for each in groups]
    if text is not None and spans is not None:
        tokens = [text[begin:end] for begin, end in spans]
    return Units(groups, numbers, spans, tokens, tokens if written is None else written)


def words_of(words: Sequence[int], pieces: Sequence[int]) -> list[list[int]]:
    """Group pieces by word."""
    pairs = zip(words, pieces, strict=True)
    return [[piece for _, piece in group] for _, group in groupby(pairs, key=lambda pair: pair[0])]


def plain_text(pieces: list[str]) -> str:
    """Join WordPiece pieces to text; `##` marks a piece that continues a word."""
    return " ".join(pieces).replace(" ##", "")


def _offsets(given: Sequence[Any]) -> list[tuple[int, int]]:
    result = []
    for i, each in enumerate(given):
        try:
            begin, end = (int(x) for x in each)
        except (TypeError, ValueError):
            raise AdapterError(
                f"offset_mapping[{i}] is {each!r:.40}; expected begin and end character"
            ) from None
        if not 0 <= begin <= end:
            raise AdapterError(f"offset_mapping[{i}] is {(begin, end)}; expected 0 <= begin <= end")
        result.append((begin, end))
    return result


def _kept(S: int, word_ids: Sequence[int | None] | None, offsets: Spans | None) -> list[int]:
    if word_ids is not None:
        return [i for i, word in enumerate(word_ids) if word is not None and word >= 0]
    if offsets is not None:
        return [i for i, (begin, end) in enumerate(offsets) if begin < end]
    return list(range(S))


def _words(word_ids: Sequence[int | None], kept: Sequence[int]) -> list[int]:
    result = [int(word_ids[i] or 0) for i in kept]
    for place in range(1, len(result)):
        if result[place] < result[place - 1]:
            raise AdapterError(
                f"word_ids[{kept[place]}] is {result[place]}, after word {result[place - 1]}: words are in the "
                "order of the text"
            )
    return result


STRATEGIES = ("none", "simple", "first", "average", "max")
POOLS = {"first": "first", "average": "mean", "max": "max"}
"""How `from_logits` pools the pieces of a word, for each strategy that labels words."""


@dataclass(frozen=True)
class Unit:
    """A piece or a word that has one label."""

    label: str
    score: float
    word: str | None
    span: tuple[int, int] | None
    index: int

    @property
    def record(self) -> dict[str, Any]:
        start, end = self.span or (None, None)
        return {
            "entity": self.label,
            "score": self.score,
            "index": self.index,
            "word": self.word,
            "start": start,
            "end": end,
        }


def grouping_labels(labels: Sequence[str], scheme: str) -> Sequence[str]:
    """Labels (T,) for grouping. The library reads only BIO, written `B-x`; other schemes are converted to BIO."""
    return labels if is_usual(scheme) else convert(labels, scheme, "bio")


def is_usual(scheme: str) -> bool:
    """Whether the library can read the labels of a scheme without conversion."""
    return scheme_of(scheme) not in CLOSED and (form_of(scheme) == USUAL or not convertible(scheme))


def entity_groups(
    units: Iterable[Unit], text: str | None, to_text: Callable[[list[str]], str]
) -> list[dict[str, Any]]:
    """Group units to entities as the library does: a label without B- continues the previous entity of its field."""
    groups = list[list[Unit]]()
    for unit in units:
        begins, field = _read(unit.label)
        if groups and not begins and field == _read(groups[-1][-1].label)[1]:
            groups[-1].append(unit)
        else:
            groups.append([unit])
    return [_group(each, text, to_text) for each in groups]


def _group(units: Sequence[Unit], text: str | None, to_text: Callable[[list[str]], str]) -> dict[str, Any]:
    first, last = units[0].span, units[-1].span
    start, end = (first[0], last[1]) if first and last else (None, None)
    words = [unit.word for unit in units if unit.word is not None]
    word = to_text(words) if len(words) == len(units) else None
    return {
        "entity_group": units[0].label.split("-", 1)[-1],
        "score": sum(unit.score for unit in units) / len(units),
        "word": word if text is None or start is None else text[start:end],
        "start": start,
        "end": end,
    }


def _read(label: str) -> tuple[bool, str]:
    """Whether a label begins an entity, and its field as the library reads it: only B- and I- are prefixes."""
    return label.startswith("B-"), label[2:] if label.startswith(("B-", "I-")) else label
