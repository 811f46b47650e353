"""Precision, recall and F1 of exact spans, as the studies show them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ilpinfer.evaluation.evaluation import Pair, evaluate

Labelling = Sequence[str]


@dataclass(frozen=True)
class Counts:
    """Spans found rightly, found in all, and in gold."""

    right: int = 0
    predicted: int = 0
    gold: int = 0

    @property
    def precision(self) -> float:
        """Per cent."""
        return 100 * self.right / self.predicted if self.predicted else 0.0

    @property
    def recall(self) -> float:
        """Per cent."""
        return 100 * self.right / self.gold if self.gold else 0.0

    @property
    def f1(self) -> float:
        """Per cent."""
        return 200 * self.right / (self.predicted + self.gold) if self.predicted + self.gold else 0.0


def counts(pairs: Iterable[tuple[Labelling, Labelling]], scheme: str = "", only: str = "") -> Counts:
    """Spans of (gold, predicted) labellings, of one field or of all at every level."""
    predicted = evaluate((Pair(tuple(gold), tuple(p), tuple(gold)) for gold, p in pairs), scheme=scheme)
    if only and only not in predicted.fields:
        return Counts()
    predicted, gold, both = (predicted.of_field(only) if only else predicted.of_all()).tolist()
    return Counts(both, predicted, gold)
