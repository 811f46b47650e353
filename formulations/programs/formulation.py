"""The programs: one set of columns and rows, and the objectives and extra rows that make each of them."""

import math
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from formulations import time_limits
from formulations.arguments import choice, number
from formulations.automata.lattice import Lattice, states_of
from formulations.dtypes import Integers, LabelIds
from formulations.errors import InferenceError
from formulations.grid import UNITS_PER_NAT
from formulations.problem.problem import Problem
from formulations.programs.builder import ProgramBuilder
from formulations.programs.loss_bounds import losses
from formulations.programs.names import Blocks, LabelNames
from formulations.programs.record import UNBOUNDED, IntegerProgram
from formulations.programs.rows import Columns, Rows
from formulations.programs.rule_rows import add_rule
from formulations.programs.shortest_path import add_path

MOST_COLUMNS = 20_000_000
"""Path columns of the largest program that is built; a larger one would take gigabytes."""


class TooLarge(InferenceError, ValueError):
    """A problem whose program would have more than `MOST_COLUMNS` columns."""


@dataclass(frozen=True)
class Formulation:
    """Path, rules and slacks of a problem, before an objective is chosen.

    Parameters
    ----------
    program : IntegerProgram
        Rows and boxes, with objective 0.
    score, cost : ndarray of int
        (n,) score and penalty of a unit of each column; grid units.
    lattice : Lattice
        The scores that `score` holds.
    column_names, row_names : Blocks
        Meaning of each column and row.
    """

    program: IntegerProgram
    score: Integers
    cost: Integers
    lattice: Lattice
    column_names: Blocks
    row_names: Blocks

    def soft(self) -> IntegerProgram:
        """maximise score - Σ ρ·σ (Stokman 2011, eq. 57)."""
        return replace(self.program, objective=self.score - self.cost)

    def best_score(self, cost_ceiling: int | None = None) -> IntegerProgram:
        """maximise score, subject to Σ c·σ <= the ceiling where one is given."""
        program = replace(self.program, objective=self.score)
        if cost_ceiling is None:
            return program
        at = np.flatnonzero(self.cost)
        divisor = int(np.gcd.reduce(self.cost[at])) if len(at) else 1
        return with_row(program, at, self.cost[at] // divisor, upper=cost_ceiling // divisor)

    def least_cost(self, score_floor: int | None) -> IntegerProgram:
        """maximise -Σ c·σ subject to score >= floor (Fersini et al. 2014, eq. 22-29).

        The floor is written as a limit on losses. The loss of an edge is its difference from the best completion of
        the state that it leaves. On paths that is the same row, with small coefficients; an edge whose loss alone
        passes the budget is boxed to 0.
        """
        program = replace(self.program, objective=-self.cost)
        if score_floor is None:
            return program
        best, loss = losses(self.lattice)
        budget = best - score_floor
        if budget < 0:
            return with_row(program, np.zeros(0, np.int64), np.zeros(0, np.int64), lower=1)
        keeps = loss <= budget
        upper = program.upper.copy()
        upper[: len(loss)] *= keeps
        at = np.flatnonzero(keeps & (loss > 0))
        return with_row(replace(program, upper=upper), at, loss[at], upper=budget)


def formulate(problem: Problem) -> Formulation:
    """Columns and rows for the lattice and every rule that is not folded into it.

    Raises
    ------
    TooLarge
        Where the path alone would have more than `MOST_COLUMNS` columns.
    OutOfTime
        Where a time limit is set, and passes meanwhile or would pass while the rows are put in order.
    """
    T, K = problem.shape
    S = problem.lattice.states
    if (T - 1) * S * K > MOST_COLUMNS:
        raise TooLarge(
            f"the integer program would have {(T - 1) * S * K} columns for {T} tokens and {K} labels"
            f"{' in pairs' if S > K else ''}, and may have {MOST_COLUMNS}: use a method that needs none, such as beam, or "
            "shorter sequences"
        )
    columns, rows = Columns(), Rows()
    time_limits.check()
    labels = LabelNames(problem.labels, S)
    add_path(problem.lattice, labels, columns, rows)
    shared = ProgramBuilder(problem.shape, S, columns, rows, labels)
    shared.expect(problem.rules)
    for rule in problem.rules:
        time_limits.check()
        add_rule(rule, shared)
    indptr, indices, data = rows.compress()
    program = IntegerProgram(
        tokens=T,
        labels=K,
        objective=np.zeros(columns.count, np.int64),
        lower=np.concatenate(columns.lower),
        upper=np.concatenate(columns.upper),
        indptr=indptr,
        indices=indices,
        data=data,
        row_lower=np.concatenate(rows.lower),
        row_upper=np.concatenate(rows.upper),
        order=problem.lattice.order,
    )
    score, cost = np.concatenate(columns.score), np.concatenate(columns.cost)
    return Formulation(program, score, cost, problem.lattice, columns.names, rows.names)


def with_row(
    program: IntegerProgram,
    at: Integers,
    coefficients: Integers,
    *,
    lower: int = -UNBOUNDED,
    upper: int = UNBOUNDED,
) -> IntegerProgram:
    """The program with one row more."""
    return replace(
        program,
        indptr=np.append(program.indptr, program.indptr[-1] + len(at)),
        indices=np.concatenate([program.indices, at]),
        data=np.concatenate([program.data, coefficients]),
        row_lower=np.append(program.row_lower, lower),
        row_upper=np.append(program.row_upper, upper),
    )


def exclude_labelling(program: IntegerProgram, path: LabelIds) -> IntegerProgram:
    """The program with a no-good row: not this labelling, label ids (T,), again."""
    T, K, S = program.tokens, program.labels, program.states
    steps = S + np.arange(T - 1) * S * K + states_of(path, K, S)[:-1] * K + path[1:]
    at = np.concatenate([path[:1], steps])
    return with_row(program, at, np.ones(T, np.int64), upper=T - 1)


def score_floor(best: int, tau: float, bound: str) -> int | None:
    """The lowest score, in grid units, that two-phase inference accepts; None for no floor.

    "relative": ``Z* - (1 - τ)·|Z*|``, right for both signs of Z*, where Fersini et al. 2014, eq. 23, prints τ·Z*,
    which lies above the optimum for log-probabilities. It depends on where the scores' zero is. "odds":
    Z* + log τ, which does not. Both are rounded up to the grid.
    """
    tau = number(tau, "tau", 0, 1)
    if choice(bound, "bound", ("relative", "odds")) == "relative":
        return math.ceil(best - (1 - Fraction(tau)) * abs(best))
    return best + math.ceil(math.log(tau) * UNITS_PER_NAT) if tau else None
