"""The commands that learn and check rules; the work is imported when a command runs."""

from typing import Annotated, Literal

import typer

from ilpinfer.cli import completion
from ilpinfer.cli.arguments import AsJson, Column, Labelled, RuleFile, Scheme, file, model_option, output
from ilpinfer.cli.registration import Panel

panel = Panel("Models and rules")
SELECTION, MODELS = "Selection of rules", "Models that score TRAIN"


@panel.command(
    "mine",
    "ilpinfer mine train.tsv --output rules.toml",
    "ilpinfer mine train.tsv --predictions predicted.jsonl --families words,next-words --output rules.toml",
)
def _mine(
    source: Labelled,
    output: Annotated[str, output("File for the rules, TOML")],
    families: Annotated[
        str,
        typer.Option(
            metavar="NAMES",
            help="Families of rules, separated by commas: one-run, requires-present, never-together, requires-before, precedence, "
            "presence-precedence, adjacency, state-change, begin-end, minimum-length, words, next-words, first-field, last-field. "
            "All if not given.",
            show_default=False,
        ),
    ] = "",
    support: Annotated[
        int,
        typer.Option(
            metavar="NUMBER", help="Least number of places where a rule applies.", rich_help_panel=SELECTION
        ),
    ] = 10,
    confidence: Annotated[
        str,
        typer.Option(
            metavar="SHARE",
            help="Least share of these places where a rule holds, or cross-validated.",
            rich_help_panel=SELECTION,
        ),
    ] = "0.95",
    gain: Annotated[
        float,
        typer.Option(
            metavar="NATS",
            help="Least information of a rule, in nats: how much more often it holds than by chance.",
            rich_help_panel=SELECTION,
        ),
    ] = 5.0,
    word_support: Annotated[
        int,
        typer.Option(
            metavar="NUMBER", help="Least number of occurrences of a word.", rich_help_panel=SELECTION
        ),
    ] = 5,
    smoothing: Annotated[
        float,
        typer.Option(
            metavar="NUMBER",
            help="Number added to both counts that a penalty is computed from.",
            rich_help_panel=SELECTION,
        ),
    ] = 1.0,
    folds: Annotated[
        int,
        typer.Option(
            metavar="NUMBER",
            help="Folds of TRAIN; a rule must hold in the held-out folds. 0 for no folds.",
            rich_help_panel=SELECTION,
        ),
    ] = 5,
    pruning: Annotated[
        Literal["cover", "none"],
        typer.Option(
            metavar="NAME",
            help="cover: keep the cheapest rules that separate correct labellings from wrong ones; none: keep all.",
            rich_help_panel=SELECTION,
        ),
    ] = "cover",
    power: Annotated[
        int,
        typer.Option(
            metavar="NUMBER",
            help="Least number of wrong labellings that a rule detects and no rule before it does.",
            rich_help_panel=SELECTION,
        ),
    ] = 1,
    most: Annotated[
        int | None,
        typer.Option(metavar="NUMBER", help="Largest number of rules to keep.", rich_help_panel=SELECTION),
    ] = None,
    predictions: Annotated[
        str,
        file(
            "TRAIN with the labels that a model predicts; rules must detect errors of these. - for standard input."
        ),
    ] = "",
    scheme: Scheme = "",
    column: Column = "",
    seed: Annotated[
        int, typer.Option(metavar="NUMBER", help="Seed of the folds and of generated wrong labellings.")
    ] = 0,
    as_json: AsJson = False,
) -> None:
    """Mine soft rules from labelled sequences. Each rule is written with the counts that support it."""
    from ilpinfer.cli.mining import MineOptions, mine

    settings = {
        "families": families,
        "support": support,
        "confidence": confidence,
        "gain": gain,
        "word_support": word_support,
        "smoothing": smoothing,
        "folds": folds,
        "pruning": pruning,
        "power": power,
        "most": most,
        "seed": seed,
    }
    mine(MineOptions(source, output, settings, predictions, scheme, column, as_json))


