"""Lagrangian decomposition for consistency rules: the lattice, and a chain for each list of tokens.

The bound is the sum of the optima of lattice and chains, which share the scores of kinds (Guignard and Kim 1987; Komodakis,
Paragios and Tziritas 2007). A labelling that is best for the lattice and for each chain is the optimum. Otherwise states
are pruned by their max-marginals against the incumbent, and branch and bound splits on the kind of one token.
"""

from dataclasses import dataclass
from heapq import heappop, heappush

import numpy as np

from formulations import Trellis
from formulations import constraints as C
from formulations.automata.lattice import Lattice
from formulations.dtypes import Integers, LabelIds
from formulations.grid import FORBIDDEN, is_forbidden
from formulations.problem.compiled_rules import compile_problem
from ilpinfer.core.deadline import Deadline
from ilpinfer.core.trees import Leaf
from ilpinfer.exact.agreement_lists import Lists, Shares, TokenList, lists_of
from ilpinfer.exact.branch import first
from ilpinfer.exact.known import Known, SearchResult
from ilpinfer.exact.rows import Row
from ilpinfer.exact.splits import tree_of
from ilpinfer.exact.viterbi import viterbi
from ilpinfer.kernels import agreement as kernels
from ilpinfer.kernels.warming import Stage

MOST_CASES, DEEPEST = 1000, 100
"""Limits on depth and cases before other methods take over; `verify` accepts trees that are twice as deep."""
SWEEPS, FEWEST, STAGES = 40, 3, 4
"""Most and fewest sweeps of a case before states are pruned, and the number of prunings."""
FEW_STATES = 50
"""Pruning is repeated while it removes at least one state in this many, since the proof repeats it, too."""
STALLED = 0.02
"""Share of the gap that a sweep has to close for another one."""


@dataclass
class Case:
    """A node of branch and bound.

    Parameters
    ----------
    node : ndarray of int, shape (T, S)
        Scores, including those moved from the lists; forbidden where no labelling is as good as the best one.
    own : ndarray of int, shape (N, F)
        Scores of the lists.
    stages : tuple of Shares, optional
        Shares of the lists at each pruning of states.
    bound : float, optional
        Grid units.
    depth : int, default 0
        Number of splits above.
    row, most, cases : Row, int or tuple of Case, optional
        Row of the split of the case, and the two cases.
    path : ndarray of int, optional
        The best labelling of the lattice.
    leaf : Leaf, optional
        The proof of the bound.
    """

    node: Integers
    own: Integers
    stages: tuple[Shares, ...] = ()
    bound: float = float("inf")
    depth: int = 0
    row: Row | None = None
    most: int = 0
    cases: tuple["Case", ...] = ()
    path: LabelIds | None = None
    leaf: Leaf | None = None


