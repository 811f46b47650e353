"""Conversion of arrays of nats, or of JSON values, to lattices on the grid and back, with checks of shapes and totals."""

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from formulations.arguments import whole
from formulations.automata.lattice import Lattice, pair_lattice
from formulations.dtypes import Floats
from formulations.grid import (
    FORBIDDEN,
    UNITS_PER_NAT,
    Grid,
    add,
    all_nats,
    check_total,
    is_forbidden,
    snap,
    snap_scores,
)
from formulations.messages import counted
from formulations.plain_values import items, kind_of, number, table
from formulations.score_numbers import MASK, OneNotice, is_plain, one_notice

MOST_SHARED, MOST_KEPT = 16, 2**12
"""Number of cached tables of transitions, which trellises often share, and largest number of entries of a cached table."""
FORMS = (("emissions", "transitions"), ("start", "edges"), ("node", "pool", "step"))
"""The keys of each form, without the optional key `first`."""


def plain_scores(lattice: Lattice) -> dict[str, Any]:
    """The scores in the first form from which the lattice can be restored."""
    for form in (_factored, _dense):
        given = form(lattice)
        if given is not None and not _has_masks(given) and _made(given) == lattice:
            return {name: _lists(x) for name, x in given.items()}
    general = {"node": _lists(all_nats(lattice.node)), "pool": _lists(all_nats(lattice.pool))}
    return {**general, "step": lattice.step.tolist()}


def lattice_of(values: Mapping[str, Any], what: str) -> Lattice:
    """The lattice of plain scores; ValueError for invalid keys, values and shapes, and totals beyond 2^31 nats."""
    form = next((keys for keys in FORMS if any(key in values for key in keys if key != "start")), FORMS[1])
    table(values, form, what, ("first",) if form != FORMS[2] else ())
    scores = {name: _array(x, f"{what}: {name}") for name, x in values.items() if name != "step"}
    if form != FORMS[2]:
        return _made(scores)
    return _general(snap(scores["node"], "node"), snap(scores["pool"], "pool"), values["step"], what)


def _factored(lattice: Lattice) -> dict[str, Any] | None:
    """Emissions and transitions, if all steps have the same transitions."""
    (_, K), tables = lattice.shape, len(lattice.pool)
    if tables != lattice.order:
        return None
    own = {"emissions": _own(lattice), "transitions": all_nats(lattice.pool[-1])}
    if lattice.order == 2:
        own |= {
            "transitions": own["transitions"][K:].reshape(K, K, K),
            "first": all_nats(lattice.pool[0, :K]),
        }
    return own


def _dense(lattice: Lattice) -> dict[str, Any] | None:
    """Start and edges, with a table for each step."""
    T, K = lattice.shape
    start, pool = _own(lattice)[0], all_nats(lattice.pool)
    if lattice.order == 1:
        return {"start": start, "edges": pool}
    first = pool[0, :K] if T > 1 else np.zeros((0, 0))
    return {"start": start, "first": first, "edges": pool[1:, K:].reshape(-1, K, K, K)}


def _has_masks(scores: Mapping[str, Any]) -> bool:
    """Whether a finite score is so low that it would be read as -inf."""
    return any(((x <= MASK) & np.isfinite(x)).any() for x in scores.values())


def _own(lattice: Lattice) -> Any:
    """(T, K) scores of labels; for second order, of states after label 0."""
    K = lattice.shape[1]
    if lattice.order == 1:
        return all_nats(lattice.node)
    return all_nats(np.concatenate([lattice.node[:1, :K], lattice.node[1:, K : 2 * K]]))


def _made(scores: Mapping[str, Any]) -> Lattice:
    if "emissions" in scores:
        return factored(scores["emissions"], scores["transitions"], None, None, scores.get("first"))
    if "first" in scores:
        return dense_pairs(scores["start"], scores["first"], scores["edges"])
    return dense(scores["start"], scores["edges"])


