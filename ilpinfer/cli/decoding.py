"""`ilpinfer decode`."""

import contextlib
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from formulations import RuleSet, Trellis
from formulations.errors import RuleNotice
from formulations.messages import counted
from formulations.programs.formulation import score_floor
from ilpinfer import __version__
from ilpinfer.cli import arguments
from ilpinfer.cli.arguments import OPTIONS, Group
from ilpinfer.cli.command import command
from ilpinfer.cli.failure import Findings
from ilpinfer.cli.inputs import (
    InputOptions,
    Job,
    check_streams,
    job_of,
    method_options,
    on_error,
    parameters,
    raise_interrupt,
    unused_model_notice,
)
from ilpinfer.cli.outputs import resumable
from ilpinfer.cli.progress import rate_progress
from ilpinfer.cli.streams import json_text, notice
from ilpinfer.core.configurations import configuration
from ilpinfer.core.registry import method as method_named
from ilpinfer.core.request import Request, deadline_for
from ilpinfer.core.solution import Solution, finite
from ilpinfer.corpus.examples import Example, Rejection, fingerprint
from ilpinfer.corpus.streams import CorpusForm, ExampleStream, open_stream
from ilpinfer.decoding.reporting import attempt, failure
from ilpinfer.errors import traceback_wanted
from ilpinfer.pipelines.trellises import LABELLINGS, ScoredSequence
from ilpinfer.system.checkpoint import Row, RowCheckpoint, RowPosition
from ilpinfer.system.files import digest
from ilpinfer.system.output_paths import output_path

if TYPE_CHECKING:
    from ilpinfer.decoding.two_phase import TwoPhaseSolution
    from ilpinfer.pipelines.scored_stream import ScoredStream, Trellises

TWO_PHASE = Group("Two-phase inference")


@dataclass(frozen=True)
class DecodeOptions:
    input: InputOptions
    output: str = OPTIONS.option("-", "FILE: File for the labellings, JSON lines; - for standard output.")
    method: arguments.MethodName = "auto"
    time_limit: arguments.Limit = None
    top: int | None = OPTIONS.option(
        None, "NUMBER: Write this many labellings of each sequence, best first.", min=1
    )
    tau: float | None = TWO_PHASE.option(
        None,
        "SHARE: Minimize violations first, among labellings whose score is near the best one; 0 to 1, and 1 for the best "
        "score only.",
    )
    bound: str = TWO_PHASE.option("relative", "KIND: How --tau sets the least score: relative or odds.")
    risk: str = OPTIONS.option(
        "",
        "UNIT: With --method posterior: maximize the expected number of correct tokens, or the expected F1 of spans; tokens "
        "or spans.",
    )
    width: arguments.Width = 10
    threads: arguments.Threads = 1
    explain: bool = OPTIONS.option(
        False,
        "Add the violations of each rule: where they are, and how the labelling would change without the rule.",
    )
    within: float | None = OPTIONS.option(
        None, "NATS: With --top: only labellings at most this far below the best score; 0 for ties."
    )
    trace: bool = OPTIONS.option(
        False,
        "Add the incumbents and bounds of each sequence over time, in seconds and nats, with the violations of each "
        "incumbent.",
    )
    questions: int | None = OPTIONS.option(
        None,
        "NUMBER: Add this many tokens whose labels a person should be asked for: those whose answers are expected to change most "
        f"labels, by the best {LABELLINGS} labellings.",
        min=1,
    )
    jobs: int = OPTIONS.option(1, "NUMBER: Number of processes.", min=1)
    option: arguments.MethodOption = ()

    def job(self, content: str) -> str:
        """Digest of everything that rows depend on, except their sequence; `content` is the digest of model and rules."""
        apart = ("input", "output", "jobs", "method", "time_limit")
        others = {name: value for name, value in vars(self).items() if name not in apart}
        return digest(__version__, content, self.method, self.time_limit, others)


@command(
    "ilpinfer decode scores.jsonl --rules rules.toml --output labels.jsonl",
    "ilpinfer decode test.tsv --model hmm.json --rules citations --time-limit 0.5",
    "cat scores.jsonl | ilpinfer decode - --rules rules.toml --top 3 | head",
)
def decode(options: DecodeOptions) -> None:
    """Label sequences. Each line of output is a JSON object with labels, score, penalty, violations, bound and proof.

    It is written as soon as its sequence is decoded. Sequences that are infeasible or cannot be decoded have a row, too, and are
    reported at the end. An invalid line is an error.
    """
    inputs = options.input.files
    check_streams(False, [], inputs)
    if options.output != "-":
        output_path(options.output, inputs)
    form = CorpusForm(options.input.reading, options.input.column)
    solve = _solver(options)
    warnings.simplefilter("ignore", RuleNotice)
    with open_examples(options.input, form) as examples:
        job = job_of(options.input)
        work = _Work(examples, job, solve, options, Findings())
        if options.output == "-":
            work.run(0, lambda rows, _: _print(rows), bar=False)
        else:
            name = options.job(job.content)
            with resumable(RowCheckpoint(options.output, name, _position, inputs)) as checkpoint:
                work.resume(checkpoint)
    work.findings.check()


