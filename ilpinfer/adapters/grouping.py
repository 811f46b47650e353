"""Labelled pieces and words as the entities of a token-classification pipeline."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

STRATEGIES = ("none", "simple", "first", "average", "max")
"""The aggregation strategies of the library."""
POOLS = {"first": "first", "average": "mean", "max": "max"}
"""How `from_logits` makes the scores of a word of those of its pieces, for each strategy that labels words."""


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
        """The dictionary of a piece as the library writes it without aggregation."""
        start, end = self.span or (None, None)
        return {
            "entity": self.label,
            "score": self.score,
            "index": self.index,
            "word": self.word,
            "start": start,
            "end": end,
        }


def entity_groups(
    units: Iterable[Unit], text: str | None, to_text: Callable[[list[str]], str]
) -> list[dict[str, Any]]:
    """Units grouped to entities as in the library: a label without B- continues the field before it."""
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
    """Whether a label begins an entity, and its field as in the library: other prefixes are part of it."""
    return label.startswith("B-"), label[2:] if label.startswith(("B-", "I-")) else label
