"""The Viterbi algorithm: the best labellings of a lattice, rules apart."""

import numpy as np
from numpy.typing import NDArray

from formulations.compiled.lattice import Lattice
from formulations.grid import is_forbidden
from ilpinfer.kernels import viterbi as kernels

Path = NDArray[np.int64]


def completions(lattice: Lattice) -> NDArray[np.int64]:
    """(T, S) best score, in grid units, of what follows state s at token t, its own score excluded."""
    completion = np.empty(lattice.node.shape, np.int64)
    scores = lattice.node, lattice.pool, lattice.step
    if lattice.order == 2:
        kernels.best_pair_completions(*scores, lattice.base, completion)
    else:
        kernels.best_completions(*scores, completion)
    return completion


def viterbi(lattice: Lattice) -> tuple[int, Path]:
    """Score in grid units and label ids (T,) of the best labelling; equal ones by label ids.

    The recursion of Stokman 2011, section 3.1.2, over int64 and from the last token to the first. Where no
    labelling is possible the score is forbidden.
    """
    states = np.empty(len(lattice.node), np.int64)
    scores = lattice.node, lattice.pool, lattice.step, lattice.base
    score = kernels.best_path(*scores, completions(lattice), states)
    return int(score), lattice.labels_of(states)


def best_paths(lattice: Lattice, top: int) -> list[tuple[int, Path]]:
    """The `top` best labellings, best first, equal scores by label ids; fewer where there are fewer."""
    if top == 1:
        total, path = viterbi(lattice)
        return [] if is_forbidden(total) else [(total, path)]
    T = len(lattice.node)
    scores = lattice.node, lattice.pool, lattice.step, lattice.base
    score, after, rank = kernels.best_completion_lists(*scores, top)
    first = lattice.node[0][:, None] + score[0]
    starts = np.argsort(-first.reshape(-1), kind="stable")[:top]
    found = []
    for s, r in zip(*np.divmod(starts, top), strict=True):
        if is_forbidden(first[s, r]):
            break
        total = int(first[s, r])
        states = np.empty(T, np.int64)
        for t in range(T):
            states[t] = s
            s, r = after[t, s, r], rank[t, s, r]
        found.append((total, lattice.labels_of(states)))
    return found
