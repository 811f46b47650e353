"""Exact spans: what a labelling marks at every level of its fields, and F1 over them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from formulations import LabelSet

Span = tuple[str, int, int]
Labelling = Sequence[str]


@dataclass(frozen=True)
class Counts:
    """Spans found rightly, found in all, and in gold."""

    right: int = 0
    found: int = 0
    gold: int = 0

    def __add__(self, other: "Counts") -> "Counts":
        return Counts(self.right + other.right, self.found + other.found, self.gold + other.gold)

    @property
    def precision(self) -> float:
        """Per cent."""
        return 100 * self.right / self.found if self.found else 0.0

    @property
    def recall(self) -> float:
        """Per cent."""
        return 100 * self.right / self.gold if self.gold else 0.0

    @property
    def f1(self) -> float:
        """Per cent."""
        return 200 * self.right / (self.found + self.gold) if self.found + self.gold else 0.0


def spans(labelling: Labelling, scheme: str = "") -> set[Span]:
    """(field, first, beyond the last token) of every run of every field but O, those of path prefixes among them."""
    labels = LabelSet(tuple(dict.fromkeys(labelling)), scheme)
    ids = labels.ids(labelling).tolist()
    found = set[Span]()
    for field in labels.each_field:
        starts = [t for t, k in enumerate(ids) if field.begins[ids[t - 1] + 1 if t else 0, k]]
        for start in starts:
            end = start + 1
            while end < len(ids) and field.member[ids[end]] and not field.begins[ids[end - 1] + 1, ids[end]]:
                end += 1
            found.add((field.name, start, end))
    return found


def counts(pairs: Iterable[tuple[Labelling, Labelling]], scheme: str = "", only: str = "") -> Counts:
    """Spans of (gold, predicted) labellings, of one field or of all."""
    total = Counts()
    for gold, predicted in pairs:
        one, two = (
            {span for span in spans(labelling, scheme) if only in ("", span[0])}
            for labelling in (gold, predicted)
        )
        total += Counts(len(one & two), len(two), len(one))
    return total