@contextlib.contextmanager
def open_examples(options: InputOptions, form: CorpusForm) -> Iterator[ExampleStream]:
    """The examples of an input; InputError at once if it has none."""
    with open_stream(options.source, form, notice) as stream:
        if isinstance(first := stream.peek(), Rejection):
            raise first.error
        yield stream


def scored_stream(options: InputOptions, examples: ExampleStream, job: Job) -> "ScoredStream":
    from ilpinfer.pipelines.scored_stream import ScoredStream

    beside = unused_model_notice(options) if options.model else ""
    return ScoredStream(examples, job.model, job.rules, job.scheme, notice, beside)


def _position(row: Row) -> RowPosition:
    """The position of a row in its group: the labellings of a sequence."""
    sequence, rank, ranks = row["sequence"], row.get("rank", 1), row.get("ranks", 1)
    if not all(type(number) is int for number in (sequence, rank, ranks)):
        raise TypeError("numbers are expected")
    if not (isinstance(row["status"], str) and isinstance(row["reason"], str)):
        raise TypeError("texts are expected")
    return RowPosition(sequence, rank - 1, ranks)


Trace = list[list[float | None]]
"""Seconds, incumbent and bound of each improvement; in nats, None for infinite numbers."""
Solve = Callable[["Trellises", RuleSet], Iterator[tuple[list["Solution"], Trace]]]
Write = Callable[[list[Row], Example], None]


@dataclass(frozen=True)
class _Work:
    examples: ExampleStream
    job: Job
    solve: Solve
    options: DecodeOptions
    findings: Findings

    def resume(self, checkpoint: RowCheckpoint) -> None:
        """Continue after the sequences that are already written."""
        if checkpoint.unfinished:
            checkpoint.drop_unfinished()
        self._skip(checkpoint)
        self.run(
            checkpoint.groups, lambda rows, example: checkpoint.write(rows, fingerprint(example)), bar=True
        )

    def _skip(self, checkpoint: RowCheckpoint) -> None:
        """Skip the sequences that are already written; each one must be the sequence that its rows were computed from."""
        example = None
        for row in checkpoint.rows() if checkpoint.groups else ():
            if row.get("rank", 1) == 1:
                found = next(self.examples, None)
                if isinstance(found, Rejection):
                    raise found.error
                example = found
            if example is None or row["job"] != checkpoint.job + fingerprint(example):
                raise checkpoint.of_another_run
            self.findings.add(row, example.where)

    def run(self, begin: int, write: Write, *, bar: bool) -> None:
        """Decode and write sequence by sequence; outside a terminal there is progress without a bar, too."""
        with rate_progress("decoding", self.examples.total, bar=bar) as show:
            self._run(begin, write, show)

    def _run(self, begin: int, write: Write, show: Callable[[int, int, int], None]) -> None:
        from ilpinfer.pipelines.scored_stream import Trellises, in_order

        overruled: Counter[str] = Counter()
        stream = scored_stream(self.options.input, self.examples, self.job)
        trellises, number, proved = Trellises(stream), begin, 0

        def done(item: ScoredSequence, solutions: list[Solution], trace: Trace) -> None:
            nonlocal number, proved
            rows = [self._row(number, item, solution) for solution in solutions]
            if self.options.questions and solutions[0].has_labelling:
                rows[0]["questions"] = item.questions(self.job.rules, self.options.questions)
            if len(rows) > 1:
                rows = [{**row, "rank": rank, "ranks": len(rows)} for rank, row in enumerate(rows, 1)]
            if self.options.trace:
                rows = [{**row, "trace": trace} for row in rows]
            write(rows, item.example)
            number += 1
            proved += rows[0]["status"] in ("optimal", "infeasible")
            show(self.examples.size, number - begin, proved)
            for row in rows:
                self.findings.add(row, item.example.where)
            overruled.update({rule: len(at) for rule, at in solutions[0].overruled.items()})

        results = self.solve(trellises, self.job.rules)
        for item, result in in_order(trellises, results, lambda error: ([failure(error, "none")], [])):
            done(item, *result)
        for rule, times in overruled.items():
            notice(f'rule "{rule}" was overruled by an earlier rule at {counted(times, "token")}')

    def _row(self, number: int, item: ScoredSequence, solution: Solution) -> Row:
        try:
            values = solution.to_dict(incumbents=self.options.trace)
            if self.options.explain and solution.has_labelling:
                values["explanation"] = solution.explain().to_dict()
        except Exception as error:
            if traceback_wanted():
                raise
            solution = failure(error, solution.method)
            values = solution.to_dict()
        if raise_interrupt(solution).error:
            values["reason"] = f"{item.example.where}: {solution.reason}"
        columns = item.example.named_columns
        about = {
            **item.example.about,
            "tokens": list(item.all_tokens),
            **({"columns": columns} if columns else {}),
        }
        return {"sequence": number, **about, **item.row(values)}


