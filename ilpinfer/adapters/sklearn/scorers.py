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

    A span is a maximal run of a field, with its first and last token. `O` is no field. Labels of each side
    are read in the scheme that they show, so that predictions may be IOBES if `y` is BIO. Without any span
    the measure is 0. `GridSearchCV(..., scoring=span_f1)` takes this function. It measures any estimator of
    label sequences, also one without rules.

    Parameters
    ----------
    estimator : object
        Fitted estimator that predicts lists of label names; None counts as a prediction without spans.
    X : sequence of sequence
        N sequences, as the estimator takes them.
    y : sequence of sequence of str
        Label names of the N sequences.

    Returns
    -------
    float
        F1, from 0 to 1.

    Raises
    ------
    ValueError
        If the number of labels differs from the number of predicted labels.

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
