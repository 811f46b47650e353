"""Decomposition for lists of equal tokens: the lattice, and a chain for each list (Lagrangian decomposition).

It is the first stage if there are lists, and the only stage except a solver if there are only lists: lists have no machines.
The bound is the sum of the optima of lattice and chains, which share the scores of kinds (Guignard and Kim 1987; Komodakis,
Paragios and Tziritas 2007). A labelling that is best for the lattice and for each chain is the optimum. Otherwise states
are pruned by their max-marginals against the incumbent, and branch and bound splits on the kind of one token. If that labelling
breaks other rules, the lattice is multiplied with their machines while a sweep takes few steps.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from formulations.automata.lattice import Lattice
from formulations.dtypes import Booleans, Integers, LabelIds
from formulations.grid import FORBIDDEN, is_forbidden
from formulations.messages import counted
from ilpinfer.core.trees import Leaf
from ilpinfer.exact import limits
from ilpinfer.exact.agreement_lists import AgreementLists, Lists, Shares
from ilpinfer.exact.ground import pack_lattice
from ilpinfer.exact.ground_problem import GroundProblem
from ilpinfer.exact.product_lattice import ProductLattice
from ilpinfer.exact.stage import Stage
from ilpinfer.exact.state import State
from ilpinfer.exact.tree import CaseBound, Row, search
from ilpinfer.exact.viterbi import viterbi
from ilpinfer.kernels.native import kernels
from ilpinfer.kernels.tables import Scores


class AgreementScores(NamedTuple):
    """A lattice of T tokens and S states with the values of a sweep."""

    scores: Scores  # of steps
    node: Integers  # (T, S) scores, including those moved here from the lists
    edges: Integers  # (T,) rows of `Scores.edge`
    reach: Integers  # (T, S) best score up to and including a state
    after: Integers  # (T, W) best score after it
    tail: Integers  # (T, W) best score from a state on, its own score included


@dataclass
class AgreementCase:
    """A case: scores of the lattice (T, S) and of the lists (N, F); scores of hopeless states are forbidden."""

    node: Integers
    own: Integers
    stages: tuple[Shares, ...] = ()
    bound: float = float("inf")
    path: LabelIds | None = None
    kinds: Integers | None = None
    """Kinds of the lattice's labelling at the entries of the lists."""


