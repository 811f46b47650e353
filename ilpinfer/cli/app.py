"""The commands and their options; the work is imported when a command runs."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer
from typer.exceptions import TyperException

from ilpinfer.cli.arguments import (
    AsJson,
    Column,
    Limit,
    RuleFile,
    Scheme,
    Threads,
    Width,
    decodes_input,
    reads_input,
)
from ilpinfer.cli.convert_command import convert
from ilpinfer.cli.failure import Failure
from ilpinfer.cli.learning_commands import COMMANDS
from ilpinfer.cli.reference_commands import references
from ilpinfer.cli.reprocess_command import reprocess
from ilpinfer.cli.service_commands import COMMANDS as SERVICE_COMMANDS

if TYPE_CHECKING:
    from ilpinfer.cli.inputs import InputOptions

app = typer.Typer(
    name="ilpinfer",
    help="Exact, constrained inference for sequence models: scores and rules in, a proved labelling out.",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


def run(arguments: Sequence[str]) -> None:
    """Parse and run.

    Raises
    ------
    Failure
        for arguments that cannot be used.
    """
    try:
        code = app(list(arguments) or ["--help"], prog_name="ilpinfer", standalone_mode=False)
    except TyperException as error:
        raise Failure(f"{error.format_message()} See ilpinfer {_command(arguments)}-h", 2) from None
    if code == 130:
        raise KeyboardInterrupt


def _command(arguments: Sequence[str]) -> str:
    known = {command.name for command in app.registered_commands} | {"reference"}
    return f"{arguments[0]} " if arguments and arguments[0] in known else ""


@app.command("demo")
def _demo(
    seed: Annotated[int, typer.Option(help="Seed of the generated items.")] = 0,
    items: Annotated[int, typer.Option(min=1, help="How many items to decode.")] = 100,
) -> None:
    """The embedded example, end to end: generated résumé items, a trained HMM, exact beside heuristic."""
    from ilpinfer.cli.demo import DemoOptions, demo

    demo(DemoOptions(seed, items))


@app.command("train")
def _train(
    source: Annotated[str, typer.Argument(metavar="TRAIN", help="token<TAB>label columns or JSON lines.")],
    output: Annotated[str, typer.Option(help="Where to write the model, a JSON file.")],
    kind: Annotated[str, typer.Option(help="hmm: first order, counted; hmm2: second order; crf.")] = "hmm",
    scheme: Scheme = "",
    column: Column = "",
    first: Annotated[int | None, typer.Option(min=1, help="Train on the first so many sequences.")] = None,
    option: Annotated[
        list[str] | None,
        typer.Option(help="NAME=VALUE, such as template=citations or c1=0.1 for a crf; may be repeated."),
    ] = None,
    held_out: Annotated[
        str, typer.Option(help="A file to try the model on, or a share of TRAIN to keep for that.")
    ] = "",
    folds: Annotated[
        int, typer.Option("--cross-validate", help="Try models trained on all parts but one, so many times.")
    ] = 0,
    documents: Annotated[
        str, typer.Option(help="A file that names the document of each sequence; parts keep them whole.")
    ] = "",
    rules: Annotated[
        list[str] | None, typer.Option(help="Rules under which models are tried; may be repeated.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the parts.")] = 0,
    line_breaks: Annotated[
        str,
        typer.Option(
            help="in or out. out: a crf sees what is between line breaks (@newline@), and decode gives line breaks the label "
            "that they mostly have in TRAIN, inside a field that of its inner tokens."
        ),
    ] = "in",
) -> None:
    """Train a model on labelled sequences, and say how good it is."""
    from ilpinfer.cli.training import TrainOptions, train

    train(
        TrainOptions(
            source,
            output,
            kind=kind,
            scheme=scheme,
            column=column,
            first=first,
            option=option or [],
            held_out=held_out,
            folds=folds,
            documents=documents,
            rules=rules or [],
            seed=seed,
            line_breaks=line_breaks,
        )
    )


@app.command("decode")
@decodes_input
def _decode(
    source: "InputOptions",
    output: Annotated[str, typer.Option(help="Where to write JSON lines; - is standard output.")] = "-",
    method: Annotated[str, typer.Option(help="See `ilpinfer methods`.")] = "auto",
    time_limit: Limit = None,
    top: Annotated[
        int | None, typer.Option(min=1, help="Write the best so many labellings of each sequence.")
    ] = None,
    tau: Annotated[float | None, typer.Option(help="Two-phase inference with this tau, 0 to 1.")] = None,
    bound: Annotated[str, typer.Option(help="The two-phase floor: relative or odds.")] = "relative",
    risk: Annotated[
        str,
        typer.Option(
            help="With --method posterior: what is to be right as often as can be, tokens or spans."
        ),
    ] = "",
    width: Width = 10,
    threads: Threads = 1,
    explain: Annotated[
        bool, typer.Option("--explain", help="Add which rules are broken, where, and what each one changes.")
    ] = False,
    within: Annotated[
        float | None,
        typer.Option(help="With --top: only labellings at most so many nats below the best; 0 for ties."),
    ] = None,
    trace: Annotated[
        bool,
        typer.Option(
            "--trace",
            help="Add how incumbent and bound came together, in seconds and nats, and what each incumbent breaks.",
        ),
    ] = False,
    jobs: Annotated[int, typer.Option(min=1, help="Processes.")] = 1,
    option: Annotated[
        list[str] | None, typer.Option(help="NAME=VALUE, a parameter of the method; may be repeated.")
    ] = None,
) -> None:
    """Label sequences: one JSON object a line, with score, penalty, violations, bound and proof."""
    from ilpinfer.cli.decoding import DecodeOptions, decode

    decode(
        DecodeOptions(
            source,
            output=output,
            jobs=jobs,
            method=method,
            time_limit=time_limit,
            width=width,
            threads=threads,
            top=top,
            tau=tau,
            bound=bound,
            risk=risk,
            explain=explain,
            within=within,
            trace=trace,
            option=option or [],
        )
    )


ProgramName = Annotated[
    str,
    typer.Option(
        "--program", help="soft, hard (every rule), two-phase (the second phase) or shortest-path (no rules)."
    ),
]
Folded = Annotated[bool, typer.Option("--folded", help="Put rules on one token or edge into the scores.")]
Tau = Annotated[
    float | None,
    typer.Option(help="The share that sets the floor of a two-phase program, 0 to 1; 0.9 if not given."),
]
FloorKind = Annotated[str, typer.Option(help="The two-phase floor: relative or odds.")]


@app.command("export")
@reads_input
def _export(
    source: "InputOptions",
    output: Annotated[str, typer.Option(help="A folder for 0001.lp and 0001.columns.json of each sequence.")],
    format_: Annotated[str, typer.Option("--format", help="lp or mps.")] = "lp",
    units: Annotated[
        str, typer.Option(help="Of the objective: nats, or grid for whole numbers of 2^-20 nats.")
    ] = "nats",
    program: ProgramName = "soft",
    folded: Folded = False,
    tau: Tau = None,
    bound: FloorKind = "relative",
    first: Annotated[int | None, typer.Option(min=1, help="Export the first so many sequences.")] = None,
) -> None:
    """Write the integer program of each sequence, with named columns and rows, for other solvers."""
    from ilpinfer.cli.exporting import ExportOptions, export
    from ilpinfer.cli.programs import ProgramOptions

    export(
        ExportOptions(
            source,
            ProgramOptions(program, folded, tau, bound),
            output,
            format=format_,
            units=units,
            first=first,
        )
    )


@app.command("import-solution")
@reads_input
def _import_solution(
    source: "InputOptions",
    solutions: Annotated[
        list[str],
        typer.Argument(
            metavar="SOLUTION",
            help="Files of CBC, HiGHS, SCIP, Gurobi or CPLEX, or folders of them, named 0001.sol after their programs.",
        ),
    ],
    output: Annotated[str, typer.Option(help="Where to write JSON lines; a table if not given.")] = "",
    format_: Annotated[
        str,
        typer.Option(
            "--format", help="Of the program that was solved, if 0001.columns.json is not beside it."
        ),
    ] = "",
    units: Annotated[str, typer.Option(help="Of its objective, likewise: nats or grid.")] = "",
    program: ProgramName = "soft",
    folded: Folded = False,
    tau: Tau = None,
    bound: FloorKind = "relative",
    time_limit: Annotated[
        float | None, typer.Option(help="Seconds for the engine's bound on each sequence.")
    ] = None,
) -> None:
    """Read the solutions of other solvers: labels, what they are worth, and how far they are from the proved optimum."""
    from ilpinfer.cli.importing import ImportOptions, import_solutions
    from ilpinfer.cli.programs import ProgramOptions

    import_solutions(
        ImportOptions(
            source,
            ProgramOptions(program, folded, tau, bound),
            solutions,
            output=output,
            format=format_,
            units=units,
            time_limit=time_limit,
        )
    )


@app.command("compare")
@decodes_input
def _compare(
    source: "InputOptions",
    output: Annotated[str, typer.Option(help="A folder for results.jsonl, summary.json and report.html.")],
    methods: Annotated[
        str,
        typer.Option(
            help="Names with commas between, options behind colons: auto,beam:width=50,lds:variant=published,cbc:time_limit=10; "
            "PACKAGE:DECODER is one of another package."
        ),
    ] = "auto,viterbi,beam",
    predictions: Annotated[
        list[str] | None,
        typer.Option(help="NAME=FILE, labellings of the same sequences as a method; may be repeated."),
    ] = None,
    time_limit: Limit = None,
    first: Annotated[int | None, typer.Option(min=1, help="Compare on the first so many sequences.")] = None,
    seeds: Annotated[str, typer.Option(help="Seeds of methods that draw at random, such as 1,2,3.")] = "",
    repeats: Annotated[
        int, typer.Option(min=1, help="Run methods that draw at random so often, with seeds from 0.")
    ] = 1,
    cap: Annotated[
        float, typer.Option(help="Nats that a missing labelling counts in means over all sequences.")
    ] = 50.0,
    tables: Annotated[
        str, typer.Option("--format", help="Also write tables for papers: csv, markdown, latex or parquet.")
    ] = "",
    width: Width = 10,
    threads: Threads = 1,
    option: Annotated[
        list[str] | None,
        typer.Option(help="METHOD.NAME=VALUE, a parameter of a method; may be repeated."),
    ] = None,
) -> None:
    """Decode with several methods and show what each loses against the proved optimum."""
    from ilpinfer.cli.comparing import CompareOptions, compare

    compare(
        CompareOptions(
            source,
            output,
            methods=methods,
            predictions=predictions or [],
            time_limit=time_limit,
            first=first,
            seeds=seeds,
            repeats=repeats,
            cap=cap,
            tables=tables,
            width=width,
            threads=threads,
            option=option or [],
        )
    )


@app.command("check")
def _check(
    rules: RuleFile,
    gold: Annotated[str, typer.Argument(help="Labelled sequences.")],
    scheme: Scheme = "",
    column: Column = "",
    as_json: AsJson = False,
    write: Annotated[
        str, typer.Option(help="Where to write the rules with the suggested penalties, a TOML file.")
    ] = "",
) -> None:
    """How often each rule applies, holds and breaks in gold labels, with examples and a suggested penalty."""
    from ilpinfer.cli.checking import CheckOptions, check

    check(CheckOptions(rules, gold, scheme, column, as_json, write))


@app.command("evaluate")
def _evaluate(
    predicted: Annotated[
        str,
        typer.Argument(metavar="PREDICTED", help="Output of `ilpinfer decode`, or labelled columns."),
    ],
    gold: Annotated[str, typer.Argument(metavar="GOLD", help="The same sequences with their gold labels.")],
    against: Annotated[
        str | None, typer.Option(help="Other predictions; says whether the difference is significant.")
    ] = None,
    output: Annotated[str | None, typer.Option(help="Where to write every measure, a JSON file.")] = None,
    picture: Annotated[str | None, typer.Option(help="Where to draw the confusions, an SVG file.")] = None,
    by: Annotated[str, typer.Option(help="What to count: spans, tokens, lines or characters.")] = "spans",
    beta: Annotated[float, typer.Option(help="Weight of recall; 0.5 counts precision twice as much.")] = 1.0,
    leave_out: Annotated[
        list[str] | None, typer.Option(help="A field that is not counted, as O never is; may be repeated.")
    ] = None,
    scheme: Scheme = "",
    column: Column = "",
    resamples: Annotated[int, typer.Option(min=1, help="How often to resample, with --against.")] = 9999,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the resamples.")] = 0,
) -> None:
    """Predicted labels against gold: fields, tokens, whole sequences, and what is mistaken for what."""
    from ilpinfer.cli.evaluating import EvaluateOptions, evaluate

    evaluate(
        EvaluateOptions(
            predicted,
            gold,
            against=against,
            output=output,
            picture=picture,
            by=by,
            beta=beta,
            leave_out=leave_out or [],
            scheme=scheme,
            column=column,
            resamples=resamples,
            seed=seed,
        )
    )


@app.command("explain")
def _explain(
    rules: RuleFile,
    model: Annotated[
        str | None, typer.Option(help="Take labels from a model; the declared fields if not given.")
    ] = None,
    length: Annotated[int, typer.Option(min=2, max=500, help="Tokens of the sequence looked at.")] = 25,
    scheme: Scheme = "",
    as_json: AsJson = False,
) -> None:
    """What kind of rule each one is: local, linear, regular or auxiliary, and what a prefix shows of it."""
    from ilpinfer.cli.explaining import ExplainOptions, explain

    explain(ExplainOptions(rules, model, length, scheme, as_json))


@app.command("schema")
def _schema() -> None:
    """The JSON Schema of rule files, for editors."""
    from ilpinfer.cli.explaining import print_schema

    print_schema()


@app.command("warm-up")
def _warm_up() -> None:
    """Compile what the first decoding would otherwise wait for, and keep it."""
    from ilpinfer.cli.warming import warm_up

    warm_up()


@app.command("methods")
def _methods(as_json: AsJson = False) -> None:
    """The methods, exact and heuristic."""
    from ilpinfer.cli.show import show_methods

    show_methods(as_json)


for _name, _command_function in {
    **COMMANDS,
    "reprocess": reprocess,
    "convert": convert,
    **SERVICE_COMMANDS,
}.items():
    app.command(_name)(_command_function)

app.add_typer(references, name="reference")
