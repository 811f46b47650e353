"""`ilpinfer export`."""

import json
import math
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

from formulations import Program, RuleSet, Trellis, formulate
from formulations.arguments import one_of
from formulations.messages import counted
from formulations.problem.compiled_rules import CompiledRules
from formulations.programs.formulation import FloorKind, score_floor
from formulations.programs.kinds import PROGRAMS, Kind, with_hard_rules
from formulations.programs.program import FORMATS, UNITS
from ilpinfer.cli import arguments
from ilpinfer.cli.arguments import OPTIONS, Group, output_folder
from ilpinfer.cli.command import command
from ilpinfer.cli.failure import LeftOut
from ilpinfer.cli.inputs import ProgramInput, prepare
from ilpinfer.cli.outputs import check_streams
from ilpinfer.cli.progress import progress
from ilpinfer.cli.screen import print_json
from ilpinfer.cli.streams import notice
from ilpinfer.core.request import Request
from ilpinfer.core.rule_compiler import compiler_of
from ilpinfer.core.solution import Solution
from ilpinfer.corpus.examples import InputError
from ilpinfer.errors import describe
from ilpinfer.pipelines.trellises import ScoredSequence
from ilpinfer.system.files import write_atomically
from ilpinfer.system.output_paths import check_folder, output_path

if TYPE_CHECKING:
    from collections.abc import Callable

    from ilpinfer.decoding.two_phase import TwoPhaseSolution

PROGRAM = Group("Integer program")


@dataclass(frozen=True)
class ProgramOptions:
    program: str = PROGRAM.option(
        "soft",
        "NAME: soft: rules with penalties are soft; hard: every rule is hard; two-phase: the second phase of two-phase inference; "
        "shortest-path: no rules.",
    )
    folded: bool = PROGRAM.option(
        False, "Add rules on one token or step to the scores, in place of columns and rows."
    )
    tau: float | None = PROGRAM.option(
        None, "SHARE: Share that sets the least score of a two-phase program, 0 to 1; 0.9 if not given."
    )
    bound: str = PROGRAM.option("relative", "KIND: How --tau sets the least score: relative or odds.")

    def __post_init__(self) -> None:
        one_of(self.program, "program", PROGRAMS, InputError)
        two_phase = self.program == "two-phase"
        if self.tau is not None and not two_phase:
            raise InputError(f"--tau {self.tau:g}: is for --program two-phase; leave it out")
        if self.bound != "relative" and not two_phase:
            raise InputError(f"--bound {self.bound}: is for --program two-phase; leave it out")
        score_floor(0, self.share, self.bound)

    @property
    def share(self) -> float:
        """τ, 0.9 if not given."""
        return 0.9 if self.tau is None else self.tau

    def formulate(self, trellis: Trellis, rules: RuleSet) -> Program:
        """The program of a sequence; Z* of a two-phase program is computed by decoding, -inf if infeasible."""
        compiled = compiler_of(rules).compiled(trellis.labels)
        best = self.two_phase(trellis, rules).best_score if self.program == "two-phase" else None
        return formulate(
            trellis,
            compiled,
            program=cast(Kind, self.program),
            folded=self.folded,
            tau=self.share,
            bound=cast(FloorKind, self.bound),
            best_score=best,
        )

    def two_phase(self, trellis: Trellis, rules: RuleSet) -> "TwoPhaseSolution":
        """The optimum of a two-phase program, by the engine; InputError if its first phase is not proved."""
        from ilpinfer.decoding.two_phase import decode_two_phase

        solution = decode_two_phase(trellis, rules, self.share, cast(FloorKind, self.bound))
        if solution.status != "infeasible" and not math.isfinite(solution.best_score):
            raise InputError(
                "the best score under the hard rules was not found; the two-phase program needs it"
            )
        return solution

    def rules(self, trellis: Trellis, rules: RuleSet) -> RuleSet:
        """The rules of the program: all of them hard, none, or unchanged."""
        if self.program == "shortest-path":
            return RuleSet((), never=rules.never)
        if self.program != "hard":
            return rules
        compiled: CompiledRules = with_hard_rules(compiler_of(rules).compiled(trellis.labels))
        return compiled.rule_set


