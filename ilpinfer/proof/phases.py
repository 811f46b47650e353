"""The check of the proofs of two-phase inference: a tree about the hard rules, and one that keeps account of costs."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from formulations.arguments import whole
from formulations.grid import HARD
from formulations.messages import counted
from formulations.problem.problem import GroundRule, Problem, cost_unit, hard_only, lowest_score
from ilpinfer.core.certificate import Phases
from ilpinfer.proof.leaf import LARGEST
from ilpinfer.proof.meter import Meter, need
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
    need(penalty < HARD, f"weight: {weight} makes a penalty too large to check")
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
    if phases.least is None:
        free = not claim.cost and claim.score >= claim.best
        need(free, "certificate: it holds no proof of the second phase")
        return
    weight = whole(phases.weight, "weight", 1, LARGEST)
    floor = lowest_score(problem) if claim.floor is None else claim.floor
    account = Account(claim.cost // cost_unit(problem.rules) * weight, weight, floor, claim.score)
    check_tree(weighted_problem(problem, weight), phases.least, account.limit, excluded, meter, account)


def _check_witness(hard: Problem, witness: tuple[int, ...], best: int) -> None:
    T, K = hard.shape
    need(len(witness) == T, f"witness: it has {counted(len(witness), 'label')}; expected {T}")
    ids = [whole(label, "witness: a label id", 0, K - 1) for label in witness]
    value = hard.value(np.array(ids, np.int64))
    holds = value.feasible and value.score == best
    need(holds, "witness: it does not have the best score, or breaks a hard rule")
