"""The two cases of a split as hard rules, and trees of splits."""

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from formulations.automata.lattice import StepTable
from formulations.automata.sums import bounded
from formulations.grid import HARD
from formulations.problem.problem import GroundRule
from ilpinfer.core.certificate import Leaf, Split
from ilpinfer.exact.rows import Row


def split_rules(row: Row, most: int, depth: int, shape: tuple[int, int]) -> tuple[GroundRule, GroundRule]:
    """Two rules: at most `most` of the row's ones, and more than `most`; `depth` splits are above.

    More than none of one token is none of its other labels, which folds.
    """
    tokens, labels = row
    T, K = shape
    values, index = np.zeros((2, 1, K), np.int64), np.zeros(T, np.int64)
    values[1, 0, list(labels)], index[list(tokens)] = 1, 1
    steps = StepTable(values, index)
    components = bounded(steps, None, most), bounded(steps, most + 1, None)
    if len(tokens) == 1 and not most:
        others = values * 0
        others[1] = 1 - values[1]
        components = components[0], bounded(StepTable(others, index), None, 0)
    below, above = (GroundRule(f"split {depth}", HARD, False, (component,)) for component in components)
    return below, above


class Node(Protocol):
    """A case: with a leaf, or with a row and whole number where it is split, and the cases below and above."""

    row: Row | None
    most: int
    cases: Any

    @property
    def leaf(self) -> Leaf | Split | None:
        """Its proof, if it has one."""


def tree_of(nodes: Sequence[Node]) -> Leaf | Split:
    """The tree of nodes that are listed from the root on, each before its cases."""
    trees: dict[int, Leaf | Split] = {}
    for node in reversed(nodes):
        if node.row is None:
            trees[id(node)] = node.leaf or Leaf()
        else:
            below, above = (trees[id(case)] for case in node.cases)
            trees[id(node)] = Split(*node.row, node.most, below, above)
    return trees[id(nodes[0])]