class Decomposition:
    """The bound and the splits of a case; the first case is the problem itself.

    The checker prunes states of a lattice without machines only. States of a lattice with machines are therefore not pruned, and
    only machines of soft rules are used: all labels stay possible.
    """

    def __init__(self, problem: GroundProblem, machines: Sequence[int] = ()) -> None:
        one, self.inside = problem.instance, list[int]()
        product = ProductLattice.of(problem.folded.lattice)
        for m in sorted(machines, key=lambda m: one.states[m]):
            source, steps = one.sources[m], one.steps(m, problem.tokens.classes)
            larger = product.times(steps, source.automaton, source.penalty, limits.DECOMPOSITION_STEPS)
            if larger is not None:
                product = larger
                self.inside.append(m)
        self.keys = tuple(one.keys[m] for m in self.inside)
        self.lattice, self.label = product.lattice, product.label
        self.packed = pack_lattice(product.lattice)
        self.lists = Lists(problem.lists, self.label, len(self.lattice.node))
        self.root = AgreementCase(self.lattice.node.copy(), self.lists.empty.copy())

    def broken(self, state: State) -> list[int]:
        """The machines, except machines of lists, that the labelling of an open root breaks and that may be in the product."""
        root, one = self.root, state.problem.instance
        if root.path is None or root.bound < state.value or self.is_done(state, root):
            return []
        listed = {each.key for each in self.lists.lists}
        new = state.problem.broken([root.path], self.inside)
        allowed = (m for m in new if one.sources[m].total is None and one.sources[m].mark < 0)
        return [m for m in allowed if not (one.hard[m] or one.components[m] in listed)]

    def run(self, state: State) -> State:
        """The state after at most `DECOMPOSITION_CASES` cases."""
        why = f"decomposition by {counted(len(self.lists.lists), 'list')} of equal tokens"
        why += f" and {counted(len(self.inside), 'machine')}" * bool(self.inside)
        return search(state, self.root, self.bound, self.split, limits.DECOMPOSITION_CASES, why)

    def bound(self, state: State, case: AgreementCase) -> tuple[State, CaseBound]:
        """The bound of lattice and lists together; the bound of the whole problem also leaves out steps of a program."""
        if case is not self.root:
            state = self.tighten(state, case)
        if state.charged is None and not (self.inside or is_forbidden(case.bound)):
            lattice = Lattice(case.node.copy(), self.lattice.pool, self.lattice.step)
            state = replace(state, charged=(lattice, int(case.bound)))
        return state, CaseBound(case.bound, case.path, self.leaf(case))

    def leaf(self, case: AgreementCase) -> Leaf:
        """The proof of a case's bound."""
        forbidden = is_forbidden(case.bound)
        if not (forbidden or case.stages or case.own.any()):
            return Leaf(product=self.keys)
        own = self.lists.shares(0 * case.own if forbidden else case.own)
        return Leaf(product=self.keys, shares=(*case.stages, own))

    def tighten(self, state: State, case: AgreementCase) -> State:
        """Lower the bound of a case by sweeps, and prune states."""
        scores, lists = self.pack(case)
        for _ in range(limits.PRUNINGS):
            state = self.sweep(state, case, scores, lists)
            if case.bound < state.value or self.is_done(state, case) or self.inside:
                return state
            kernels.agree_forward(scores, lists, False)
            node = case.node.copy()
            count = kernels.agree_narrow(scores, lists, int(case.bound), state.value)
            if count * limits.FEW_STATES < np.count_nonzero(~is_forbidden(node)):
                case.node[:] = node
                return state
            case.stages = *case.stages, self.lists.shares(case.own)
            self.forbid(case)
        return state

    def sweep(
        self, state: State, case: AgreementCase, scores: AgreementScores, lists: AgreementLists
    ) -> State:
        """Sweep until the bound stalls."""
        bound = kernels.agree_backward(scores, lists, False)
        for number in range(limits.SWEEPS):
            before, case.bound = case.bound, min(case.bound, bound)
            if is_forbidden(case.bound):
                return state
            state = self.with_candidates(state, case, scores, lists)
            gap = case.bound - state.value
            stalled = number >= limits.FEWEST_SWEEPS and before - case.bound < limits.STALLED * gap
            if gap < 0 or stalled or self.is_done(state, case):
                return state
            kernels.agree_forward(scores, lists, True)
            bound = kernels.agree_backward(scores, lists, True)
        return state

    def with_candidates(
        self, state: State, case: AgreementCase, scores: AgreementScores, lists: AgreementLists
    ) -> State:
        """With the labelling of the lattice, and labellings with the best or the most frequent kinds of the lists."""
        states = np.empty(len(case.node), np.int64)
        kernels.agree_best_path(scores, states)
        case.path, case.kinds = self.label[states], self.lists.kind[states[self.lists.token]]
        state = state.with_labelling(case.path)
        if self.attains_bound(state, case):
            return state
        wanted = self.lists.best(lists), self.lists.majority(case.kinds)
        for each in wanted[: 1 if np.array_equal(*wanted) else 2]:
            node = self.lattice.node.copy()
            node[self.lists.token] = np.where(
                self.lists.kind == each[:, None], node[self.lists.token], FORBIDDEN
            )
            score, states = viterbi(Lattice(node, self.lattice.pool, self.lattice.step))
            if not is_forbidden(score):
                state = state.with_labelling(self.label[states] if self.inside else states)
        return state

    def attains_bound(self, state: State, case: AgreementCase) -> bool:
        """Whether the lattice's labelling attains the bound."""
        return case.path is not None and state.problem.evaluate(case.path).value == case.bound

    def is_done(self, state: State, case: AgreementCase) -> bool:
        """Whether a case needs no more sweeps, or time is over."""
        return self.attains_bound(state, case) or state.problem.deadline.passed

    def forbid(self, case: AgreementCase) -> None:
        """Forbid the kinds for which a token has no state left."""
        states = ~is_forbidden(case.node[self.lists.token])
        for kind in range(case.own.shape[1]):
            case.own[~states[:, self.lists.kind == kind].any(axis=1), kind] = FORBIDDEN

    def pack(self, case: AgreementCase) -> tuple[AgreementScores, AgreementLists]:
        """For kernels."""
        instance, tokens = self.packed
        self.forbid(case)
        room = np.empty_like(case.node), *instance.room(len(case.node))
        scores = AgreementScores(instance.scores, case.node, tokens.edges, *room)
        return scores, self.lists.pack(case.own)

    def split(
        self, state: State, case: AgreementCase
    ) -> tuple[Row, int, tuple[AgreementCase, AgreementCase]] | None:
        """The cases without and with the labels of a kind at a token that has different kinds in the lattice and in a list.

        The kind is the list's. The token is the one at which lattice and list lose most by taking each other's kind.
        """
        assert case.kinds is not None
        scores, lists = self.pack(case)
        kernels.agree_backward(scores, lists, False)
        kernels.agree_forward(scores, lists, False)
        there = case.kinds
        here = self.lists.best(lists)
        places = np.flatnonzero(here != there)
        if not len(places):
            return None
        chain = lists.past[places] + lists.future[places]
        at = self.lists.token[places]
        through = scores.reach[at] + scores.after[at, : case.node.shape[1]]
        of_kind = self.lists.kind == here[places, None]
        loss = through.max(axis=1) - np.where(of_kind, through, FORBIDDEN).max(axis=1)
        loss += chain.max(axis=1) - chain[np.arange(len(places)), there[places]]
        place = int(places[loss.argmax()])
        token, kind = int(self.lists.token[place]), here[place]
        labels = np.flatnonzero(self.lists.lists[0].component.kind == kind)
        listed = self.lists.kind == kind
        cases = self._without(case, token, listed), self._without(case, token, ~listed)
        return ((token,), tuple(labels.tolist())), 0, cases

    def _without(self, case: AgreementCase, token: int, states: Booleans) -> AgreementCase:
        node = case.node.copy()
        node[token, states] = FORBIDDEN
        return AgreementCase(node, case.own.copy(), case.stages, case.bound)


def decomposed(state: State) -> State:
    """The state after a decomposition, with the machines of rules that its labellings break."""
    one = Decomposition(state.problem)
    state = one.tighten(state, one.root)
    for _ in range(limits.DECOMPOSITION_ROUNDS):
        larger = Decomposition(state.problem, [*one.inside, *one.broken(state)])
        if larger.inside == one.inside:
            break
        one, state = larger, larger.tighten(state, larger.root)
    return one.run(state)


DECOMPOSITION = Stage("decomposition", lambda state: bool(state.problem.lists), decomposed)
