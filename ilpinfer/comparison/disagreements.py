"""Sequences on which two methods differ, with the scores of both labellings."""

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from formulations import Trellis
from formulations.errors import RuleNotice
from formulations.grid import nats
from ilpinfer.comparison.plan import Compared
from ilpinfer.core.rule_compiler import RuleCompiler, compiler_of
from ilpinfer.core.solution import Solution
from ilpinfer.decoding.evaluation import evaluate_labelling
from ilpinfer.system.checkpoint import Row

MOST = 5
"""Number of sequences with pictures."""
WIDTH = 26
"""Largest number of tokens in a picture."""


@dataclass(frozen=True)
class RowPair:
    """Two rows of a sequence by their places among all, and by how many nats the other one is below; the cap where it has no score."""

    below: float
    sequence: int
    best: int
    other: int
    method: str


@dataclass(frozen=True)
class RuleCost:
    """A rule that a labelling breaks: how often, at what cost in nats (inf for a hard rule), and at which tokens."""

    rule: str
    violations: int
    nats: float
    tokens: tuple[int, ...]


@dataclass(frozen=True)
class Path:
    """One of the two labellings, with its score and the rules that it breaks, by decreasing cost."""

    method: str
    seed: int | None
    status: str
    labels: tuple[str, ...]
    worth: Solution
    costs: tuple[RuleCost, ...]


@dataclass(frozen=True)
class PathPair:
    """A sequence on which two methods differ: why it was chosen, both labellings, the tokens that differ and those that are drawn."""

    sequence: int
    where: str
    reason: str
    trellis: Trellis
    best: Path
    other: Path
    differing: tuple[int, ...]
    start: int
    end: int


def disagreements(results: Compared, most: int = MOST) -> list[PathPair]:
    """Sequences on which a method is furthest below the best one, of different methods first, and one with a typical gap; none
    where the comparison does not hold its sequences."""
    if results.rules is None:
        return []
    chosen = choose(candidates(results.rows(), results.cap), most)
    wanted = {place for candidate, _ in chosen for place in (candidate.best, candidate.other)}
    rows = {place: row for place, row in enumerate(results.rows()) if place in wanted}
    rules = compiler_of(results.rules)
    result = []
    for candidate, reason in chosen:
        case = results.cases[candidate.sequence]
        if case.trellis is None:
            continue
        best, other = (_path(case.trellis, rules, rows[place]) for place in (candidate.best, candidate.other))
        pairs = zip(best.labels, other.labels, strict=True)
        differing = tuple(t for t, (one, two) in enumerate(pairs) if one != two)
        marked = {t for path in (best, other) for cost in path.costs for t in cost.tokens}
        start, end = window(differing, len(case.trellis), marked)
        result.append(
            PathPair(candidate.sequence, case.where, reason, case.trellis, best, other, differing, start, end)
        )
    return result


def candidates(rows: Iterable[Row], cap: float) -> list[RowPair]:
    """Labellings with a lower score than the best one of the sequence, in the order of their gaps, largest first."""
    result = []
    for sequence, group in groupby(enumerate(rows), key=lambda item: item[1]["sequence"]):
        own = [(place, row) for place, row in group if row["labels"] is not None]
        scored = [(place, row) for place, row in own if row["score"] is not None]
        if not scored:
            continue
        best, first = max(scored, key=lambda item: (item[1]["score"], item[1]["status"] == "optimal"))
        for place, row in own:
            below = cap if row["score"] is None else first["score"] - row["score"]
            if below > 0:
                result.append(RowPair(below, sequence, best, place, row["method"]))
    return sorted(result, key=lambda candidate: (-candidate.below, candidate.sequence, candidate.other))


def choose(ordered: Sequence[RowPair], most: int = MOST) -> list[tuple[RowPair, str]]:
    """Candidates to draw, each of another sequence, and why: the largest gaps, the first of each method before others, and the
    median of all."""
    chosen: list[tuple[RowPair, str]] = []
    sequences, methods = set[int](), set[str]()
    for fresh in (True, False):
        for candidate in ordered:
            if len(chosen) >= max(most - 1, 1):
                break
            if candidate.sequence in sequences or (fresh and candidate.method in methods):
                continue
            chosen.append((candidate, "the largest gap of this method" if fresh else "a large gap"))
            sequences.add(candidate.sequence)
            methods.add(candidate.method)
    chosen.sort(key=lambda item: -item[0].below)
    rest = [candidate for candidate in ordered if candidate.sequence not in sequences]
    if rest and len(chosen) < most:
        middle = ordered[len(ordered) // 2].below
        typical = min(rest, key=lambda candidate: abs(candidate.below - middle))
        chosen.append((typical, "a typical gap: near the median of all that are above 0"))
    return chosen


def window(
    differing: Sequence[int], tokens: int, marked: Iterable[int] = (), width: int = WIDTH
) -> tuple[int, int]:
    """The stretch of at most `width` tokens that has most of the tokens that differ, and of these the most marked ones.

    Of equal stretches the middle one is taken, so that there is context on both sides.
    """
    if tokens <= width:
        return 0, tokens
    worth = np.zeros(tokens + 1, np.int64)
    worth[[t + 1 for t in differing]] += tokens + 1
    worth[[t + 1 for t in set(marked)]] += 1
    sums = np.cumsum(worth)
    inside = sums[width:] - sums[:-width]
    best = np.flatnonzero(inside == inside.max())
    start = int(best[(len(best) - 1) // 2])
    return start, start + width


def _path(trellis: Trellis, rules: RuleCompiler, row: Row) -> Path:
    labels = tuple(row["labels"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuleNotice)  # given before, when the sequence was decoded
        worth = evaluate_labelling(trellis, rules, labels)
    return Path(row["method"], row["seed"], row["status"], labels, worth, _costs(worth, labels))


def _costs(worth: Solution, labels: Sequence[str]) -> tuple[RuleCost, ...]:
    context = worth.context
    assert context is not None
    named = context.named()
    costs = []
    for name, count in worth.violations.items():
        if count:
            rule = named[name]
            price = float("inf") if rule.hard else nats(rule.units * count)
            costs.append(RuleCost(name, count, price, context.places(name, labels)))
    return tuple(sorted(costs, key=lambda cost: -cost.nats))
