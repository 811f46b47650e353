"""Creation of references: decoding, and conversion of proofs for the plain checker."""

import platform
from collections.abc import Sequence
from dataclasses import replace
from importlib.metadata import version
from itertools import groupby
from typing import Any

import numpy as np

from formulations import RuleSet, Trellis, dump_rules, parse_rules
from formulations.arguments import whole
from formulations.grid import UNITS_PER_NAT
from formulations.problem.compiled_rules import CompiledRules
from formulations.problem.problem import Problem
from ilpinfer import checker
from ilpinfer.core.certificate import Phases
from ilpinfer.core.deadline import Deadline
from ilpinfer.core.request import deadline_for
from ilpinfer.core.rule_compiler import RuleCompiler, Rules, compiler_of
from ilpinfer.core.solution import Solution
from ilpinfer.core.trees import Tree
from ilpinfer.decoding.decode import decode
from ilpinfer.references.proofs import plain_trees
from ilpinfer.references.record import InvalidReference, Level, Reference
from ilpinfer.references.tables import ReferenceTables, plain_lattice, tables_of

FIRST = 8
"""Number of labellings of the first decoding, to find ties."""


class UnprovedOptimum(InvalidReference):
    """Error for a problem whose optimum is not proved within the limits."""


def make(
    trellis: Trellis,
    rules: Rules,
    *,
    name: str = "",
    ties: int = 100,
    time_limit: float | None = None,
    top: int | None = None,
    max_steps: int = checker.MAX_STEPS,
) -> Reference:
    """The reference of a trellis and rules: its optima and the next best score, with proofs.

    Parameters
    ----------
    trellis : Trellis
        Scores of T tokens and K labels.
    rules : Rules
        Rules and features, or a rule set.
    name : str, optional
        Name of the reference.
    ties : int, default 100
        Largest number of listed optima; if there are more, the next score is unknown.
    time_limit : float, optional
        Time limit in seconds for all decoding; None for no limit.
    top : int, optional
        Smallest number of labellings to list, if there are that many.
    max_steps : int, default checker.MAX_STEPS
        Limit on the steps of the check.

    Returns
    -------
    Reference
        The reference.

    Raises
    ------
    UnprovedOptimum
        If the optimum is not proved within these limits.
    NoTables
        For a rule whose automaton is too large.
    ValueError
        For rules that do not fit the trellis or cannot be written as text, and for numbers out of range.

    Examples
    --------
    >>> from ilpinfer import Trellis, constraints as C
    >>> from ilpinfer import references
    >>> trellis = Trellis([0.0, -1.0], [[[0.0, -1.0], [-2.0, 0.5]]], labels=["a", "b"])
    >>> reference = references.make(trellis, [C.starts_with("b")])
    >>> reference.score, reference.optima, reference.next_score
    (-0.5, ((1, 1),), -3.0)
    """
    for what, number in (("ties", ties), ("top", 1 if top is None else top), ("max_steps", max_steps)):
        whole(number, what, 1)
    compiler = compiler_of(rules)
    trellis = compiler.fit(trellis)
    text, rule_set, compiled = _as_text(compiler, trellis)
    problem = compiled.problem(trellis)
    tables = tables_of(problem)
    claims = _claims(trellis, rule_set, ties, top, deadline_for(time_limit))
    model = None if problem.lattice is problem.model else plain_lattice(problem.model)
    if model is not None and all(model[key] == tables.plain[key] for key in model):
        model = None
    labels = trellis.labels.names
    record = {"labels": list(labels), "tables": tables.plain}
    try:
        levels = _proved(record, problem, tables, claims, max_steps)
    except checker.CheckError as fault:
        raise UnprovedOptimum(f"the plain checker does not accept it: {fault}") from None
    return Reference(
        name,
        labels,
        trellis.labels.notation,
        tuple(map(str, trellis.tokens)),
        text,
        model,
        tables.plain,
        levels,
        compiled.digest_of(trellis),
        {"ilpinfer": version("ilpinfer"), "python": platform.python_version(), "numpy": np.__version__},
    )


