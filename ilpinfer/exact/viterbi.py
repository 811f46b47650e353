"""The Viterbi algorithm: the best labellings of a lattice, rules apart."""

import numpy as np

from formulations.automata.lattice import Lattice
from formulations.dtypes import Integers, LabelIds
from formulations.grid import is_forbidden
from ilpinfer.exact.ground import Ground, plain_ground
from ilpinfer.kernels.few import NUMBER, decode_few_ground
from ilpinfer.kernels.label_setting import NO_LIMIT
from ilpinfer.kernels.recursion import DEAD, bare


def best_completed(ground: Ground) -> tuple[int, LabelIds, Integers]:
    """As `viterbi`, with the completions (T, S), the best scores after a state."""
    (T, S), room = ground.emission.shape, ground.room()
    states, order = np.zeros(T, np.int64), np.arange(T)
    score = bare(ground.scores, ground.emission, order, 0 * order, ground.classes[0], *room, states)
    return int(score), ground.lattice.labels_of(states), np.ascontiguousarray(room[0][:, :S])


def completions(lattice: Lattice) -> Integers:
    """(T, S) best score, in grid units, of the labels after state s at token t, its own score excluded."""
    return best_completed(plain_ground(lattice))[2]


def viterbi(lattice: Lattice) -> tuple[int, LabelIds]:
    """Score in grid units and label ids (T,) of the best labelling; equal ones by label ids.

    The recursion of Stokman 2011, section 3.1.2, over int64 and from the last token to the first. Where no
    labelling is possible the score is forbidden.
    """
    if not len(lattice.node):
        return 0, np.zeros(0, np.int64)
    return best_completed(plain_ground(lattice))[:2]


def best_paths(lattice: Lattice, top: int) -> list[tuple[int, LabelIds]]:
    """The `top` best labellings, best first, equal scores by label ids; fewer where there are fewer."""
    if top == 1:
        total, path = viterbi(lattice)
        return [] if is_forbidden(total) else [(total, path)]
    ground, T = plain_ground(lattice), len(lattice.node)
    paths, values, result = np.empty((top, T), np.int64), np.empty(top, np.int64), np.zeros(7, np.int64)
    limits, marks = (NO_LIMIT, NO_LIMIT, DEAD), np.zeros((2, 0), np.int64)
    decode_few_ground(ground.handle, ground.emission, ground.classes, limits, paths, values, result, marks)
    number = int(result[NUMBER])
    return [(int(values[k]), lattice.labels_of(paths[k])) for k in range(number)]