def _general(node: Grid, pool: Grid, step: Any, what: str) -> Lattice:
    """A lattice from its parts; ValueError for inconsistent shapes."""
    if node.ndim != 2 or not node.size or pool.ndim != 3:
        shapes = f"node has shape {node.shape} and pool {pool.shape}"
        raise ValueError(f"{what}: {shapes}; expected (T, S) and (P, S, K)")
    (T, S), K = node.shape, pool.shape[2]
    expected = f"(P, S, K) with S = {S}, and K or (K + 1)·K is S"
    _need(pool.shape[1] == S and S in (K, (K + 1) * K), f"{what}: pool", pool, expected)
    steps = enumerate(items(step, f"{what}: step", T - 1))
    index = [whole(each, f"{what}: step[{t}]", 0, len(pool) - 1, kind_of) for t, each in steps]
    result = Lattice(node, pool, np.array(index, np.int64))
    if result.order == 2 and not (is_forbidden(node[0, K:]).all() and is_forbidden(node[1:, :K]).all()):
        raise ValueError(f"{what}: node allows a state that no labelling has; expected null for it")
    uses = np.bincount(result.step, minlength=len(pool)).astype(np.int64)
    check_total([("node", node, np.ones(T, np.int64)), ("pool", pool, uses)])
    return result


def _lists(nats: Floats) -> Any:
    values = nats.astype(object)
    values[np.isneginf(nats)] = None
    return values.tolist()


def _array(value: Any, what: str) -> Any:
    """Nested lists of numbers as an array, -inf for null."""

    def plain(value: Any, what: str, depth: int) -> Any:
        if isinstance(value, list | tuple) and depth < 4:
            return [plain(each, f"{what}[{at}]", depth + 1) for at, each in enumerate(value)]
        return number(value, what, -math.inf)

    try:
        return np.array(plain(items(value, what), what, 0), np.float64)
    except ValueError as error:
        if "inhomogeneous" not in str(error):
            raise
        raise ValueError(f"{what} must hold numbers in rows of equal length") from None


@one_notice
def dense(start: ArrayLike, edges: ArrayLike) -> Lattice:
    """A lattice from start (K,) and edges (T-1, K, K)."""
    first, pool = _start(start), snap_scores(edges, "edges")
    K = len(first)
    if pool.shape == (0,):
        pool = pool.reshape(0, K, K)
    hint = "; second order has first, too (Trellis.second_order)" if pool.ndim == 4 else ""
    expected = f"(T-1, {K}, {K}), as start has {counted(K, 'label')}{hint}"
    _need(pool.ndim == 3 and pool.shape[1:] == (K, K), "edges", pool, expected)
    T = len(pool) + 1
    check_total([("start", first, 1), ("edges", pool, np.ones(T - 1, np.int64))])
    return Lattice(_starting(first, T), pool, np.arange(T - 1))


