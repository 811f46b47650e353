"""Precision, recall and F1 by field, with their averages, in the form of seqeval and scikit-learn."""

from collections.abc import Iterable, Sequence
from typing import Any, Literal, overload

import numpy as np

from formulations.arguments import choice, texts, whole
from ilpinfer.evaluation.counts import f_measure, precision, recall
from ilpinfer.evaluation.evaluation import Evaluation, Pair, evaluate

MEASURES = ("precision", "recall", "f1-score")
MICRO, MACRO, WEIGHTED = "micro avg", "macro avg", "weighted avg"

LEVELS = ("span", "token", "sequence")

Labelling = Sequence[str]
FieldRows = dict[str, dict[str, Any]]


@overload
def classification_report(
    gold: Sequence[Labelling],
    predicted: Sequence[Labelling | None],
    *,
    level: str = ...,
    digits: int = ...,
    output_dict: Literal[False] = ...,
    scheme: str = ...,
    leave_out: Sequence[str] = ...,
    never: Iterable[str] = ...,
) -> str: ...
@overload
def classification_report(
    gold: Sequence[Labelling],
    predicted: Sequence[Labelling | None],
    *,
    level: str = ...,
    digits: int = ...,
    output_dict: Literal[True],
    scheme: str = ...,
    leave_out: Sequence[str] = ...,
    never: Iterable[str] = ...,
) -> FieldRows: ...
def classification_report(
    gold: Sequence[Labelling],
    predicted: Sequence[Labelling | None],
    *,
    level: str = "span",
    digits: int = 2,
    output_dict: bool = False,
    scheme: str = "",
    leave_out: Sequence[str] = (),
    never: Iterable[str] = (),
) -> str | FieldRows:
    """Precision, recall, F1 and support of each field by spans, tokens or sequences, in the form of seqeval.

    Parameters
    ----------
    gold : sequence of sequence of str
        N sequences of labels.
    predicted : sequence of sequence of str
        N sequences of the same lengths; None if no labelling was found.
    level : {"span", "token", "sequence"}
        Unit of counts: spans with both ends right, tokens in the field without regard to prefixes, or sequences that have the field,
        right if all of its spans are right.
    digits : int, default 2
        Digits after the point in the text.
    output_dict : bool, default False
        Whether a dictionary is returned instead of a text.
    scheme : str, optional
        Scheme to which the labels of both sides are converted; see `ilpinfer.evaluation.evaluation.evaluate`.
    leave_out : sequence of str, optional
        Fields that are not counted, like `O`.
    never : iterable of str, optional
        Helper labels, such as `[PAD]` or `X`; see `ilpinfer.evaluation.evaluation.evaluate`.

    Returns
    -------
    str or dict of str to dict
        Rows of the fields that occur, by name, then the micro, macro and weighted averages.

    Raises
    ------
    ValueError
        As `ilpinfer.evaluation.evaluation.evaluate`, and for different numbers of gold labellings and predictions.

    Examples
    --------
    >>> print(classification_report([["B-name", "I-name", "B-year"]], [["B-name", "O", "B-year"]]))
                  precision    recall  f1-score   support
    <BLANKLINE>
            name       0.00      0.00      0.00         1
            year       1.00      1.00      1.00         1
    <BLANKLINE>
       micro avg       0.50      0.50      0.50         2
       macro avg       0.50      0.50      0.50         2
    weighted avg       0.50      0.50      0.50         2
    """
    whole(digits, "digits", 0)
    unit = f"{choice(level, 'level', LEVELS)}s"
    if len(gold) != len(predicted):
        raise ValueError(
            f"{len(gold)} gold and {len(predicted)} predicted sequences; expected as many of each"
        )
    pairs = []
    for number, (right, labels) in enumerate(zip(gold, predicted, strict=True)):
        own = texts(right, f"gold[{number}]", "labels")
        found = None if labels is None else texts(labels, f"predicted[{number}]", "labels")
        pairs.append(Pair(own, found, own))
    rows = field_rows(evaluate(pairs, scheme=scheme, leave_out=leave_out, never=never), unit)
    return rows if output_dict else report_text(rows, digits)


def field_rows(result: Evaluation, unit: str = "spans") -> FieldRows:
    """Rows of the fields that occur, and their averages."""
    counts = result.counts[unit].sum(axis=0)
    there = sorted((name, f) for f, name in enumerate(result.fields) if counts[f, :2].any())
    own = counts[[f for _, f in there]].reshape(-1, 3)
    support, total = own[:, 1], own.sum(axis=0)
    each = np.stack([precision(own), recall(own), f_measure(own)], axis=-1)
    micro = precision(total), recall(total), f_measure(total)
    macro = each.mean(axis=0) if len(each) else np.zeros(3)
    weighted = support @ each / max(support.sum(), 1)
    rows = [*zip((name for name, _ in there), each, support, strict=True)]
    rows += [
        (name, average, total[1])
        for name, average in zip((MICRO, MACRO, WEIGHTED), (micro, macro, weighted), strict=True)
    ]
    return {
        name: {**dict(zip(MEASURES, map(float, shares), strict=True)), "support": int(number)}
        for name, shares, number in rows
    }


def report_text(rows: FieldRows, digits: int = 2) -> str:
    width = max(len(WEIGHTED), digits, *map(len, rows))
    lines = [" " * width + " " + "".join(f" {name:>9}" for name in (*MEASURES, "support")), ""]
    for name, row in rows.items():
        if name == MICRO and len(rows) > 3:
            lines.append("")
        shares = "".join(f" {row[measure]:>9.{digits}f}" for measure in MEASURES)
        lines.append(f"{name:>{width}} {shares} {row['support']:>9}")
    return "\n".join(lines)
