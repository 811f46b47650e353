"""Contradictions of hard sums, by the linear relaxation of their sides and branch and bound.

The search ends at the first labelling that keeps all sides, or with a tree whose leaves are multipliers.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from formulations.dtypes import LabelIds
from formulations.grid import is_forbidden
from formulations.problem.problem import GroundRule, Problem
from ilpinfer.core.deadline import Deadline
from ilpinfer.core.trees import Leaf, MachineKey, Split
from ilpinfer.exact.mixtures import (
    RELAXATION,
    Pool,
    Relaxed,
    SumTerm,
    fractional_row,
    relax,
    splice,
    sums_of,
)
from ilpinfer.exact.rows import Row, combined_rows
from ilpinfer.exact.score_replacement import without_scores
from ilpinfer.exact.splits import split_rules, tree_of

FEW_CASES, MOST_CASES, DEEPEST = 20, 400, 60
"""Limits on cases before another search takes over, at first and at last."""

MOST_SUMS = 100
"""Sums of a linear program, at most."""


@dataclass
class Node:
    """A case.

    Parameters
    ----------
    problem : Problem
        Problem with a rule for each split above.
    depth : int, default 0
        Splits above.
    leaf : Leaf, optional
        Proof of the case, or None.
    row, most : Row or int, optional
        Where it is split, and into which cases.
    """

    problem: Problem
    depth: int = 0
    leaf: Leaf | None = None
    row: Row | None = None
    most: int = 0
    cases: tuple["Node", ...] = ()


@dataclass(frozen=True)
class Outcome:
    """The result of the search.

    Parameters
    ----------
    tree : Leaf or Split, optional
        The proof that no labelling keeps the sums, if there is none.
    path : ndarray of int, optional
        A labelling that keeps them, if one was found.
    """

    tree: Leaf | Split | None = None
    path: LabelIds | None = None


def sums_within(problem: Problem, active: Sequence[MachineKey] = ()) -> frozenset[MachineKey]:
    """The sums of linear programs: all, or where they are too many, those of the active components."""
    places = [place for place, _ in sums_of(problem)]
    if len(places) > MOST_SUMS:
        places = [component for component in active if component in set(places)][:MOST_SUMS]
    return frozenset(places)


def contradiction(
    problem: Problem, among: frozenset[MachineKey], deadline: Deadline, most: int = FEW_CASES
) -> Outcome:
    """A labelling that keeps these hard sums, or a proof that there is none; neither after `most` cases."""
    deadline.excuse(RELAXATION.warm())
    hard = tuple(rule if rule.hard else replace(rule, components=()) for rule in problem.rules)
    root = Node(replace(without_scores(problem), rules=hard))
    return _Search(root, among, deadline, most).run()


@dataclass
class _Search:
    root: Node
    among: frozenset[MachineKey]
    deadline: Deadline
    most: int
    pool: Pool = field(default_factory=Pool)

    def run(self) -> Outcome:
        root, shape = self.root, self.root.problem.shape
        terms = [term for _, term in self.sums(root.problem)]
        rows = combined_rows([term.total for term in terms], shape)
        nodes, waiting = [root], [root]
        while waiting:
            node = waiting.pop()
            answer = self.relaxed(node)
            if node.leaf is not None:
                continue
            kept = [path for path in (*answer.paths, *splice(answer, terms)) if self.keeps(path, terms)]
            split = fractional_row(answer, rows, shape)
            if kept or split is None or len(nodes) > self.most or node.depth == DEEPEST:
                return Outcome(path=min(kept, key=lambda path: len(root.problem.breaks(path)), default=None))
            node.row, node.most = split
            rules = split_rules(node.row, node.most, node.depth, shape)
            node.cases = tuple(self.case(node, rule) for rule in rules)
            nodes += node.cases
            waiting += node.cases
        return Outcome(tree_of(nodes))

    def sums(self, problem: Problem) -> list[tuple[MachineKey, SumTerm]]:
        """The hard sums of the linear programs, and those of splits."""
        first = len(self.root.problem.rules)
        return [(at, term) for at, term in sums_of(problem) if at in self.among or at[0] >= first]

    def keeps(self, path: LabelIds, terms: Sequence[SumTerm]) -> bool:
        """Whether the labelling is feasible and keeps the sums."""
        if is_forbidden(self.root.problem.lattice.score(path)):
            return False
        return not any(term.total.violations(path) for term in terms)

    def case(self, node: Node, rule: GroundRule) -> Node:
        return Node(replace(node.problem, rules=(*node.problem.rules, rule)), node.depth + 1)

    def relaxed(self, node: Node) -> Relaxed:
        """The linear relaxation of a case. An impossible case gets its leaf."""
        sums = self.sums(node.problem)
        terms = [term for _, term in sums]
        answer = relax(node.problem.fold().lattice, terms, 1.0, self.pool, self.deadline, enough=0)
        if answer.bound < 0:
            empty = not any(answer.multipliers)
            multipliers = zip((place for place, _ in sums), answer.multipliers, strict=True)
            node.leaf = Leaf(
                {place: multiplier << 10 for place, multiplier in multipliers if multiplier or empty}
            )
        return answer
