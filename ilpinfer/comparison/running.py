"""The work of a comparison: every sequence with every method, and Viterbi without rules beside them."""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

import numpy as np

from formulations import Trellis
from formulations.dtypes import Floats
from formulations.grid import is_forbidden
from ilpinfer.comparison.fields import FieldCounts
from ilpinfer.comparison.plan import Case, Plan, PlannedMethod
from ilpinfer.comparison.rows import MethodError, ScoredGold, check_agreement, field_counts, row_of
from ilpinfer.core.rule_compiler import RuleCompiler
from ilpinfer.core.solution import Solution
from ilpinfer.decoding.decode import decode
from ilpinfer.decoding.evaluation import evaluate_labelling, no_labelling
from ilpinfer.decoding.reporting import failure
from ilpinfer.decoding.runner import Runner
from ilpinfer.errors import describe
from ilpinfer.exact.bare import bare_seconds
from ilpinfer.exact.viterbi import VITERBI, viterbi
from ilpinfer.system.checkpoint import Row

OnError = Literal["raise", "record"]
"""An error of a method is raised, or recorded as a failure."""


class Rows(Protocol):
    """Where rows are kept; some may be there from an earlier run, the groups of whole sequences first."""

    groups: int
    unfinished: list[Row]

    def rows(self) -> Iterator[Row]: ...

    def write(self, rows: list[Row]) -> None: ...


@dataclass
class RowList:
    kept: list[Row] = field(default_factory=list)
    groups: int = 0
    unfinished: list[Row] = field(default_factory=list)

    def rows(self) -> Iterator[Row]:
        return iter(self.kept)

    def write(self, rows: list[Row]) -> None:
        self.kept += rows


@dataclass(frozen=True)
class Baseline:
    """Viterbi without rules: seconds (N,) of a bare compiled pass, NaN without scores, and fields of each sequence, empty without gold."""

    seconds: Floats
    fields: Sequence[FieldCounts]


@dataclass(frozen=True)
class ComparisonRun:
    """Sequences, rules and methods; `checked` sees each solution before it becomes a row, `watch` each row, also of an earlier run."""

    cases: Sequence[Case]
    rules: RuleCompiler
    plan: Plan
    on_error: OnError = "raise"
    checked: Callable[[Solution], Solution] = lambda solution: solution
    watch: Callable[[Row, Case], None] = lambda row, case: None

    def fill(self, rows: Rows) -> Baseline:
        """Write the missing rows, sequence by sequence, in the order of the plan; rows are written before they are found to disagree."""
        VITERBI.warm()
        earlier, entries = rows.rows(), self.plan.entries
        seconds = np.full(len(self.cases), np.nan)
        fields: list[FieldCounts] = [{} for _ in self.cases]
        for number, case in enumerate(self.cases):
            known = len(entries) if number < rows.groups else 0
            known = len(rows.unfinished) if number == rows.groups else known
            own = [next(earlier) for _ in range(known)]
            gold = None
            if case.trellis is not None:
                seconds[number] = bare_seconds(case.trellis)
                before = _viterbi(case.trellis)
                gold = ScoredGold.of(case.trellis, self.rules, case.gold)
                if gold is not None:
                    counts = field_counts(before, gold.labels, case.trellis.labels.scheme)
                    fields[number] = counts["fields"]
            for entry in entries[known:]:
                own.append(self._row(number, case, entry, gold))
                rows.write(own[-1:])
            for row in own:
                self.watch(row, case)
            check_agreement(own, f"sequence {number}{f' ({case.where})' if case.where else ''}")
        return Baseline(seconds, fields)

    def _row(self, number: int, case: Case, entry: PlannedMethod, gold: ScoredGold | None) -> Row:
        tokens, scheme = 0, ""
        if case.trellis is None:
            assert case.error is not None
            solution = failure(case.error, "none")
        else:
            tokens, scheme = len(case.trellis), case.trellis.labels.scheme
            solution = self._attempt(number, case, case.trellis, entry)
        row = row_of(number, entry, self.checked(solution), gold, scheme)
        place = case.where if solution.error else ""
        if place and case.trellis is not None:
            place = f"{place}, method {entry.name}"
        return {**row, "length": tokens, "reason": f"{place}{place and ': '}{row['reason']}"}

    def _attempt(self, number: int, case: Case, trellis: Trellis, entry: PlannedMethod) -> Solution:
        """The solution of a method, which records the error if it raises one."""
        began = time.perf_counter()
        try:
            return self._solution(number, trellis, entry)
        except Exception as error:
            if self.on_error == "record":
                return failure(error, entry.name, seconds=time.perf_counter() - began)
            raise MethodError(
                f"{case.where or f'sequence {number}'}, method {entry.name}: {describe(error)}; "
                'on_error="record" records it as a failure, and goes on'
            ) from error

    def _solution(self, number: int, trellis: Trellis, entry: PlannedMethod) -> Solution:
        if entry.request is not None:
            return Runner(self.rules, entry.request, decode).best(trellis)
        labels = entry.labellings[number]
        if labels is None:
            return no_labelling(trellis, self.rules)
        return evaluate_labelling(trellis, self.rules, labels)


def _viterbi(trellis: Trellis) -> list[str] | None:
    """The best labelling without rules; None where none is possible."""
    score, path = viterbi(trellis.lattice)
    return None if is_forbidden(score) else [trellis.labels.names[i] for i in path]


def cases_of(trellises: Iterable[Trellis], gold: Iterable[Sequence[str] | None] | None) -> list[Case]:
    """Sequences from Python; ValueError where one is no trellis, and where gold does not fit them in number or length."""
    known = list(trellises)
    golden = [None] * len(known) if gold is None else list(gold)
    if len(golden) != len(known):
        raise ValueError(f"gold has {len(golden)} labellings, but there are {len(known)} trellises")
    cases = []
    for number, (trellis, labels) in enumerate(zip(known, golden, strict=True)):
        if isinstance(trellis, Exception):
            raise trellis
        if not isinstance(trellis, Trellis):
            raise ValueError(f"trellis {number} is {trellis!r}; expected a Trellis")
        if labels is not None and len(labels) != len(trellis):
            raise ValueError(f"gold {number} has {len(labels)} labels for {len(trellis)} tokens")
        cases.append(Case(trellis, None if labels is None else tuple(labels)))
    if not cases:
        raise ValueError("no trellises to compare methods on")
    return cases
