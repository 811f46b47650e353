"""Programs without the columns that a known labelling rules out."""

from dataclasses import dataclass, replace

import numpy as np

from formulations.automata.lattice import Lattice
from formulations.dtypes import Integers, LabelIds
from formulations.programs.formulation import with_row
from formulations.programs.loss_bounds import losses
from formulations.programs.record import IntegerProgram


@dataclass(frozen=True)
class ReducedProgram:
    """A program on fewer columns.

    Parameters
    ----------
    program : IntegerProgram
        Program with the columns left.
    places : ndarray of int
        (n,) their places in the whole program.
    columns : int
        Number of columns of the whole program.
    """

    program: IntegerProgram
    places: Integers
    columns: int

    def expand(self, x: Integers) -> Integers:
        """The solution in terms of the whole program."""
        whole = np.zeros(self.columns, np.int64)
        whole[self.places] = x
        return whole


def reduce(
    program: IntegerProgram, lattice: Lattice, path: LabelIds | None, value: int, bound: int | None = None
) -> ReducedProgram:
    """Remove the steps that no labelling with a score of at least `value` takes, and require that score.

    A step whose loss against the best completion of its own start passes best - value cannot be part of such a
    labelling, since losses add up and rules only take away.

    Parameters
    ----------
    lattice : Lattice
        The scores, or others at which no labelling that keeps to them is worth more than `bound` less its
        losses.
    path, value : ndarray of int or None or int
        A labelling, label ids (T,), to start from, and its score in grid units; None for none.
    bound : int, optional
        The best score of the lattice where not given.
    """
    best, loss = losses(lattice)
    best = best if bound is None else bound
    upper = program.upper.copy()
    if path is not None:
        upper[: len(loss)] *= loss <= best - value
        at = np.flatnonzero(program.objective)
        program = with_row(program, at, program.objective[at], lower=value)
    places = np.flatnonzero((upper > 0) | (program.lower > 0))
    place = np.full(program.n_columns, -1)
    place[places] = np.arange(len(places))
    stays = place[program.indices] >= 0
    filled = np.bincount(program.row_of_entry[stays], minlength=program.n_rows)
    rows = np.flatnonzero((filled > 0) | (program.row_lower > 0) | (program.row_upper < 0))
    smaller = replace(
        program,
        objective=program.objective[places],
        lower=program.lower[places],
        upper=upper[places],
        indptr=np.concatenate([[0], np.cumsum(filled[rows])]).astype(np.int64),
        indices=place[program.indices[stays]],
        data=program.data[stays],
        row_lower=program.row_lower[rows],
        row_upper=program.row_upper[rows],
        start=None if path is None else _start(program, lattice, path, len(loss))[places],
    )
    return ReducedProgram(smaller, places, program.n_columns)


def _start(program: IntegerProgram, lattice: Lattice, path: LabelIds, steps: int) -> Integers:
    """The labelling's steps as values of columns; -1 for columns that it does not determine."""
    S, K = lattice.states, lattice.shape[1]
    states = lattice.states_of(path)
    values = np.full(program.n_columns, -1)
    values[: steps + S] = 0
    columns = S + (np.arange(len(path) - 1) * S + states[:-1]) * K + path[1:]
    values[np.concatenate([states[:1], columns, [steps + states[-1]]])] = 1
    return values
