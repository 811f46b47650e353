"""Token accuracy and field F1."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from formulations import LabelSet
from ilpinfer.evaluation.runs import FieldTable


@dataclass(frozen=True)
class Counts:
    """What accuracy and F1 are made of; sums over sequences add up."""

    tokens: int = 0
    correct: int = 0
    predicted_fields: int = 0
    gold_fields: int = 0
    matching_fields: int = 0

    def __add__(self, other: "Counts") -> "Counts":
        pairs = zip(self.__dict__.values(), other.__dict__.values(), strict=True)
        return Counts(*(a + b for a, b in pairs))

    @property
    def accuracy(self) -> float:
        """Share of tokens with the gold label."""
        return self.correct / self.tokens if self.tokens else 0.0

    @property
    def f1(self) -> float:
        """F1 of whole fields: same field, same first and last token."""
        both = self.predicted_fields + self.gold_fields
        return 2 * self.matching_fields / both if both else 1.0


def compare_labels(predicted: Sequence[str], gold: Sequence[str], scheme: str) -> Counts:
    """Counts of one sequence; labels by name, read under one scheme."""
    spans = [fields(names, scheme) for names in (predicted, gold)]
    return Counts(
        len(gold),
        sum(p == g for p, g in zip(predicted, gold, strict=True)),
        len(spans[0]),
        len(spans[1]),
        len(spans[0] & spans[1]),
    )


def total(counts: Iterable[Counts]) -> Counts:
    """Sum over sequences."""
    return sum(counts, Counts())


def fields(names: Sequence[str], scheme: str) -> set[tuple[str, int, int]]:
    """(field, first token, last token) of every run, `O` left out."""
    labels = LabelSet(tuple(dict.fromkeys(names)), scheme)
    table = FieldTable.of(labels)
    return {(table.names[f], first, last) for f, first, last in table.spans(labels.ids(names))}
