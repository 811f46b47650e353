"""Better labellings from the multipliers of sums: changes of the best labelling at the multipliers, each to the best one through another
label of a token, as long as they make it worth more.

A change loses little at the multipliers, and may bring sums nearer to their sides.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from formulations.automata.lattice import Lattice
from formulations.dtypes import Booleans, Integers, LabelIds
from formulations.grid import UNITS_PER_NAT
from ilpinfer.exact.ground import plain_ground
from ilpinfer.exact.mixtures import SumTerm, charged
from ilpinfer.exact.product_lattice import ProductLattice
from ilpinfer.exact.viterbi import best_completed

MOST_CHANGES, MOST_LOST = 2000, 3 * UNITS_PER_NAT
"""Number of changes, those that lose least, and what each of them may lose at the multipliers, grid units."""
MOST_ROUNDS = 200
"""Changes that are made or undone."""
MOST_WEIGHTS = 2**24
"""Weights of all sums on all steps beyond which nothing is changed."""
LARGE = 2**40
"""Cost of a violation of a hard sum, and a side that is open."""


@dataclass(frozen=True)
class Changes:
    """N changes of a labelling, each of some tokens: the first one (N,), the one after the last (N,), their labels, what the change loses at
    the multipliers (N,), grid units, and what it adds to R sums (N, R)."""

    first: Integers
    end: Integers
    labels: list[list[int]]
    loss: Integers
    added: Integers


def mend(product: ProductLattice, terms: Sequence[SumTerm], multipliers: Integers) -> LabelIds | None:
    """A labelling worth at least as much under the sums and the machines of the product as the best one at the multipliers; None for second
    order, and where there are too many weights."""
    lattice, tables = product.lattice, [product.of_states(term.total.steps) for term in terms]
    K = lattice.shape[1]
    kinds, kind = np.unique(np.stack([table.index for table in tables]), axis=1, return_inverse=True)
    if lattice.order > 1 or kinds.size * (K + 1) * K > MOST_WEIGHTS:
        return None
    each = (
        np.broadcast_to(one.values[of], (len(of), K + 1, K)) for one, of in zip(tables, kinds, strict=True)
    )
    weights, kind = np.stack(list(each), axis=3), kind.reshape(-1)
    best = charged(lattice, tables, multipliers)
    _, path, completion = best_completed(plain_ground(best))
    along = weights[kind, np.append(0, path[:-1] + 1), path]
    changes = _changes(best, path, completion, weights, kind, along)
    for n in np.flatnonzero(_chosen(changes, terms, multipliers, along.sum(axis=0))).tolist():
        path[changes.first[n] : changes.end[n]] = changes.labels[n]
    labels: LabelIds = product.label[path]
    return labels


def _changes(
    lattice: Lattice,
    path: LabelIds,
    completion: Integers,
    weights: Integers,
    kind: Integers,
    along: Integers,
) -> Changes:
    """The changes of a best labelling that lose least. Each follows the best labelling through a label of a token until it meets the path.

    Parameters
    ----------
    completion : (T, K) best scores after a label
    weights, kind : (C, K+1, K, R) and (T,), the weights of the sums on steps into tokens of each kind
    along : (T, R) the weights along the path
    """
    (T, K), reach = lattice.shape, lattice.node.copy()
    before, after = np.zeros((T, K), np.int64), np.zeros((T, K), np.int64)
    for t in range(1, T):
        edge = lattice.pool[lattice.step[t - 1]]
        into = reach[t - 1][:, None] + edge
        before[t] = into.argmax(axis=0)
        reach[t] += into[before[t], np.arange(K)]
        after[t - 1] = (edge + lattice.node[t] + completion[t]).argmax(axis=1)
    loss = reach[-1].max() - reach - completion
    loss[np.arange(T), path] = MOST_LOST + 1
    places = np.flatnonzero(loss <= MOST_LOST)
    places = places[np.argsort(loss.reshape(-1)[places], kind="stable")][:MOST_CHANGES]
    sums = np.concatenate([np.zeros((1, along.shape[1]), np.int64), along.cumsum(axis=0)])
    found: dict[tuple[int, tuple[int, ...]], tuple[int, Integers]] = {}
    for t, j in zip(*(each.tolist() for each in np.divmod(places, K)), strict=True):
        first, labels = t, [j]
        while first and (label := int(before[first, labels[0]])) != path[first - 1]:
            first, labels = first - 1, [label, *labels]
        end = first + len(labels)
        while end < T and (label := int(after[end - 1, labels[-1]])) != path[end]:
            end, labels = end + 1, [*labels, label]
        stop = min(end + 1, T)
        new = np.array([*labels, *path[end:stop]])
        steps = kind[first:stop], np.append(path[first - 1] + 1 if first else 0, new[:-1] + 1), new
        added = weights[steps].sum(axis=0) - (sums[stop] - sums[first])
        found.setdefault((first, tuple(labels)), (int(loss[t, j]), added))
    begins, runs = [first for first, _ in found], [list(labels) for _, labels in found]
    return Changes(
        np.array(begins, np.int64),
        np.array([first + len(labels) for first, labels in zip(begins, runs, strict=True)], np.int64),
        runs,
        np.array([lost for lost, _ in found.values()], np.int64),
        np.array([added for _, added in found.values()], np.int64).reshape(len(found), along.shape[1]),
    )


def _chosen(changes: Changes, terms: Sequence[SumTerm], multipliers: Integers, sums: Integers) -> Booleans:
    """(N,) changes that make a labelling with these sums (R,) worth more together, by the best one at a time; changes of neighbours exclude
    each other."""
    low, high = (np.array([ends[side] for ends in map(_sides, terms)], np.int64) for side in (0, 1))
    penalty = np.array([min(term.penalty, LARGE) for term in terms], np.int64)

    def worth(totals: Integers) -> Integers:
        away = np.maximum(0, low - totals) + np.maximum(0, totals - high)
        result: Integers = (multipliers * totals - penalty * away).sum(axis=-1)
        return result

    chosen, taken = np.zeros(len(changes.loss), bool), np.zeros(len(changes.loss), np.int64)
    for _ in range(MOST_ROUNDS if len(chosen) else 0):
        sign: Integers = np.where(chosen, -1, 1).astype(np.int64)
        gain = worth(sums + sign[:, None] * changes.added) - worth(sums) - sign * changes.loss
        gain[taken > chosen] = 0
        n = int(gain.argmax())
        if gain[n] <= 0:
            break
        sums = sums + int(sign[n]) * changes.added[n]
        near = (changes.first <= changes.end[n]) & (changes.first[n] <= changes.end)
        chosen[n], taken = not chosen[n], taken + sign[n] * near
    return chosen


def _sides(term: SumTerm) -> tuple[int, int]:
    """The sides of a sum, open ones far away."""
    low, high = term.total.low, term.total.high
    return -LARGE if low is None else low, LARGE if high is None else high
