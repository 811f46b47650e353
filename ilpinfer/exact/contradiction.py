"""Whether hard sums contradict each other: the linear relaxation of their sides, and cases where that is fractional.

The search ends at the first labelling that keeps all sides, or with a tree whose leaves are multipliers.
"""

from dataclasses import dataclass, field, replace

from formulations.compiled.problem import GroundRule, Problem
from formulations.compiled.sums import Sum
from formulations.grid import is_forbidden
from ilpinfer.certificate import Leaf, Part, Split
from ilpinfer.deadline import Deadline
from ilpinfer.exact.bare import without_scores
from ilpinfer.exact.mixtures import Counted, Pool, Relaxed, fractional, relax, spliced
from ilpinfer.exact.rows import Row, combined
from ilpinfer.exact.splits import split_rules, tree_of
from ilpinfer.found import Path

MOST_CASES, DEEPEST = 200, 60
"""Beyond which another search has its turn."""


@dataclass
class Node:
    """A case.

    Parameters
    ----------
    problem : with a rule for each split above
    depth : splits above
    leaf : its proof, where it has one
    row, most : where it is split, and into which cases
    """

    problem: Problem
    depth: int = 0
    leaf: Leaf | None = None
    row: Row | None = None
    most: int = 0
    cases: tuple["Node", ...] = ()


@dataclass(frozen=True)
class Outcome:
    """What has come of the search.

    Parameters
    ----------
    tree : the proof that no labelling keeps the sums, if there is none
    path : a labelling that keeps them, if one was found
    """

    tree: Leaf | Split | None = None
    path: Path | None = None


def sums_of(problem: Problem) -> list[tuple[Part, Counted]]:
    """The sums whose violations count singly and that do not fold, with their places."""
    return [
        ((r, p), Counted(part, rule.penalty))
        for r, rule in enumerate(problem.rules)
        if rule.penalty is None or not rule.binary
        if not rule.folds
        for p, part in enumerate(rule.parts)
        if isinstance(part, Sum)
    ]


def contradiction(problem: Problem, deadline: Deadline) -> Outcome:
    """A labelling that keeps the hard sums, or a proof that there is none; neither where the search stays open."""
    hard = tuple(rule if rule.penalty is None else replace(rule, parts=()) for rule in problem.rules)
    search = _Search(Node(replace(without_scores(problem), rules=hard)), deadline)
    return search.run()


@dataclass
class _Search:
    root: Node
    deadline: Deadline
    pool: Pool = field(default_factory=Pool)

    def run(self) -> Outcome:
        root, shape = self.root, self.root.problem.shape
        rows = combined([part.total for _, part in sums_of(root.problem)], shape)
        nodes, waiting = [root], [root]
        while waiting:
            node = waiting.pop()
            answer = self.relaxed(node)
            if node.leaf is not None:
                continue
            spliced_paths = spliced(answer, [part for _, part in sums_of(root.problem)])
            kept = [path for path in (*answer.paths, *spliced_paths) if self.keeps(path)]
            chosen = fractional(answer, rows, shape)
            if kept or chosen is None or len(nodes) > MOST_CASES or node.depth == DEEPEST:
                return Outcome(path=next(iter(kept), None))
            node.row, node.most = chosen
            rules = split_rules(node.row, node.most, node.depth, shape)
            node.cases = tuple(self.case(node, rule) for rule in rules)
            nodes += node.cases
            waiting += node.cases
        return Outcome(tree_of(nodes))

    def keeps(self, path: Path) -> bool:
        """Whether a labelling keeps the hard rules that are looked at."""
        problem = self.root.problem
        return not problem.breaks(path) and not is_forbidden(problem.lattice.score(path))

    def case(self, node: Node, rule: GroundRule) -> Node:
        return Node(replace(node.problem, rules=(*node.problem.rules, rule)), node.depth + 1)

    def relaxed(self, node: Node) -> Relaxed:
        """The linear relaxation of a case; where that is impossible, it gets its leaf."""
        sums = sums_of(node.problem)
        counted = [part for _, part in sums]
        answer = relax(node.problem.fold().lattice, counted, 1.0, self.pool, self.deadline, enough=0)
        if answer.bound < 0:
            empty = not any(answer.prices)
            prices = zip((place for place, _ in sums), answer.prices, strict=True)
            node.leaf = Leaf({part: price << 10 for part, price in prices if price or empty})
        return answer
