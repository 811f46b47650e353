"""From arrays of nats to lattices on the grid: here their shapes and totals are checked."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from formulations.automata.lattice import Lattice, pair_lattice
from formulations.grid import FORBIDDEN, Grid, add, check_total, snap


def dense(start: ArrayLike, edges: ArrayLike) -> Lattice:
    """A lattice from start (K,) and edges (T-1, K, K)."""
    first, pool = _start(start), snap(edges, "edges")
    K = len(first)
    if pool.shape == (0,):
        pool = pool.reshape(0, K, K)
    if pool.ndim != 3 or pool.shape[1:] != (K, K):
        hint = "; second order has first, too (Trellis.second_order)" if pool.ndim == 4 else ""
        raise ValueError(
            f"edges has shape {pool.shape}; expected (T-1, {K}, {K}), as start has {K} labels{hint}"
        )
    T = len(pool) + 1
    check_total([("start", first, 1), ("edges", pool, np.ones(T - 1, np.int64))])
    return Lattice(_starting(first, T), pool, np.arange(T - 1))


def dense_pairs(start: ArrayLike, first: ArrayLike | None, edges: ArrayLike) -> Lattice:
    """A second-order lattice from start (K,), first (K, K), which is empty for one token, and edges (T-2, K, K, K)."""
    begin, step, pool = _start(start), snap([] if first is None else first, "first"), snap(edges, "edges")
    K = len(begin)
    if step.size and step.shape != (K, K):
        raise ValueError(f"first has shape {step.shape}; expected ({K}, {K}), as start has {K} labels")
    if pool.shape == (0,):
        pool = pool.reshape(0, K, K, K)
    if pool.ndim != 4 or pool.shape[1:] != (K, K, K):
        raise ValueError(
            f"edges has shape {pool.shape}; expected (T-2, {K}, {K}, {K}), as start has {K} labels"
        )
    if not step.size and len(pool):
        raise ValueError(
            f"first is empty, as for one token, but edges has shape {pool.shape}, as for {len(pool) + 2} tokens; expected "
            f"first of shape ({K}, {K})"
        )
    check_total([("start", begin, 1), ("first", step, 1), ("edges", pool, np.ones(len(pool), np.int64))])
    T = len(pool) + 2 if step.size else 1
    return pair_lattice(_starting(begin, T), step if step.size else _none(K, K), pool, np.arange(len(pool)))


def factored(
    emissions: ArrayLike,
    transitions: ArrayLike,
    start: ArrayLike | None,
    end: ArrayLike | None,
    first: ArrayLike | None,
) -> Lattice:
    """A lattice from emissions (T, K) and transitions (K, K), or (K, K, K) with first (K, K) for second order."""
    node, pool = snap(emissions, "emissions"), snap(transitions, "transitions")
    if node.ndim != 2 or node.size == 0:
        raise ValueError(f"emissions has shape {node.shape}; expected (T, K) with at least one token")
    T, K = node.shape
    order = 2 if pool.ndim == 3 else 1
    given = {"transitions": pool, "first": first, "start": start, "end": end}
    shapes = {"transitions": (K,) * (order + 1), "first": (K, K), "start": (K,), "end": (K,)}
    extra: dict[str, Grid] = {}
    for name, shape in shapes.items():
        x = given[name]
        if x is None:
            continue
        extra[name] = pool if name == "transitions" else snap(x, name)
        if extra[name].shape != shape:
            raise ValueError(
                f"{name} has shape {extra[name].shape}; expected {shape}, as emissions has {K} labels"
            )
    if first is not None and order == 1:
        raise ValueError(
            f"first goes with transitions of shape {(K,) * 3}, and those given have shape {(K,) * 2}"
        )
    node = with_ends(node, extra, order)
    if order == 1:
        return Lattice(node, pool[None], np.zeros(T - 1, np.int64))
    return pair_lattice(node, extra.get("first", _none(K, K)), pool[None], np.zeros(max(T - 2, 0), np.int64))


def with_ends(node: Grid, extra: Mapping[str, Grid], order: int = 1) -> Grid:
    """A copy of emissions (T, K) on the grid with `start` and `end` added; ValueError for totals beyond 2^31 nats."""
    T = len(node)
    times = {"transitions": max(T - order, 0), "first": min(T - 1, 1), "start": 1, "end": 1}
    components: list[tuple[str, Grid, int | Grid]] = [("emissions", node, np.ones(T, np.int64))]
    check_total([*components, *((name, x, times[name]) for name, x in extra.items())])
    node = node.copy()
    for t, name in ((0, "start"), (-1, "end")):
        if name in extra:
            node[t] = add(node[t], extra[name])
    return node


def joined(lattices: Sequence[Lattice]) -> Lattice:
    """Lattices of the same labels and order, one after the other: a score is the sum of theirs."""
    node, pool, step = [lattices[0].node], [_none(1, *lattices[0].pool.shape[1:])], list[Grid]()
    for number, lattice in enumerate(lattices):
        own, edges, later = lattice.node, lattice.pool, lattice.step
        if number and lattice.order == 2:
            own, edges, later = _after_others(lattice)
        if number:
            node.append(own)
            step.append(np.zeros(1, np.int64))
        step.append(later + sum(map(len, pool)))
        pool.append(edges)
    result = Lattice(np.concatenate(node), np.concatenate(pool), np.concatenate(step))
    T, K = result.shape
    uses = np.bincount(result.step, minlength=len(result.pool)).astype(np.int64)
    highest = result.node.reshape(T, -1, K).max(axis=1)
    check_total([("node", highest, np.ones(T, np.int64)), ("edge", result.pool, uses)])
    return result


def _after_others(lattice: Lattice) -> tuple[Grid, Grid, Grid]:
    """Nodes, pool and steps of a second-order lattice whose first token has a label before it, which scores nothing."""
    _, K = lattice.shape
    node, pool, step = lattice.node.copy(), lattice.pool, lattice.step.copy()
    node[0] = np.tile(node[0, :K], K + 1)
    node[0, :K] = FORBIDDEN
    if len(step):
        pool = np.concatenate([pool, np.tile(pool[step[0], :K], (K + 1, 1))[None]])
        step[0] = len(pool) - 1
    return node, pool, step


def _start(scores: ArrayLike) -> Grid:
    start = snap(scores, "start")
    if start.ndim != 1 or not start.size:
        raise ValueError(f"start has shape {start.shape}; expected (K,), one score for each label")
    return start


def _starting(start: Grid, tokens: int) -> Grid:
    """(T, K) node scores that are 0 after token 0."""
    return np.concatenate([start[None], _none(tokens - 1, len(start))])


def _none(*shape: int) -> Grid:
    return np.zeros(shape, np.int64)