@panel.command(
    "learn",
    "ilpinfer learn rules.toml train.tsv --kind hmm --output learnt.toml",
    "ilpinfer learn citations train.tsv --model crf.json --measure spans --output learnt.toml",
)
def _learn(
    rules: RuleFile,
    source: Labelled,
    output: Annotated[str, output("File for the rules with learnt penalties, TOML")],
    model: Annotated[
        str | None,
        model_option(
            "Model that scores TRAIN. If it was trained on TRAIN, models of its kind are trained on parts of TRAIN and score the "
            "other parts.",
            MODELS,
        ),
    ] = None,
    kind: Annotated[
        str,
        typer.Option(
            metavar="KIND",
            help="Without --model: kind of the models, hmm, hmm2 or crf, each trained without one part of TRAIN.",
            autocompletion=completion.kinds,
            rich_help_panel=MODELS,
            show_default=False,
        ),
    ] = "",
    option: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE",
            help="A parameter of the kind, as in `ilpinfer train`. May be repeated.",
            rich_help_panel=MODELS,
        ),
    ] = None,
    more: Annotated[
        list[str] | None,
        typer.Option(
            "--rules",
            metavar="RULES",
            help="More rules, such as bio. May be repeated.",
            autocompletion=completion.rule_sets,
        ),
    ] = None,
    algorithm: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="cross-validated (chooses one of the others), given, log-odds, perceptron, perceptron-given, conservative or "
            "conservative-given.",
        ),
    ] = "cross-validated",
    measure: Annotated[
        str, typer.Option(metavar="NAME", help="Measure to maximize: tokens, spans, sequences or all.")
    ] = "all",
    folds: Annotated[
        int,
        typer.Option(metavar="NUMBER", help="Folds in which models, algorithms and rules are evaluated."),
    ] = 5,
    rate: Annotated[float, typer.Option(metavar="NATS", help="Step size of the perceptron, in nats.")] = 0.3,
    epochs: Annotated[
        int, typer.Option(metavar="NUMBER", help="Passes of the perceptron over TRAIN in each round.")
    ] = 20,
    prune: Annotated[bool, typer.Option(help="Remove rules that do not improve the measure.")] = True,
    seed: Annotated[
        int, typer.Option(min=0, metavar="NUMBER", help="Seed of the folds and of the order of sequences.")
    ] = 0,
    scheme: Scheme = "",
    column: Column = "",
    as_json: AsJson = False,
) -> None:
    """Learn the penalties of rules from labelled sequences, by their effect on held-out labellings."""
    from ilpinfer.cli.learning import run_learn
    from ilpinfer.cli.learning_options import LearnOptions

    settings = {
        "algorithm": algorithm,
        "measure": measure,
        "rate": rate,
        "epochs": epochs,
        "prune": prune,
        "seed": seed,
    }
    run_learn(
        LearnOptions(
            [rules, *(more or [])],
            source,
            output,
            model=model,
            kind=kind,
            option=option or [],
            settings=settings,
            folds=folds,
            scheme=scheme,
            column=column,
            as_json=as_json,
        )
    )


@panel.command(
    "check", "ilpinfer check citations train.tsv", "ilpinfer check rules.toml train.tsv --write weighted.toml"
)
def _check(
    rules: RuleFile,
    gold: Annotated[
        str,
        typer.Argument(
            metavar="GOLD",
            help="Labelled sequences: token<TAB>label columns or JSON lines; - for standard input.",
        ),
    ],
    scheme: Scheme = "",
    column: Column = "",
    as_json: AsJson = False,
    write: Annotated[str, output("File for the rules with the suggested penalties, TOML")] = "",
) -> None:
    """Count how often each rule applies, holds and is broken in gold labels; show examples and suggest a penalty."""
    from ilpinfer.cli.checking import CheckOptions, check

    check(CheckOptions(rules, gold, scheme, column, as_json, write))
