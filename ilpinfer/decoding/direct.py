"""Decoding by compiled rules in one call of a kernel; the fields of its solutions are computed when they are read."""

import math
import time
from collections.abc import Callable, Collection, Sequence
from functools import partial
from itertools import repeat
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from formulations import Trellis, time_limits
from formulations.grid import UNITS_PER_NAT
from formulations.problem.compiled_rules import CompiledRules
from formulations.problem.problem import Problem
from formulations.problem.token_scores import TokenScores
from ilpinfer.core.certificate import Leaf, proof
from ilpinfer.core.explanation import Context
from ilpinfer.core.request import Request, deadline_for
from ilpinfer.core.result import Result
from ilpinfer.core.rule_compiler import RuleCompiler
from ilpinfer.core.solution import Solution, Status
from ilpinfer.decoding.reporting import checked_fields, solution_of
from ilpinfer.exact.compiled import BATCHES, COMPILED, tables_of
from ilpinfer.exact.token_tables import token_tables_of
from ilpinfer.kernels.work import Steps

if TYPE_CHECKING:
    from ilpinfer.exact.calls import Outcome, Several
    from ilpinfer.exact.compiled import Tables

Answer = Solution | NDArray[np.int64]
"""A proved optimum, or else the label ids (T,) of a labelling that another method can begin with."""


