"""The Viterbi algorithm: the best labellings of a lattice without rules."""

import numpy as np

from formulations.automata.lattice import Lattice
from formulations.dtypes import Integers, LabelIds
from formulations.grid import is_forbidden
from ilpinfer.exact.ground import pack_lattice
from ilpinfer.kernels.native import kernels
from ilpinfer.kernels.tables import DEAD


def completions(lattice: Lattice) -> Integers:
    """(T, S) best score in grid units of the labels after state s at token t, without the score of s."""
    instance, tokens = pack_lattice(lattice)
    return np.ascontiguousarray(instance.complete(tokens)[2][:, : lattice.states])


def viterbi(lattice: Lattice) -> tuple[int, LabelIds]:
    """Score in grid units and label ids (T,) of the best labelling, equal scores by label ids.

    The recursion of Stokman 2011, section 3.1.2, over int64 and from the last token to the first. The score is forbidden if no
    labelling is possible.
    """
    if not len(lattice.node):
        return 0, np.zeros(0, np.int64)
    instance, tokens = pack_lattice(lattice)
    return instance.complete(tokens)[:2]


def best_paths(lattice: Lattice, top: int) -> list[tuple[int, LabelIds]]:
    """The `top` best labellings, or all if fewer, best first, equal scores by label ids."""
    if top == 1:
        total, path = viterbi(lattice)
        return [] if is_forbidden(total) else [(total, path)]
    (instance, tokens), T = pack_lattice(lattice), len(lattice.node)
    paths, values, marks = np.empty((top, T), np.int64), np.empty(top, np.int64), np.zeros((2, 0), np.int64)
    no_limit = kernels.NO_LIMIT
    found = paths, values, marks
    _, number = kernels.list_best(instance.tables, tokens, no_limit, no_limit, DEAD, *found)
    return [(int(values[k]), lattice.labels_of(paths[k])) for k in range(number)]
