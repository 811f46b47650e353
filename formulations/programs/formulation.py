"""The programs: common columns and rows, with the objectives and additional rows of each program."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal, get_args

import numpy as np

from formulations import time_limits
from formulations.arguments import choice, number
from formulations.automata.lattice import Lattice
from formulations.dtypes import Integers, LabelIds
from formulations.errors import InferenceError
from formulations.grid import UNITS_PER_NAT, is_forbidden
from formulations.messages import counted
from formulations.problem.problem import Problem
from formulations.programs.builder import ProgramBuilder
from formulations.programs.loss_bounds import losses
from formulations.programs.names import END, START, Block, LabelNames, Meaning, bracketed
from formulations.programs.record import IntegerProgram
from formulations.programs.rule_rows import add_rule

FloorKind = Literal["relative", "odds"]
MOST_COLUMNS = 20_000_000
"""Largest number of path columns; a larger program would take gigabytes."""

_SECONDS_A_COLUMN = 8e-8  # to add the path


class TooLarge(InferenceError, ValueError):
    """A program would have more than `MOST_COLUMNS` columns."""


@dataclass(frozen=True)
class Formulation:
    """Path, rules and slacks of a problem, without an objective."""

    program: IntegerProgram  # the objective is 0
    score: Integers  # (n,) grid units a unit of each column
    cost: Integers  # (n,) penalty, grid units a unit of each column
    lattice: Lattice  # the lattice of `score`
    columns: Sequence[Block]
    rows: Sequence[Block]

    def soft(self) -> IntegerProgram:
        """maximise score - Σ ρ·σ (Stokman 2011, eq. 57)."""
        return replace(self.program, objective=self.score - self.cost)

    def best_score(self, cost_ceiling: int | None = None) -> IntegerProgram:
        """maximise score, subject to Σ c·σ <= ceiling if given."""
        program = replace(self.program, objective=self.score)
        if cost_ceiling is None:
            return program
        at = np.flatnonzero(self.cost)
        divisor = int(np.gcd.reduce(self.cost[at])) if len(at) else 1
        return program.with_row(at, self.cost[at] // divisor, upper=cost_ceiling // divisor)

    def least_cost(self, score_floor: int | None) -> IntegerProgram:
        """maximise -Σ c·σ subject to score >= floor (Fersini et al. 2014, eq. 22-29), as a limit on losses; see `formulate`."""
        program = replace(self.program, objective=-self.cost)
        if score_floor is None:
            return program
        best, loss = losses(self.lattice)
        budget = best - score_floor
        if budget < 0:
            return program.with_row(*np.zeros((2, 0), np.int64), lower=1)
        keeps = loss <= budget
        upper = program.upper.copy()
        upper[: len(loss)] *= keeps
        at = np.flatnonzero(keeps & (loss > 0))
        return replace(program, upper=upper).with_row(at, loss[at], upper=budget)


def formulate(problem: Problem) -> Formulation:
    """Columns and rows for the lattice and every rule that is not folded. Raises TooLarge and OutOfTime."""
    T, K = problem.shape
    S = problem.lattice.states
    if problem.functions:
        raise ValueError(
            f"rule {problem.functions[0].name!r} is a Python function, which no integer program can hold: leave it out, or "
            "state it as a template, an inequality or a formula"
        )
    if (T - 1) * S * K > MOST_COLUMNS:
        raise TooLarge(
            f"the integer program would have {counted((T - 1) * S * K, 'column')} for {counted(T, 'token')} and {counted(K, 'label')}"
            f"{' in pairs' if S > K else ''}, and may have {MOST_COLUMNS}: use a method that needs none, such as beam, or "
            "shorter sequences"
        )
    time_limits.check(_SECONDS_A_COLUMN * (T - 1) * S * K)
    built = ProgramBuilder(problem)
    _add_path(problem.lattice, built)
    for rule in problem.rules:
        time_limits.check()
        add_rule(rule, built)
    columns, rows = built.columns, built.rows
    indptr, indices, data = built.compress()
    program = IntegerProgram(
        tokens=T,
        labels=K,
        objective=np.zeros(columns.count, np.int64),
        lower=np.zeros(columns.count, np.int64),
        upper=columns.numbers("upper"),
        indptr=indptr,
        indices=indices,
        data=data,
        row_lower=rows.numbers("lower"),
        row_upper=rows.numbers("upper"),
        order=problem.lattice.order,
    )
    score, cost = columns.numbers("score"), columns.numbers("cost")
    return Formulation(program, score, cost, problem.lattice, columns.names, rows.names)


def _add_path(lattice: Lattice, program: ProgramBuilder) -> None:
    """Add the path: S start edges, (T-1)·S·K steps and S end edges, boxed to 0 if forbidden; and T·S + 2 rows, one for each node.

    maximise Σ score(e)·e subject to one start edge, one end edge, and flow conservation in each node
    (Fersini et al. 2014, eq. 12-16; Stokman 2011, eq. 39-46, where the label before token 0 is `start`).
    """
    (T, K), S = lattice.shape, lattice.states
    if not T:
        return
    rows, labels = program.rows, program.labels
    score = np.concatenate([lattice.node[0], lattice.edge_scores().reshape(-1), np.zeros(S, np.int64)])
    forbidden = is_forbidden(score)
    score = np.where(forbidden, 0, score)
    program.columns.add(len(score), lambda: _edges(T, labels), upper=~forbidden, score=score)
    start, end = np.arange(S), S + (T - 1) * S * K + np.arange(S)
    step = S + np.arange((T - 1) * S * K).reshape(T - 1, S, K)
    source = rows.add(1, lambda: [Meaning("start", "flow")], lower=1, upper=1)
    sink = rows.add(1, lambda: [Meaning("end", "flow")], lower=1, upper=1)
    node = rows.add(T * S, lambda: _nodes(T, labels), lower=0, upper=0).reshape(T, S)
    program.put(source, start)
    program.put(sink, end)
    program.put(node[0], start)
    program.put(node[:-1, :, None], step, -1)
    program.put(lattice.at_targets(node[1:]), step)
    program.put(node[-1], end, -1)


def _nodes(T: int, labels: LabelNames) -> Iterator[Meaning]:
    """`flow[t,state]`."""
    for t in range(T):
        for state in labels.state:
            yield Meaning(bracketed("flow", t, state), "flow", token=t)


def _edges(T: int, labels: LabelNames) -> Iterator[Meaning]:
    """`x[0,START,state]`, then `x[t,state,label]`, then `x[T,state,END]`."""
    names, K = labels.labels.names, len(labels.labels)
    states = [(state, names[s % K]) for s, state in enumerate(labels.state)]
    for state, name in states:
        yield Meaning(bracketed("x", 0, START, state), "path", token=0, labels=(START, name))
    for t in range(1, T):
        for state, before in states:
            for label, name in zip(labels.label, names, strict=True):
                yield Meaning(bracketed("x", t, state, label), "path", token=t, labels=(before, name))
    for state, name in states:
        yield Meaning(bracketed("x", T, state, END), "path", token=T, labels=(name, END))


def exclude_labelling(program: IntegerProgram, path: LabelIds) -> IntegerProgram:
    """Add a no-good row: exclude this labelling, label ids (T,)."""
    T = program.tokens
    return program.with_row(program.columns_of(path)[:T], np.ones(T, np.int64), upper=T - 1)


def score_floor(best: int, tau: float, bound: str) -> int | None:
    """The lowest score, in grid units, that two-phase inference accepts; None for no floor.

    "relative": ``Z* - (1 - τ)·|Z*|``, for both signs of Z*; eq. 23 of Fersini et al. 2014 has τ·Z*, which is above the optimum
    for log-probabilities. It depends on the zero of the scores. "odds": Z* + log τ, independent of the zero. Both are rounded
    up to the grid, for the least real number that rounds to τ, so that 0.9 of 10 is 9.
    """
    tau = number(tau, "tau", 0, 1)
    if choice(bound, "bound", get_args(FloorKind)) == "relative":
        least = Fraction(tau) - Fraction(math.ulp(tau)) / 2
        return math.ceil(best - (1 - least) * abs(best))
    return best + math.ceil(math.log(tau) * UNITS_PER_NAT) if tau else None
