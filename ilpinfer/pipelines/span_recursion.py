"""The best nested set of spans by a recursion over intervals, with counts of rules as states."""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from operator import add, mul, sub

from formulations import time_limits
from formulations.grid import HARD
from ilpinfer.pipelines.span_rules import Labels, Limit, Members, NestedSpans, Order, Presence, is_member, one

MOST_STEPS = 15_000
"""Largest number of pairs of counts that are joined, up to ten microseconds each."""
FEW_OUTER = 2
"""Labels of outer spans that rules name, up to which the regions of a place are few."""


class NoRecursion(Exception):
    """A rule is not about counts alone, or there are too many counts or regions for the recursion."""


@dataclass(frozen=True)
class _Region:
    """The inside of a place, the labels around it that matter, and how many levels it may have."""

    start: int
    end: int
    around: Labels = frozenset()
    depth: int | None = None


Counts = tuple[int, ...]
Best = dict[Counts, tuple[int, int, Counts, Counts]]
"""For counts of the rest of a region: the best value, its first span or -1, the counts inside that and behind it."""


class Recursion:
    """The recursion over regions: what is best inside a place is a chain of spans, each with what is best inside it.

    A count is followed up to its cap; each unit beyond that costs its charge, and what is missing is known at the end.
    """

    def __init__(self, problem: NestedSpans) -> None:
        self.spans, self.weights = problem.spans, problem.weights
        self.counters = list[tuple[Members, Callable[[int], int]]]()
        self.caps, self.charges = list[int](), list[int]()
        self.final = list[tuple[int, Limit | Presence, int]]()  # units, part, and number of its first counter
        for rule in problem.rules:
            for part in rule.parts:
                self._count(part, rule.units)
        self.none = (0,) * len(self.counters)
        self.outer = frozenset(o for members, _ in self.counters for each in members.values() for o in each)
        self.places = sorted(range(len(self.spans)), key=lambda n: (self.spans[n].start, -self.spans[n].end))
        self.starts = [self.spans[n].start for n in self.places]
        self.root = _Region(-1, max((span.end for span in self.spans), default=0) + 1, depth=problem.depth)
        self.few = problem.depth is None and len(self.outer) <= FEW_OUTER
        self.tables, self.steps = dict[_Region, tuple[list[int], list[Best]]](), 0

    def _count(self, part: Limit | Presence | Order, units: int) -> None:
        """Add the counters of a part that can be broken."""
        if isinstance(part, Order):
            raise NoRecursion
        at = len(self.counters)
        if isinstance(part, Presence):
            self.counters += [(part.one, one), (part.other, one)]
            self.caps, self.charges = [*self.caps, 1, 1], [*self.charges, 0, 0]
            self.final.append((units, part, at))
            return
        most = sum(part.of(span.end - span.start) for span in self.spans if span.label in part.members)
        high = None if part.high is None or part.high >= most else part.high
        if high is not None or part.low > 0:
            self.counters.append((part.members, part.of))
            self.caps.append(min(most, part.low if high is None else high))
            self.charges.append(0 if high is None else units)
            self.final.append((units, part, at))

    def _cost(self, counts: Counts) -> int:
        """What is broken by the counts of a whole set, beyond what was charged on the way."""
        return sum(
            units * (part.away(counts[at]) if isinstance(part, Limit) else part.away(*counts[at : at + 2]))
            for units, part, at in self.final
        )

    def best(self) -> tuple[int, list[int]] | None:
        """The best value in grid units and the numbers of its spans; None where no set keeps the hard rules."""
        whole = self._tables(self.root)[1][0]
        costs = {counts: self._cost(counts) for counts in whole}
        found = [(whole[counts][0] - cost, counts) for counts, cost in costs.items() if cost < HARD]
        if not found:
            return None
        value, counts = max(found, key=lambda each: each[0])
        return value, sorted(self._chosen(counts))

    def _inside(self, region: _Region) -> list[int]:
        """The candidates inside a place, by their starts."""
        if region.depth == 0:
            return []
        first, last = bisect_left(self.starts, region.start), bisect_right(self.starts, region.end)
        own = [n for n in self.places[first:last] if self.spans[n].end <= region.end]
        return [n for n in own if (self.spans[n].start, self.spans[n].end) != (region.start, region.end)]

    def _below(self, region: _Region, n: int) -> _Region:
        """The inside of a span of a region."""
        span, depth = self.spans[n], None if region.depth is None else region.depth - 1
        return _Region(span.start, span.end, region.around | ({span.label} & self.outer), depth)

    def _tables(self, region: _Region) -> tuple[list[int], list[Best]]:
        """The starts of spans in a region, and the best values of what begins there or later, and of nothing."""
        if region in self.tables:
            return self.tables[region]
        inside = self._inside(region)
        starts = sorted({self.spans[n].start for n in inside})
        tables: list[Best] = [{self.none: (0, -1, self.none, self.none)}]
        for start in reversed(starts):
            best = {counts: (each[0], -1, self.none, counts) for counts, each in tables[-1].items()}
            while inside and self.spans[inside[-1]].start == start:
                n = inside.pop()
                behind = len(starts) - bisect_left(starts, self.spans[n].end)
                self._take(region, n, tables[behind], best)
            tables.append(best)
        self.tables[region] = starts, tables[::-1]
        return self.tables[region]

    def _take(self, region: _Region, n: int, rest: Best, best: Best) -> None:
        """Improve the best values by those that begin with a span."""
        span, inner = self.spans[n], self._tables(self._below(region, n))[1][0]
        own = [
            of(span.end - span.start) if is_member(members, span.label, region.around) else 0
            for members, of in self.counters
        ]
        time_limits.check()
        # without counts there is one pair, which counts where a place has many regions
        self.steps += len(inner) * len(rest) - self.few
        if self.steps > MOST_STEPS:
            raise NoRecursion
        for inside, (gain, *_) in inner.items():
            begun = tuple(map(add, own, inside))
            for behind, (later, *_) in rest.items():
                value, sums = self.weights[n] + gain + later, tuple(map(add, begun, behind))
                counts = tuple(map(min, sums, self.caps))
                if sums != counts:
                    value -= sum(map(mul, map(sub, sums, counts), self.charges))
                if value > -HARD // 2 and (counts not in best or value > best[counts][0]):
                    best[counts] = (value, n, inside, behind)

    def _chosen(self, counts: Counts) -> Iterator[int]:
        waiting = [(self.root, 0, counts)]
        while waiting:
            region, i, counts = waiting.pop()
            starts, tables = self.tables[region]
            if i == len(starts):
                continue
            _, n, inside, behind = tables[i][counts]
            if n < 0:
                waiting.append((region, i + 1, behind))
                continue
            yield n
            waiting.append((self._below(region, n), 0, inside))
            waiting.append((region, bisect_left(starts, self.spans[n].end), behind))
