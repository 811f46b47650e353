"""Compiled rules with the scores of a model by token: each distinct token is scored once."""

from collections.abc import Sequence

import numpy as np

from formulations import Trellis
from formulations.dtypes import Integers
from formulations.grid import LIMIT, Grid, add, is_forbidden, snap_scores
from formulations.problem.compiled_rules import CompiledRules
from formulations.problem.digest import decoding_digest
from formulations.problem.token_scores import TokenScores
from ilpinfer.core.rule_compiler import RuleCompiler
from ilpinfer.exact import limits
from ilpinfer.exact.calls import Call
from ilpinfer.exact.compiled import RuleTables, Sequences


class TokenTables(RuleTables):
    """Tables for trellises with scores made from token scores; their lattices are not read."""

    def __init__(self, rules: CompiledRules, scores: TokenScores) -> None:
        super().__init__(rules, *scores.ends)
        self.scores, self._pool = scores, scores.pool
        self._emissions: Grid = np.empty((64, len(rules.labels)), np.int64)
        self._entered, self._largest = 0, _largest(scores.pool)
        self._enter([""])

    def _is_full(self) -> bool:
        return super()._is_full() or self._entered * self._size > limits.MOST_SCORES

    @property
    def weight(self) -> int:
        return self.folding.weight + self._largest

    def digest(self, item: Trellis, call: Call, n: int) -> str:
        if call.nodes is None:
            call.nodes = self._nodes(call)
        node = call.nodes[call.place(n)]
        step = np.zeros(len(node) - 1, np.int64)
        return decoding_digest(self.rules.digest, node, self._pool, step, item.tokens)

    def _nodes(self, call: Call) -> Grid:
        """The scores of the tokens of a call; first and last tokens include the scores of the ends."""
        nodes, (first, last) = call.emission[call.rows], self.scores.ends
        for end, at in ((first, call.ends[:-1]), (last, call.ends[1:] - 1)):
            if end is not None:
                nodes[at] = add(nodes[at], end)
        return nodes

    def _pool_of(self, item: Trellis) -> Grid:
        return self._pool

    def _sequences(self, items: Sequence[Trellis], words: Sequence[str], ends: list[int]) -> Sequences:
        return Sequences(words, ends, self._pool)

    def _rows(self, words: Sequence[str]) -> Integers:
        rows = self.vocabulary.rows(words)
        if len(self.vocabulary) > self._entered:
            self._enter(self.vocabulary.tokens_from(self._entered))
        return rows

    def _emission(self, sequences: Sequences, tokens: Integers) -> tuple[Grid, Integers]:
        return self._emissions, tokens

    def _enter(self, words: Sequence[str]) -> None:
        """Look up the scores of new tokens."""
        scores = snap_scores(self.scores.emissions(words), "emissions")
        while self._entered + len(words) > len(self._emissions):
            self._emissions = np.concatenate([self._emissions, np.empty_like(self._emissions)])
        self._emissions[self._entered : self._entered + len(words)] = scores
        self._entered += len(words)
        self._largest = max(self._largest, _largest(scores))


def _largest(scores: Grid) -> int:
    """The largest finite absolute value."""
    largest = int(np.abs(scores).max(initial=0))
    return largest if largest <= LIMIT else int(np.abs(scores).max(where=~is_forbidden(scores), initial=0))


def token_tables_of(rules: RuleCompiler, scores: TokenScores) -> TokenTables:
    """The tables of rules and a model's scores, from a cache."""
    recent = rules.recent(TokenTables)
    for tables in recent.items:
        if tables.scores is scores and not tables.full:
            return tables
    recent.drop(lambda one: one.full)
    return recent.find(
        lambda one: one.scores is scores, lambda: TokenTables(rules.compiled(scores.labels), scores)
    )
