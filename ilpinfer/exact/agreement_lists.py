"""Lists of tokens with consistency rules, packed for kernels: the entries of all lists, ordered by token."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from formulations.automata.components import Agreement
from formulations.dtypes import Integers
from formulations.grid import is_forbidden
from formulations.problem.problem import GroundRule
from ilpinfer.core.trees import MachineKey
from ilpinfer.kernels.native import kernels

Shares = dict[MachineKey, list[list[int]]]


class AgreementLists(NamedTuple):
    """N entries of all lists, ordered by token, with F kinds each, as kernels read them."""

    kind: Integers  # (S,) the kind of a state
    begin: Integers  # (T + 1,) the entries of token t are begin[t] to begin[t + 1] - 1
    before: Integers  # (N,) the previous entry of the same list, -1 for none
    after: Integers  # (N,) the next entry of the same list
    penalty: Integers  # (N,) for a kind that differs from the previous entry, grid units or `HARD`
    own: Integers  # (N, F) scores minus the scores moved to the lattice
    past: Integers  # (N, F) best score up to and including a kind
    future: Integers  # (N, F) best score after it


@dataclass(frozen=True)
class TokenList:
    """An `Agreement`, with the indices of its rule and component before folding, and its penalty."""

    key: MachineKey
    component: Agreement
    penalty: int


def lists_of(rules: Sequence[GroundRule], numbers: Sequence[int]) -> list[TokenList]:
    """The lists with the same kinds of labels, without rules that count at most once; `numbers` are indices before folding."""
    result = [
        TokenList((number, p), component, rule.penalty)
        for number, rule in zip(numbers, rules, strict=True)
        for p, component in enumerate(rule.components)
        if isinstance(component, Agreement) and not rule.once
    ]
    return [each for each in result if np.array_equal(each.component.kind, result[0].component.kind)]


class Lists:
    """All lists of a problem of T tokens as entries ordered by token; `label` (S,) is the label of each state."""

    def __init__(self, lists: list[TokenList], label: Integers, T: int) -> None:
        self.lists, self.kind = lists, lists[0].component.kind[label]
        tokens = np.concatenate([each.component.tokens for each in lists])
        which = np.repeat(np.arange(len(lists)), [len(each.component.tokens) for each in lists])
        order = np.argsort(tokens, kind="stable")
        self.place = np.argsort(order)
        self.token = tokens[order]
        self.begin = np.searchsorted(self.token, np.arange(T + 1)).astype(np.int64)
        same = which[1:] == which[:-1]
        before = np.append(-1, np.where(same, self.place[:-1], -1))
        after = np.append(np.where(same, self.place[1:], -1), -1)
        penalty = np.array([each.penalty for each in lists], np.int64)[which]
        self.before, self.after, self.penalty = before[order], after[order], penalty[order]
        self.ends = np.cumsum([len(each.component.tokens) for each in lists]).tolist()
        self.empty = np.zeros((len(tokens), lists[0].component.kinds), np.int64)

    def shares(self, own: Integers) -> Shares:
        """The scores that each list gives to the lattice, by token and kind."""
        given = (-np.where(is_forbidden(own), 0, own)[self.place]).tolist()
        ends = zip(self.lists, [0, *self.ends], self.ends, strict=False)
        return {each.key: given[first:end] for each, first, end in ends}

    def pack(self, own: Integers) -> AgreementLists:
        """For kernels."""
        past, future = np.empty_like(own), np.empty_like(own)
        return AgreementLists(self.kind, self.begin, self.before, self.after, self.penalty, own, past, future)

    def best(self, pack: AgreementLists) -> Integers:
        """(N,) the best kinds of each list, after a backward sweep."""
        result = np.empty(len(pack.own), np.int64)
        kernels.agree_best_kinds(pack, result)
        return result

    def majority(self, kinds: Integers) -> Integers:
        """(N,) the most frequent kind of each list."""
        result = np.empty(len(kinds), np.int64)
        for first, end in zip([0, *self.ends], self.ends, strict=False):
            places = self.place[first:end]
            result[places] = np.bincount(kinds[places]).argmax()
        return result
