"""Formulation of programs by name, from a trellis and rules to a record with named columns and rows."""

import math
from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from typing import Literal, get_args

from formulations.arguments import flag, number
from formulations.constraints.feature import Feature
from formulations.constraints.rule import Rule
from formulations.grid import UNITS_PER_NAT, is_forbidden, nats, snap
from formulations.messages import brief
from formulations.problem.compiled_rules import CompiledRules, compile_rules, unique_names
from formulations.problem.problem import Problem
from formulations.problem.trellis import Trellis
from formulations.programs.formulation import FloorKind, score_floor
from formulations.programs.formulation import formulate as rows_and_columns
from formulations.programs.loss_bounds import best_score as best_of_lattice
from formulations.programs.names import Meaning, meanings
from formulations.programs.program import Meanings, Program

Kind = Literal["soft", "hard", "two-phase", "shortest-path"]
PROGRAMS: tuple[str, ...] = get_args(Kind)


def formulate(
    trellis: Trellis,
    rules: Iterable[Rule | Feature] | CompiledRules = (),
    *,
    program: Kind = "soft",
    folded: bool = False,
    tau: float = 0.9,
    bound: FloorKind = "relative",
    best_score: float | None = None,
) -> Program:
    """The integer program whose optimum is the best labelling of a trellis under rules, with named columns and rows.

    The programs are

    - "soft": maximise score - Σ ρ·σ (Stokman 2011, eq. 57); soft rules are relaxed by σ;
    - "hard": maximise score (Stokman 2011, eq. 49-56); all rules are hard, and there is no σ;
    - "two-phase": minimise Σ c·σ, written as maximise -Σ c·σ (Fersini et al. 2014, eq. 22-29); rules as for "soft", and
      score >= floor;
    - "shortest-path": maximise the trellis's score (Fersini et al. 2014, eq. 12-16); no rules and no features.

    The row `floor` is written as Σ loss·x <= best - floor, in whole grid units; the loss of a step is its distance from the best
    completion of the previous label. On paths, it is equivalent to score >= floor, but its coefficients are so small that no
    solver's tolerance reaches a grid unit. Steps with a larger loss are boxed to 0.

    Parameters
    ----------
    trellis : Trellis
        Scores of T tokens and K labels, nats.
    rules : iterable of Rule or Feature or CompiledRules, optional
        Rules and features, a rule set, or rules compiled for the trellis's labels.
    program : Kind, default "soft"
        "soft", "hard", "two-phase" or "shortest-path", as in the table.
    folded : bool, default False
        Whether to add rules on single tokens or edges to the scores; for a two-phase program only hard rules, since its floor is on
        the score without penalties.
    tau, bound : float or str, optional
        Parameters of the floor of two-phase programs; see `score_floor`.
    best_score : float, optional
        Z*, the best score under the hard rules in nats; required by a two-phase program with hard rules that do not fold.

    Returns
    -------
    Program
        The program, with named columns and rows.

    Raises
    ------
    ValueError
        For an unknown program, numbers out of range, a missing or too high Z*, more than `MOST_COLUMNS` columns (`TooLarge`), and as
        for `compile_rules` and `CompiledRules.problem`.

    Examples
    --------
    >>> from ilpinfer import Trellis, constraints as C, formulate
    >>> trellis = Trellis([0.0, -1.0], [[[0.0, -1.0], [-2.0, 0.5]]], labels=["a", "b"])
    >>> program = formulate(trellis, [C.at_most_tokens("a", 1, penalty=0.75, name="one a")])
    >>> program.column_names[-3:], program.row_names[-1]
    (('x[2,a,END]', 'x[2,b,END]', 'sigma["one a"]'), 'rule["one a"]')
    >>> program.labelling([0, 1, 0, 0, 0, 1, 0, 1, 0])
    ['b', 'b']
    """
    if not isinstance(trellis, Trellis):
        raise ValueError(f"trellis is {brief(trellis)}; expected a Trellis")
    if not isinstance(program, str) or program not in PROGRAMS:
        raise ValueError(f"no program {brief(program)}; choose from {', '.join(PROGRAMS)}")
    if best_score is not None and program != "two-phase":
        raise ValueError(f"best_score is for two-phase programs; leave it out for {program}")
    score_floor(0, tau, bound)
    folded = flag(folded, "folded")
    two_phases, rules = program == "two-phase", () if program == "shortest-path" else rules
    compiled = rules if isinstance(rules, CompiledRules) else compile_rules(rules, trellis.labels)
    compiled = with_hard_rules(compiled) if program == "hard" else compiled
    problem = compiled.problem(trellis)
    base = problem.fold(soft=not two_phases) if folded else problem
    formulation = rows_and_columns(base)
    floor = _floor(base, tau, bound, best_score) if two_phases else None
    integer = formulation.least_cost(floor) if two_phases else formulation.soft()

    def named() -> tuple[Meanings, Meanings]:
        extra = () if floor is None else (Meaning("floor", "floor"),)
        return meanings(formulation.columns), (*meanings(formulation.rows), *extra)

    nats_of_floor = None if floor is None else floor / UNITS_PER_NAT
    names, own = trellis.labels.names, None if two_phases else partial(_problem, compiled, trellis, folded)
    return Program(integer, names, program, folded, named, floor=nats_of_floor, _problem=own)


def _problem(compiled: CompiledRules, trellis: Trellis, folded: bool) -> Problem:
    problem = compiled.problem(trellis, quiet=True)
    return problem.fold() if folded else problem


def with_hard_rules(compiled: CompiledRules) -> CompiledRules:
    """Make all rules hard; names are unchanged."""
    rules = compiled.rule_set
    items = tuple(
        replace(item, penalty=math.inf, name=name) if isinstance(item, Rule) else item
        for item, name in zip(rules, unique_names(rules), strict=True)
    )
    if all(rule.rule.hard for rule in compiled.rules):
        return compiled
    return compile_rules(replace(rules, items=items), compiled.labels)


def _floor(problem: Problem, tau: float, bound: str, best_score: float | None) -> int | None:
    """The floor of a two-phase program, grid units; None without a floor, or without a feasible labelling."""
    folded = problem.fold(soft=False)
    best = highest = best_of_lattice(folded.lattice)
    hard = [rule.name for rule in folded.rules if rule.hard]
    if best_score is None and hard:
        raise ValueError(
            f"the floor of a two-phase program needs the best score under the hard rule {brief(hard[0])}: give "
            "best_score=ilpinfer.decode_two_phase(...).best_score"
        )
    if best_score is not None:
        best = int(snap(number(best_score, "best_score"), "best_score"))
    if best > highest:
        raise ValueError(
            f"best_score is {best_score:.9g} nats, but no labelling scores more than {nats(highest):.9g}: give "
            "ilpinfer.decode_two_phase(...).best_score of the same trellis and rules"
        )
    return None if is_forbidden(best) else score_floor(best, tau, bound)
