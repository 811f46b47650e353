"""Evaluations as rows of studies, and back, so that intervals of differences are made from rows alone."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from pandas import DataFrame

import ilpinfer
from benchmarks.data.sets import Labelled
from benchmarks.optimum import recheck
from benchmarks.report import percent, signed
from benchmarks.study import Row
from formulations import LabelSet, RuleSet, Trellis
from ilpinfer.core.solution import Solution
from ilpinfer.evaluation.counts import f_measure, precision, recall
from ilpinfer.evaluation.evaluation import Evaluation, Pair, evaluate
from ilpinfer.evaluation.significance import Difference, compare
from ilpinfer.learning.measures import Measures


def in_percent(evaluation: Evaluation) -> Row:
    """Right tokens, F1 of exact spans and whole sequences."""
    shares = Measures.of(evaluation)
    return dict(zip(("tokens", "spans", "whole"), (100 * share for share in shares), strict=True))


def labels_of(solution: Solution) -> tuple[str, ...] | None:
    return tuple(solution.labels) if solution.has_labelling else None


ONE_FIELD = LabelSet(("O",))
MEASURES = ("tokens %", "precision %", "recall %", "F1 %", "whole %")
"""Columns of `measures`; the three in the middle are of exact spans."""


def row_of(evaluation: Evaluation, places: Sequence[int]) -> Row:
    """Counts of each sequence, named by its place in the corpus."""
    return {
        "places": list(places),
        "tokens": evaluation.tokens.tolist(),
        "right": evaluation.correct.tolist(),
        "whole": evaluation.whole.tolist(),
        "spans": evaluation.counts["spans"].sum(axis=1).tolist(),
        "missing": evaluation.missing,
    }


def evaluation_of(some: Sequence[Row] | DataFrame) -> Evaluation:
    """All sequences of some rows, in the order of places; fields are counted together."""
    rows = rows_of(some)
    order = np.concatenate([row["places"] for row in rows])
    places, where = np.unique(order, return_inverse=True)

    def summed(name: str) -> Any:
        values = np.concatenate([np.asarray(row[name]) for row in rows])
        result = np.zeros((len(places), *values.shape[1:]), np.int64)
        np.add.at(result, where, values)
        return result

    whole: Any = summed("whole") / np.bincount(where)
    return Evaluation(
        labels=ONE_FIELD,
        fields=("all",),
        tokens=summed("tokens"),
        correct=summed("right"),
        correct_labels=summed("right"),
        whole=whole,
        counts={"spans": summed("spans")[:, None, :]},
        confusion=np.zeros((1, 1), np.int64),
        missing=sum(row["missing"] for row in rows),
        overlaps=np.zeros((2, 2), np.int64),
    )


def rows_of(some: Sequence[Row] | DataFrame) -> Sequence[Row]:
    return some.to_dict("records") if isinstance(some, DataFrame) else some


def measures(evaluation: Evaluation) -> tuple[str, ...]:
    """Cells for `MEASURES`, in per cent."""
    spans = span_measures(evaluation.of_all())
    return (percent(evaluation.accuracy, 2), *spans, percent(evaluation.whole_sequences, 2))


def span_measures(counts: Any) -> tuple[str, ...]:
    """Precision, recall and F1 of counts (3,), in per cent."""
    return tuple(percent(float(measure(counts)), 2) for measure in (precision, recall, f_measure))


def gains(one: Evaluation, other: Evaluation, resamples: int = 1999) -> tuple[str, str, str]:
    """Points of tokens, F1 of spans and whole sequences, each with its 95 % interval; p stands with F1."""
    tokens, spans, whole = compare(one, other, resamples=resamples)
    return interval(tokens), f"{interval(spans)}, p = {spans.p:.3f}", interval(whole)


def gain_over(base: Callable[[DataFrame], DataFrame]) -> Callable[[DataFrame], str]:
    """A cell with the gain of F1 over the rows that `base` names for a group of rows; a dash where it is the group itself, or empty."""

    def gain(some: DataFrame) -> str:
        others = base(some)
        if others.empty or others.index.equals(some.index):
            return "–"
        return gains(evaluation_of(some), evaluation_of(others))[1]

    return gain


def interval(difference: Difference) -> str:
    low, high = (signed(100 * value, 2) for value in (difference.low, difference.high))
    return f"{signed(100 * difference.gain, 2)} [{low}, {high}]"


def statuses(solutions: Sequence[Solution], *names: str) -> Row:
    """How many solutions have each status."""
    return {name: sum(one.status == name for one in solutions) for name in names}


def rechecked(trellises: Sequence[Trellis], rules: RuleSet, limit: float | None = None) -> Sequence[Solution]:
    """The best labellings under rules; each that is optimal is rechecked."""
    solutions = list(ilpinfer.Decoder(rules, time_limit=limit).decode_many(trellises))
    for trellis, solution in zip(trellises, solutions, strict=True):
        recheck(trellis, rules, solution)
    return solutions


def beside_gold(
    examples: Sequence[Labelled], labellings: Iterable[Sequence[str] | None], **options: Any
) -> Evaluation:
    """An evaluation of labellings of the examples; what is missing counts as wrong."""
    pairs = [
        Pair(tokens, None if own is None else tuple(own), gold)
        for (tokens, gold), own in zip(examples, labellings, strict=True)
    ]
    return evaluate(pairs, **options)
