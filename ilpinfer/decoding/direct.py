"""Optima that compiled rules prove in one call of a kernel; all else about them is made when it is asked for."""

import math
import time
from collections.abc import Callable, Collection, Sequence
from functools import partial
from itertools import repeat
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from formulations import Trellis, limits
from formulations.grid import UNITS_PER_NAT
from formulations.problem.compiled_rules import CompiledRules
from formulations.problem.problem import Problem
from formulations.problem.token_scores import TokenScores
from ilpinfer.core.certificate import Leaf, proof
from ilpinfer.core.explanation import Context
from ilpinfer.core.request import Request, deadline_for
from ilpinfer.core.result import Result
from ilpinfer.core.rule_compiler import RuleCompiler
from ilpinfer.core.solution import Solution
from ilpinfer.decoding.reporting import reported, valued
from ilpinfer.exact.compiled import BATCHES, COMPILED, tables_of
from ilpinfer.exact.token_tables import token_tables_of
from ilpinfer.kernels.work import Steps

if TYPE_CHECKING:
    from ilpinfer.exact.calls import Outcome, Several
    from ilpinfer.exact.compiled import Tables

Answer = Solution | NDArray[np.int64] | None
"""A proved optimum; or else label ids (T,) of a labelling that other methods can begin with, or nothing."""


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
        """One trellis; no answer where something is wrong, which other methods then say."""
        try:
            if self._limit is None:
                return self._trellis(trellis)
            return self._in_time(self._trellis, trellis, _same)
        except (ValueError, TypeError):
            return None

    def text(self, words: Sequence[str], scores: TokenScores) -> Answer:
        """One text, by a model's scores of single tokens; otherwise as `trellis`."""
        try:
            if self._limit is None:
                return self._text(words, scores)
            return self._in_time(partial(self._text, scores=scores), words, scores.trellis)
        except (ValueError, TypeError):
            return None

    def _in_time(self, answer: Callable[[Any], Answer], given: Any, make: Callable[[Any], Trellis]) -> Answer:
        """An answer within the time limit."""
        deadline = deadline_for(self._limit)
        try:
            with limits.until(lambda: deadline.passed, lambda: deadline.remaining):
                return answer(given)
        except limits.OutOfTime:
            nothing = Result(None, math.inf, "auto: no time left")
            return reported(nothing, self._context(make(given)), deadline)

    def _context(self, trellis: Trellis, problem: Problem | None = None) -> Context:
        return Context(self.rules, trellis, partial(self.again, trellis, time_limit=self._limit), problem)

    def _trellis(self, trellis: Trellis) -> Answer:
        warm_up, began = COMPILED.warm(), time.perf_counter()
        tables = tables_of(self.rules, trellis.labels)
        outcome = tables.decode_one(trellis, self._limit)
        return self._answer(outcome, trellis, Origin(tables, _same, time.perf_counter() - began, warm_up))

    def _text(self, words: Sequence[str], scores: TokenScores) -> Answer:
        warm_up, began = COMPILED.warm(), time.perf_counter()
        tables = token_tables_of(self.rules, scores)
        outcome = tables.decode_text(words, self._limit)
        seconds = time.perf_counter() - began
        return self._answer(outcome, words, Origin(tables, scores.trellis, seconds, warm_up))

    def trellises(self, trellises: Sequence[Trellis]) -> Steps[list[Answer]]:
        """Trellises, in one call where they have the same labels and no time limit."""
        labels = trellises[0].labels
        others = [t for t in trellises if t.labels is not labels]
        if self._limit is not None or not all(trellis.labels == labels for trellis in others):
            return [self.trellis(trellis) for trellis in trellises]
        warm_up, began = BATCHES.warm(), time.perf_counter()
        tables = tables_of(self.rules, labels)
        outcomes = yield from tables.decode(trellises)
        seconds = (time.perf_counter() - began) / len(trellises)
        return self._answers(outcomes, trellises, Origin(tables, _same, seconds, warm_up))

    def texts(self, texts: Sequence[Sequence[str]], scores: TokenScores) -> Steps[list[Answer]]:
        """Texts, by a model's scores of single tokens, in one call where there is no time limit."""
        if self._limit is not None:
            return [self.text(words, scores) for words in texts]
        warm_up, began = BATCHES.warm(), time.perf_counter()
        tables = token_tables_of(self.rules, scores)
        outcomes = yield from tables.decode_texts(texts)
        seconds = (time.perf_counter() - began) / len(texts)
        return self._answers(outcomes, texts, Origin(tables, scores.trellis, seconds, warm_up))

    def _answers(
        self, outcomes: "Several | list[Outcome | None]", given: Sequence[Any], origin: "Origin"
    ) -> list[Answer]:
        """Of the sequences of one call, as `_answer`."""
        if isinstance(outcomes, list) or not outcomes.proved or origin.tables.folding.excluded:
            return list(map(self._answer, outcomes, given, repeat(origin)))
        self._notice(origin.tables.rules)
        known = partial(self._known_of, outcomes, origin)
        return list(map(Solution.lazy, map(partial, repeat(known), range(len(given)), given)))

    def _answer(self, outcome: "Outcome | None", given: Any, origin: "Origin") -> Answer:
        if outcome is None:
            return None
        left = origin.tables.folding.excluded
        if not outcome.proved or (left and self._broken(origin.make(given), left, outcome.path)):
            return outcome.incumbent
        self._notice(origin.tables.rules)
        return Solution.lazy(partial(self._known, outcome, given, origin))

    def _notice(self, rules: CompiledRules) -> None:
        """Give the notices of rules the first time."""
        if rules.notices and self._noticed is not rules:
            self._noticed = rules
            rules.warn()

    def _broken(self, trellis: Trellis, left: Collection[int], path: NDArray[np.int64]) -> bool:
        """Whether a labelling breaks a rule that the tables leave out."""
        ground = self.rules.quietly(trellis).rules
        return any(ground[place].violations(path) for place in left)

    def _known(self, outcome: "Outcome", given: Any, origin: "Origin") -> dict[str, Any]:
        """The fields of a solution that are at hand."""
        score = outcome.value / UNITS_PER_NAT
        return {
            "status": "optimal",
            "score": score,
            "bound": score,
            "path": outcome.path,
            "names": origin.tables.rules.labels.names,
            "seconds": origin.seconds,
            "warm_up_seconds": origin.warm_up,
            "_rest": partial(self._described, outcome, given, origin),
        }

    def _described(self, outcome: "Outcome", given: Any, origin: "Origin") -> dict[str, Any]:
        """How it was found."""
        return {
            "method": f"auto: {_how(outcome)}",
            "_rest": partial(self._rest, outcome, given, origin.make),
        }

    def _known_of(self, outcomes: "Several", origin: "Origin", place: int, given: Any) -> dict[str, Any]:
        return self._known(outcomes[place], given, origin)

    def _rest(self, outcome: "Outcome", given: Any, make: Callable[[Any], Trellis]) -> dict[str, Any]:
        """The others; a leaf that follows the machines taken up, but for those of rules that fold here, is the proof."""
        trellis = make(given)
        problem = self.rules.quietly(trellis)
        kept = set(map(id, problem.fold().rules))
        taken = [part for part in outcome.machines if id(problem.rules[part[0]]) in kept]
        stage = tuple(part for part in taken if part not in outcome.product)
        leaf = Leaf(
            {part: price << 10 for part, price in outcome.multipliers.items()},
            tuple(part for part in taken if part in outcome.product),
            (stage,) if stage else (),
        )
        how = _how(outcome)
        certificate = proof(how, leaf)
        result = Result(outcome.path, outcome.value, how, certificate, value=outcome.value)
        return valued(result, self._context(trellis, problem))


class Origin(NamedTuple):
    """What solutions of one call are made from.

    Parameters
    ----------
    tables : that decoded
    make : a trellis of what was decoded
    seconds : of a sequence
    warm_up : seconds, apart
    """

    tables: "Tables"
    make: Callable[[Any], Trellis]
    seconds: float
    warm_up: float


def _same(trellis: Trellis) -> Trellis:
    return trellis


def _how(outcome: "Outcome") -> str:
    multipliers = f"{len(outcome.multipliers)} multipliers" if outcome.multipliers else ""
    taken = f"label setting over {len(outcome.machines)} machines" if outcome.machines else ""
    return ", ".join(filter(None, (multipliers, taken))) or "viterbi"
