"""The commands that compare and explain; the work is imported when a command runs."""

from typing import TYPE_CHECKING, Annotated

import typer

from ilpinfer.cli import completion
from ilpinfer.cli.arguments import (
    AsJson,
    Column,
    First,
    Limit,
    RuleFile,
    Scheme,
    Threads,
    Width,
    decodes_input,
    file,
    model_option,
    output,
    output_folder,
    output_rows,
    reads_input,
)
from ilpinfer.cli.registration import Panel

if TYPE_CHECKING:
    from ilpinfer.cli.inputs import InputOptions

panel = Panel("Compare and explain")
METHODS, TEST, TAU = "Methods", "Significance test", "Choice of tau"


@panel.command(
    "compare",
    "ilpinfer compare test.tsv --model hmm.json --rules citations --methods auto,beam:width=50,cbc --output report",
)
@decodes_input
def _compare(
    source: "InputOptions",
    output: Annotated[str, output_folder("Folder for results.jsonl, summary.json and report.html.")],
    methods: Annotated[
        str,
        typer.Option(
            metavar="NAMES",
            help="Methods, separated by commas, with their options after colons: "
            "auto,beam:width=50,lds:variant=published,cbc:time_limit=10. PACKAGE:DECODER is a decoder of another package.",
            autocompletion=completion.method_lists,
            rich_help_panel=METHODS,
        ),
    ] = "auto,viterbi,beam",
    predictions: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=FILE",
            help="Labellings of the same sequences from a file, compared as a method. May be repeated.",
            rich_help_panel=METHODS,
        ),
    ] = None,
    time_limit: Limit = None,
    first: First = None,
    seeds: Annotated[
        str,
        typer.Option(
            metavar="NUMBERS",
            help="Seeds of randomized methods, such as 1,2,3.",
            rich_help_panel=METHODS,
            show_default=False,
        ),
    ] = "",
    repeats: Annotated[
        int,
        typer.Option(
            min=1,
            metavar="NUMBER",
            help="Number of runs of randomized methods, with seeds from 0.",
            rich_help_panel=METHODS,
        ),
    ] = 1,
    cap: Annotated[
        float,
        typer.Option(
            metavar="NATS", help="Gap that stands for a missing labelling in means over all sequences."
        ),
    ] = 50.0,
    tables: Annotated[
        str,
        typer.Option(
            "--format",
            metavar="FORMAT",
            help="Also write tables for papers: csv, markdown, latex or parquet.",
            show_default=False,
        ),
    ] = "",
    width: Width = 10,
    threads: Threads = 1,
    option: Annotated[
        list[str] | None,
        typer.Option(
            metavar="METHOD.NAME=VALUE",
            help="A parameter of a method. May be repeated.",
            rich_help_panel=METHODS,
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Decode with several methods, and report the gap of each to the proved optimum."""
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
            as_json=as_json,
        )
    )


@panel.command(
    "evaluate",
    "ilpinfer evaluate predicted.jsonl test.tsv",
    "ilpinfer evaluate predicted.jsonl test.tsv --against viterbi.jsonl --by tokens --json",
)
def _evaluate(
    predicted: Annotated[
        str,
        typer.Argument(
            metavar="PREDICTED",
            help="Predicted labels: output of `ilpinfer decode`, or labelled columns; - for standard input.",
        ),
    ],
    gold: Annotated[
        str, typer.Argument(metavar="GOLD", help="The same sequences with gold labels; - for standard input.")
    ],
    against: Annotated[
        str | None,
        file("Other predictions; the significance of the difference is tested.", TEST),
    ] = None,
    output: Annotated[str | None, output("File for all measures, JSON")] = None,
    picture: Annotated[str | None, output("File for a picture of the confusion matrix, SVG")] = None,
    by: Annotated[
        str, typer.Option(metavar="UNIT", help="Unit that is counted: spans, tokens, lines or characters.")
    ] = "spans",
    beta: Annotated[
        float, typer.Option(metavar="NUMBER", help="Weight of recall in F; 0.5 prefers precision, 2 recall.")
    ] = 1.0,
    leave_out: Annotated[
        list[str] | None,
        typer.Option(metavar="FIELD", help="A field that is not counted; O never is. May be repeated."),
    ] = None,
    scheme: Scheme = "",
    column: Column = "",
    resamples: Annotated[
        int,
        typer.Option(min=1, metavar="NUMBER", help="Resamples of the test.", rich_help_panel=TEST),
    ] = 9999,
    seed: Annotated[
        int, typer.Option(min=0, metavar="NUMBER", help="Seed of the resamples.", rich_help_panel=TEST)
    ] = 0,
    as_json: AsJson = False,
) -> None:
    """Evaluate predicted labels against gold labels: fields, tokens, whole sequences and confusions."""
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
            as_json=as_json,
        )
    )


@panel.command("explain", "ilpinfer explain citations", "ilpinfer explain rules.toml --model hmm.json --json")
def _explain(
    rules: RuleFile,
    model: Annotated[
        str | None,
        model_option(
            "Model whose labels are used; one label for each declared field if not given.",
        ),
    ] = None,
    length: Annotated[
        int,
        typer.Option(
            min=2, max=500, metavar="TOKENS", help="Length of the sequence that the sizes are stated for."
        ),
    ] = 25,
    scheme: Scheme = "",
    as_json: AsJson = False,
) -> None:
    """Explain each rule: its kind (local, linear, regular, auxiliary), its size, and how searches can prune with it."""
    from ilpinfer.cli.explaining import ExplainOptions, explain

    explain(ExplainOptions(rules, model, length, scheme, as_json))


@panel.command(
    "pareto",
    "ilpinfer pareto test.tsv --model hmm.json --rules citations --output frontiers.jsonl --picture curve.svg",
)
@reads_input
def _pareto(
    source: "InputOptions",
    output: Annotated[str, output_rows("File for the frontiers, JSON lines, one sequence a line.")],
    picture: Annotated[
        str,
        output("File for a picture, SVG: the frontier of one sequence, or the sum over several"),
    ] = "",
    summary: Annotated[str, output("File for the trade-off over all sequences, JSON")] = "",
    first: First = None,
    time_limit: Limit = None,
    hull: Annotated[
        bool,
        typer.Option(
            "--hull/--no-hull",
            help="Find only the points that are the only best one for some weight; takes less time.",
        ),
    ] = False,
    heaviest: Annotated[
        float | None,
        typer.Option(metavar="NUMBER", help="Largest weight on all penalties that is considered."),
    ] = None,
    most: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="NUMBER",
            help="Largest number of points of a sequence: those with the best scores.",
        ),
    ] = None,
    choose_tau: Annotated[
        bool,
        typer.Option(
            "--choose-tau/--no-choose-tau",
            help="Also choose tau of two-phase inference, by the gold labels.",
            rich_help_panel=TAU,
        ),
    ] = False,
    bound: Annotated[
        str,
        typer.Option(
            metavar="KIND", help="How tau sets the least score: relative or odds.", rich_help_panel=TAU
        ),
    ] = "relative",
    measure: Annotated[
        str,
        typer.Option(metavar="NAME", help="Measure to maximize: accuracy, f1 or whole.", rich_help_panel=TAU),
    ] = "accuracy",
    folds: Annotated[
        int,
        typer.Option(
            metavar="NUMBER",
            help="Folds; tau is evaluated on each fold, after it is chosen on the others.",
            rich_help_panel=TAU,
        ),
    ] = 2,
    seed: Annotated[
        int, typer.Option(min=0, metavar="NUMBER", help="Seed of the folds.", rich_help_panel=TAU)
    ] = 0,
    as_json: AsJson = False,
) -> None:
    """Compute all trade-offs between score and violation cost (the Pareto frontier), for each sequence and in total."""
    from ilpinfer.cli.pareto import ParetoOptions, run_pareto

    run_pareto(
        ParetoOptions(
            source,
            output,
            picture=picture,
            summary=summary,
            first=first,
            time_limit=time_limit,
            hull=hull,
            heaviest=heaviest,
            most=most,
            choose_tau=choose_tau,
            bound=bound,
            measure=measure,
            folds=folds,
            seed=seed,
            as_json=as_json,
        )
    )
