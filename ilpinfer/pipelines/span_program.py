"""The best nested set of spans as an integer program: first a column for each span, 1 where it is chosen, then those of rules."""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping

import numpy as np

from formulations import time_limits
from formulations.grid import HARD
from formulations.programs.record import UNBOUNDED, IntegerProgram
from ilpinfer.pipelines.span_rules import Labels, Limit, Members, NestedSpans, Order, Presence

Terms = Mapping[int, int]
"""Coefficients of columns."""


def span_program(problem: NestedSpans) -> IntegerProgram:
    """Maximise the score of sets without crossings; hard rules are rows, others have columns of violations."""
    return _Builder(problem).program()


class _Builder:
    def __init__(self, problem: NestedSpans) -> None:
        self.spans = problem.spans
        self.scores, self.upper = list(problem.weights), [1] * len(self.spans)
        self.rows = list[tuple[Terms, int]]()  # coefficients, and the most that they may add up to
        self.inside = dict[tuple[int, Labels], int]()
        self._crossings()
        for token in {span.start for span in self.spans} if problem.depth is not None else ():
            own = [n for n, span in enumerate(self.spans) if span.start <= token < span.end]
            self._row(dict.fromkeys(own, 1), problem.depth or 0)
        for rule in problem.rules:
            for part in rule.parts:
                time_limits.check()
                self._part(part, rule.units)

    def program(self) -> IntegerProgram:
        if not self.scores:
            self._column()  # some solvers refuse a program without columns
        terms, upper = [list(each.items()) for each, _ in self.rows], [high for _, high in self.rows]
        entries = np.array([pair for each in terms for pair in each], np.int64).reshape(-1, 2)
        return IntegerProgram(
            tokens=0,
            labels=0,
            objective=np.array(self.scores, np.int64),
            lower=np.zeros(len(self.upper), np.int64),
            upper=np.array(self.upper, np.int64),
            indptr=np.cumsum([0, *map(len, terms)], dtype=np.int64),
            indices=entries[:, 0],
            data=entries[:, 1],
            row_lower=np.full(len(upper), -UNBOUNDED),
            row_upper=np.array(upper, np.int64),
        )

    def _column(self, score: int = 0, upper: int = 1) -> int:
        self.scores.append(score)
        self.upper.append(upper)
        return len(self.scores) - 1

    def _row(self, terms: Terms, high: int, units: int = HARD, most: int = 1) -> None:
        """The terms add up to `high` at most; where the row is soft, with a column of at most so many violations."""
        extra = {} if units == HARD else {self._column(-units, most): -1}
        self.rows.append(({**terms, **extra}, high))

    def _crossings(self) -> None:
        """No two spans are at one place, and none cross."""
        places = dict[tuple[int, int], list[int]]()
        for n, span in enumerate(self.spans):
            places.setdefault((span.start, span.end), []).append(n)
        for own in places.values():
            self._row(dict.fromkeys(own, 1), 1)
        order = sorted(places)
        for k, (start, end) in enumerate(order):
            time_limits.check()
            for other in order[k + 1 : bisect_left(order, (end,))]:  # which begin before its end
                if start < other[0] and end < other[1]:
                    self._row(dict.fromkeys(places[start, end] + places[other], 1), 1)

    def _any(self, columns: Iterable[int]) -> int:
        """A column that is 1 where any of some columns is."""
        every = tuple(columns)
        found = every[0] if len(every) == 1 else self._column()
        if len(every) > 1:
            self._row({found: 1, **dict.fromkeys(every, -1)}, 0)
            for each in every:
                self._row({each: 1, found: -1}, 0)
        return found

    def _members(self, members: Members) -> Iterator[tuple[int, int]]:
        """Each span that may be a member, and the column that is 1 where it is one."""
        for n, span in enumerate(self.spans):
            labels, place = members.get(span.label), (span.start, span.end)
            if not labels:
                yield from [(n, n)] * (labels is not None)
                continue
            outer = [
                k
                for k, each in enumerate(self.spans)
                if each.label in labels and each.start <= span.start and span.end <= each.end
                and (each.start, each.end) != place
            ]  # fmt: skip
            if outer:
                if (n, labels) not in self.inside:
                    around, both = self._any(outer), self._column()
                    self.inside[n, labels] = both
                    self._row({both: 1, n: -1}, 0)
                    self._row({both: 1, around: -1}, 0)
                    self._row({n: 1, around: 1, both: -1}, 1)
                yield n, self.inside[n, labels]

    def _part(self, part: Limit | Presence | Order, units: int) -> None:
        match part:
            case Limit(members=members, low=low, high=high, of=of):
                sizes = ((column, self.spans[n]) for n, column in self._members(members))
                counts = {column: of(span.end - span.start) for column, span in sizes}
                most = sum(counts.values())
                if high is not None and most > high:
                    self._row(counts, high, units, most - high)
                if low > 0:
                    self._row({column: -value for column, value in counts.items()}, -low, units, low)
            case Presence(one=one, other=other, together=together):
                first, second = ([column for _, column in self._members(each)] for each in (one, other))
                if first and (second or together):
                    terms = dict.fromkeys(second, -1) if together else {self._any(second): 1}
                    asking = self._any(first)
                    self._row({**terms, asking: terms.get(asking, 0) + 1}, int(not together), units)
            case Order(members=members, others=others):
                other_spans = list(self._members(others))
                for n, column in self._members(members):
                    there = (c for k, c in other_spans if part.precedes(self.spans[k], self.spans[n]))
                    self._row({**dict.fromkeys(there, -1), column: 1}, 0, units)
