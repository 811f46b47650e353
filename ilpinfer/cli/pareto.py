"""`ilpinfer pareto`."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from formulations import RuleSet
from formulations.messages import counted
from ilpinfer import __version__
from ilpinfer.cli import arguments
from ilpinfer.cli.arguments import OPTIONS, Group, output_file, output_rows
from ilpinfer.cli.command import command
from ilpinfer.cli.failure import Findings
from ilpinfer.cli.inputs import ProgramInput, on_error, prepare
from ilpinfer.cli.outputs import Outputs, resumable, rows_output
from ilpinfer.cli.progress import progress
from ilpinfer.cli.streams import notice
from ilpinfer.core.request import deadline_for
from ilpinfer.core.rule_compiler import RuleCompiler, compiler_of
from ilpinfer.corpus.examples import InputError
from ilpinfer.decoding.reporting import attempt
from ilpinfer.errors import describe
from ilpinfer.pipelines.trellises import ScoredSequence
from ilpinfer.system.checkpoint import Row, RowCheckpoint, RowPosition
from ilpinfer.system.extras import require
from ilpinfer.system.files import digest, write_atomically

if TYPE_CHECKING:
    from ilpinfer.cli.pareto_result import ParetoResult
    from ilpinfer.decoding.frontier import Frontier
    from ilpinfer.learning.tau import TauSearch

TAU = Group("Choice of tau")


@dataclass(frozen=True)
class ParetoOptions:
    input: ProgramInput
    output: Annotated[str, output_rows("File for the frontiers, JSON lines, one sequence a line.")]
    picture: Annotated[
        str, output_file("File for a picture, SVG: the frontier of one sequence, or the sum over several")
    ] = ""
    summary: Annotated[str, output_file("File for the trade-off over all sequences, JSON")] = ""
    first: arguments.First = None
    time_limit: arguments.Limit = None
    heaviest: float | None = OPTIONS.option(
        None, "NUMBER: Leave out points that need a larger weight on all penalties."
    )
    most: int | None = OPTIONS.option(
        None, "NUMBER: Largest number of points of a sequence: those with the best scores.", min=1
    )
    choose_tau: bool = TAU.option(False, "Also choose tau of two-phase inference, by the gold labels.")
    bound: str = TAU.option("relative", "KIND: How tau sets the least score: relative or odds.")
    measure: str = TAU.option("accuracy", "NAME: Measure to maximize: accuracy, f1 or whole.")
    folds: int = TAU.option(
        2, "NUMBER: Folds; tau is evaluated on each fold, after it is chosen on the others."
    )
    seed: int = TAU.option(0, "NUMBER: Seed of the folds.", min=0)
    as_json: arguments.AsJson = False

    def job(self, content: str) -> str:
        """Digest of everything that rows depend on; `content` is the digest of the input."""
        return digest(__version__, content, self.time_limit, self.heaviest, self.most)

    @property
    def search(self) -> "TauSearch | None":
        """The search for tau; ValueError for invalid options."""
        from ilpinfer.learning.tau import TauSearch

        bound: Any = self.bound
        search = TauSearch((), bound, self.measure, self.folds, self.seed, self.time_limit)
        return search if self.choose_tau else None


@command(
    "ilpinfer pareto test.tsv --model hmm.json --rules citations --output frontiers.jsonl --picture curve.svg"
)
def pareto(options: ParetoOptions) -> None:
    """Compute all trade-offs between score and violation cost (the Pareto frontier), for each sequence and in total.

    A sequence without a feasible labelling or without a frontier has a row, and is reported at the end.
    """
    from ilpinfer.cli.pareto_result import ParetoResult, show_taus
    from ilpinfer.decoding.frontier_search import checked_weight

    inputs, search = options.input.files, options.search
    place = rows_output(options.output, inputs)
    others = {"picture": options.picture or None, "summary": options.summary or None}
    outputs = Outputs(options.as_json, [*inputs, options.output], **others)
    if options.picture:
        require(f"--picture {options.picture}", "plots", "matplotlib")
    deadline_for(options.time_limit)
    if options.heaviest is not None:
        checked_weight(options.heaviest)
    scored, rules, content = prepare(options.input, options.first)
    if not scored:
        raise InputError(f"{options.input.source}: no sequences")
    if search is not None and any(item.gold is None for item in scored):
        where = next(item.example.where for item in scored if item.gold is None)
        raise InputError(
            f"{where}: --choose-tau needs gold labels for every sequence; give them, or leave it out"
        )
    if search is not None and len(scored) < search.folds:
        raise InputError(
            f"--folds {search.folds}: more than the {counted(len(scored), 'sequence')}; give fewer folds"
        )
    findings = Findings()
    with (
        outputs.reserved(),
        resumable(RowCheckpoint(place.name, options.job(content), _position, inputs)) as checkpoint,
    ):
        frontiers = _fill(checkpoint, scored, rules, options, findings)
        result = ParetoResult(scored, rules, frontiers, options.heaviest, search)
        record = result.record()
        _write(options, result)
    outputs.show(record, result.show)
    result.tell(options.most)
    if result.choice is not None and not options.as_json:
        show_taus(result.choice, outputs.screen)
    findings.check()


def _position(row: Row) -> RowPosition:
    from ilpinfer.decoding.frontier import Frontier

    if type(row["sequence"]) is not int or not isinstance(row["status"], str):
        raise TypeError("a number and a text are expected")
    Frontier.from_dict(row)
    return RowPosition(row["sequence"])


def _fill(
    checkpoint: RowCheckpoint,
    scored: Sequence[ScoredSequence],
    rules: RuleSet,
    options: ParetoOptions,
    findings: Findings,
) -> "list[Frontier]":
    """The frontiers of all sequences; missing ones are computed and added to the checkpoint."""
    from ilpinfer.decoding.frontier import Frontier

    rows = list(checkpoint.rows()) if checkpoint.groups else []
    compiler = compiler_of(rules)
    with progress("following", len(scored), checkpoint.groups) as advance:
        for number in range(checkpoint.groups, len(scored)):
            rows.append(_row(number, scored[number], compiler, options))
            checkpoint.write(rows[-1:])
            advance()
    for row, item in zip(rows, scored, strict=True):
        findings.add(row, item.example.where)
    return [Frontier.from_dict(row) for row in rows]


def _row(number: int, item: ScoredSequence, rules: RuleCompiler, options: ParetoOptions) -> Row:
    from ilpinfer.decoding.frontier import Frontier
    from ilpinfer.decoding.frontier_search import decode_frontier

    def values() -> Row:
        if item.error is not None or item.trellis is None:
            raise item.error or ValueError("no scores")
        frontier = decode_frontier(
            item.trellis,
            rules,
            heaviest=options.heaviest,
            most=options.most,
            time_limit=options.time_limit,
        )
        return {"status": _status(frontier), **frontier.to_dict()}

    def failed(error: Exception, seconds: float) -> Row:
        nothing = Frontier((), False, seconds, f"{item.example.where}: {describe(error)}")
        return {"status": "unknown", **nothing.to_dict(), "error": type(error).__name__}

    return {"sequence": number, "tokens": list(item.tokens), **attempt(values, on_error(), failed)}


def _status(frontier: "Frontier") -> str:
    if frontier.points:
        return "complete" if frontier.complete else "incomplete"
    return "infeasible" if frontier.complete else "unknown"


def _write(options: ParetoOptions, result: "ParetoResult") -> None:
    if options.summary:
        text = json.dumps(result.record(), indent=2, allow_nan=False)
        write_atomically(options.summary, text + "\n")
    if options.picture:
        picture = result.picture()
        if picture is None:
            notice(f"{options.picture}: not written, because no sequence has a frontier")
        else:
            write_atomically(options.picture, picture)
