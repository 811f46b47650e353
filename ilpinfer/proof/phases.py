"""Two-phase inference: the problems of both phases, and the check of their proofs."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from formulations.arguments import whole
from formulations.grid import HARD
from formulations.problem.problem import GroundRule, Problem, cost_unit, hard_only, lowest_score
from ilpinfer.core.certificate import Phases
from ilpinfer.proof.leaf import LARGEST
from ilpinfer.proof.meter import CheckFailure, Meter
from ilpinfer.proof.stages import Account
from ilpinfer.proof.tree import check_tree


class PhasesClaim(NamedTuple):
    """The best score under the hard rules, the floor, and score and cost of the labelling, grid units; a floor of None accepts all."""

    best: int
    floor: int | None
    score: int
    cost: int


class _CostRule(GroundRule):
    """A soft rule that does not fold, so that its cost stays apart from the scores."""

    @property
    def folds(self) -> bool:
        return False


def weighted_problem(problem: Problem, weight: int) -> Problem:
    """The problem with penalties of `weight` grid units for each unit of cost; hard rules are folded."""
    problem = problem.fold(soft=False)
    unit = cost_unit(problem.rules)
    rules = tuple(rule if rule.hard else _cost_rule(rule, weight, unit) for rule in problem.rules)
    return replace(problem, rules=rules)


def _cost_rule(rule: GroundRule, weight: int, unit: int) -> GroundRule:
    penalty = rule.penalty // unit * weight if rule.most else 1
    if penalty >= HARD:
        raise CheckFailure(f"weight: {weight} makes a penalty too large to check")
    return _CostRule(rule.name, penalty, rule.binary, rule.components, rule.forced, rule.overruled)


def check_phases(
    problem: Problem,
    phases: Phases,
    claim: PhasesClaim | None,
    excluded: tuple[tuple[int, ...], ...],
    meter: Meter,
) -> None:
    """Check that no labelling, apart from those excluded, is better than the claim; None: that none keeps the hard rules."""
    hard = hard_only(problem)
    if claim is None:
        check_tree(hard, phases.best, None, excluded, meter)
        return
    _check_witness(hard, phases.witness, claim.best)
    check_tree(hard, phases.best, claim.best, (), meter)
    if phases.least is not None:
        weight = whole(phases.weight, "weight", 1, LARGEST)
        account = account_of(problem, claim, weight)
        check_tree(weighted_problem(problem, weight), phases.least, account.limit, excluded, meter, account)
    elif claim.cost or claim.score < claim.best:
        raise CheckFailure("certificate: it holds no proof of the second phase")


def _check_witness(hard: Problem, witness: tuple[int, ...], best: int) -> None:
    T, K = hard.shape
    if len(witness) != T:
        raise CheckFailure(f"witness: it has {len(witness)} labels; expected {T}")
    ids = [whole(label, "witness: a label id", 0, K - 1) for label in witness]
    value = hard.value(np.array(ids, np.int64))
    if not value.feasible or value.score != best:
        raise CheckFailure("witness: it does not have the best score, or breaks a hard rule")


def account_of(problem: Problem, claim: PhasesClaim, weight: int) -> Account:
    """The account of the second phase at a weight."""
    floor = lowest_score(problem) if claim.floor is None else claim.floor
    budget = claim.cost // cost_unit(problem.rules) * weight
    return Account(budget, weight, floor, claim.score)
