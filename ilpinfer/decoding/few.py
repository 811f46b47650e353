"""The best few labellings by compiled rules in one call of a kernel; solutions are made when they are asked for."""

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import repeat
from typing import TYPE_CHECKING, Any

from formulations import Trellis
from formulations.grid import UNITS_PER_NAT
from formulations.problem.token_scores import TokenScores
from ilpinfer.core.certificate import Leaf, Rest, proof
from ilpinfer.core.deadline import Deadline
from ilpinfer.core.explanation import Context
from ilpinfer.core.result import Result
from ilpinfer.core.solution import Solution, Status
from ilpinfer.decoding.calls import Calls, Origin, leaf_of, same
from ilpinfer.decoding.labellings import Labellings, labellings_of
from ilpinfer.decoding.reporting import checked_fields
from ilpinfer.exact.compiled import FEW, tables_of
from ilpinfer.exact.token_tables import token_tables_of
from ilpinfer.kernels.work import Steps, finished

if TYPE_CHECKING:
    from ilpinfer.exact.lists import Ranked

MOST_AT_ONCE = 2**22
"""Labels of the lists of one call."""


@dataclass(frozen=True)
class Few:
    """The best few labellings, for one request.

    Parameters
    ----------
    calls : Calls
        Calls of the request.
    top : int
        Top at most so many labellings of each sequence.
    """

    calls: Calls
    top: int

    def trellis(self, trellis: Trellis) -> Labellings | None:
        """The labellings of one trellis; None where another method has to answer."""

        def late(deadline: Deadline) -> Labellings:
            return labellings_of([], len(trellis.tokens), trellis.labels.names)

        return self.calls.answer(lambda one: finished(self._trellises([one]))[0], trellis, late)

    def text(self, words: Sequence[str], scores: TokenScores) -> Labellings | None:
        """The labellings of one text, by a model's scores of single tokens; otherwise as `trellis`."""

        def late(deadline: Deadline) -> Labellings:
            return labellings_of([], len(words), scores.labels.names)

        return self.calls.answer(lambda one: finished(self._texts([one], scores))[0], words, late)

    def trellises(self, trellises: Sequence[Trellis]) -> Steps[list[Labellings | None]]:
        """As `trellis`, from few calls where the trellises have the same labels and there is no time limit."""
        labels = trellises[0].labels
        others = [t for t in trellises if t.labels is not labels]
        if self.calls.limit is not None or not all(trellis.labels == labels for trellis in others):
            return [self.trellis(trellis) for trellis in trellises]
        answers: list[Labellings | None] = []
        for part in _parts(trellises, MOST_AT_ONCE // self.top, lambda trellis: len(trellis.tokens)):
            answers += yield from self._trellises(part)
        return answers

    def texts(self, texts: Sequence[Sequence[str]], scores: TokenScores) -> Steps[list[Labellings | None]]:
        """As `text`, from few calls where there is no time limit."""
        if self.calls.limit is not None:
            return [self.text(words, scores) for words in texts]
        answers: list[Labellings | None] = []
        for part in _parts(texts, MOST_AT_ONCE // self.top, len):
            answers += yield from self._texts(part, scores)
        return answers

    def _trellises(self, trellises: Sequence[Trellis]) -> Steps[list[Labellings | None]]:
        warm_up, began = FEW.warm(), time.perf_counter()
        tables = tables_of(self.calls.rules, trellises[0].labels)
        outcomes = yield from tables.decode_top(trellises, self.top, self.calls.limit)
        seconds = (time.perf_counter() - began) / len(trellises)
        return list(map(self._answer, outcomes, trellises, repeat(Origin(tables, same, seconds, warm_up))))

    def _texts(self, texts: Sequence[Sequence[str]], scores: TokenScores) -> Steps[list[Labellings | None]]:
        warm_up, began = FEW.warm(), time.perf_counter()
        tables = token_tables_of(self.calls.rules, scores)
        outcomes = yield from tables.decode_top_texts(texts, self.top, self.calls.limit)
        seconds = (time.perf_counter() - began) / len(texts)
        origin = Origin(tables, scores.trellis, seconds, warm_up)
        return list(map(self._answer, outcomes, texts, repeat(origin)))

    def _answer(self, outcome: "Ranked | None", given: Any, origin: Origin) -> Labellings | None:
        if outcome is None or not outcome.proved:
            return None
        left = origin.tables.folding.excluded
        if left and self.calls.broken(origin.make(given), left, outcome.paths):
            return None
        self.calls.notice(origin.tables.rules)
        listed = LabellingDetails(self.calls, outcome, given, origin, self.top)
        names = origin.tables.rules.labels.names
        return Labellings(outcome.paths, outcome.values / UNITS_PER_NAT, names, listed.solutions)


@dataclass(frozen=True, eq=False)
class LabellingDetails:
    """The solutions of one sequence.

    Parameters
    ----------
    calls : Calls
        Calls of the request.
    outcome : Ranked
        Outcome of the kernel.
    given, origin : object or Origin
        The sequence, and where the outcome is from.
    top : int
        Largest number of labellings.
    """

    calls: Calls
    outcome: "Ranked"
    given: Any
    origin: Origin
    top: int

    def solutions(self) -> list[Solution]:
        """Each labelling with its status and its proof."""
        paths, values = self.outcome.paths, self.outcome.values.tolist()
        common = {
            "status": Status.OPTIMAL,
            "names": self.origin.tables.rules.labels.names,
            "seconds": self.origin.seconds,
            "warm_up_seconds": self.origin.warm_up,
        }
        result = []
        for place, value in enumerate(values):
            score = value / UNITS_PER_NAT
            known = {**common, "score": score, "bound": score, "path": paths[place]}
            result.append(Solution.lazy(partial(self._details, place), known))
        return result

    def _details(self, place: int) -> dict[str, Any]:
        """The method, as words."""
        return {"method": f"auto: {self.how}", "_rest": partial(self._rest, place)}

    def _rest(self, place: int) -> dict[str, Any]:
        """The other fields. The proof excludes the labellings before this one; that of the last says whether there are more."""
        paths, value = self.outcome.paths, self.outcome.values.item(place)
        excluded = tuple(map(tuple, paths[:place].tolist()))
        last = place == len(paths) - 1 and len(paths) < self.top
        rest = Rest(-math.inf, replace(self.leaf, multipliers={})) if last else None
        certificate = proof(self.how, self.leaf, excluded, rest)
        result = Result(paths[place], value, self.how, certificate, value=value)
        return checked_fields(result, self.context)

    @cached_property
    def how(self) -> str:
        """How the kernel found them."""
        machines, number = self.outcome.machines, len(self.outcome.multipliers)
        multipliers = f"{number} multipliers, " if number else ""
        return f"{multipliers}label setting over {len(machines)} machines" if machines else "viterbi"

    @cached_property
    def context(self) -> Context:
        """The context of all solutions, with their problem."""
        trellis = self.origin.make(self.given)
        return self.calls.context(trellis, self.calls.rules.quietly(trellis))

    @cached_property
    def leaf(self) -> Leaf:
        """The proof that all solutions share."""
        return leaf_of(
            self.context.problem, self.outcome.machines, self.outcome.product, self.outcome.multipliers
        )


def _parts(items: Sequence[Any], most: int, size: Callable[[Any], int]) -> Iterator[list[Any]]:
    """Items in parts of at most so many tokens each, or of one item."""
    part: list[Any] = []
    total = 0
    for item in items:
        if part and total + size(item) > most:
            yield part
            part, total = [], 0
        part.append(item)
        total += size(item)
    if part:
        yield part