@dataclass(frozen=True)
class ExportOptions:
    input: ProgramInput
    output: Annotated[
        str,
        output_folder(
            "Folder for the programs: 0001.lp and 0001.columns.json of the first sequence, and so on."
        ),
    ]
    program: ProgramOptions
    format: str = OPTIONS.option("lp", "FORMAT: lp, mps or wcsp (toulbar2, costs in grid units).")
    gzip: bool = OPTIONS.option(False, "Compress the programs: 0001.lp.gz.")
    start: str = OPTIONS.option(
        "",
        "METHOD: Write a labelling of this method as the start of a solver, 0001.mst, for soft programs: auto for the optimum, "
        "beam:width=50 and others.",
    )
    units: arguments.Units = "nats"
    first: arguments.First = None
    as_json: arguments.AsJson = False


@command(
    "ilpinfer export scores.jsonl --rules rules.toml --output programs",
    "ilpinfer export test.tsv --model hmm.json --rules citations --format mps --first 10 --output programs",
    "ilpinfer export scores.jsonl --rules rules.toml --gzip --start beam --output programs",
)
def export(options: ExportOptions) -> None:
    """Write the integer program of each sequence for other solvers, with named columns and rows."""
    check_texts(options.format, options.units)
    start = _start(options)
    suffix = f"{options.format}{'.gz' * options.gzip}"
    inputs = options.input.files
    check_streams(False, [], inputs)
    check_folder(options.output)
    scored, rules, _ = prepare(options.input, options.first)
    names = numbers(len(scored))
    for name in names:
        for end in (suffix, "columns.json", *(["mst"] if start else [])):
            output_path(Path(options.output, f"{name}.{end}"), inputs)
    failures, written = LeftOut(), list[str]()
    with progress("exporting", len(scored)) as advance:
        for name, item in zip(names, scored, strict=True):
            program = begun = None
            with failures.at(item.example.where):
                trellis = known_trellis(item)
                program = options.program.formulate(trellis, rules)
                begun = start(trellis, rules) if start else None
            if program is None:
                continue
            place = Path(options.output, f"{name}.{suffix}")
            write_atomically(place, program.text(options.format, units=options.units), inputs)
            write_atomically(place.with_name(f"{name}.columns.json"), _map(program, item, options), inputs)
            if begun is not None and math.isfinite(begun.score):
                write_atomically(place.with_name(f"{name}.mst"), program.start_text(begun.labels), inputs)
            elif begun is not None:
                notice(f"{item.example.where}: {options.start} has no labelling to start with")
            written.append(str(place))
            advance()
    count = len(written)
    ends = f", {Path(written[0]).name} to {Path(written[-1]).name}" if written else ""
    notice(f"{options.output}: {counted(count, 'program')}{ends}")
    if options.as_json:
        print_json({"output": options.output, "programs": written, "failures": failures})
    failures.check(f"{len(scored)} sequences have no program", 2)


def _start(options: ExportOptions) -> "Callable[..., Solution] | None":
    """The method of --start as a function; None where none is asked for."""
    if not options.start:
        return None
    if options.program.program != "soft":
        raise InputError(f"--start {options.start}: is for --program soft; leave it out")
    from ilpinfer.decoding.decode import decode

    Request.of(options.start, None, {}).task(None)
    return partial(decode, method=options.start)


def check_texts(format_: str, units: str) -> None:
    one_of(format_, "format", FORMATS, InputError)
    one_of(units, "units", UNITS, InputError)


def numbers(count: int) -> list[str]:
    """Names of sequences, `0001` and so on."""
    width = max(4, len(str(count)))
    return [str(number).zfill(width) for number in range(1, count + 1)]


def known_trellis(item: ScoredSequence) -> Trellis:
    """The trellis of a sequence; raises its error if there is none."""
    if item.trellis is None:
        assert item.error is not None
        raise InputError(describe(item.error))
    return item.trellis


def _map(program: Program, item: ScoredSequence, options: ExportOptions) -> str:
    """The table of columns, by which a solution can be read without the trellis; one column on each line."""
    about = {
        "digest": program.digest,
        "format": options.format,
        "units": "grid" if options.format == "wcsp" else options.units,
        **asdict(options.program),
        "floor": program.floor,
        "best_objective_units": program.best_objective_units,
        "tokens": list(item.tokens),
        "labels": list(program.labels),
    }
    head = json.dumps(about, ensure_ascii=False, allow_nan=False)[1:-1]
    columns = [
        json.dumps(
            {
                "file": file,
                "name": column.name,
                "kind": column.kind,
                "rule": column.rule or None,
                "token": column.token,
                "labels": list(column.labels) or None,
            },
            ensure_ascii=False,
        )
        for file, column in zip(program.file_columns, program.columns, strict=True)
    ]
    return f'{{{head}, "columns": [\n' + ",\n".join(columns) + "\n]}\n"