def _as_text(compiler: RuleCompiler, trellis: Trellis) -> tuple[str, RuleSet, CompiledRules]:
    """The rules as text, the rules read from this text, and the compiled rules."""
    text = dump_rules(replace(compiler.rules, never=tuple(trellis.labels.never)))
    rule_set = parse_rules(text)
    compiled = compiler_of(rule_set).compiled(trellis.labels)
    if compiled.digest != compiler.compiled(trellis.labels).digest:
        raise InvalidReference("the rules change if they are written as text and read again")
    return text, rule_set, compiled


Claim = tuple[int | None, tuple[tuple[int, ...], ...], Tree]


def _claims(trellis: Trellis, rules: RuleSet, ties: int, top: int | None, deadline: Deadline) -> list[Claim]:
    """Score, labellings and proof of each level."""
    best = decode(trellis, rules, time_limit=_seconds(deadline))
    if not best.has_labelling:
        return [(None, (), _tree(best))]
    wanted, most = max(top or 1, 1) + 1, max(ties, top or 1) + 1
    while True:
        solutions = decode(trellis, rules, time_limit=_seconds(deadline), top=wanted)
        for solution in solutions:
            _tree(solution)
        if not solutions:
            raise UnprovedOptimum("no labelling was proved optimal in time; raise time_limit")
        levels = [(units, list(each)) for units, each in groupby(solutions, _units)]
        if len(solutions) < wanted or (len(levels) > 1 and wanted > (top or 1)) or wanted == most:
            break
        wanted = min(most, max(4 * wanted, FIRST))
    claims: list[Claim] = [(units, tuple(map(_path, each)), _tree(each[0])) for units, each in levels]
    if len(solutions) < wanted:
        rest = solutions[-1].certificate.rest
        if rest is None or rest.bound > -np.inf:
            raise UnprovedOptimum("it is not proved that there are no other labellings; raise time_limit")
        return [*claims, (None, (), rest.tree)]
    if len(claims) == 1:
        units, labellings, tree = claims[0]
        return [(units, labellings[: max(ties, top or 1)], tree)]
    return claims


def _seconds(deadline: Deadline) -> float | None:
    """Seconds left for decoding, above 0, since decoding refuses a limit of 0."""
    return None if deadline.remaining is None else max(deadline.remaining, 0.001)


def _units(solution: Solution) -> int:
    return round(solution.score * UNITS_PER_NAT)


def _path(solution: Solution) -> tuple[int, ...]:
    return tuple(solution.ids.tolist())


def _tree(solution: Solution) -> Tree:
    tree = solution.certificate.tree
    if solution.status not in ("optimal", "infeasible"):
        raise UnprovedOptimum(f"the solution is {solution.status}, not proved optimal; raise time_limit")
    if tree is None or isinstance(tree, Phases):
        source = solution.certificate.source or solution.method
        raise UnprovedOptimum(f"the status {solution.status} is claimed by {source} without a proof tree")
    return tree


def _proved(
    record: dict[str, Any], problem: Problem, tables: ReferenceTables, claims: Sequence[Claim], max_steps: int
) -> tuple[Level, ...]:
    """The levels with proofs that the plain checker accepts, and the numbers of steps of the checks."""
    levels, listed, left = list[Level](), list[tuple[int, ...]](), [max_steps]
    read = checker.read(record, left)
    for score, labellings, tree in claims:
        reason, own = "", checker.read(record, left, 0) if score is None else read
        for plain in plain_trees(problem, tables, tree):
            level = {"score": score, "labellings": [list(p) for p in labellings], "proof": {"tree": plain}}
            try:
                steps = checker.check_level(*own, level, listed, left[0])
            except checker.CheckError as fault:
                reason = str(fault)
                continue
            checker.spend(left, steps)
            levels.append(Level(score, labellings, {"steps": steps, "tree": plain}))
            break
        else:
            raise UnprovedOptimum(f"the plain checker does not accept the proof: {reason}")
        listed += labellings
    return tuple(levels)
