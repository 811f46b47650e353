"""Optima that compiled rules prove in one call of a kernel; all else about them is made when it is asked for."""

import math
import time
from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from formulations import Trellis, limits
from formulations.compiled.problem import Problem
from formulations.compiled.rules import CompiledRules
from formulations.grid import UNITS_PER_NAT
from formulations.token_scores import TokenScores
from ilpinfer.certificate import Leaf, proof
from ilpinfer.explanation import Context
from ilpinfer.found import Found
from ilpinfer.kernels.work import Steps
from ilpinfer.options import Request, deadline_for
from ilpinfer.reporting import reported, valued
from ilpinfer.rule_compiler import RuleCompiler
from ilpinfer.solution import Solution
from ilpinfer.warming import warm

if TYPE_CHECKING:
    from ilpinfer.exact.compiled import Outcome, Tables

Answer = Solution | NDArray[np.int64] | None
"""A proved optimum; or else label ids (T,) of a labelling that other methods can begin with, or nothing."""

Source = tuple[Callable[[Any], Trellis], Any]
"""What makes a trellis, and of what."""


class Direct:
    """What compiled rules prove by themselves, for one request.

    Parameters
    ----------
    rules : compiled when they meet labels
    request : a method and what it is told
    again : decodes a trellis under other rules
    """

    def __init__(self, rules: RuleCompiler, request: Request, again: Callable[..., Any]) -> None:
        self.rules, self.request, self.again = rules, request, again
        self._limit = request.time_limit
        self._noticed: CompiledRules | None = None

    def trellis(self, trellis: Trellis) -> Answer:
        """One trellis."""
        return self._tried(self._trellis, trellis, (_same, trellis))

    def text(self, words: Sequence[str], scores: TokenScores) -> Answer:
        """One text, by a model's scores of single tokens."""
        return self._tried(partial(self._text, scores=scores), words, (scores.trellis, words))

    def _tried(self, answer: Callable[[Any], Answer], given: Any, source: Source) -> Answer:
        """An answer within the time limit; none where something is wrong, which other methods then say."""
        try:
            if self._limit is None:
                return answer(given)
            deadline = deadline_for(self._limit)
            with limits.until(lambda: deadline.passed, lambda: deadline.remaining):
                return answer(given)
        except limits.OutOfTime:
            nothing = Found(None, math.inf, "auto: no time left")
            return reported(nothing, self._context(source[0](source[1])), deadline)
        except (ValueError, TypeError):
            return None

    def _context(self, trellis: Trellis, problem: Problem | None = None) -> Context:
        return Context(self.rules, trellis, partial(self.again, trellis, time_limit=self._limit), problem)

    def _trellis(self, trellis: Trellis) -> Answer:
        warm_up, began = warm("compiled"), time.perf_counter()
        tables = self.rules.tables(trellis.labels)
        outcome = tables.decode_one(trellis, self._limit)
        seconds = time.perf_counter() - began
        return self._answer(outcome, (_same, trellis), tables, seconds, warm_up)

    def _text(self, words: Sequence[str], scores: TokenScores) -> Answer:
        warm_up, began = warm("compiled"), time.perf_counter()
        tables = self.rules.token_tables(scores)
        outcome = tables.decode_text(words, self._limit)
        seconds = time.perf_counter() - began
        return self._answer(outcome, (scores.trellis, words), tables, seconds, warm_up)

    def trellises(self, trellises: Sequence[Trellis]) -> Steps[list[Answer]]:
        """Trellises, in one call where they have the same labels and no time limit."""
        labels = trellises[0].labels
        if self._limit is not None or not all(t.labels is labels or t.labels == labels for t in trellises):
            return [self.trellis(trellis) for trellis in trellises]
        warm_up, began = warm("compiled"), time.perf_counter()
        tables = self.rules.tables(labels)
        outcomes = yield from tables.decode(trellises)
        seconds = (time.perf_counter() - began) / len(trellises)
        return [
            self._answer(outcome, (_same, trellis), tables, seconds, warm_up)
            for trellis, outcome in zip(trellises, outcomes, strict=True)
        ]

    def texts(self, texts: Sequence[Sequence[str]], scores: TokenScores) -> Steps[list[Answer]]:
        """Texts, by a model's scores of single tokens, in one call where there is no time limit."""
        if self._limit is not None:
            return [self.text(words, scores) for words in texts]
        warm_up, began = warm("compiled"), time.perf_counter()
        tables = self.rules.token_tables(scores)
        outcomes = yield from tables.decode_texts(texts)
        seconds = (time.perf_counter() - began) / len(texts)
        return [
            self._answer(outcome, (scores.trellis, words), tables, seconds, warm_up)
            for words, outcome in zip(texts, outcomes, strict=True)
        ]

    def _answer(
        self, outcome: "Outcome | None", source: Source, tables: "Tables", seconds: float, warm_up: float
    ) -> Answer:
        if outcome is None:
            return None
        proved, path, value, taken, _, prices = outcome
        left = tables.folding.left
        if not proved or (left and self._broken(source, left, path)):
            return outcome.incumbent
        if tables.rules.notices and self._noticed is not tables.rules:
            self._noticed = tables.rules
            tables.rules.warn()
        score = value / UNITS_PER_NAT
        known = {
            "status": "optimal",
            "score": score,
            "bound": score,
            "path": path,
            "names": tables.rules.labels.names,
            "method": f"auto: {_how(outcome)}" if taken or prices else "auto: viterbi",
            "seconds": seconds,
            "warm_up_seconds": warm_up,
        }
        return Solution.lazy(known, partial(self._rest, source, outcome))

    def _broken(self, source: Source, left: Collection[int], path: NDArray[np.int64]) -> bool:
        """Whether a labelling breaks a rule that the tables leave out."""
        make, given = source
        ground = self.rules.quietly(make(given)).rules
        return any(ground[place].violations(path) for place in left)

    def _rest(self, source: Source, outcome: "Outcome") -> dict[str, Any]:
        """What a solution lacks; a leaf that follows the machines taken up, but for those of rules that fold here, is the proof."""
        make, given = source
        trellis = make(given)
        problem = self.rules.quietly(trellis)
        kept = set(map(id, problem.fold().rules))
        taken = [part for part in outcome.taken if id(problem.rules[part[0]]) in kept]
        stage = tuple(part for part in taken if part not in outcome.inside)
        leaf = Leaf(
            {part: price << 10 for part, price in outcome.prices},
            tuple(part for part in taken if part in outcome.inside),
            (stage,) if stage else (),
        )
        how = _how(outcome)
        certificate = proof(how, leaf)
        found = Found(outcome.path, outcome.value, how, certificate, value=outcome.value)
        return valued(found, self._context(trellis, problem))


def _same(trellis: Trellis) -> Trellis:
    return trellis


def _how(outcome: "Outcome") -> str:
    prices = f"{len(outcome.prices)} prices" if outcome.prices else ""
    taken = f"label setting over {len(outcome.taken)} machines" if outcome.taken else ""
    return ", ".join(filter(None, (prices, taken))) or "viterbi"
