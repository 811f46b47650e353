"""The check of a proof tree: leaves bound the labellings of cases that cover all of them; and of the trees of two-phase inference."""

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from formulations.arguments import whole
from formulations.automata.lattice import Lattice, StepTable
from formulations.automata.sums import bounded
from formulations.grid import FORBIDDEN, HARD, is_forbidden
from formulations.messages import counted
from formulations.problem.contexts import in_contexts
from formulations.problem.problem import GroundRule, Problem, cost_unit, hard_only, lowest_score
from ilpinfer.core.certificate import Phases
from ilpinfer.core.trees import Leaf, Split, TooManyCases, Tree, nodes
from ilpinfer.proof.graphs import Marginals
from ilpinfer.proof.leaf import LARGEST, check_leaf
from ilpinfer.proof.meter import OVERHEAD, RULE, CheckFailure, Meter
from ilpinfer.proof.stages import Account


def check_tree(
    problem: Problem,
    tree: Any,
    claim: int | None,
    excluded: tuple[tuple[int, ...], ...],
    meter: Meter | None = None,
    account: Account | None = None,
) -> None:
    """Check by the leaves, or their account, that no labelling but those excluded is worth more than `claim`; None: that none is left."""
    meter = meter or Meter()
    _check_form(problem, tree, meter)
    if not problem.shape[0]:
        if () not in excluded and (claim is None or claim < 0):
            raise CheckFailure("leaf: the empty labelling, which is the only one, has the score 0")
        return
    if claim is None:
        problem, claim = _without_scores(problem), -1
    named = {key for _, leaf in nodes(tree) if isinstance(leaf, Leaf) for key in _named(leaf)}
    problem = replace(problem, rules=in_contexts(problem.rules, named)[0])
    folded = Marginals(problem.fold().lattice)
    for rows, leaf in _leaves(tree, *problem.shape):
        meter.stored = 0
        own = replace(problem, lattice=folded.lattice, rules=rows).fold().lattice
        scores = folded if own is folded.lattice else Marginals(own)
        check_leaf(problem.rules + rows, scores, leaf, claim, excluded, meter, account)


def _named(leaf: Leaf) -> Iterator[Any]:
    """The rules of the machines of a leaf."""
    for keys in (leaf.product, *leaf.stages):
        yield from (key[0] for key in keys if isinstance(key, tuple) and key)


def _check_form(problem: Problem, tree: Any, meter: Meter) -> None:
    """Refuse a tree with a node of another kind, or with more nodes than can be checked."""
    (T, S), edges = problem.lattice.node.shape, math.prod(problem.lattice.pool.shape[1:])
    local = sum(len(rule.components) for rule in problem.rules if rule.folds)
    least = 0
    try:
        for depth, node in nodes(tree):
            if isinstance(node, Leaf):
                if not all(node.stages):
                    raise CheckFailure("leaf: one of its stages is empty")
                least += T * ((edges + OVERHEAD) * node.passes + local * S) + RULE * len(problem.rules)
                meter.need(least)
            elif not isinstance(node, Split):
                what = f"a {type(node).__name__} below {depth} splits"
                raise CheckFailure(f"the tree has {what}, which is neither leaf nor split")
    except TooManyCases as error:
        raise CheckFailure(str(error)) from None


def _without_scores(problem: Problem) -> Problem:
    """The problem in which every labelling that keeps the hard rules is worth 0."""
    old = problem.lattice
    node, pool = (np.where(is_forbidden(x), FORBIDDEN, 0) for x in (old.node, old.pool))
    rules = tuple(rule if rule.hard else replace(rule, penalty=0) for rule in problem.rules)
    return replace(problem, lattice=Lattice(node, pool, old.step), rules=rules)


def _leaves(tree: Tree, T: int, K: int) -> Iterator[tuple[tuple[GroundRule, ...], Leaf]]:
    """Every leaf, with the rows of the splits above it; the two rows of a split cover all labellings."""
    waiting: list[tuple[Tree, tuple[GroundRule, ...]]] = [(tree, ())]
    while waiting:
        node, rows = waiting.pop()
        if isinstance(node, Leaf):
            yield rows, node
            continue
        steps, most = _ones(node, T, K), whole(node.most, "the side of a split", 0, T)
        below, above = bounded(steps, None, most), bounded(steps, most + 1, None)
        if len(node.tokens) == 1 and not most:
            above = bounded(_ones(node, T, K, others=True), None, 0)
        for component, child in ((above, node.above), (below, node.below)):
            row = GroundRule(f"split {len(rows)}", HARD, False, (component,))
            waiting.append((child, (*rows, row)))


def _ones(split: Split, T: int, K: int, *, others: bool = False) -> StepTable:
    """1 for each step to one of the labels, or to one of the others, at one of the tokens."""
    values, index = np.zeros((2, 1, K), np.int64), np.zeros(T, np.int64)
    values[1] = others
    values[1, 0, [whole(label, "a label id of a split", 0, K - 1) for label in split.labels]] = not others
    index[[whole(token, "a token of a split", 0, T - 1) for token in split.tokens]] = 1
    return StepTable(values, index)


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
        raise CheckFailure(f"witness: it has {counted(len(witness), 'label')}; expected {T}")
    ids = [whole(label, "witness: a label id", 0, K - 1) for label in witness]
    value = hard.value(np.array(ids, np.int64))
    if not value.feasible or value.score != best:
        raise CheckFailure("witness: it does not have the best score, or breaks a hard rule")


def account_of(problem: Problem, claim: PhasesClaim, weight: int) -> Account:
    """The account of the second phase at a weight."""
    floor = lowest_score(problem) if claim.floor is None else claim.floor
    budget = claim.cost // cost_unit(problem.rules) * weight
    return Account(budget, weight, floor, claim.score)
