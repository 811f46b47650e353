"""The work of a comparison: every sequence with every method, and Viterbi without rules beside them."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from formulations import Trellis
from formulations.dtypes import Floats, Integers
from formulations.grid import is_forbidden
from ilpinfer.comparison.fields import add_counts
from ilpinfer.comparison.plan import Case, Entry, Plan
from ilpinfer.comparison.rows import Gold, check_agreement, field_counts, row_of
from ilpinfer.core.rule_compiler import RuleCompiler
from ilpinfer.core.solution import Solution
from ilpinfer.decoding.evaluation import evaluate_labelling, no_labelling
from ilpinfer.decoding.failures import OnError, attempt, failure
from ilpinfer.decoding.single import decode_best
from ilpinfer.exact.viterbi import VITERBI, viterbi
from ilpinfer.system.checkpoint import Row

REPEATS = 3
"""Calls of Viterbi whose fastest is the unit of time: the first one finds cold caches."""


class Rows(Protocol):
    """Where rows are kept; some may be there from an earlier run, the groups of whole sequences first."""

    groups: int
    unfinished: list[Row]

    def rows(self) -> Iterator[Row]:
        """Every row so far."""
        ...

    def write(self, rows: list[Row]) -> None:
        """Add rows."""
        ...


@dataclass
class RowList:
    """Rows in memory."""

    kept: list[Row] = field(default_factory=list)
    groups: int = 0
    unfinished: list[Row] = field(default_factory=list)

    def rows(self) -> Iterator[Row]:
        """Every row so far."""
        return iter(self.kept)

    def write(self, rows: list[Row]) -> None:
        """Add rows."""
        self.kept += rows


@dataclass(frozen=True)
class Baseline:
    """Viterbi without rules on the same sequences.

    Parameters
    ----------
    seconds : ndarray of float, shape (N,)
        Seconds of the fastest of a few calls; NaN where there are no scores.
    fields : mapping of str to ndarray of int
        Fields by field (3,): predicted, gold, and both, a sum over sequences.
    """

    seconds: Floats
    fields: Mapping[str, Integers]


@dataclass(frozen=True)
class Run:
    """Sequences, rules and methods.

    Parameters
    ----------
    cases : sequence of Case
        N sequences.
    rules : RuleCompiler
        Rules for all of them.
    plan : Plan
        Methods with their options and seeds.
    on_error : OnError, default "row"
        "row" makes an error of a method the row of its sequence.
    checked : callable, optional
        Called with each solution before it becomes a row, such as to notice an interrupt.
    watch : callable, optional
        Called with each row and its sequence, also with those of an earlier run.
    """

    cases: Sequence[Case]
    rules: RuleCompiler
    plan: Plan
    on_error: OnError = "row"
    checked: Callable[[Solution], Solution] = lambda solution: solution
    watch: Callable[[Row, Case], None] = lambda row, case: None

    def fill(self, rows: Rows) -> Baseline:
        """Write the missing rows, sequence by sequence, each in the order of the plan.

        Raises
        ------
        Disagreement
            Where two exact methods cannot both be right; their rows are written.
        """
        VITERBI.warm()
        earlier, entries = rows.rows(), self.plan.entries
        seconds, fields = np.full(len(self.cases), np.nan), dict[str, Integers]()
        for number, case in enumerate(self.cases):
            known = len(entries) if number < rows.groups else 0
            known = len(rows.unfinished) if number == rows.groups else known
            own = [next(earlier) for _ in range(known)]
            gold = None
            if case.trellis is not None:
                seconds[number], before = _viterbi(case.trellis)
                gold = Gold.of(case.trellis, self.rules, case.gold)
                if gold is not None:
                    counts = field_counts(before, gold.labels, case.trellis.labels.scheme)
                    add_counts(fields, counts["fields"])
            for entry in entries[known:]:
                own.append(self._row(number, case, entry, gold))
                rows.write(own[-1:])
            for row in own:
                self.watch(row, case)
            check_agreement(own, f"sequence {number}{f' ({case.where})' if case.where else ''}")
        return Baseline(seconds, fields)

    def _row(self, number: int, case: Case, entry: Entry, gold: Gold | None) -> Row:
        tokens, scheme = 0, ""
        if case.trellis is None:
            assert case.error is not None
            solution = failure(case.error, "none")
        else:
            trellis = case.trellis
            tokens, scheme = len(trellis), trellis.labels.scheme
            solution = attempt(
                lambda: self._solution(number, trellis, entry),
                self.on_error,
                lambda error, seconds: failure(error, entry.name, seconds=seconds),
            )
        row = row_of(number, entry, self.checked(solution), gold, scheme)
        place = f"{case.where}: " if solution.error and case.where else ""
        return {**row, "length": tokens, "reason": f"{place}{row['reason']}"}

    def _solution(self, number: int, trellis: Trellis, entry: Entry) -> Solution:
        if entry.request is not None:
            return decode_best(trellis, self.rules, entry.request)
        labels = entry.labellings[number]
        if labels is None:
            return no_labelling(trellis, self.rules)
        return evaluate_labelling(trellis, self.rules, labels)


def _viterbi(trellis: Trellis) -> tuple[float, list[str] | None]:
    """Seconds of Viterbi without rules, and its labelling; None where none is possible."""
    seconds = []
    for _ in range(REPEATS):
        began = time.perf_counter()
        score, path = viterbi(trellis.lattice)
        seconds.append(time.perf_counter() - began)
    return min(seconds), None if is_forbidden(score) else [trellis.labels.names[i] for i in path]


def cases_of(trellises: Iterable[Trellis], gold: Iterable[Sequence[str] | None] | None) -> list[Case]:
    """Sequences from Python.

    Raises
    ------
    ValueError
        Where one is no trellis, and where gold does not fit them in number or length.
    """
    known = list(trellises)
    golden = [None] * len(known) if gold is None else list(gold)
    if len(golden) != len(known):
        raise ValueError(f"gold has {len(golden)} labellings, but there are {len(known)} trellises")
    cases = []
    for number, (trellis, labels) in enumerate(zip(known, golden, strict=True)):
        if not isinstance(trellis, Trellis):
            raise ValueError(f"trellis {number} is {trellis!r}; expected a Trellis")
        if labels is not None and len(labels) != len(trellis):
            raise ValueError(f"gold {number} has {len(labels)} labels for {len(trellis)} tokens")
        cases.append(Case(trellis, None if labels is None else tuple(labels)))
    if not cases:
        raise ValueError("no trellises to compare methods on")
    return cases
