"""Kernel calls for one or many sequences, and their answers."""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from formulations import LabelSet, Trellis, time_limits
from formulations.dtypes import Integers
from formulations.problem.compiled_rules import CompiledRules
from formulations.problem.problem import GroundRule
from formulations.problem.token_scores import TokenScores
from ilpinfer.core.context import Context
from ilpinfer.core.result import NOTHING_KNOWN, Start
from ilpinfer.core.rule_compiler import RuleCompiler
from ilpinfer.decoding.call_results import CallResult
from ilpinfer.decoding.score_rows import RowTrellises, ScoreRows, groups
from ilpinfer.exact.calls import Call
from ilpinfer.exact.compiled import RuleTables, tables_of
from ilpinfer.exact.many_labels import needs_rounds
from ilpinfer.exact.own_machines import has_own_machines, left_out, with_own_machines
from ilpinfer.exact.token_tables import token_tables_of
from ilpinfer.kernels.tables import PROVED, TOO_MUCH_WORK, UNKNOWN_CLASS

Item = Any
"""A trellis, or the error of a sequence without one, which is raised instead."""
GROWTH = 4
"""Growth factor of chunk sizes, from one sequence up to the largest size."""
MOST_LISTED = 2**22
"""Largest number of labels and violations in the lists of one call."""
STEPS, BROKEN = "too many steps", "it breaks rules that the tables leave out"
"""Why a labelling of the kernels is not the answer."""


Answer = CallResult | Start | Exception
"""The answer of compiled rules for a sequence, or the start of its method."""


class Chunk(NamedTuple):
    """Sequences with prepared calls, each for some of the sequences. Until the chunk ends, only sequences without a call have answers."""

    items: Sequence[Item]
    answers: list[Answer]
    calls: list[tuple[Call, RuleTables, list[int]]]
    top: int | None

    def set(self, places: Iterable[int], answer: Answer) -> None:
        """Enter one answer for several sequences."""
        for place in places:
            self.answers[place] = answer


