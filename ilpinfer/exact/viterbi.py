"""The Viterbi algorithm: the best labellings of a lattice, rules apart."""

import numpy as np

from formulations import Trellis
from formulations.automata.lattice import Lattice
from formulations.dtypes import Integers, LabelIds
from formulations.grid import is_forbidden
from ilpinfer.kernels import viterbi as kernels
from ilpinfer.kernels.packed import chain_of
from ilpinfer.kernels.warming import Stage, example_trellis


def completions(lattice: Lattice) -> Integers:
    """(T, S) best score, in grid units, of the labels after state s at token t, its own score excluded."""
    completion = np.empty(lattice.node.shape, np.int64)
    kernels.complete(chain_of(lattice), completion)
    return completion


def best_completed(lattice: Lattice) -> tuple[int, LabelIds, Integers]:
    """As `viterbi`, with the completions (T, S)."""
    chain = chain_of(lattice)
    completion, states = np.empty(lattice.node.shape, np.int64), np.empty(len(lattice.node), np.int64)
    kernels.complete(chain, completion)
    score = kernels.best_path(chain, completion, states)
    return int(score), lattice.labels_of(states), completion


def viterbi(lattice: Lattice) -> tuple[int, LabelIds]:
    """Score in grid units and label ids (T,) of the best labelling; equal ones by label ids.

    The recursion of Stokman 2011, section 3.1.2, over int64 and from the last token to the first. Where no
    labelling is possible the score is forbidden.
    """
    return best_completed(lattice)[:2]


def best_paths(lattice: Lattice, top: int) -> list[tuple[int, LabelIds]]:
    """The `top` best labellings, best first, equal scores by label ids; fewer where there are fewer."""
    if top == 1:
        total, path = viterbi(lattice)
        return [] if is_forbidden(total) else [(total, path)]
    T = len(lattice.node)
    score, after, rank = kernels.best_lists(chain_of(lattice), top)
    first = lattice.node[0][:, None] + score[0]
    starts = np.argsort(-first.reshape(-1), kind="stable")[:top]
    result = []
    for s, r in zip(*np.divmod(starts, top), strict=True):
        if is_forbidden(first[s, r]):
            break
        total = int(first[s, r])
        states = np.empty(T, np.int64)
        for t in range(T):
            states[t] = s
            s, r = after[t, s, r], rank[t, s, r]
        result.append((total, lattice.labels_of(states)))
    return result


def _example() -> None:
    viterbi(example_trellis().lattice)
    viterbi(Trellis.second_order(np.zeros(1), np.zeros((1, 1)), []).lattice)


VITERBI = Stage("viterbi", "the best labelling of a trellis", _example)
LISTS = Stage(
    "lists", "several best labellings of a trellis", lambda: best_paths(example_trellis().lattice, 2)
)