@one_notice
def dense_pairs(start: ArrayLike, first: ArrayLike | None, edges: ArrayLike) -> Lattice:
    """A second-order lattice from start (K,), first (K, K), which is empty for one token, and edges (T-2, K, K, K)."""
    begin, pool = _start(start), snap_scores(edges, "edges")
    step = snap_scores([] if first is None else first, "first")
    K = len(begin)
    as_start = f", as start has {counted(K, 'label')}"
    _need(not step.size or step.shape == (K, K), "first", step, f"({K}, {K}){as_start}")
    if pool.shape == (0,):
        pool = pool.reshape(0, K, K, K)
    _need(pool.ndim == 4 and pool.shape[1:] == (K,) * 3, "edges", pool, f"(T-2, {K}, {K}, {K}){as_start}")
    if not step.size and len(pool):
        raise ValueError(
            f"first is empty, as for one token, but edges has shape {pool.shape}, as for {counted(len(pool) + 2, 'token')}; expected "
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
    lattice = _quickly(emissions, transitions) if start is None and end is None and first is None else None
    if lattice is not None:
        return lattice
    with OneNotice():
        return _in_general(
            snap_scores(emissions, "emissions"),
            snap_scores(transitions, "transitions"),
            {
                name: snap_scores(x, name)
                for name, x in {"first": first, "start": start, "end": end}.items()
                if x is not None
            },
        )


def _in_general(node: Grid, pool: Grid, extra: dict[str, Grid]) -> Lattice:
    """As `factored`, for scores on the grid; `extra` are `first`, `start` and `end`, if given."""
    if node.shape == (0,) and pool.size:
        node = node.reshape(0, pool.shape[-1])  # from an empty list
    _need(node.ndim == 2 and node.shape[1] > 0, "emissions", node, "(T, K) with at least one label")
    T, K = node.shape
    order = 2 if pool.ndim == 3 else 1
    shapes = {"transitions": (K,) * (order + 1), "first": (K, K), "start": (K,), "end": (K,)}
    extra = {"transitions": pool, **extra}
    for name, array in extra.items():
        expected = f"{shapes[name]}, as emissions has {counted(K, 'label')}"
        _need(array.shape == shapes[name], name, array, expected)
    if "first" in extra and order == 1:
        what = f"{(K,) * 3}, and those given have shape {(K,) * 2}"
        raise ValueError(f"first needs transitions of shape {what}")
    node = with_ends(node, extra, order)
    if order == 1:
        return Lattice(node, pool[None], np.zeros(max(T - 1, 0), np.int64))
    return pair_lattice(node, extra.get("first", _none(K, K)), pool[None], np.zeros(max(T - 2, 0), np.int64))


def _quickly(emissions: Any, transitions: Any) -> Lattice | None:
    """As `factored`, faster, for float arrays of first order without unusual values; None for other arrays."""
    if type(emissions) is not np.ndarray or emissions.ndim != 2 or emissions.dtype.kind != "f":
        return None
    T, K = emissions.shape
    shared = shared_pool(transitions, K) if emissions.size else None
    if shared is None:
        return None
    if not is_plain(emissions, shared[1]):
        return None
    units = emissions * np.float64(UNITS_PER_NAT)
    return Lattice(
        np.rint(units, out=units).astype(np.int64, order="C"), shared[0], np.zeros(T - 1, np.int64)
    )


def shared_pool(transitions: Any, K: int) -> tuple[Grid, float] | None:
    """Transitions (K, K) as a cached pool (1, K, K), and their largest finite absolute value; None for unusual values."""
    if type(transitions) is not np.ndarray or transitions.dtype.kind != "f":
        return None
    if transitions.shape != (K, K) or K * K > MOST_KEPT:
        return None
    return _shared(transitions.tobytes(), transitions.dtype, K)


@lru_cache(MOST_SHARED)
def _shared(content: bytes, kind: np.dtype[Any], K: int) -> tuple[Grid, float] | None:
    scores = np.frombuffer(content, kind).reshape(K, K)
    largest = float(np.abs(scores).max(where=scores != -np.inf, initial=0.0))
    if not largest < -MASK:  # true for NaN, too
        return None
    pool = snap(scores)[None]
    pool.flags.writeable = False
    return pool, largest


def with_ends(node: Grid, extra: Mapping[str, Grid], order: int = 1) -> Grid:
    """A copy of emissions (T, K) on the grid with `start` and `end` added; ValueError for totals beyond 2^31 nats."""
    T = len(node)
    times = {"transitions": max(T - order, 0), "first": max(min(T - 1, 1), 0), "start": 1, "end": 1}
    components: list[tuple[str, Grid, int | Grid]] = [("emissions", node, np.ones(T, np.int64))]
    check_total([*components, *((name, x, times[name]) for name, x in extra.items())])
    node = node.copy()
    for t, name in ((0, "start"), (-1, "end")):
        if name in extra and T:
            node[t] = add(node[t], extra[name])
    return node


def joined(lattices: Sequence[Lattice]) -> Lattice:
    """Concatenate lattices of the same labels and order; scores are added."""
    node, pool, step = [lattices[0].node], [_none(1, *lattices[0].pool.shape[1:])], list[Grid]()
    for place, lattice in enumerate(lattices):
        own, edges, later = lattice.node, lattice.pool, lattice.step
        if place and lattice.order == 2:
            own, edges, later = _after_others(lattice)
        if place:
            node.append(own)
            step.append(np.zeros(1, np.int64))
        step.append(later + sum(map(len, pool)))
        pool.append(edges)
    result = Lattice(np.concatenate(node), np.concatenate(pool), np.concatenate(step))
    check_total(result.terms())
    return result


def _after_others(lattice: Lattice) -> tuple[Grid, Grid, Grid]:
    """Nodes, pool and steps of a second-order lattice after another; the label before its first token does not affect the score."""
    _, K = lattice.shape
    node, pool, step = lattice.node.copy(), lattice.pool, lattice.step.copy()
    node[0] = np.tile(node[0, :K], K + 1)
    node[0, :K] = FORBIDDEN
    if len(step):
        pool = np.concatenate([pool, np.tile(pool[step[0], :K], (K + 1, 1))[None]])
        step[0] = len(pool) - 1
    return node, pool, step


def _start(scores: ArrayLike) -> Grid:
    start = snap_scores(scores, "start")
    _need(start.ndim == 1 and start.size > 0, "start", start, "(K,), one score for each label")
    return start


def _need(good: bool, name: str, array: Grid, expected: str) -> None:
    if not good:
        raise ValueError(f"{name} has shape {array.shape}; expected {expected}")


def _starting(start: Grid, tokens: int) -> Grid:
    return np.concatenate([start[None], _none(tokens - 1, len(start))])


def _none(*shape: int) -> Grid:
    return np.zeros(shape, np.int64)
