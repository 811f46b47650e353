"""Matches of predicted and gold spans in the four ways of SemEval 2013, task 9, as in nervaluate."""

from collections.abc import Iterable, Sequence
from operator import itemgetter
from typing import Any

import numpy as np
from nervaluate.entities import Entity, EvaluationResult  # type: ignore[import-untyped]
from nervaluate.strategies import (  # type: ignore[import-untyped]
    EntityTypeEvaluation,
    ExactEvaluation,
    PartialEvaluation,
    StrictEvaluation,
)

from formulations import LabelSet
from formulations.dtypes import Integers
from ilpinfer.evaluation.counts import LabelCounter, Span
from ilpinfer.evaluation.evaluation import Pair, alike_pairs

STRATEGIES: dict[str, Any] = {
    "strict": StrictEvaluation(),
    "exact": ExactEvaluation(),
    "partial": PartialEvaluation(),
    "type": EntityTypeEvaluation(),
}
WAYS = tuple(STRATEGIES)
Spans = list[Span]
KINDS = ("correct", "incorrect", "partial", "missed", "spurious")


def span_matches(
    pairs: Iterable[Pair], *, scheme: str = "", leave_out: Sequence[str] = (), labels: LabelSet | None = None
) -> dict[str, Any]:
    """Count strict, exact, partial and type matches of spans.

    Predicted spans are matched from left to right, each with one gold span of which it covers at least 1 %: a right span if
    there is one, else the first. A span is right with "strict" if field and both ends agree, with "exact" and "partial" if both
    ends agree, and with "type" if the field agrees. Other matched spans are incorrect, or half right with "partial". Predicted
    spans without a match are spurious, and gold spans without a match are missed.
    With hierarchical labels, only spans of the same level match.

    Parameters
    ----------
    pairs : iterable of Pair
        N sequences.
    scheme : str, optional
        Scheme of both sides' labels; inferred if not given.
    leave_out : sequence of str, optional
        Fields that are not counted, like `O`.
    labels : LabelSet, optional
        Labels of both sides; if not given, the labels that occur.

    Returns
    -------
    dict of str to object
        "all" and "fields". Each has, for each kind of match, the counts correct, incorrect, partial, missed, spurious, predicted and
        gold, and precision, recall and F1. Counts of a field are over its own spans on both sides.

    Raises
    ------
    ValueError
        For labels that do not fit the scheme.

    Examples
    --------
    >>> pair = Pair(("Ada", "King", "1815"), ("B-name", "O", "B-year"), ("B-name", "I-name", "B-year"))
    >>> [round(way["f1"], 2) for way in span_matches([pair])["all"].values()]
    [0.5, 0.5, 0.75, 1.0]
    """
    pairs = list(pairs)
    if labels is None:
        pairs, labels = alike_pairs(pairs, scheme)
    counter = LabelCounter(labels, leave_out)
    levels = [name.count("/") if labels.scheme == "paths" else 0 for name in counter.table.names]
    total = np.zeros((len(levels) + 1, len(WAYS), len(KINDS)), np.int64)
    for pair in pairs:
        sides = [
            [] if names is None else sorted(counter.labelling(names).spans, key=itemgetter(1))
            for names in (pair.predicted, pair.gold)
        ]
        kept = [[span for span in side if span[0] in counter.kept] for side in sides]
        for level in {levels[f] for f in counter.kept}:
            total[-1] += _matches(*([span for span in side if levels[span[0]] == level] for side in kept))
        for f in {span[0] for side in kept for span in side}:
            total[f] += _matches(*([span for span in side if span[0] == f] for side in kept))
    fields = {name: _ways(total[f]) for f, name in zip(counter.kept, counter.fields, strict=True)}
    return {"all": _ways(total[-1]), "fields": fields}


def _matches(predicted: Spans, gold: Spans) -> Integers:
    """Counts (4, 5) by way and outcome."""
    sides = [[Entity(str(f), first, last) for f, first, last in spans] for spans in (gold, predicted)]
    results = [way.evaluate(*sides, [])[0] for way in STRATEGIES.values()]
    return np.array([[getattr(result, kind) for kind in KINDS] for result in results])


def _ways(counts: Integers) -> dict[str, dict[str, Any]]:
    """Counts and measures of counts (4, 5) by way."""
    ways = {}
    for way, row in zip(WAYS, counts.tolist(), strict=True):
        kinds = dict(zip(KINDS, row, strict=True))
        result = EvaluationResult(**kinds)
        result.compute_metrics(partial_or_type=way in ("partial", "type"))
        shares = {name: getattr(result, name) for name in ("precision", "recall", "f1")}
        ways[way] = {**kinds, "predicted": result.actual, "gold": result.possible, **shares}
    return ways
