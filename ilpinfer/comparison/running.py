"""`compare`: decode every sequence with every method."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any, Literal, get_args

import numpy as np

from formulations import Trellis
from formulations.arguments import choice, iterable, positive, texts
from formulations.automata.lattice import Lattice
from formulations.messages import counted
from formulations.problem.digest import decoding_digest
from formulations.problem.known_labels import Given
from ilpinfer.comparison.comparison import Comparison, about_of
from ilpinfer.comparison.frame import frame_of
from ilpinfer.comparison.plan import CAP, Labelling, Plan, PlannedMethod, plan_of
from ilpinfer.comparison.rows import MethodError, ScoredGold, check_agreement, row_of
from ilpinfer.core.rule_compiler import RuleCompiler, Rules, compiler_of
from ilpinfer.core.solution import Solution
from ilpinfer.corpus.helper_labels import outside_of, read_as_outside
from ilpinfer.decoding.decode import given_to_each
from ilpinfer.decoding.evaluation import evaluate_labelling, no_labelling
from ilpinfer.decoding.reporting import failure
from ilpinfer.decoding.runner import Runner
from ilpinfer.decoding.solver_start import start_solver
from ilpinfer.errors import describe
from ilpinfer.exact.ground import pack_lattice
from ilpinfer.kernels.native import kernels
from ilpinfer.pipelines.trellises import ScoredExample
from ilpinfer.system.checkpoint import Row
from ilpinfer.system.files import digest

OnError = Literal["raise", "record"]
"""Whether errors of methods are raised, or recorded as failures."""
ABOUT = ("tokens", "bare_seconds", "digest", "without_rules")
"""Keys of a row about the sequence."""
REPEATS = 5
"""Number of timed Viterbi passes; the fastest is the unit of times."""


@dataclass(frozen=True)
class ComparisonRun:
    """Sequences, rules and methods. `checked` checks each new solution; `watch` gets each row, including rows of an earlier run."""

    cases: Sequence[ScoredExample]
    rules: RuleCompiler
    plan: Plan
    on_error: OnError = "raise"
    checked: Callable[[Solution], Solution] = lambda solution: solution
    watch: Callable[[Row, ScoredExample], None] = lambda row, case: None

    def new_rows(self, earlier: Iterable[Row] = ()) -> Iterator[Row]:
        """The rows that an earlier run lacks, sequence by sequence; rows are yielded before the check for contradictions."""
        for entry in self.plan.entries:
            if entry.request is not None:
                start_solver(entry.request, wait=True)
        known, entries = iter(earlier), self.plan.entries
        for number, case in enumerate(self.cases):
            own = list(islice(known, len(entries)))
            if len(own) < len(entries):
                rules = self.rules.of(case.example.notes)
                gold = None if case.trellis is None else ScoredGold.of(case.trellis, rules, case.gold)
                about = {name: own[0][name] for name in ABOUT} if own else _about(case, gold)
                for entry in entries[len(own) :]:
                    own.append({**self._row(number, case, entry, gold), **about})
                    yield own[-1]
            for row in own:
                self.watch(row, case)
            check_agreement(own, f"sequence {number}{f' ({case.where})' if case.where else ''}")

    def _row(self, number: int, case: ScoredExample, entry: PlannedMethod, gold: ScoredGold | None) -> Row:
        scheme = ""
        if case.trellis is None:
            assert case.error is not None
            solution = failure(Solution, case.error, "none")
        else:
            scheme = case.trellis.labels.notation
            solution = self._attempt(number, case, case.trellis, entry)
        row = row_of(number, entry, self.checked(solution), gold, scheme)
        place = case.where if solution.error else ""
        if place and case.trellis is not None:
            place = f"{place}, method {entry.name}"
        return {**row, "reason": f"{place}{place and ': '}{row['reason']}"}

    def _attempt(self, number: int, case: ScoredExample, trellis: Trellis, entry: PlannedMethod) -> Solution:
        """The solution of a method; a failure if errors are recorded."""
        began = time.perf_counter()
        try:
            return self._solution(number, case, trellis, entry)
        except Exception as error:
            if self.on_error == "record":
                return failure(Solution, error, entry.name, seconds=time.perf_counter() - began)
            raise MethodError(
                f"{case.where or f'sequence {number}'}, method {entry.name}: {describe(error)}; "
                'on_error="record" records it as a failure and continues'
            ) from error

    def _solution(self, number: int, case: ScoredExample, trellis: Trellis, entry: PlannedMethod) -> Solution:
        rules = self.rules.of(case.example.notes)
        if entry.request is not None:
            solution: Solution = Runner(rules, entry.request).one(trellis)
            return solution
        never = trellis.labels.never.union(rules.rules.never)
        [labels] = read_as_outside([entry.labellings[number]], never, outside_of([trellis.labels.names]))
        if labels is None:
            return no_labelling(trellis, rules)
        return evaluate_labelling(trellis, rules, labels)


def _about(case: ScoredExample, gold: ScoredGold | None) -> Row:
    """Common values of the rows of a sequence; the digest covers scores, tokens, known labels and gold."""
    trellis = case.trellis
    if trellis is None:
        return dict(zip(ABOUT, (0, None, "", None), strict=True))
    lattice, labels = trellis.lattice, trellis.labels
    scores = decoding_digest("", lattice.node, lattice.pool, lattice.step, trellis.tokens)
    content = digest(
        scores, labels.names, labels.notation, sorted(labels.never), sorted(trellis.given.items()), case.gold
    )
    seconds = bare_seconds(lattice) if len(trellis) else None
    without_rules = None if gold is None else gold.without_rules
    return dict(zip(ABOUT, (len(trellis), seconds, content, without_rules), strict=True))


def bare_pass(lattice: Lattice) -> Callable[[], int]:
    """A function that runs the Viterbi kernel without rules on preallocated arrays, and returns the best value in grid units."""
    (instance, tokens), T = pack_lattice(lattice), len(lattice.node)
    room, path = instance.room(T), np.empty(T, np.int64)
    return partial(kernels.viterbi, instance.scores, tokens.emission, tokens.edges, *room, path)


def bare_seconds(lattice: Lattice) -> float:
    """Seconds of the fastest of `REPEATS` runs of `bare_pass`, after a warm-up."""
    work, seconds = bare_pass(lattice), []
    work()
    for _ in range(REPEATS):
        began = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - began)
    return min(seconds)


def cases_of(
    trellises: Iterable[Trellis], gold: Iterable[Sequence[str] | None] | None
) -> list[ScoredExample]:
    """Sequences from Python; ValueError for anything but trellises, and for gold labels of another number or length."""
    known = list(iterable(trellises, "trellises", "a list of them"))
    golden = [None] * len(known) if gold is None else list(gold)
    if len(golden) != len(known):
        raise ValueError(
            f"gold has {counted(len(golden), 'labelling')} for {counted(len(known), 'sequence')}"
        )
    cases = []
    for number, (trellis, labels) in enumerate(zip(known, golden, strict=True)):
        if isinstance(trellis, Exception):
            raise trellis
        if not isinstance(trellis, Trellis):
            raise ValueError(f"trellis {number} is {trellis!r}; expected a Trellis")
        own = None if labels is None else texts(labels, f"gold {number}", "labels")
        if own is not None and len(own) != len(trellis):
            raise ValueError(
                f"gold {number} has {counted(len(own), 'label')} for {counted(len(trellis), 'token')}"
            )
        cases.append(ScoredExample(trellis, own))
    if not cases:
        raise ValueError("no trellises to compare methods on")
    return cases


def compare(
    trellises: Iterable[Trellis],
    rules: Rules = (),
    methods: Iterable[str | Callable[..., Any]] = ("auto", "viterbi", "beam"),
    *,
    gold: Iterable[Sequence[str] | None] | None = None,
    seeds: int | Iterable[int] = 1,
    time_limit: float | None = None,
    predictions: Mapping[str, Sequence[Labelling]] | None = None,
    cap: float = CAP,
    on_error: OnError = "raise",
    watch: Callable[[Row, ScoredExample], None] = lambda row, case: None,
    given: Iterable[Given | None] | None = None,
    names: Mapping[str, str] | None = None,
) -> Comparison:
    """Decode every trellis with every method, and compare their losses against the proved optimum.

    Parameters
    ----------
    trellises : iterable of Trellis
        N sequences.
    rules : Rules, optional
        Rules for all of them.
    methods : iterable of str or callable, optional
        Names, with options if necessary: "auto", "beam:width=50", "lds:variant=published",
        "cbc:time_limit=10", "package:decoder"; names of registered decoders; or decoders as functions. Gaps
        are known if one of the methods proves the optimum, as "auto" does.
    gold : iterable of sequence of str or None, optional
        Label names of each trellis, or None for a trellis without gold labels.
    seeds : int or iterable of int, default 1
        Seeds of randomised methods: their number, counted from 0, or a list of them.
    time_limit : float, optional
        Time limit in seconds for each sequence; a method's own time limit takes precedence.
    predictions : mapping of str to sequence of Labelling, optional
        Predictions of other programs by name: label names of each trellis, or None without a prediction.
    cap : float, default CAP
        Gap in nats of a missing labelling, in means over all sequences. Other gaps are not capped.
    on_error : OnError, default "raise"
        "raise" ends the comparison if a method raises an error. "record" records the error as a failure and
        continues: failures are counted separately, and no mean, test or measure against gold includes them.
    watch : callable, optional
        Function that is called with each row and its sequence, for example to show progress.
    given : iterable of (mapping of int to str, int or set) or None, optional
        Known labels of each trellis, or None for a trellis without any.
    names : mapping of str to str, optional
        Other names for methods, such as `{"beam:width=50": "Beam"}`, in rows, tables, plots and report.

    Returns
    -------
    Comparison
        The result as a data frame, with tables and a report.

    Raises
    ------
    ValueError
        For unknown methods and options, and for gold labels or predictions that do not fit the trellises.
    MethodError
        If a method raises an error, with `on_error="raise"`.
    Contradiction
        If two exact methods contradict each other.

    Examples
    --------
    >>> from ilpinfer import constraints as C
    >>> trellis = Trellis([0.0, -1.0], [[[0.0, -1.0], [-2.0, 0.5]]], labels=["a", "b"])
    >>> result = compare([trellis], [C.requires_present("a", "b", penalty=0.75)], ["auto", "viterbi"])
    >>> print(result.summary()[["method", "reaches", "mean_gap"]].dropna().to_string(index=False))
     method  reaches  mean_gap
       auto      1.0      0.00
    viterbi      0.0      0.25
    """
    choice(on_error, "on_error", get_args(OnError))
    positive(cap, "cap", "nats")
    cases, compiler = cases_of(given_to_each(trellises, given), gold), compiler_of(rules)
    compiler.rules.check_unconditional()
    plan = plan_of(methods, time_limit=time_limit, seeds=seeds, predictions=predictions, names=names)
    check_predictions(cases, predictions or {})
    frame = frame_of(ComparisonRun(cases, compiler, plan, on_error, watch=watch).new_rows())
    return Comparison(frame, cap, about_of("", compiler.rules, len(cases), plan), cases, compiler.rules)


def check_predictions(cases: Sequence[ScoredExample], predictions: Mapping[str, Sequence[Labelling]]) -> None:
    """Raise ValueError if predictions do not fit the sequences in number and length."""
    for name, labellings in predictions.items():
        if len(labellings) != len(cases):
            raise ValueError(
                f"{name} has {counted(len(labellings), 'labelling')} for {counted(len(cases), 'sequence')}"
            )
        for number, (case, labels) in enumerate(zip(cases, labellings, strict=True)):
            if case.trellis is None or labels is None:
                continue
            if len(texts(labels, f"{name}, sequence {number},", "labels")) != len(case.trellis):
                raise ValueError(
                    f"{name}, sequence {number}: {counted(len(labels), 'label')} for {counted(len(case.trellis), 'token')}"
                )
