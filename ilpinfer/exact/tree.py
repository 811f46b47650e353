"""Best-first tree search: bound the root, split the open case with the highest bound, and assemble the proof."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from heapq import heappop, heappush
from typing import NamedTuple, TypeVar

import numpy as np

from formulations.automata.lattice import StepTable
from formulations.automata.sums import bounded
from formulations.dtypes import LabelIds
from formulations.grid import FORBIDDEN, HARD, is_forbidden
from formulations.problem.problem import GroundRule, Problem
from ilpinfer.core.trees import Leaf, Split
from ilpinfer.exact import limits
from ilpinfer.exact.state import State

Case = TypeVar("Case")
Row = tuple[tuple[int, ...], tuple[int, ...]]
"""Tokens and labels that count one."""


class CaseBound(NamedTuple):
    """An upper bound on the labellings of a case in grid units, a labelling that attains it if known, and the proof."""

    value: float
    path: LabelIds | None
    proof: Leaf | Split | None


@dataclass
class Node:
    """A case in the tree of a proof; its children have at most `most` of the row's ones, and more."""

    depth: int
    proof: Leaf | Split | None = None
    row: Row | None = None
    most: int = 0
    children: tuple["Node", ...] = ()


def search(
    state: State,
    root: Case,
    bound: Callable[[State, Case], tuple[State, CaseBound]],
    split: Callable[[State, Case], tuple[Row, int, tuple[Case, Case]] | None],
    most: int,
    words: str,
) -> State:
    """Split the case with the highest bound (the last of equal ones) until no bound reaches the best labelling.

    It ends early at the deadline, if `split` returns None, and after `most` cases. The final state has the bound of all cases.
    """
    nodes: list[Node] = []
    waiting: list[tuple[float, int, Node, Case]] = []
    closed, best = float(FORBIDDEN), list[LabelIds]()

    def add(state: State, case: Case, depth: int) -> State:
        nonlocal closed
        state, (value, path, proof) = bound(state, case)
        nodes.append(Node(depth, proof))
        state = state if path is None else state.with_labelling(path)
        if value < state.value or is_forbidden(value):
            closed = max(closed, value)
        elif path is not None and state.problem.evaluate(path).value == value:
            closed = max(closed, value)
            best.append(path)
        else:
            heappush(waiting, (-value, -len(nodes), nodes[-1], case))
        return state

    state = add(state, root, 0)
    while True:
        highest = -waiting[0][0] if waiting else FORBIDDEN
        value = max(closed, highest, state.value)
        if value < state.bound:
            state = state.proved(value, tree_of(nodes))
        is_open = bool(waiting) and highest >= state.value
        if not is_open or state.problem.deadline.passed:
            break
        _, _, node, case = waiting[0]
        if len(nodes) > most or node.depth == limits.DEEPEST or (division := split(state, case)) is None:
            break
        heappop(waiting)
        node.row, node.most, cases = division
        for each in cases:
            state = add(state, each, node.depth + 1)
        node.children = tuple(nodes[-2:])
    words = words if len(nodes) == 1 else f"{words}, {len(nodes)} cases told apart"
    if is_open:
        return replace(state, words=words)
    evaluate = state.problem.evaluate
    first = min(best, key=lambda path: (-evaluate(path).value, path.tolist()), default=None)
    return state.closed_by(words, *([] if first is None else [first]))


def tree_of(nodes: Sequence[Node]) -> Leaf | Split:
    """The tree of nodes listed from the root on, each before its children."""
    trees: dict[int, Leaf | Split] = {}
    for node in reversed(nodes):
        if node.row is None:
            trees[id(node)] = node.proof or Leaf()
        else:
            below, above = (trees[id(child)] for child in node.children)
            trees[id(node)] = Split(*node.row, node.most, below, above)
    return trees[id(nodes[0])]


def divide(problem: Problem, row: Row, most: int) -> tuple[Problem, Problem]:
    """The problem with at most `most` of the row's ones, and the problem with more.

    More than none of one token is none of its other labels, which folds.
    """
    tokens, labels = row
    T, K = problem.shape
    values, index = np.zeros((2, 1, K), np.int64), np.zeros(T, np.int64)
    values[1, 0, list(labels)], index[list(tokens)] = 1, 1
    below, above = (bounded(StepTable(values, index), *ends) for ends in ((None, most), (most + 1, None)))
    if len(tokens) == 1 and not most:
        others = values * 0
        others[1] = 1 - values[1]
        above = bounded(StepTable(others, index), None, 0)
    name = f"split {len(problem.rules)}"
    first, second = (
        replace(problem, rules=(*problem.rules, GroundRule(name, HARD, False, (component,))))
        for component in (below, above)
    )
    return first, second
