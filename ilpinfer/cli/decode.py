"""`ilpinfer decode`."""

import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, get_args

from formulations import RuleSet
from formulations.arguments import choice
from formulations.errors import RuleNotice
from formulations.messages import counted
from ilpinfer.cli.command import command
from ilpinfer.cli.decode_options import DecodeOptions, Solve, Trace, solver
from ilpinfer.cli.failure import Findings
from ilpinfer.cli.inputs import Job, job_of, raise_interrupt, unused_model
from ilpinfer.cli.outputs import check_streams, resumable
from ilpinfer.cli.progress import rate_progress
from ilpinfer.cli.signals import ContinuedBy
from ilpinfer.cli.streams import json_text, notice, remark
from ilpinfer.core.rule_compiler import RuleCompiler, compiler_of
from ilpinfer.core.solution import Solution
from ilpinfer.corpus.examples import Example, InputError, Rejection, fingerprint
from ilpinfer.corpus.streams import ExampleStream, open_stream
from ilpinfer.corpus.text_formats import CorpusForm
from ilpinfer.decoding.reporting import OnError, failure
from ilpinfer.errors import traceback_wanted
from ilpinfer.pipelines.trellises import ScoredExample, probabilities, questions, score_example, with_spans
from ilpinfer.system.checkpoint import Position, Row, RowCheckpoint
from ilpinfer.system.output_paths import output_path

if TYPE_CHECKING:
    from ilpinfer.pipelines.scored_stream import Absent, ScoredStream


@command(
    "ilpinfer decode scores.jsonl --rules rules.toml --output labels.jsonl",
    "ilpinfer decode test.tsv --model hmm.json --rules citations --time-limit 0.5",
    "cat scores.jsonl | ilpinfer decode - --rules rules.toml --top 3 | head",
)
def decode(options: DecodeOptions) -> None:
    """Label sequences. Each line of output is a JSON object with labels, score, penalty, violations, bound and proof.

    It is written as soon as its sequence is decoded. Sequences that are infeasible or cannot be decoded, also in time, have a row, too,
    and are reported at the end. An invalid line is an error, or is left out and counted with --on-error row.
    """
    inputs = options.input.files
    check_streams(False, [], inputs)
    if options.output != "-":
        output_path(options.output, inputs)
    form = CorpusForm(options.input.reading, options.input.column)
    solve, findings = solver(options), Findings()
    choice(options.on_error, "--on-error", get_args(OnError))
    warnings.simplefilter("ignore", RuleNotice)
    with open_stream(options.input.source, form, notice) as examples:
        if options.on_error == "row":
            examples.reject = findings.reject
        if isinstance(first := examples.peek(), Rejection):
            raise first.error
        only = f"--jobs {options.jobs}: each process has one set of rules; leave --jobs out"
        job = job_of(options.input, only if options.jobs > 1 else "")
        work = _Work(examples, job, compiler_of(job.rules), solve, options, findings)
        if options.output == "-":
            with ContinuedBy(kept=False):
                work.run(0, lambda rows, _: _print(rows), bar=False)
        else:
            name = options.job(job.content)
            with resumable(RowCheckpoint(options.output, name, _position, inputs)) as checkpoint:
                work.resume(checkpoint)
    work.findings.check()
    if options.output != "-":
        remark(f"{options.output}: {work.counts}")


def _position(row: Row) -> Position:
    """The position of a row among the rows of its sequence."""
    sequence, rank, ranks = row["sequence"], row.get("rank", 1), row.get("ranks", 1)
    if not all(type(number) is int for number in (sequence, rank, ranks)):
        raise TypeError("numbers are expected")
    if not (isinstance(row["status"], str) and isinstance(row["reason"], str)):
        raise TypeError("texts are expected")
    return sequence, rank - 1, ranks


Write = Callable[[list[Row], Example], None]


@dataclass
class _Counts:
    """Number of decoded sequences, and of sequences proved optimal or infeasible."""

    sequences: int = 0
    proved: int = 0

    def add(self, row: Row) -> None:
        if row.get("rank", 1) == 1:
            self.sequences += 1
            self.proved += row["status"] in ("optimal", "infeasible")

    def __str__(self) -> str:
        return f"{counted(self.sequences, 'sequence')}, {self.proved} proved"


