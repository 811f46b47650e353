"""Compiled rules with a model of token scores: each distinct token is scored once."""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import chain

import numpy as np

from formulations.automata.machine import longest
from formulations.dtypes import Integers
from formulations.grid import SPARE, Grid, is_forbidden, snap
from formulations.problem.compiled_rules import CompiledRules
from formulations.problem.token_scores import TokenScores
from ilpinfer.core.rule_compiler import RuleCompiler
from ilpinfer.exact.calls import NO_STEPS, Input, Outcome, single
from ilpinfer.exact.compiled import MOST_SCORES, Read, Tables
from ilpinfer.exact.lists import Ranked
from ilpinfer.kernels.work import Steps


class TokenTables(Tables):
    """Tables for sequences of tokens without trellises.

    Parameters
    ----------
    rules : CompiledRules
        Rules for the model's labels.
    scores : TokenScores
        Scores of the model.
    """

    def __init__(self, rules: CompiledRules, scores: TokenScores) -> None:
        super().__init__(rules, *scores.ends)
        self.scores, self._pool = scores, scores.pool
        self._emissions: Grid = np.empty((64, len(rules.labels)), np.int64)
        self._entered, self._largest = 0, _largest(scores.pool)
        self._enter([""])

    @property
    def full(self) -> bool:
        return super().full or self._entered * self._size > MOST_SCORES

    def decode_text(self, words: Sequence[str], time_limit: float | None = None) -> Outcome | None:
        """As `decode_texts`, for a single sequence."""
        if not self._fits(words, time_limit):
            return None
        tokens = None
        with self._lock:
            entry = self._entries.get((id(self._pool), longest(len(words))))
            if entry is not None and entry.changes == self.vocabulary.changes:
                tokens, emissions = self.vocabulary.known_rows(words), self._emissions
        if entry is not None and tokens is not None:
            outcome = single(entry, emissions, tokens, NO_STEPS, False, time_limit)
            if outcome is not None:
                return outcome
        return self._one(Input([len(words)], words, None, self._pool, time_limit=time_limit))

    def decode_texts(
        self, texts: Sequence[Sequence[str]], time_limit: float | None = None
    ) -> Steps[Sequence[Outcome | None]]:
        """The best labellings of texts by the rules of the tables; None for texts that do not fit the tables."""
        return (yield from self._texts(texts, time_limit, self.run))

    def decode_top_texts(
        self, texts: Sequence[Sequence[str]], top: int, time_limit: float | None = None
    ) -> Steps[Sequence[Ranked | None]]:
        """As `decode_texts`, for at most `top` labellings of each."""
        return (yield from self._texts(texts, time_limit, partial(self.run_top, top=top)))

    def _texts(
        self,
        texts: Sequence[Sequence[str]],
        time_limit: float | None,
        run: Callable[[Input], Steps[Sequence[Read | None]]],
    ) -> Steps[Sequence[Read | None]]:
        """The outcomes of one call."""
        result: list[Read | None] = [None] * len(texts)
        places = [place for place, words in enumerate(texts) if self._fits(words, time_limit)]
        if not places:
            return result
        sums_within = texts if len(places) == len(texts) else [texts[place] for place in places]
        words = sums_within[0] if len(sums_within) == 1 else list(chain.from_iterable(sums_within))
        given = Input(list(map(len, sums_within)), words, None, self._pool, time_limit=time_limit)
        outcomes = yield from run(given)
        if sums_within is texts:
            return outcomes
        for place, outcome in zip(places, outcomes, strict=True):
            result[place] = outcome
        return result

    def _fits(self, words: Sequence[str], time_limit: float | None) -> bool:
        if not isinstance(words, list | tuple) or not set(map(type, words)) <= {str}:
            return False
        T, folding = len(words), self.folding
        if not T or T * (folding.weight + self._largest) > SPARE or not folding.independent:
            return False
        if time_limit is not None and not self.in_time(T, time_limit):
            return False
        return folding.ignores_tokens or any(words)

    def _rows(self, words: Sequence[str]) -> Integers:
        rows = self.vocabulary.rows(words)
        if len(self.vocabulary) > self._entered:
            self._enter(self.vocabulary.tokens[self._entered :])
        return rows

    def _enter(self, words: Sequence[str]) -> None:
        """Look up the scores of new tokens."""
        scores = snap(self.scores.emissions(words), "emissions")
        while self._entered + len(words) > len(self._emissions):
            self._emissions = np.concatenate([self._emissions, np.empty_like(self._emissions)])
        self._emissions[self._entered : self._entered + len(words)] = scores
        self._entered += len(words)
        self._largest = max(self._largest, _largest(scores))

    def _emission(self, given: Input, tokens: Integers) -> tuple[Grid, Integers]:
        return self._emissions, tokens


def _largest(scores: Grid) -> int:
    """The largest finite absolute value."""
    return int(np.abs(scores).max(where=~is_forbidden(scores), initial=0))


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
