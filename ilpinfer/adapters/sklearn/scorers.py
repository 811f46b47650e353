"""Measures of predictions, to be passed to scikit-learn as `scoring`."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from formulations import LabelSet
from ilpinfer.adapters.sklearn.inputs import rows
from ilpinfer.corpus.conversion import shown_scheme
from ilpinfer.evaluation.counts import FieldTable, f_measure

Span = tuple[int, str, int, int]
"""Sequence, field, first and last token."""


def span_f1(estimator: Any, X: Any, y: Any) -> float:
    """F1 of exact spans over all fields and sequences, micro-averaged: 2 TP / (2 TP + FP + FN).

    A span is a maximal run of a field, with its first and last token. `O` is no field. The scheme of `y` and that of
    the predictions are inferred separately, so that predictions may be IOBES and `y` BIO. Without any span the measure
    is 0. Use it as `GridSearchCV(..., scoring=span_f1)`, also for other estimators of label sequences.

    Parameters
    ----------
    estimator : predicts lists of label names; None counts as no spans
    X : N sequences
    y : N sequences of label names

    Raises
    ------
    ValueError
        if the numbers of labels in `y` and in the predictions differ.

    Examples
    --------
    >>> class Predicts:
    ...     def predict(self, X):
    ...         return [["B-name", "I-name", "O"]]
    >>> span_f1(Predicts(), [["Ada", "Lovelace", "1843"]], [["B-name", "I-name", "B-year"]])
    0.6666666666666666
    """
    gold = [tuple(labels) for labels in rows(y, "y", "sequences of labels")]
    predicted = [None if labels is None else tuple(labels) for labels in estimator.predict(X)]
    if len(gold) != len(predicted):
        raise ValueError(f"y has {len(gold)} sequences, and {len(predicted)} are predicted; expected as many")
    for i, (one, other) in enumerate(zip(gold, predicted, strict=True)):
        if other is not None and len(one) != len(other):
            raise ValueError(
                f"y[{i}] has {len(one)} labels, and {len(other)} are predicted; expected as many"
            )
    found, wanted = spans(predicted), spans(gold)
    return float(f_measure(np.array([len(found), len(wanted), len(found & wanted)])))


def spans(labellings: Sequence[tuple[str, ...] | None]) -> set[Span]:
    """The spans of labellings, whose scheme is inferred.

    Examples
    --------
    >>> sorted(spans([("name", "name", "O"), None]))
    [(0, 'name', 0, 1)]
    """
    known = [labels for labels in labellings if labels]
    if not known:
        return set()
    labels = LabelSet(tuple(sorted({name for each in known for name in each})), shown_scheme(known))
    table = FieldTable.of(labels)
    return {
        (i, table.names[f], first, last)
        for i, each in enumerate(labellings)
        if each
        for f, first, last in table.spans(labels.ids(each))
    }