@dataclass(frozen=True)
class _Work:
    examples: ExampleStream
    job: Job
    rules: RuleCompiler
    solve: Solve
    options: DecodeOptions
    findings: Findings
    counts: _Counts = field(default_factory=_Counts)

    @cached_property
    def absent(self) -> "Absent":
        from ilpinfer.pipelines.scored_stream import Absent

        return Absent(self.job.rules, nested=self.options.nested)

    def resume(self, checkpoint: RowCheckpoint) -> None:
        """Continue after the sequences that are already written."""
        self._skip(checkpoint)
        self.run(
            checkpoint.groups, lambda rows, example: checkpoint.write(rows, fingerprint(example)), bar=True
        )

    def _skip(self, checkpoint: RowCheckpoint) -> None:
        """Skip the sequences that are already written; each one must be the sequence that its rows were computed from."""
        example = None
        for row in checkpoint.rows():
            if row.get("rank", 1) == 1:
                example = self._written(checkpoint.job, row["job"])
            if example is None or row["job"] != checkpoint.job + fingerprint(example):
                raise checkpoint.of_another_run
            self._count(row, example)

    def _count(self, row: Row, example: Example) -> None:
        self.counts.add(row)
        self.findings.add(row, example.where)
        if row.get("rank", 1) == 1:
            self.absent.add(example)

    def _written(self, job: str, known: str) -> Example | None:
        """The next sequence, which must match a written row; records that are rejected again are skipped."""
        for found in self.examples:
            if isinstance(found, Rejection):
                raise found.error
            if known == job + fingerprint(found) or self.examples.reject is None:
                return found
            try:
                score_example(found, self.job.model, self.job.scheme)
            except InputError as error:
                self.examples.reject(error)
            else:
                return found
        return None

    def run(self, begin: int, write: Write, *, bar: bool) -> None:
        """Decode and write sequence by sequence; outside a terminal, progress is also shown without a bar."""
        overruled: Counter[str] = Counter()
        proved = 0
        with rate_progress("decoding", self.examples.total, bar=bar) as show:
            for done, (item, (solutions, trace)) in enumerate(self._solved(), 1):
                rows = self._rows(begin + done - 1, item, solutions, trace)
                write(rows, item.example)
                proved += rows[0]["status"] in ("optimal", "infeasible")
                show(self.examples.size, done, proved)
                for row in rows:
                    self._count(row, item.example)
                for rule, at in solutions[0].overruled.items():
                    overruled[rule] += len(at)
            for text in self.absent.notices:
                notice(text)
            for rule, times in overruled.items():
                notice(f'rule "{rule}" was overruled by an earlier rule at {counted(times, "token")}')

    def _solved(self) -> Iterator[tuple[ScoredExample, tuple[list[Solution], Trace]]]:
        """Sequences in order, with their solutions."""
        from ilpinfer.pipelines.scored_stream import by_rules, in_order

        for metadata, trellises in by_rules(self._scored(), self.job.rules):
            results = self.solve(trellises, self.rules.of(metadata))
            yield from in_order(
                trellises, results, lambda error: ([failure(Solution, error, "none")], Trace())
            )

    def _rules_of(self, item: ScoredExample) -> RuleCompiler:
        return self.rules.of(item.example.notes)

    def _scored(self) -> "ScoredStream":
        from ilpinfer.pipelines.scored_stream import ScoredStream

        source, model = self.options.input.source, self.options.input.model
        beside = unused_model(source, model) if model else ""
        rules = (
            RuleSet(()) if self.options.nested else self.job.rules
        )  # else they are checked as those of labels
        return ScoredStream(self.examples, self.job.model, rules, self.job.scheme, notice, beside)

    def _rows(self, number: int, item: ScoredExample, solutions: list[Solution], trace: Trace) -> list[Row]:
        """A row for each labelling of a sequence."""
        rows = [self._row(number, item, solution) for solution in solutions]
        if self.options.questions and item.trellis is not None and solutions[0].has_labelling:
            began = time.perf_counter()
            rows[0]["questions"] = questions(item.trellis, self._rules_of(item), self.options.questions)
            rows[0]["seconds"] += time.perf_counter() - began
        if len(rows) > 1:
            rows = [{**row, "rank": rank, "ranks": len(rows)} for rank, row in enumerate(rows, 1)]
        return [{**row, "trace": trace} for row in rows] if self.options.trace else rows

    def _row(self, number: int, item: ScoredExample, solution: Solution) -> Row:
        began = time.perf_counter()
        try:
            values = solution.to_dict(incumbents=self.options.trace)
            if self.options.explain and solution.has_labelling:
                values["explanation"] = solution.explain().to_dict()
                values["changed"] = solution.explain(change=True).short()
            if self.options.probabilities and item.trellis is not None and solution.has_labelling:
                values["probabilities"] = probabilities(item.trellis, self._rules_of(item), solution)
        except Exception as error:
            if traceback_wanted():
                raise
            solution = failure(Solution, error, solution.method)
            values = solution.to_dict()
        if raise_interrupt(solution).error:
            values["reason"] = f"{item.where}: {solution.reason}"
        columns = item.example.named_columns
        about = {
            **item.example.about,
            "tokens": list(item.tokens),
            **({"columns": columns} if columns else {}),
        }
        values["seconds"] += item.seconds + time.perf_counter() - began
        return {"sequence": number, **about, **with_spans(item.example, values, nested=self.options.nested)}


def _print(rows: list[Row]) -> None:
    for row in rows:
        print(json_text(row), flush=True)
