"""The check of a proof tree: leaves bound the labellings of cases that cover all of them."""

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from formulations.arguments import whole
from formulations.automata.lattice import Lattice, StepTable
from formulations.automata.sums import bounded
from formulations.grid import FORBIDDEN, HARD, is_forbidden
from formulations.problem.contexts import in_contexts
from formulations.problem.problem import GroundRule, Problem
from ilpinfer.core.trees import Leaf, Split, TooManyCases, Tree, nodes
from ilpinfer.proof.graphs import MaxMarginals
from ilpinfer.proof.leaf import check_leaf
from ilpinfer.proof.meter import OVERHEAD, RULE, CheckFailure, Meter, need
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
        fits = () in excluded or (claim is not None and claim >= 0)
        need(fits, "leaf: the empty labelling, which is the only one, has the score 0")
        return
    if claim is None:
        problem, claim = _without_scores(problem), -1
    named = {key for _, leaf in nodes(tree) if isinstance(leaf, Leaf) for key in _named(leaf)}
    problem = replace(problem, rules=in_contexts(problem.rules, named)[0])
    folded = MaxMarginals(problem.fold().lattice)
    for rows, leaf in _leaves(tree, *problem.shape):
        meter.stored = 0
        own = replace(problem, lattice=folded.lattice, rules=rows).fold().lattice
        scores = folded if own is folded.lattice else MaxMarginals(own)
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
                need(all(node.stages), "leaf: one of its stages is empty")
                least += T * ((edges + OVERHEAD) * node.passes + local * S) + RULE * len(problem.rules)
                meter.need(least)
            else:
                what = f"a {type(node).__name__} below {depth} splits"
                need(isinstance(node, Split), f"the tree has {what}, which is neither leaf nor split")
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
