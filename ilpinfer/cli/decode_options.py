"""The options of `ilpinfer decode`, and the decoding function that they configure."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from formulations import Trellis
from ilpinfer import __version__
from ilpinfer.cli import arguments
from ilpinfer.cli.arguments import OPTIONS, OptionGroup
from ilpinfer.cli.inputs import InputOptions, method_options, on_error, parameters
from ilpinfer.core.registry import method as method_named
from ilpinfer.core.request import Request, configuration, deadline_for
from ilpinfer.core.rule_compiler import RuleCompiler
from ilpinfer.core.solution import Solution, finite
from ilpinfer.corpus.examples import InputError, input_at
from ilpinfer.decoding.reporting import attempt, failure
from ilpinfer.pipelines.trellises import LABELLINGS
from ilpinfer.system.files import digest

if TYPE_CHECKING:
    from ilpinfer.decoding.two_phase import TwoPhaseSolution
    from ilpinfer.pipelines.scored_stream import Trellises

TWO_PHASE = OptionGroup("Two-phase inference")
SPANS = OptionGroup("Candidate spans")


@dataclass(frozen=True)
class DecodeOptions:
    input: InputOptions
    output: str = OPTIONS.option("-", "FILE: File for the labellings, JSON lines; - for standard output.")
    method: arguments.MethodName = "auto"
    time_limit: arguments.Limit = None
    top: int | None = OPTIONS.option(
        None, "NUMBER: Write the NUMBER best labellings of each sequence, best first.", min=1
    )
    tau: float | None = TWO_PHASE.option(
        None,
        "SHARE: Minimize violations among labellings whose score is close to the best score. From 0 to 1; 1 allows only the "
        "best score.",
    )
    bound: str = TWO_PHASE.option(
        "relative", "KIND: How --tau sets the lowest allowed score: relative or odds."
    )
    threads: arguments.Threads = 1
    explain: bool = OPTIONS.option(
        False,
        "For each rule, add the places where it is broken, and the best labelling without the rule. For each label that "
        "differs from Viterbi's, add the rules that cause the difference.",
    )
    probabilities: bool = OPTIONS.option(
        False,
        "Add exact probabilities under the rules: of each entity, and of the whole labelling.",
    )
    within: float | None = OPTIONS.option(
        None,
        "NATS: With --top: write only labellings at most this far below the best score; 0 for ties only.",
    )
    trace: bool = OPTIONS.option(
        False,
        "Add the incumbents and bounds of each sequence over time, in seconds and nats, with the violations of each "
        "incumbent.",
    )
    questions: int | None = OPTIONS.option(
        None,
        "NUMBER: Add the NUMBER tokens that a person should label next: those whose answers are expected to change the most "
        f"labels. Estimated from the {LABELLINGS} best labellings.",
        min=1,
    )
    jobs: int = OPTIONS.option(1, "NUMBER: Number of processes.", min=1)
    on_error: str = OPTIONS.option(
        "raise",
        "WAY: What to do with an invalid record. raise: stop. row: skip it, and report the number of skipped "
        "records as an error at the end.",
    )
    option: arguments.MethodOption = ()
    nested: bool = SPANS.option(False, "One chosen span may contain another; none cross.")
    depth: int | None = SPANS.option(
        None, "NUMBER: With --nested: the most chosen spans that a token may lie in.", min=1
    )

    def job(self, content: str) -> str:
        """Digest of all inputs of rows except the sequence; `content` is the digest of model and rules."""
        apart = ("input", "output", "jobs", "method", "time_limit", "on_error")
        others = {name: value for name, value in vars(self).items() if name not in apart}
        return digest(__version__, content, self.method, self.time_limit, others)


Trace = list[list[float | None]]
"""Seconds, incumbent and bound of each improvement; in nats, None for infinite numbers."""
Solve = Callable[["Trellises", RuleCompiler], Iterator[tuple[list["Solution"], Trace]]]


def solver(options: DecodeOptions) -> Solve:
    """The function that decodes many sequences; invalid options are errors before any work."""
    from ilpinfer.decoding.decoder import Decoder

    method, time_limit, top = options.method, options.time_limit, options.top
    if options.nested:
        return _nested_solver(options)
    if options.depth is not None:
        raise ValueError(f"--depth {options.depth}: is an option of --nested; add --nested, or leave it out")
    known = method_named(configuration(method)[0])
    deadline_for(time_limit)
    if options.tau is not None:
        return _two_phase_solver(options, options.tau)
    if options.bound != "relative":
        raise ValueError(f"--bound {options.bound}: is an option of --tau; add --tau, or leave it out")
    own = method_options(known, threads=options.threads, within=options.within)
    own |= parameters(options.option)
    Request.of(method, time_limit, own).task(top)
    if options.trace and options.jobs > 1:
        raise ValueError("--trace and --jobs: give one of them, since a trace needs a single process")

    def solve(trellises: "Trellises", rules: RuleCompiler) -> "Iterator[tuple[list[Solution], Trace]]":
        decoder = Decoder(rules, method=method, time_limit=time_limit, **own)
        errors, trace = on_error(), Trace()
        watch = (lambda *now: trace.append([finite(x) for x in now])) if options.trace else None
        alone = options.trace or options.jobs > 1 or method != "auto" or options.within is not None
        threads = 1 if alone else options.threads
        many = partial(
            decoder.decode_many,
            trellises,
            callback=watch,
            n_jobs=options.jobs,
            threads=threads,
            on_error=errors,
        )
        several: Iterator[Any] = many(top=top) if top else ([each] for each in many())
        for solutions in several:
            solutions = solutions or list(decoder.decode_many([trellises.first], on_error=errors))
            yield solutions, list(trace)
            trace.clear()

    return solve


def _two_phase_solver(options: DecodeOptions, tau: float) -> Solve:
    from formulations.programs.formulation import score_floor
    from ilpinfer.decoding.two_phase import TwoPhaseSolution, check_method, decode_two_phase

    if options.option:
        raise ValueError(f"--option {options.option[0]}: has no effect with --tau; leave it out")
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
        return [failure(TwoPhaseSolution, error, options.method, seconds=seconds)]

    def solutions(trellis: Trellis, rules: RuleCompiler, top: int | None) -> list[Solution]:
        def decode() -> "list[TwoPhaseSolution]":
            result = two_phase(trellis, rules, top=top)
            return result if isinstance(result, list) else [result]

        return list(attempt(decode, on_error(), failed))

    def solve(trellises: "Trellises", rules: RuleCompiler) -> "Iterator[tuple[list[Solution], Trace]]":
        for trellis in trellises:
            yield solutions(trellis, rules, options.top) or solutions(trellis, rules, None), []

    return solve


NOT_NESTED = (
    "top",
    "tau",
    "threads",
    "explain",
    "probabilities",
    "within",
    "trace",
    "questions",
    "jobs",
    "option",
)
"""Options that have no effect with `--nested`."""


def _nested_solver(options: DecodeOptions) -> Solve:
    from ilpinfer.pipelines.nested_spans import check_method, nested_problem, solve_nested

    check_method(options.method)
    deadline_for(options.time_limit)
    for name in NOT_NESTED:
        if getattr(options, name) != getattr(DecodeOptions, name):
            raise ValueError(f"--{name}: has no effect with --nested; leave it out")
    limits: dict[str, Any] = {"method": options.method, "time_limit": options.time_limit}

    def failed(error: Exception, seconds: float) -> list[Solution]:
        return [failure(Solution, error, options.method, seconds=seconds)]

    def solve(trellises: "Trellises", rules: RuleCompiler) -> "Iterator[tuple[list[Solution], Trace]]":
        for trellis in trellises:
            example = trellises.waiting[-1].example
            group = example.candidates
            if group is None or example.given:
                what = "no candidates" if group is None else "given labels"
                raise InputError(f"{example.where}: {what}; --nested chooses among candidates alone")
            with input_at(example.where):
                problem = nested_problem(group, rules, options.depth)
            run = partial(solve_nested, problem, len(trellis), **limits)
            yield attempt(lambda run=run: [run()[0]], on_error(), failed), []  # type: ignore[misc]

    return solve
