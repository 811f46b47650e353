"""The temperature of logits, fitted by the likelihood of gold labels."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from formulations import LabelSet
from formulations.arguments import items, iterable
from formulations.dtypes import Floats, Integers
from formulations.labels.label_set import named_labels
from formulations.messages import counted
from formulations.score_numbers import in_memory, one_notice, score_array

LEAST, MOST = 0.05, 20.0
"""Bounds on the temperature."""
PRECISION = 1e-4
"""Precision of the logarithm of a temperature."""
LARGEST = 2**22
"""Largest number of scores of a batch of sequences, and of one step of all its sequences, in memory at once."""


@one_notice
def fit_temperature(
    logits: Any,
    gold: Any,
    labels: LabelSet | Sequence[str] | Mapping[Any, str] | None = None,
    *,
    transitions: Any = None,
    start: Any = None,
    end: Any = None,
) -> float:
    r"""The temperature of logits under which gold labels are most likely.

    A network is often overconfident, so that a penalty in nats weighs too little relative to its logits. The temperature is

    .. math:: \arg\min_\tau -\sum_n \log p_\tau(y_n), \qquad p_\tau(y) \propto \exp(s(y) / \tau),

    where s(y) is the sum of the logits and CRF transitions of a labelling (Guo et al. 2017, section 4.2).

    Parameters
    ----------
    logits : array_like of shape (N, T, K), or list of array_like of shape (T, K)
        Scores in nats of N sequences that the network was not trained on, a row for each token or word piece.
    gold : iterable of sequence of str or of int
        Label name or id of each row. Rows with a negative id, such as padding, are left out.
    labels : LabelSet, sequence of str or mapping of object to str, optional
        K names, or an `id2label` mapping; required if `gold` has names.
    transitions, start, end : array_like of shape (K, K) or (K,), optional
        Scores in nats of a CRF layer: of steps [from, to], of first and of last labels.

    Returns
    -------
    float
        A number from 0.05 to 20 for the parameter `temperature` of `from_logits`; above 1 if the network is overconfident.

    Raises
    ------
    ValueError
        For NaN, inconsistent shapes, unknown labels, forbidden gold labels, and if no temperature is the best, such as for logits
        that are always right.

    Examples
    --------
    The network is confident of four labels, and three of them are right:

    >>> logits = [[[4.0, 0.0], [4.0, 0.0], [0.0, 4.0], [0.0, 4.0]]]
    >>> round(fit_temperature(logits, [["a", "b", "b", "b"]], labels=["a", "b"]), 2)
    3.64
    """
    from scipy.optimize import minimize_scalar

    rows, ids = _labelled(logits, gold, labels)
    K = rows[0].shape[1]
    layer = {"transitions": (transitions, (K, K)), "start": (start, (K,)), "end": (end, (K,))}
    steps, first, last = (_scores(name, *each) for name, each in layer.items())
    own = sum(
        row[np.arange(len(y)), y].sum() + steps[y[:-1], y[1:]].sum() + first[y[0]] + last[y[-1]]
        for row, y in zip(rows, ids, strict=True)
    )
    if own == -np.inf:
        raise ValueError(
            "gold has a label or a step with the score -inf, which no temperature makes possible; remove the sequence or the mask"
        )
    chained = steps.any() or first.any() or last.any()
    batches = _batches(rows if chained else [*np.concatenate(rows)[:, None]])
    tokens = sum(map(len, rows))

    def loss(logarithm: float) -> float:
        beta = np.exp(-logarithm)
        layer = beta * steps, beta * first, beta * last
        total = sum(_log_partition(beta * padded, lengths, *layer) for padded, lengths in batches)
        return float(total - beta * own) / tokens

    bounds = np.log([LEAST, MOST])
    best = float(minimize_scalar(loss, bounds=bounds, method="bounded", options={"xatol": PRECISION}).x)
    if best - bounds[0] < 10 * PRECISION:
        raise ValueError(
            f"gold is likelier the lower the temperature, down to {LEAST:g}: the logits are right nearly everywhere; give more sequences, "
            "and none that the network was trained on"
        )
    if bounds[1] - best < 10 * PRECISION:
        raise ValueError(
            f"gold is likelier the higher the temperature, up to {MOST:g}: the logits say next to nothing about it; check that labels and "
            "sequences have the same order in both"
        )
    return float(np.exp(best))


def _labelled(logits: Any, gold: Any, labels: Any) -> tuple[list[Floats], list[Integers]]:
    """The labelled rows (T, K) of each sequence, and their label ids (T,); sequences without labelled rows are left out."""
    scores = list(iterable(in_memory(logits), "logits", "an array (N, T, K), or a list of arrays (T, K)"))
    known = list(iterable(in_memory(gold), "gold", "the labels of each sequence"))
    if len(scores) != len(known):
        raise ValueError(f"gold has {counted(len(known), 'sequence')}, but logits {len(scores)}")
    rows, ids = list[Floats](), list[Integers]()
    for n, (each, labelling) in enumerate(zip(scores, known, strict=True)):
        row, own = score_array(each, f"logits[{n}]", 2), items(in_memory(labelling), f"gold[{n}]", "labels")
        if len(own) != len(row):
            raise ValueError(
                f"gold[{n}] has {counted(len(own), 'label')}, but logits[{n}] {counted(len(row), 'row')}"
            )
        kept = np.array([not (isinstance(label, int | np.integer) and label < 0) for label in own], bool)
        if not kept.any():
            continue
        if rows and row.shape[1] != rows[0].shape[1]:
            raise ValueError(f"logits[{n}] has shape {row.shape}; expected {(len(row), rows[0].shape[1])}")
        names = named_labels(labels, row.shape[1])
        try:
            found = names.ids([label if yes else 0 for label, yes in zip(own, kept, strict=True)])
        except ValueError as error:
            hint = "; name the labels of logits by labels=" if labels is None else ""
            raise ValueError(f"gold[{n}], {error}{hint}") from None
        rows.append(row[kept])
        ids.append(found[kept])
    if not rows:
        raise ValueError("gold has no label; give at least one")
    return rows, ids


def _scores(name: str, scores: Any, shape: tuple[int, ...]) -> Floats:
    """Scores of a CRF layer, zeros if there are none."""
    result = np.zeros(shape) if scores is None else score_array(scores, name)
    if result.shape != shape:
        raise ValueError(
            f"{name} has shape {result.shape}; expected {shape}, as logits has {counted(shape[0], 'label')}"
        )
    return result


def _batches(rows: Sequence[Floats]) -> list[tuple[Floats, Integers]]:
    """Batches of bounded size: sequences (N, T, K), the longest first, and their lengths (N,)."""
    left, K = sorted(rows, key=len, reverse=True), rows[0].shape[1]
    result = []
    while left:
        size = max(1, LARGEST // (K * max(K, len(left[0]))))
        some, left = left[:size], left[size:]
        lengths = np.array([len(row) for row in some])
        padded = np.zeros((len(some), lengths[0], K))
        padded[np.arange(lengths[0]) < lengths[:, None]] = np.concatenate(some)
        result.append((padded, lengths))
    return result


def _log_partition(rows: Floats, lengths: Integers, steps: Floats, first: Floats, last: Floats) -> float:
    """The sum over sequences (N, T, K), the longest first, of the logarithm of the sum of exp(score) over labellings."""
    alpha = first + rows[:, 0]
    for t in range(1, rows.shape[1]):
        n = int(np.searchsorted(-lengths, -t))
        alpha[:n] = _log_sum(alpha[:n, :, None] + steps) + rows[:n, t]
    return float(_log_sum(alpha + last).sum())


def _log_sum(scores: Floats) -> Floats:
    """The logarithm of the sum of exp(score) over the second axis; faster than `logaddexp`."""
    top = scores.max(axis=1, keepdims=True)
    top[np.isneginf(top)] = 0.0
    scores -= top
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(np.exp(scores, out=scores).sum(axis=1)) + top[:, 0])