class Direct:
    """Decoding by compiled rules, for one request.

    Parameters
    ----------
    rules : compiled when a label set is first met
    request : method, time limit and options
    again : decodes a trellis under other rules
    """

    def __init__(self, rules: RuleCompiler, request: Request, again: Callable[..., Any]) -> None:
        self.rules, self.request, self.again = rules, request, again
        self._limit = request.time_limit
        self._noticed: CompiledRules | None = None

    def trellis(self, trellis: Trellis) -> Answer | None:
        """The answer for one trellis; None for bad input, too, which the method reports."""
        try:
            if self._limit is None:
                return self._trellis(trellis)
            return self._in_time(self._trellis, trellis, _same)
        except (ValueError, TypeError):
            return None

    def text(self, words: Sequence[str], scores: TokenScores) -> Answer | None:
        """The answer for one text, by a model's scores of single tokens; otherwise as `trellis`."""
        try:
            if self._limit is None:
                return self._text(words, scores)
            return self._in_time(partial(self._text, scores=scores), words, scores.trellis)
        except (ValueError, TypeError):
            return None

    def _in_time(
        self, answer: Callable[[Any], Answer | None], given: Any, make: Callable[[Any], Trellis]
    ) -> Answer | None:
        """An answer within the time limit."""
        deadline = deadline_for(self._limit)
        try:
            with time_limits.time_limit(lambda: deadline.passed, lambda: deadline.remaining):
                return answer(given)
        except time_limits.OutOfTime:
            nothing = Result(None, math.inf, "auto: no time left")
            return solution_of(nothing, self._context(make(given)), deadline)

    def _context(self, trellis: Trellis, problem: Problem | None = None) -> Context:
        return Context(self.rules, trellis, partial(self.again, trellis, time_limit=self._limit), problem)

    def _trellis(self, trellis: Trellis) -> Answer | None:
        warm_up, began = COMPILED.warm(), time.perf_counter()
        tables = tables_of(self.rules, trellis.labels)
        outcome = tables.decode_one(trellis, self._limit)
        return self._answer(outcome, trellis, Origin(tables, _same, time.perf_counter() - began, warm_up))

    def _text(self, words: Sequence[str], scores: TokenScores) -> Answer | None:
        warm_up, began = COMPILED.warm(), time.perf_counter()
        tables = token_tables_of(self.rules, scores)
        outcome = tables.decode_text(words, self._limit)
        seconds = time.perf_counter() - began
        return self._answer(outcome, words, Origin(tables, scores.trellis, seconds, warm_up))

    def trellises(self, trellises: Sequence[Trellis]) -> Steps[list[Answer | None]]:
        """Answers for trellises, from one call where they have the same labels and there is no time limit."""
        labels = trellises[0].labels
        others = [t for t in trellises if t.labels is not labels]
        if self._limit is not None or not all(trellis.labels == labels for trellis in others):
            return [self.trellis(trellis) for trellis in trellises]
        warm_up, began = BATCHES.warm(), time.perf_counter()
        tables = tables_of(self.rules, labels)
        outcomes = yield from tables.decode(trellises)
        seconds = (time.perf_counter() - began) / len(trellises)
        return self._answers(outcomes, trellises, Origin(tables, _same, seconds, warm_up))

    def texts(self, texts: Sequence[Sequence[str]], scores: TokenScores) -> Steps[list[Answer | None]]:
        """Answers for texts, by a model's scores of single tokens, from one call where there is no time limit."""
        if self._limit is not None:
            return [self.text(words, scores) for words in texts]
        warm_up, began = BATCHES.warm(), time.perf_counter()
        tables = token_tables_of(self.rules, scores)
        outcomes = yield from tables.decode_texts(texts)
        seconds = (time.perf_counter() - began) / len(texts)
        return self._answers(outcomes, texts, Origin(tables, scores.trellis, seconds, warm_up))

    def _answers(
        self, outcomes: "Several | list[Outcome | None]", given: Sequence[Any], origin: "Origin"
    ) -> list[Answer | None]:
        """The answers for the sequences of one call."""
        if isinstance(outcomes, list) or not outcomes.proved or origin.tables.folding.excluded:
            return list(map(self._answer, outcomes, given, repeat(origin)))
        self._notice(origin.tables.rules)
        known = partial(self._known_of, outcomes, origin)
        return list(map(Solution.lazy, map(partial, repeat(known), range(len(given)), given)))

    def _answer(self, outcome: "Outcome | None", given: Any, origin: "Origin") -> Answer | None:
        if outcome is None:
            return None
        left = origin.tables.folding.excluded
        if not outcome.proved or (left and self._broken(origin.make(given), left, outcome.path)):
            return outcome.incumbent
        self._notice(origin.tables.rules)
        return Solution.lazy(partial(self._known, outcome, given, origin))

    def _notice(self, rules: CompiledRules) -> None:
        """Warn of the notices of rules, once."""
        if rules.notices and self._noticed is not rules:
            self._noticed = rules
            rules.warn()

    def _broken(self, trellis: Trellis, left: Collection[int], path: NDArray[np.int64]) -> bool:
        """Whether a labelling breaks a rule that the tables leave out."""
        ground = self.rules.quietly(trellis).rules
        return any(ground[place].violations(path) for place in left)

    def _known(self, outcome: "Outcome", given: Any, origin: "Origin") -> dict[str, Any]:
        """The fields that the kernel computes."""
        score = outcome.value / UNITS_PER_NAT
        return {
            "status": Status.OPTIMAL,
            "score": score,
            "bound": score,
            "path": outcome.path,
            "names": origin.tables.rules.labels.names,
            "seconds": origin.seconds,
            "warm_up_seconds": origin.warm_up,
            "_rest": partial(self._described, outcome, given, origin),
        }

    def _described(self, outcome: "Outcome", given: Any, origin: "Origin") -> dict[str, Any]:
        """The method, as words."""
        return {
            "method": f"auto: {_how(outcome)}",
            "_rest": partial(self._rest, outcome, given, origin.make),
        }

    def _known_of(self, outcomes: "Several", origin: "Origin", place: int, given: Any) -> dict[str, Any]:
        return self._known(outcomes[place], given, origin)

    def _rest(self, outcome: "Outcome", given: Any, make: Callable[[Any], Trellis]) -> dict[str, Any]:
        """The other fields; the proof is a leaf with the machines of the kernel, except those of rules that fold here."""
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
        return checked_fields(result, self._context(trellis, problem))


class Origin(NamedTuple):
    """The origin of the solutions of one call.

    Parameters
    ----------
    tables : rules as the kernel read them
    make : the trellis of a sequence
    seconds : for each sequence
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
