"""The Viterbi algorithm: the best labellings of a lattice, rules apart."""

import numpy as np
from numpy.typing import NDArray

from formulations.compiled.lattice import Lattice
from formulations.grid import is_forbidden
from ilpinfer.exact import viterbi_kernels as kernels

Path = NDArray[np.int64]


def completions(lattice: Lattice) -> NDArray[np.int64]:
    """(T, K) best score, in grid units, of what follows label k at token t, its own score excluded."""
    completion = np.empty(lattice.shape, np.int64)
    kernels.best_completions(lattice.node, lattice.pool, lattice.step, completion)
    return completion


def viterbi(lattice: Lattice) -> tuple[int, Path]:
    """Score in grid units and label ids (T,) of the best labelling; equal ones by label ids.

    The recursion of Stokman 2011, section 3.1.2, over int64 and from the last token to the first. Where no
    labelling is possible the score is forbidden.
    """
    path = np.empty(len(lattice.node), np.int64)
    score = kernels.best_path(lattice.node, lattice.pool, lattice.step, completions(lattice), path)
    return int(score), path


def best_paths(lattice: Lattice, top: int) -> list[tuple[int, Path]]:
    """The `top` best labellings, best first, equal scores by label ids; fewer where there are fewer."""
    if top == 1:
        total, path = viterbi(lattice)
        return [] if is_forbidden(total) else [(total, path)]
    T = len(lattice.node)
    score, label, rank = kernels.best_completion_lists(lattice.node, lattice.pool, lattice.step, top)
    first = lattice.node[0][:, None] + score[0]
    starts = np.argsort(-first.reshape(-1), kind="stable")[:top]
    found = []
    for k, r in zip(*np.divmod(starts, top), strict=True):
        if is_forbidden(first[k, r]):
            break
        total = int(first[k, r])
        path = np.empty(T, np.int64)
        for t in range(T):
            path[t] = k
            k, r = label[t, k, r], rank[t, k, r]
        found.append((total, path))
    return found