class Decomposition:
    """Branch and bound over cases; the first case is the problem itself.

    Parameters
    ----------
    known : Known
        The whole; its labelling and its bound follow.
    lists : list of TokenList
        One at least.
    """

    def __init__(self, known: Known, lists: list[TokenList]) -> None:
        self.known, self.lattice = known, known.folded.lattice
        self.lists = Lists(lists, self.lattice)
        self.best: LabelIds | None = None
        self.closed_bound = float(FORBIDDEN)

    def run(self) -> SearchResult:
        """Branch, on the case with the highest bound first, until no case can be better than the incumbent."""
        known = self.known
        cases = [Case(self.lattice.node.copy(), self.lists.empty.copy())]
        waiting = [] if self.fathom(cases[0]) else [(-cases[0].bound, 0, cases[0])]
        if waiting:
            relaxed = Lattice(cases[0].node.copy(), self.lattice.pool, self.lattice.step)
            known.charged = relaxed, int(cases[0].bound)
        while waiting and -waiting[0][0] >= known.value and not known.deadline.passed:
            case = waiting[0][2]
            if len(cases) > MOST_CASES or case.depth == DEEPEST:
                break
            split = self.split(case)
            if split is None:
                break
            heappop(waiting)
            for child in self.branch(case, split):
                cases.append(child)
                if not self.fathom(child):
                    heappush(waiting, (-child.bound, len(cases), child))
            self.prove(cases, waiting)
        self.prove(cases, waiting)
        done = not waiting or -waiting[0][0] < known.value
        paths = [self.best] if done and self.best is not None else []
        how = f"decomposition by {len(self.lists.lists)} lists of equal tokens"
        why = how if len(cases) == 1 else f"{how}, {len(cases)} cases told apart"
        return SearchResult(paths, why, done, known.tree if done else None)

    def prove(self, cases: list[Case], waiting: list[tuple[float, int, Case]]) -> None:
        """Update the bound by the bounds of all cases."""
        bound = max(self.closed_bound, -waiting[0][0] if waiting else FORBIDDEN, self.known.value)
        if bound < self.known.bound:
            self.known.prove(bound, tree_of(cases))

    def fathom(self, case: Case) -> bool:
        """Whether the case needs no branching: its best labelling is known, or its bound is below the incumbent."""
        known = self.known
        self.tighten(case)
        case.leaf = self.leaf(case)
        if case.bound >= known.value and not is_forbidden(case.bound):
            if case.path is None or known.evaluate(case.path).value != case.bound:
                return False
            self.best = first(self.best, case.path, known)
        self.closed_bound = max(self.closed_bound, case.bound)
        case.node = case.own = self.lists.empty[:0]
        return True

    def leaf(self, case: Case) -> Leaf:
        """The proof of a case's bound."""
        forbidden = is_forbidden(case.bound)
        if not (forbidden or case.stages or case.own.any()):
            return Leaf()
        return Leaf(shares=(*case.stages, self.lists.shares(0 * case.own if forbidden else case.own)))

    def tighten(self, case: Case) -> None:
        """Lower the bound of a case by sweeps, and prune states."""
        known = self.known
        scores, lists = self.pack(case)
        kernels.backward(scores, lists, False)
        for _ in range(STAGES):
            self.sweep(case, scores, lists)
            if case.bound < known.value or self.attains_bound(case) or known.deadline.passed:
                return
            kernels.forward(scores, lists, False)
            node = case.node.copy()
            count = kernels.narrow(scores, lists, case.bound, known.value)
            if count * FEW_STATES < np.count_nonzero(~is_forbidden(node)):
                case.node[:] = node
                return
            case.stages = *case.stages, self.lists.shares(case.own)
            self.forbid(case)
            kernels.backward(scores, lists, False)

    def sweep(self, case: Case, scores: kernels.Scores, lists: kernels.Lists) -> None:
        """Sweep until the bound stalls."""
        known = self.known
        for number in range(SWEEPS):
            before, case.bound = case.bound, min(case.bound, int(kernels.bound(scores, lists)))
            if is_forbidden(case.bound):
                return
            self.evaluate_candidates(case, scores, lists)
            gap = case.bound - known.value
            stalled = number >= FEWEST and before - case.bound < STALLED * gap
            if gap < 0 or stalled or self.attains_bound(case) or known.deadline.passed:
                return
            kernels.forward(scores, lists, True)
            kernels.backward(scores, lists, True)

    def evaluate_candidates(self, case: Case, scores: kernels.Scores, lists: kernels.Lists) -> None:
        """Evaluate the labelling of the lattice, and labellings with the kinds of the lists or of most of their tokens."""
        states = np.empty(len(case.node), np.int64)
        kernels.best_path(scores, states)
        case.path = self.lattice.labels_of(states)
        if self.known.evaluate(case.path).value == case.bound:
            return
        kinds = self.lists.kind[states[self.lists.token]]
        wanted = self.lists.best(lists), self.lists.majority(kinds)
        for each in wanted[: 1 if np.array_equal(*wanted) else 2]:
            node = self.lattice.node.copy()
            node[self.lists.token] = np.where(
                self.lists.kind == each[:, None], node[self.lists.token], FORBIDDEN
            )
            score, path = viterbi(Lattice(node, self.lattice.pool, self.lattice.step))
            if not is_forbidden(score):
                self.known.evaluate(path)

    def attains_bound(self, case: Case) -> bool:
        """Whether the lattice's labelling attains the bound."""
        return case.path is not None and self.known.evaluate(case.path).value == case.bound

    def forbid(self, case: Case) -> None:
        """Forbid the kinds that a token has no state for any more."""
        states = ~is_forbidden(case.node[self.lists.token])
        for kind in range(case.own.shape[1]):
            case.own[~states[:, self.lists.kind == kind].any(axis=1), kind] = FORBIDDEN

    def pack(self, case: Case) -> tuple[kernels.Scores, kernels.Lists]:
        """For kernels."""
        lattice = self.lattice
        self.forbid(case)
        reach, ahead = np.empty_like(case.node), np.empty_like(case.node)
        scores = kernels.Scores(case.node, lattice.pool, lattice.step, lattice.base, reach, ahead)
        return scores, self.lists.pack(case.own)

    def split(self, case: Case) -> Row | None:
        """A token with different kinds in the lattice and in a list, and the labels of its kind in the list.

        Of several, the token at which both lose most by the kind of the other.
        """
        assert case.path is not None
        scores, lists = self.pack(case)
        kernels.backward(scores, lists, False)
        kernels.forward(scores, lists, False)
        there = self.lists.kind[self.lattice.states_of(case.path)[self.lists.token]]
        here = self.lists.best(lists)
        places = np.flatnonzero(here != there)
        if not len(places):
            return None
        chain = lists.past[places] + lists.future[places]
        through = (scores.reach + scores.ahead)[self.lists.token[places]]
        of_kind = self.lists.kind == here[places, None]
        loss = through.max(axis=1) - np.where(of_kind, through, FORBIDDEN).max(axis=1)
        loss += chain.max(axis=1) - chain[np.arange(len(places)), there[places]]
        place = int(places[loss.argmax()])
        labels = np.flatnonzero(self.lists.lists[0].component.kind == here[place])
        return (int(self.lists.token[place]),), tuple(labels.tolist())

    def branch(self, case: Case, row: Row) -> tuple[Case, ...]:
        """Branch into the case without the labels at the token, and the case without the others."""
        (token,), labels = row
        there = np.isin(np.arange(len(self.lists.kind)) % self.lattice.shape[1], labels)
        children = []
        for forbidden in (there, ~there):
            node = case.node.copy()
            node[token, forbidden] = FORBIDDEN
            children.append(Case(node, case.own.copy(), case.stages, case.bound, case.depth + 1))
        case.row, case.cases = row, tuple(children)
        case.node = case.own = self.lists.empty[:0]
        return case.cases


def agree(known: Known) -> SearchResult | None:
    """The result of the decomposition; None where there are no lists."""
    lists = lists_of(known)
    if not lists:
        return None
    known.deadline.excuse(AGREEMENT.warm())
    return Decomposition(known, lists).run()


def _example() -> None:
    trellis = Trellis([1.0, 0.0], [[[0.0, 0.0], [0.0, 2.0]]], labels=["a", "b"], tokens=["x", "x"])
    known = Known.of(compile_problem(trellis, [C.consistent()]), Deadline())
    Decomposition(known, lists_of(known)).run()


AGREEMENT = Stage("agreement", "tokens that agree", _example)
