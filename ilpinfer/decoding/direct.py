"""Decoding by compiled rules in one call of a kernel; the fields of its solutions are computed when they are read."""

import math
import time
from collections.abc import Callable, Sequence
from functools import partial
from itertools import repeat
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from formulations import Trellis
from formulations.grid import UNITS_PER_NAT
from formulations.problem.token_scores import TokenScores
from ilpinfer.core.certificate import proof
from ilpinfer.core.deadline import Deadline
from ilpinfer.core.result import Result
from ilpinfer.core.solution import Solution, Status
from ilpinfer.decoding.calls import Calls, Origin, leaf_of, same
from ilpinfer.decoding.reporting import checked_fields, solution_of
from ilpinfer.exact.calls import Several
from ilpinfer.exact.compiled import BATCHES, COMPILED, tables_of
from ilpinfer.exact.token_tables import token_tables_of
from ilpinfer.kernels.work import Steps

if TYPE_CHECKING:
    from ilpinfer.exact.calls import Outcome

Answer = Solution | NDArray[np.int64]
"""A proved optimum, or else the label ids (T,) of a labelling that another method can begin with."""


class Direct:
    """The best labelling by compiled rules, for one request.

    Parameters
    ----------
    calls : Calls
        Calls of the request.
    """

    def __init__(self, calls: Calls) -> None:
        self.calls = calls

    def trellis(self, trellis: Trellis) -> Answer | None:
        """The answer for one trellis; None where another method has to answer."""
        return self.calls.answer(self._trellis, trellis, partial(self._late, trellis))

    def text(self, words: Sequence[str], scores: TokenScores) -> Answer | None:
        """The answer for one text, by a model's scores of single tokens; otherwise as `trellis`."""

        def late(deadline: Deadline) -> Answer:
            return self._late(scores.trellis(words), deadline)

        return self.calls.answer(partial(self._text, scores=scores), words, late)

    def _late(self, trellis: Trellis, deadline: Deadline) -> Answer:
        """The answer past the time limit."""
        nothing = Result(None, math.inf, "auto: no time left")
        return solution_of(nothing, self.calls.context(trellis), deadline)

    def _trellis(self, trellis: Trellis) -> Answer | None:
        warm_up, began = COMPILED.warm(), time.perf_counter()
        tables = tables_of(self.calls.rules, trellis.labels)
        outcome = tables.decode_one(trellis, self.calls.limit)
        return self._answer(outcome, trellis, Origin(tables, same, time.perf_counter() - began, warm_up))

    def _text(self, words: Sequence[str], scores: TokenScores) -> Answer | None:
        warm_up, began = COMPILED.warm(), time.perf_counter()
        tables = token_tables_of(self.calls.rules, scores)
        outcome = tables.decode_text(words, self.calls.limit)
        seconds = time.perf_counter() - began
        return self._answer(outcome, words, Origin(tables, scores.trellis, seconds, warm_up))

    def trellises(self, trellises: Sequence[Trellis]) -> Steps[list[Answer | None]]:
        """Answers for trellises, from one call where they have the same labels and there is no time limit."""
        labels = trellises[0].labels
        others = [t for t in trellises if t.labels is not labels]
        if self.calls.limit is not None or not all(trellis.labels == labels for trellis in others):
            return [self.trellis(trellis) for trellis in trellises]
        warm_up, began = BATCHES.warm(), time.perf_counter()
        tables = tables_of(self.calls.rules, labels)
        outcomes = yield from tables.decode(trellises)
        seconds = (time.perf_counter() - began) / len(trellises)
        return self._answers(outcomes, trellises, Origin(tables, same, seconds, warm_up))

    def texts(self, texts: Sequence[Sequence[str]], scores: TokenScores) -> Steps[list[Answer | None]]:
        """Answers for texts, by a model's scores of single tokens, from one call where there is no time limit."""
        if self.calls.limit is not None:
            return [self.text(words, scores) for words in texts]
        warm_up, began = BATCHES.warm(), time.perf_counter()
        tables = token_tables_of(self.calls.rules, scores)
        outcomes = yield from tables.decode_texts(texts)
        seconds = (time.perf_counter() - began) / len(texts)
        return self._answers(outcomes, texts, Origin(tables, scores.trellis, seconds, warm_up))

    def _answers(
        self, outcomes: "Sequence[Outcome | None]", given: Sequence[Any], origin: Origin
    ) -> list[Answer | None]:
        """The answers for the sequences of one call."""
        if not isinstance(outcomes, Several) or not outcomes.proved or origin.tables.folding.excluded:
            return list(map(self._answer, outcomes, given, repeat(origin)))
        self.calls.notice(origin.tables.rules)
        known = partial(self._known_of, outcomes, origin)
        return list(map(Solution.lazy, map(partial, repeat(known), range(len(given)), given)))

    def _answer(self, outcome: "Outcome | None", given: Any, origin: Origin) -> Answer | None:
        if outcome is None:
            return None
        left = origin.tables.folding.excluded
        if not outcome.proved or (left and self.calls.broken(origin.make(given), left, [outcome.path])):
            return outcome.incumbent
        self.calls.notice(origin.tables.rules)
        return Solution.lazy(partial(self._known, outcome, given, origin))

    def _known(self, outcome: "Outcome", given: Any, origin: Origin) -> dict[str, Any]:
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
            "_rest": partial(self._details, outcome, given, origin),
        }

    def _details(self, outcome: "Outcome", given: Any, origin: Origin) -> dict[str, Any]:
        """The method, as words."""
        return {
            "method": f"auto: {_how(outcome)}",
            "_rest": partial(self._rest, outcome, given, origin.make),
        }

    def _known_of(self, outcomes: "Several", origin: Origin, place: int, given: Any) -> dict[str, Any]:
        return self._known(outcomes[place], given, origin)

    def _rest(self, outcome: "Outcome", given: Any, make: Callable[[Any], Trellis]) -> dict[str, Any]:
        """The other fields; the proof is a leaf with the machines of the kernel, except those of rules that fold here."""
        trellis = make(given)
        problem = self.calls.rules.quietly(trellis)
        leaf = leaf_of(problem, outcome.machines, outcome.product, outcome.multipliers)
        how = _how(outcome)
        certificate = proof(how, leaf)
        result = Result(outcome.path, outcome.value, how, certificate, value=outcome.value)
        return checked_fields(result, self.calls.context(trellis, problem))


def _how(outcome: "Outcome") -> str:
    multipliers = f"{len(outcome.multipliers)} multipliers" if outcome.multipliers else ""
    taken = f"label setting over {len(outcome.machines)} machines" if outcome.machines else ""
    return ", ".join(filter(None, (multipliers, taken))) or "viterbi"
