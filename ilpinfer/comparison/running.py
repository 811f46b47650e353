"""The work of a comparison: every sequence with every method."""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Literal

from formulations import Trellis
from formulations.problem.digest import decoding_digest
from ilpinfer.comparison.plan import Case, Plan, PlannedMethod
from ilpinfer.comparison.rows import MethodError, ScoredGold, check_agreement, row_of
from ilpinfer.core.rule_compiler import RuleCompiler
from ilpinfer.core.solution import Solution
from ilpinfer.decoding.decode import decode
from ilpinfer.decoding.evaluation import evaluate_labelling, no_labelling
from ilpinfer.decoding.reporting import failure
from ilpinfer.decoding.runner import Runner
from ilpinfer.errors import describe
from ilpinfer.exact.bare import bare_seconds
from ilpinfer.exact.viterbi import VITERBI
from ilpinfer.system.checkpoint import Row
from ilpinfer.system.files import digest

OnError = Literal["raise", "record"]
"""An error of a method is raised, or recorded as a failure."""
ABOUT = ("length", "bare_seconds", "digest")
"""The keys of a row that tell of its sequence."""


@dataclass(frozen=True)
class ComparisonRun:
    """Sequences, rules and methods; `checked` sees each solution before it becomes a row, `watch` each row, also of an earlier run."""

    cases: Sequence[Case]
    rules: RuleCompiler
    plan: Plan
    on_error: OnError = "raise"
    checked: Callable[[Solution], Solution] = lambda solution: solution
    watch: Callable[[Row, Case], None] = lambda row, case: None

    def new_rows(self, earlier: Iterable[Row] = ()) -> Iterator[Row]:
        """The rows after those of an earlier run, sequence by sequence; a row is given before it is found to disagree with others."""
        VITERBI.warm()
        known, entries = iter(earlier), self.plan.entries
        for number, case in enumerate(self.cases):
            own = list(islice(known, len(entries)))
            if len(own) < len(entries):
                about = {name: own[0][name] for name in ABOUT} if own else _about(case)
                gold = None if case.trellis is None else ScoredGold.of(case.trellis, self.rules, case.gold)
                for entry in entries[len(own) :]:
                    own.append({**self._row(number, case, entry, gold), **about})
                    yield own[-1]
            for row in own:
                self.watch(row, case)
            check_agreement(own, f"sequence {number}{f' ({case.where})' if case.where else ''}")

    def _row(self, number: int, case: Case, entry: PlannedMethod, gold: ScoredGold | None) -> Row:
        scheme = ""
        if case.trellis is None:
            assert case.error is not None
            solution = failure(case.error, "none")
        else:
            scheme = case.trellis.labels.scheme
            solution = self._attempt(number, case, case.trellis, entry)
        row = row_of(number, entry, self.checked(solution), gold, scheme)
        place = case.where if solution.error else ""
        if place and case.trellis is not None:
            place = f"{place}, method {entry.name}"
        return {**row, "reason": f"{place}{place and ': '}{row['reason']}"}

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


def _about(case: Case) -> Row:
    """What every row of a sequence says: its tokens, the seconds of a bare pass, and the digest of its scores, tokens, known labels and gold."""
    trellis = case.trellis
    if trellis is None:
        return dict(zip(ABOUT, (0, None, ""), strict=True))
    lattice, labels = trellis.lattice, trellis.labels
    scores = decoding_digest("", lattice.node, lattice.pool, lattice.step, trellis.tokens)
    content = digest(scores, labels.names, labels.scheme, sorted(trellis.given.items()), case.gold)
    return dict(zip(ABOUT, (len(trellis), bare_seconds(trellis), content), strict=True))


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