def _solver(options: DecodeOptions) -> Solve:
    """The function that decodes many sequences; invalid options are errors before any work."""
    from ilpinfer.decoding.decoder import Decoder

    method, time_limit, top = options.method, options.time_limit, options.top
    known = method_named(configuration(method)[0])
    deadline_for(time_limit)
    if options.tau is not None:
        return _two_phase_solver(options, options.tau)
    if options.bound != "relative":
        raise ValueError(f"--bound {options.bound}: is an option of --tau; add --tau, or leave it out")
    own = method_options(known, width=options.width, threads=options.threads, within=options.within)
    own |= parameters(options.option)
    if options.risk:
        if "risk" in own:
            raise ValueError(f"--risk {options.risk} and --option risk={own['risk']}: give one of them")
        own["risk"] = options.risk
    Request.of(method, time_limit, own).task(top)
    if options.trace and options.jobs > 1:
        raise ValueError("--trace and --jobs: give one of them, since a trace is of one process")

    def solve(trellises: "Trellises", rules: RuleSet) -> "Iterator[tuple[list[Solution], Trace]]":
        decoder = Decoder(rules, method=method, time_limit=time_limit, **own)
        errors, trace = on_error(), Trace()
        watch = (lambda *now: trace.append([finite(x) for x in now])) if options.trace else None
        several: Iterator[list[Solution]]
        if top:
            several = decoder.decode_many(
                trellises, top=top, callback=watch, n_jobs=options.jobs, on_error=errors
            )
        else:
            single = decoder.decode_many(trellises, callback=watch, n_jobs=options.jobs, on_error=errors)
            several = ([solution] for solution in single)
        for solutions in several:
            solutions = solutions or list(decoder.decode_many([trellises.first], on_error=errors))
            yield solutions, list(trace)
            trace.clear()

    return solve


def _two_phase_solver(options: DecodeOptions, tau: float) -> Solve:
    from ilpinfer.decoding.two_phase import TwoPhaseSolution, check_method, decode_two_phase

    if options.option:
        raise ValueError(f"--option {options.option[0]}: has no effect with --tau; leave it out")
    if options.risk:
        raise ValueError(f"--risk {options.risk}: has no effect with --tau; leave it out")
    score_floor(0, tau, options.bound)
    check_method(options.method)
    if options.within is not None:
        raise ValueError(f"--within {options.within:g}: has no effect with --tau; leave it out")
    if options.trace or options.jobs > 1:
        raise ValueError("--tau works in one process and without a trace; leave --jobs and --trace out")
    two_phase = partial(
        decode_two_phase,
        tau=tau,
        bound=options.bound,
        method=options.method,
        time_limit=options.time_limit,
        threads=options.threads,
    )

    def failed(error: Exception, seconds: float) -> "list[TwoPhaseSolution]":
        return [failure(error, options.method, TwoPhaseSolution, seconds=seconds)]

    def solutions(trellis: Trellis, rules: RuleSet, top: int | None) -> list[Solution]:
        def decode() -> "list[TwoPhaseSolution]":
            result = two_phase(trellis, rules, top=top)
            return result if isinstance(result, list) else [result]

        return list(attempt(decode, on_error(), failed))

    def solve(trellises: "Trellises", rules: RuleSet) -> "Iterator[tuple[list[Solution], Trace]]":
        for trellis in trellises:
            yield solutions(trellis, rules, options.top) or solutions(trellis, rules, None), []

    return solve


def _print(rows: list[Row]) -> None:
    for row in rows:
        print(json_text(row), flush=True)
