"""The integer programs of commands: options, and the program of each sequence."""

import math
from dataclasses import dataclass
from typing import Annotated, cast

from formulations import Program, RuleSet, Trellis, formulate
from formulations.messages import suggestion
from formulations.problem.compiled_rules import CompiledRules
from formulations.programs.formulation import FloorKind, score_floor
from formulations.programs.kinds import PROGRAMS, Kind, with_hard_rules
from ilpinfer.cli.arguments import flag, value_option
from ilpinfer.core.rule_compiler import compiler_of
from ilpinfer.corpus.sequences import InputError
from ilpinfer.decoding.two_phase import TwoPhaseSolution, decode_two_phase

PROGRAM = "Integer program"


@dataclass(frozen=True)
class ProgramOptions:
    """Options of programs; see `formulations.formulate`."""

    program: Annotated[
        str,
        value_option(
            "NAME",
            "soft: rules with penalties are soft; hard: every rule is hard; two-phase: the second phase of two-phase inference; "
            "shortest-path: no rules.",
            PROGRAM,
        ),
    ] = "soft"
    folded: Annotated[
        bool, flag("Add rules on one token or step to the scores, in place of columns and rows.", PROGRAM)
    ] = False
    tau: Annotated[
        float | None,
        value_option(
            "SHARE",
            "Share that sets the least score of a two-phase program, 0 to 1; 0.9 if not given.",
            PROGRAM,
        ),
    ] = None
    bound: Annotated[
        str, value_option("KIND", "How --tau sets the least score: relative or odds.", PROGRAM)
    ] = "relative"

    def __post_init__(self) -> None:
        if self.program not in PROGRAMS:
            raise InputError(f'no program "{self.program}"{suggestion(self.program, PROGRAMS)}')
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
        """The program of a sequence. Z* of a two-phase program is computed by decoding; it is -inf if no labelling is
        feasible.
        """
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

    def two_phase(self, trellis: Trellis, rules: RuleSet) -> TwoPhaseSolution:
        """The optimum of a two-phase program, by the engine.

        Raises
        ------
        InputError
            if its first phase is not proved.
        """
        solution = decode_two_phase(trellis, rules, self.share, cast(FloorKind, self.bound))
        if solution.status != "infeasible" and not math.isfinite(solution.best_score):
            raise InputError(
                "the best score under the hard rules was not found; the two-phase program needs it"
            )
        return solution

    def rules(self, trellis: Trellis, rules: RuleSet) -> RuleSet:
        """The rules of the program: all of them hard, none, or unchanged."""
        if self.program == "shortest-path":
            return RuleSet(())
        if self.program != "hard":
            return rules
        compiled: CompiledRules = with_hard_rules(compiler_of(rules).compiled(trellis.labels))
        return compiled.rule_set
