"""Log-linear combinations of several models."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np

from formulations import LabelSet, Trellis
from formulations.dtypes import Floats, Integers
from formulations.grid import Grid, all_nats
from formulations.messages import counted
from ilpinfer.models.sequence_model import SequenceModel


@dataclass(frozen=True)
class Combination(SequenceModel):
    """A model whose score is a weighted sum of the scores of other models (Stokman 2011, section 4).

    Parameters
    ----------
    models : tuple of SequenceModel
        At least one model; all have the same labels.
    weights : tuple of float, optional
        Weight of each model, 0 or more; 1 for each where not given.

    Examples
    --------
    >>> from ilpinfer.models.hmm import HMM
    >>> hmm = HMM.train([(["Ada", "1815"], ["name", "year"])])
    >>> both = Combination((hmm, hmm), (0.5, 0.5))
    >>> both.trellis(("Ada",)).score(["name"]) == hmm.trellis(("Ada",)).score(["name"])
    True
    """

    models: tuple[SequenceModel, ...]
    weights: tuple[float, ...] | None = None

    @property
    def labels(self) -> LabelSet:
        """K labels, in the order of the first model."""
        return self.models[0].labels

    def trellis(self, tokens: tuple[str, ...]) -> Trellis:
        return combine([model.trellis(tokens) for model in self.models], self.weights)


def combine(trellises: Sequence[Trellis], weights: Sequence[float] | None = None) -> Trellis:
    """The trellis of score(y) = Σ_m w_m score_m(y).

    If each trellis has one table of transitions, the result has one, too. A step that one trellis
    forbids is forbidden, unless the weight of that trellis is 0. Labels have the order of the first trellis.

    Parameters
    ----------
    trellises : sequence of Trellis
        At least one trellis; all have the same tokens, labels and order.
    weights : sequence of float, optional
        Weight of each trellis, 0 or more, not all 0; 1 for each where not given.

    Returns
    -------
    Trellis
        The trellis of the weighted sum.

    Raises
    ------
    ValueError
        For trellises or weights that do not match.

    Examples
    --------
    >>> one = Trellis([0.0, 1.0], [], labels=["a", "b"])
    >>> combine([one, one], [0.5, 2.0]).score(["b"])
    2.5
    """
    chosen = [
        (w, trellis) for w, trellis in zip(_weights(trellises, weights), trellises, strict=True) if w > 0
    ]
    first = trellises[0]
    for number, trellis in enumerate(trellises[1:], 1):
        _check_same(first, trellis, number)
    tokens = next((t.tokens for t in trellises if any(t.tokens)), first.tokens)
    factored = first.order == 1 and all(len(trellis.lattice.pool) == 1 for _, trellis in chosen)
    arrays = [_arrays(trellis, first.labels, factored) for _, trellis in chosen]
    sums = [
        sum((w * part[i] for (w, _), part in zip(chosen, arrays, strict=True)), np.zeros(arrays[0][i].shape))
        for i in range(len(arrays[0]))
    ]
    if factored:
        return Trellis.from_emissions(sums[0], sums[1], labels=first.labels, tokens=tokens)
    if first.order == 1:
        return Trellis(sums[0], sums[1], first.labels, tokens=tokens)
    return Trellis.second_order(sums[0], sums[1], sums[2], first.labels, tokens=tokens)


def on_labels(trellis: Trellis, labels: LabelSet) -> Trellis:
    """The scores of an HMM or a CRF on other labels of the same scheme: -inf for labels that the model lacks."""
    if trellis.labels == labels:
        return trellis
    known = [k for k, name in enumerate(labels.names) if name in trellis.labels.names]
    own = trellis.labels.ids([labels.names[k] for k in known])
    nodes, steps = np.full((len(trellis), len(labels)), -np.inf), np.zeros((len(labels), len(labels)))
    nodes[:, known] = all_nats(trellis.lattice.node)[:, own]
    steps[np.ix_(known, known)] = all_nats(trellis.lattice.pool[0])[np.ix_(own, own)]
    return Trellis.from_emissions(nodes, steps, labels=labels, tokens=trellis.tokens)


def _weights(trellises: Sequence[Trellis], weights: Sequence[float] | None) -> list[float]:
    if not trellises:
        raise ValueError("nothing to combine; expected at least one trellis")
    result = [1.0] * len(trellises) if weights is None else [float(w) for w in weights]
    if len(result) != len(trellises):
        raise ValueError(f"{counted(len(result), 'weight')} for {counted(len(trellises), 'model')}")
    for number, weight in enumerate(result):
        if not 0 <= weight < math.inf:
            raise ValueError(f"weight {number} is {weight:g}; expected a number from 0")
    if not any(result):
        raise ValueError("every weight is 0; expected one above 0")
    return result


def _check_same(first: Trellis, other: Trellis, number: int) -> None:
    if len(first) != len(other):
        raise ValueError(f"model 0 scores {counted(len(first), 'token')}, but model {number} {len(other)}")
    if first.order != other.order:
        raise ValueError(f"model 0 has order {first.order}, but model {number} order {other.order}")
    names = set(first.labels.names), set(other.labels.names)
    for number_with, more, (has, has_not) in ((0, number, names), (number, 0, names[::-1])):
        if has - has_not:
            name = sorted(has - has_not)[0]
            raise ValueError(f"model {number_with} has label {name!r}, but model {more} does not")
    if first.labels.scheme != other.labels.scheme:
        schemes = first.labels.scheme, other.labels.scheme
        raise ValueError(f"model 0 reads labels as {schemes[0]}, but model {number} as {schemes[1]}")
    if any(first.tokens) and any(other.tokens) and first.tokens != other.tokens:
        t = next(t for t in range(len(first)) if first.tokens[t] != other.tokens[t])
        raise ValueError(
            f"token {t} is {first.tokens[t]!r} for model 0, but {other.tokens[t]!r} for model {number}"
        )


def _arrays(trellis: Trellis, labels: LabelSet, factored: bool) -> list[Floats]:
    """Scores in nats, with labels in the given order: emissions and transitions, or start, edges and, for second order, `first`."""
    lattice = trellis.lattice
    K = len(labels)
    if factored:
        arrays, axes = [lattice.node, lattice.pool[0]], [1, 2]
    elif trellis.order == 1:
        arrays, axes = [lattice.node[0], lattice.edge_scores()], [1, 2]
    else:
        steps = lattice.edge_scores()
        first = steps[0, :K] if len(steps) else np.zeros((0, K), np.int64)
        later = steps[1:, K:].reshape(-1, K, K, K)
        arrays, axes = [lattice.node[0, :K], first, later], [1, 2, 3]
    order = trellis.labels.ids(labels.names)
    return [all_nats(_permute(part, order, count)) for part, count in zip(arrays, axes, strict=True)]


def _permute(part: Grid, order: Integers, axes: int) -> Grid:
    """Reorder the labels on the last axes of an array."""
    last = range(part.ndim - axes, part.ndim)
    return reduce(lambda array, axis: np.take(array, order, axis) if part.size else array, last, part)
