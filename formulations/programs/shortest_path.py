"""The Viterbi path as an integer program: the shortest-path rows over edge indicators."""

from collections.abc import Iterator
from functools import partial

import numpy as np

from formulations.automata.lattice import Lattice
from formulations.grid import is_forbidden
from formulations.programs.names import END, START, LabelNames, Meaning, bracketed
from formulations.programs.rows import Columns, Rows


def add_path(lattice: Lattice, labels: LabelNames, columns: Columns, rows: Rows) -> None:
    """Add the path's columns and its T·S + 2 rows, one for each node.

    maximise Σ score(e)·e subject to one start edge, one end edge, and as much into each node as out of it
    (Fersini et al. 2014, eq. 12-16; Stokman 2011, eq. 39-46, where the label before token 0 is `start`).
    Columns: S start edges, (T-1)·S·K steps, S end edges; a forbidden edge is boxed to 0.
    """
    (T, K), S = lattice.shape, lattice.states
    score = np.concatenate([lattice.node[0], lattice.edge_scores().reshape(-1), np.zeros(S, np.int64)])
    forbidden = is_forbidden(score)
    columns.add((~forbidden).astype(np.int64), lambda: _edges(T, labels), score=np.where(forbidden, 0, score))
    start, end = np.arange(S), S + (T - 1) * S * K + np.arange(S)
    step = S + np.arange((T - 1) * S * K).reshape(T - 1, S, K)
    source, sink = (rows.add(1, partial(_end, name), 1, 1) for name in ("start", "end"))
    node = rows.add(T * S, lambda: _nodes(T, labels), 0, 0).reshape(T, S)
    rows.put(source, start)
    rows.put(sink, end)
    rows.put(node[0], start)
    rows.put(node[:-1, :, None], step, -1)
    rows.put(lattice.at_targets(node[1:]), step)
    rows.put(node[-1], end, -1)


def _end(name: str) -> list[Meaning]:
    return [Meaning(name, "flow")]


def _nodes(T: int, labels: LabelNames) -> Iterator[Meaning]:
    """`flow[t,state]`."""
    for t in range(T):
        for state in labels.state:
            yield Meaning(bracketed("flow", t, state), "flow", token=t)


def _edges(T: int, labels: LabelNames) -> Iterator[Meaning]:
    """`x[0,START,state]`, then `x[t,state,label]`, then `x[T,state,END]`."""
    names, K = labels.labels.names, len(labels.labels)
    for s, state in enumerate(labels.state):
        yield Meaning(bracketed("x", 0, START, state), "path", token=0, labels=(START, names[s % K]))
    for t in range(1, T):
        for s, state in enumerate(labels.state):
            for label, name in zip(labels.label, names, strict=True):
                yield Meaning(bracketed("x", t, state, label), "path", token=t, labels=(names[s % K], name))
    for s, state in enumerate(labels.state):
        yield Meaning(bracketed("x", T, state, END), "path", token=T, labels=(names[s % K], END))