class Caller:
    """Calls for sequences under the same rules."""

    def __init__(
        self,
        rules: RuleCompiler,
        time_limit: float | None,
        context: Callable[[Trellis], Context],
    ) -> None:
        self.rules, self.time_limit, self.context = rules, time_limit, context
        self._noticed: CompiledRules | None = None
        self._latest: tuple[object, RuleTables | None] = None, None

    def answer(self, item: Item, top: int | None) -> Answer:
        """The answer for one sequence."""
        began, tables = time.perf_counter(), self._tables(item)
        if tables is None:
            return NOTHING_KNOWN
        call = tables.refusal(item, self.time_limit) or tables.call((item,), top, self.time_limit)
        if isinstance(call, str):
            return Start(declined=call)
        call.times.append(time.perf_counter() - began)
        call.run()
        if call.codes[0] == PROVED and not tables.folding.excluded:
            self._warn(tables.rules)
            return CallResult(call, 0, tables, (item,), self.context)
        chunk = Chunk((item,), [NOTHING_KNOWN], [], top)
        self._read(chunk, call, tables, [0])
        return chunk.answers[0]

    def begin(self, items: Sequence[Item], top: int | None) -> Chunk:
        """Prepare calls for sequences. If a sequence raises an error, the error is its answer."""
        chunk = Chunk(items, [NOTHING_KNOWN] * len(items), [], top)
        groups, known = dict[Any, list[int]](), dict[int, RuleTables | None]()
        for place, item in enumerate(items):
            try:
                if isinstance(item, Trellis) and not len(item):
                    continue
                kind = id(getattr(item, "token_scores", None) or getattr(item, "labels", item))
                if kind not in known:
                    known[kind] = self._tables(item)
                tables = known[kind]
                reason = "" if tables is None else tables.refusal(item, None)
                if tables is None or reason:
                    chunk.answers[place] = Start(declined=reason)
                else:
                    groups.setdefault((tables, *tables.group(item)), []).append(place)
            except Exception as error:
                chunk.answers[place] = error
        for (tables, *_), places in groups.items():
            for some in [places] if top is None else _listed(places, items, tables, top):
                try:
                    call = self._call(chunk, tables, some)
                except Exception as error:
                    chunk.set(some, error)
                    continue
                if call is not None:
                    chunk.calls.append((call, tables, some))
        return chunk

    @staticmethod
    def run(chunk: Chunk, threads: int) -> Chunk:
        """Run the calls of a chunk in this many threads. An error of a call is the answer for all of its sequences."""
        for each in tuple(chunk.calls):
            call, _, places = each
            try:
                call.run(threads)
            except Exception as error:
                chunk.set(places, error)
                chunk.calls.remove(each)
        return chunk

    def end(self, chunk: Chunk) -> list[Answer]:
        """The answers of calls that have run."""
        for call, tables, places in chunk.calls:
            try:
                self._read(chunk, call, tables, places)
            except Exception as error:
                chunk.set(places, error)
        return chunk.answers

    def scores(
        self, rows: ScoreRows, threads: int, enter: Callable[[CallResult, Integers], None]
    ) -> dict[int, Answer]:
        """Enter the results of sequences; returns the answers for sequences that calls leave open, by index."""
        lengths, tables, left = rows.lengths, self._tables_for(rows.labels), dict[int, Answer]()
        if tables is None:
            return dict.fromkeys(range(len(rows)), NOTHING_KNOWN)
        for places in groups(lengths, tables.kind):
            meet = False
            while len(places):
                began, some = time.perf_counter(), rows.sequences(places)
                reason = tables.refusal_of(int(lengths[places].max()), some.words)
                call = reason or tables.call_of(some, meet=meet)
                if isinstance(call, str):
                    left |= dict.fromkeys(places.tolist(), Start(declined=call))
                    break
                call.times.append(time.perf_counter() - began)
                call.run(threads)
                first = CallResult(call, 0, tables, RowTrellises(rows, places), self.context)
                self._warn(tables.rules)
                enter(first, places)
                codes = call.all_codes
                unknown = (codes == UNKNOWN_CLASS) & (not meet)
                open_ = ~unknown & ((codes != PROVED) | bool(tables.folding.excluded))
                for n in np.flatnonzero(open_).tolist():
                    result = first._replace(n=n)
                    answer = self._answer_of(result, int(codes[n]))
                    if answer is not result:
                        left[int(places[n])] = answer
                places, meet = places[unknown], True
        return left

    def _tables(self, item: Item) -> RuleTables | None:
        """The tables for a sequence; None if they would be too large, or for an object that the method will refuse."""
        if isinstance(item, Exception):
            raise item
        if not isinstance(item, Trellis) or not len(item):
            return None
        return self._tables_for(item.labels, item.token_scores)

    def _tables_for(self, labels: LabelSet, scores: TokenScores | None = None) -> RuleTables | None:
        """The tables for labels and for a model's token scores; None if they would be too large."""
        kind, (latest, tables) = scores or labels, self._latest
        if kind is latest and not (tables and tables.full):
            return tables
        tables = None
        if not needs_rounds(self.rules.compiled(labels)):
            tables = tables_of(self.rules, labels) if scores is None else token_tables_of(self.rules, scores)
        self._latest = kind, tables
        return tables

    def _call(self, chunk: Chunk, tables: RuleTables, places: list[int], meet: bool = False) -> Call | None:
        """A call for some of the sequences; None if the tables refuse it."""
        items, began = [chunk.items[place] for place in places], time.perf_counter()
        call = tables.call(items, chunk.top, self.time_limit, meet=meet)
        if isinstance(call, str):
            chunk.set(places, Start(declined=call))
            return None
        call.times.append(time.perf_counter() - began)
        return call

    def _read(
        self, chunk: Chunk, call: Call, tables: RuleTables, places: list[int], met: bool = False
    ) -> None:
        """Enter the answers of a call; sequences with unknown token classes are decoded again with these classes."""
        items = chunk.items if len(places) == len(chunk.items) else [chunk.items[place] for place in places]
        self._warn(tables.rules)
        unknown = list[int]()
        for n, (place, code) in enumerate(zip(places, call.codes, strict=True)):
            if code == UNKNOWN_CLASS and not met:
                unknown.append(place)
            else:
                result = CallResult(call, n, tables, items, self.context)
                chunk.answers[place] = self._answer_of(result, code)
        if unknown:
            again = self._call(chunk, tables, unknown, meet=True)
            if again is not None:
                again.run()
                self._read(chunk, again, tables, unknown, met=True)

    def _warn(self, rules: CompiledRules) -> None:
        if rules.notices and self._noticed is not rules:
            self._noticed = rules
            rules.warn()

    def _answer_of(self, result: CallResult, code: int) -> Answer:
        """The answer of a call for a sequence with known classes only."""
        call, n, tables, *_ = result
        if not call.proves(code):
            tried = code == TOO_MUCH_WORK
            return call.error(n) or result.start(STEPS if tried else "", tried=tried)
        excluded = tables.folding.excluded
        if not excluded:
            return result
        item = result.item
        try:
            left = left_out(tables, call, self.context(item))
            broken = [place for place, rule in left.items() if _breaks(rule, call.paths_of(n))]
        except time_limits.OutOfTime:
            return result.start()
        if not broken:
            return result
        own, reason = {place: rule for place, rule in left.items() if has_own_machines(rule)}, ""
        if all(place in own for place in broken):
            again = with_own_machines(tables, call, n, item.lattice, own, self.time_limit)
            if isinstance(again, Call):
                again.times.append(call.seconds)
                again.run()
                return self._answer_of(CallResult(again, 0, tables, (item,), self.context), again.codes[0])
            reason = again
        reason = reason or f"{BROKEN}: {', '.join(dict.fromkeys(excluded[place] for place in left))}"
        return result.start(reason)


def _breaks(rule: GroundRule, paths: Integers) -> bool:
    """Whether a labelling breaks the rule."""
    time_limits.check()
    return any(rule.violations(path) for path in paths)


def _listed(places: list[int], items: Sequence[Item], tables: RuleTables, top: int) -> Iterator[list[int]]:
    """Sequences for calls of at most `MOST_LISTED` labels and violations each, or of one sequence."""
    some: list[int] = []
    total = 0
    for place in places:
        size = top * (len(items[place].tokens) + len(tables.names))
        if some and total + size > MOST_LISTED:
            yield some
            some, total = [], 0
        some.append(place)
        total += size
    yield some


def paused(items: object) -> bool:
    """Whether the next item of an iterator is not yet available, by its attribute `paused`."""
    return bool(getattr(items, "paused", False))


class Source:
    """Takes items in growing chunks until the items end or raise; a chunk ends when the items pause."""

    def __init__(self, items: Iterable[Item], largest: int, fit: Callable[[Item], Item]) -> None:
        self.items, self.size, self._largest, self._fit = iter(items), 1, largest, fit
        self.error: Exception | None = None

    def take(self) -> list[Item]:
        """The next items; none at the end."""
        chunk: list[Item] = []
        if self.error is None:
            try:
                for item in islice(self.items, self.size):
                    chunk.append(self._fit(item))
                    if paused(self.items):
                        break
            except Exception as error:
                self.error = error
        self.size = min(GROWTH * self.size, self._largest)
        return chunk
