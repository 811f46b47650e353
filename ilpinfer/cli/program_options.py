"""Options of `ilpinfer export`, and the programs that they describe."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, cast

from formulations import Program, RuleSet, Trellis, formulate
from formulations.arguments import one_of
from formulations.problem.compiled_rules import CompiledRules
from formulations.programs.formulation import FloorKind, score_floor
from formulations.programs.kinds import PROGRAMS, Kind, with_hard_rules
from formulations.programs.program import FORMATS, UNITS
from ilpinfer.cli import arguments
from ilpinfer.cli.arguments import OPTIONS, OptionGroup, output_folder, solution_files, value_option
from ilpinfer.cli.inputs import ProgramInput
from ilpinfer.core.rule_compiler import compiler_of
from ilpinfer.corpus.examples import InputError
from ilpinfer.errors import describe
from ilpinfer.pipelines.trellises import ScoredExample

if TYPE_CHECKING:
    from ilpinfer.decoding.two_phase import TwoPhaseSolution

PROGRAM, CHECK = OptionGroup("Integer program"), OptionGroup("Check of solutions")


@dataclass(frozen=True)
class ProgramOptions:
    program: str = PROGRAM.option(
        "soft",
        "NAME: soft: rules with penalties are soft; hard: every rule is hard; two-phase: the second phase of two-phase inference; "
        "shortest-path: no rules.",
    )
    folded: bool = PROGRAM.option(
        False, "Add rules on one token or step to the scores instead of making columns and rows."
    )
    tau: float | None = PROGRAM.option(
        None, "SHARE: Share that sets the lowest score of a two-phase program, 0 to 1; 0.9 if not given."
    )
    bound: str = PROGRAM.option(
        "relative", "KIND: How --tau sets the lowest allowed score: relative or odds."
    )

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
        """The optimum of a two-phase program from the engine; InputError if its first phase is not proved."""
        from ilpinfer.decoding.two_phase import decode_two_phase

        solution = decode_two_phase(trellis, rules, self.share, cast(FloorKind, self.bound))
        if solution.status != "infeasible" and not math.isfinite(solution.best_score):
            raise InputError(
                "the best score under the hard rules was not found; the two-phase program needs it"
            )
        return solution

    def rules(self, trellis: Trellis, rules: RuleSet) -> RuleSet:
        """The rules of the program: all made hard, none, or unchanged."""
        if self.program == "shortest-path":
            return RuleSet((), never=rules.never)
        if self.program != "hard":
            return rules
        compiled: CompiledRules = with_hard_rules(compiler_of(rules).compiled(trellis.labels))
        return compiled.rule_set


@dataclass(frozen=True)
class ExportOptions:
    input: ProgramInput
    program: ProgramOptions
    output: Annotated[
        str,
        output_folder(
            "Folder for the programs: 0001.lp and 0001.columns.json for the first sequence, and so on."
        ),
    ] = ""
    format: str = OPTIONS.option(
        "",
        "FORMAT: lp (if not given), mps or wcsp (toulbar2: a network of cost functions with a variable for each token, in grid units).",
    )
    gzip: bool = OPTIONS.option(False, "Compress the programs: 0001.lp.gz.")
    start: str = OPTIONS.option(
        "",
        "METHOD: Also write a labelling by this method as a starting solution, 0001.mst (soft programs only): auto for the optimum, "
        "beam:width=50 or another method.",
    )
    units: str = OPTIONS.option(
        "", "UNIT: Unit of the objective: nats (if not given), or grid for integers of 2^-20 nats."
    )
    first: arguments.First = None
    check: Annotated[
        Sequence[str],
        solution_files(
            "Check solutions instead of writing programs: a solution file of CBC, HiGHS or SCIP, a file of "
            "lines `name value`, or a folder of such files, named after their programs: 0001.sol. May be repeated. "
            "Format and units come from 0001.columns.json beside the file, or else from --format and --units.",
            CHECK,
        ),
    ] = ()
    time_limit: Annotated[
        float | None, value_option("SECONDS", "Time limit for the proof of each optimum, in seconds.", CHECK)
    ] = None
    as_json: arguments.AsJson = False

    def __post_init__(self) -> None:
        if not self.output and not self.check:
            raise InputError("no --output: name a folder for the programs, or solutions with --check")
        if self.format == "wcsp" and not self.check:
            if self.start:
                raise InputError(f"--start {self.start}: is for --format lp and mps; leave it out")
            if self.program.program == "two-phase":
                raise InputError("--program two-phase: has no cost network; take --format lp or mps")
        if self.format == "wcsp" and self.units == "nats":
            raise InputError("--units nats: a cost network is in grid units; leave --units out")
        wanted = (
            {"output": self.output, "gzip": self.gzip, "start": self.start}
            if self.check
            else {"time-limit": self.time_limit}
        )
        for name, value in wanted.items():
            if value:
                shown = f"--{name}" if value is True else f"--{name} {value}"
                raise InputError(
                    f"{shown}: {'has no effect with' if self.check else 'is for'} --check; leave it out"
                )


def check_texts(format_: str, units: str) -> None:
    one_of(format_, "format", FORMATS, InputError)
    one_of(units, "units", UNITS, InputError)


def numbers(count: int) -> list[str]:
    """Names of sequences, `0001` and so on."""
    width = max(4, len(str(count)))
    return [str(number).zfill(width) for number in range(1, count + 1)]


def known_trellis(item: ScoredExample) -> Trellis:
    """The trellis of a sequence; raises its error if there is none."""
    if item.trellis is None:
        assert item.error is not None
        raise InputError(describe(item.error))
    return item.trellis
