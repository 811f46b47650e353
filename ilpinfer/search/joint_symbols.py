"""Joint symbols of all machines of a problem, for searches that keep joint states."""

import numpy as np

from formulations.dtypes import Integers
from ilpinfer.exact.ground import Ground
from ilpinfer.kernels.machines import Symbols

_MOST_SYMBOLS = 256  # joint symbols beyond which those that never occur are left out


def joint_symbols(one: Ground) -> Symbols:
    """Joint symbols of each step for all machines together; most of them occur."""
    lattice, classes = one.lattice, one.classes[1]
    B = lattice.shape[1]
    to = np.concatenate([[0], lattice.base])[:, None] + np.arange(B)
    code, kinds = np.zeros((len(one.which), *to.shape), np.int64), 1
    read: list[Integers] = []
    for m, machine in enumerate(one.plain):
        values, X = machine.symbols, machine.automaton.emits.shape[1]
        which = values[one.which[:, m]]
        code = code * X + (which[:, 0][:, to] if values.shape[1] == 1 else which)
        read = [np.repeat(digits, X) for digits in read] + [np.tile(np.arange(X), kinds)]
        kinds *= X
        if kinds > _MOST_SYMBOLS:
            used = np.bincount(code.reshape(-1), minlength=kinds) > 0
            code, read = (np.cumsum(used) - 1)[code], [digits[used] for digits in read]
            kinds = int(used.sum())
    shape = len(one.plain), kinds
    return Symbols(code.astype(np.int32), classes, np.array(read, np.int32).reshape(shape))
