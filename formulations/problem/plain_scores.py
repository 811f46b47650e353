"""Scores of a lattice as plain values and back, exactly: nats, None for -inf, under the names of a trellis's arrays."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from formulations.arguments import whole
from formulations.automata.lattice import Lattice
from formulations.dtypes import Floats
from formulations.grid import Grid, all_nats, check_total, is_forbidden, snap
from formulations.plain_values import items, kind_of, number, table
from formulations.problem import score_arrays as arrays

FORMS = (("emissions", "transitions"), ("start", "edges"), ("node", "pool", "step"))
"""The keys of each form, beside `first`."""


def plain_scores(lattice: Lattice) -> dict[str, Any]:
    """The scores in the first form that the lattice can be made of again."""
    for form in (_factored, _dense):
        given = form(lattice)
        if given is not None and _made(given) == lattice:
            return {name: _lists(x) for name, x in given.items()}
    general = {"node": _lists(all_nats(lattice.node)), "pool": _lists(all_nats(lattice.pool))}
    return {**general, "step": lattice.step.tolist()}


def lattice_of(values: Mapping[str, Any], what: str) -> Lattice:
    """The lattice that these scores are of; ValueError for other keys, values, shapes, and totals beyond 2^31 nats."""
    form = next((keys for keys in FORMS if any(key in values for key in keys if key != "start")), FORMS[1])
    table(values, form, what, ("first",) if form != FORMS[2] else ())
    scores = {name: _array(x, f"{what}: {name}") for name, x in values.items() if name != "step"}
    if form != FORMS[2]:
        return _made(scores)
    return _general(snap(scores["node"], "node"), snap(scores["pool"], "pool"), values["step"], what)


def _factored(lattice: Lattice) -> dict[str, Any] | None:
    """Emissions and transitions, where all steps have the same."""
    (_, K), tables = lattice.shape, len(lattice.pool)
    if tables != lattice.order:
        return None
    own = {"emissions": _own(lattice), "transitions": all_nats(lattice.pool[-1])}
    if lattice.order == 1:
        return own
    pairs = own["transitions"][K:].reshape(K, K, K)
    return {**own, "transitions": pairs, "first": all_nats(lattice.pool[0, :K])}


def _dense(lattice: Lattice) -> dict[str, Any] | None:
    """Start and edges, where each step has its own."""
    T, K = lattice.shape
    start, pool = _own(lattice)[0], all_nats(lattice.pool)
    if lattice.order == 1:
        return {"start": start, "edges": pool}
    first = pool[0, :K] if T > 1 else np.zeros((0, 0))
    return {"start": start, "first": first, "edges": pool[1:, K:].reshape(-1, K, K, K)}


def _own(lattice: Lattice) -> Any:
    """(T, K) scores of labels, as they are for every label before."""
    K = lattice.shape[1]
    if lattice.order == 1:
        return all_nats(lattice.node)
    return all_nats(np.concatenate([lattice.node[:1, :K], lattice.node[1:, K : 2 * K]]))


def _made(scores: Mapping[str, Any]) -> Lattice:
    if "emissions" in scores:
        return arrays.factored(scores["emissions"], scores["transitions"], None, None, scores.get("first"))
    if "first" in scores:
        return arrays.dense_pairs(scores["start"], scores["first"], scores["edges"])
    return arrays.dense(scores["start"], scores["edges"])


def _general(node: Grid, pool: Grid, step: Any, what: str) -> Lattice:
    """A lattice of these parts, which must fit each other."""
    if node.ndim != 2 or not node.size or pool.ndim != 3:
        raise ValueError(
            f"{what}: node has shape {node.shape} and pool {pool.shape}; expected (T, S) and (P, S, K)"
        )
    (T, S), K = node.shape, pool.shape[2]
    if pool.shape[1] != S or S not in (K, (K + 1) * K):
        raise ValueError(
            f"{what}: pool has shape {pool.shape}; expected (P, S, K) with S = {S}, and K or (K + 1)·K is S"
        )
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
