"""A lattice in which some tokens are one run of a field: all other labellings are forbidden."""

import numpy as np

from formulations.automata.lattice import Lattice
from formulations.dtypes import Booleans
from formulations.grid import FORBIDDEN, Grid
from formulations.labels.label_set import Field


def of_one_run(lattice: Lattice, field: Field, begin: int, end: int) -> Lattice:
    """The lattice, of first order, in which tokens `begin` … `end` - 1 are one run of the field."""
    node, step, pool = lattice.node.copy(), lattice.step.copy(), [lattice.pool]
    member, begins = field.member, field.begins[1:]
    node[begin:end, ~member] = FORBIDDEN
    within = ~begins
    ways = [(begin, begins)] if begin else []
    ways += [(t, within) for t in range(begin + 1, end)]
    ways += [(end, begins | ~member)] if end < len(node) else []
    made = dict[tuple[int, int], int]()
    for t, allowed in ways:
        key = int(lattice.step[t - 1]), id(allowed)
        if key not in made:
            made[key] = len(lattice.pool) + len(made)
            pool.append(_only(lattice, key[0], allowed))
        step[t - 1] = made[key]
    return Lattice(node, np.concatenate(pool), step)


def _only(lattice: Lattice, table: int, allowed: Booleans) -> Grid:
    return np.where(allowed, lattice.pool[table], FORBIDDEN)[None]
