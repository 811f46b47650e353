"""The commands that train models; the work is imported when a command runs."""

from typing import Annotated

import typer

from ilpinfer.cli import completion
from ilpinfer.cli.arguments import LABELS, AsJson, Column, First, Labelled, Rules, Scheme, file, output
from ilpinfer.cli.registration import Panel

panel = Panel("Models and rules")
EVALUATION = "Evaluation"
Kind = Annotated[
    str,
    typer.Option(
        metavar="KIND",
        help="Kind of model: hmm (first order), hmm2 (second order) or crf.",
        autocompletion=completion.kinds,
    ),
]
KindOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME=VALUE",
        help="A parameter of the kind, such as template=citations or c1=0.1 of a crf. May be repeated.",
    ),
]


@panel.command(
    "train",
    "ilpinfer train train.tsv --output hmm.json",
    "ilpinfer train train.tsv --kind crf --option template=citations --held-out test.tsv --output crf.json",
)
def _train(
    source: Labelled,
    output: Annotated[str, output("File for the model, JSON")],
    kind: Kind = "hmm",
    scheme: Scheme = "",
    column: Column = "",
    first: First = None,
    option: KindOption = None,
    held_out: Annotated[
        str,
        file(
            "Sequences to evaluate the model on: a file, or a share of TRAIN such as 0.2 that is not trained on.",
            EVALUATION,
            "FILE|SHARE",
        ),
    ] = "",
    folds: Annotated[
        int,
        typer.Option(
            "--cross-validate",
            metavar="NUMBER",
            help="Cross-validate with this number of folds; 0 for no cross-validation.",
            rich_help_panel=EVALUATION,
        ),
    ] = 0,
    documents: Annotated[
        str,
        file(
            "File with the document of each sequence, one name a line; a document is never split between training and evaluation.",
            EVALUATION,
        ),
    ] = "",
    rules: Annotated[
        list[str] | None,
        typer.Option(
            metavar="RULES",
            help="Rules under which the evaluated sequences are decoded. May be repeated.",
            autocompletion=completion.rule_sets,
            rich_help_panel=EVALUATION,
        ),
    ] = None,
    seed: Annotated[
        int,
        typer.Option(
            min=0,
            metavar="NUMBER",
            help="Seed of the split into training and evaluation.",
            rich_help_panel=EVALUATION,
        ),
    ] = 0,
    line_breaks: Annotated[
        str,
        typer.Option(
            metavar="in|out",
            help="in: line breaks (@newline@) are tokens like others. out: a crf does not see them; decode then gives each one its "
            "most frequent label in TRAIN, or the label of the field around it.",
            rich_help_panel=LABELS,
        ),
    ] = "in",
    as_json: AsJson = False,
) -> None:
    """Train a model on labelled sequences, and evaluate it."""
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
            as_json=as_json,
        )
    )


METHOD = "Method"


@panel.command(
    "codl",
    "ilpinfer codl few.tsv pool.txt --rules citations --output model.json",
    "ilpinfer codl few.tsv pool.jsonl --rules citations --e-step posterior --held-out test.tsv --output model.json",
)
def _codl(
    labelled: Annotated[
        str,
        typer.Argument(
            metavar="LABELLED",
            help="Labelled sequences: token<TAB>label columns or JSON lines; - for standard input.",
        ),
    ],
    pool: Annotated[
        str,
        typer.Argument(
            metavar="POOL",
            help="Unlabelled sequences, or plain text; labels in them are ignored; - for standard input.",
        ),
    ],
    output: Annotated[str, output("File for the model, JSON")],
    rules: Rules = None,
    kind: Kind = "hmm",
    option: KindOption = None,
    baseline: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="codl, or a baseline to compare it with: supervised, hard-em, weighted-hard-em, soft-em, posterior, self-training or "
            "high-confidence.",
            rich_help_panel=METHOD,
        ),
    ] = "codl",
    gamma: Annotated[
        str | None,
        typer.Option(
            metavar="SHARE",
            help="Weight of the supervised model, 0 to 1, or tokens: the share of labelled tokens. 0.9 if not given.",
            rich_help_panel=METHOD,
        ),
    ] = None,
    k: Annotated[
        int | None,
        typer.Option(
            metavar="NUMBER",
            help="Labellings of each sequence of POOL to learn from; 1 if not given.",
            rich_help_panel=METHOD,
        ),
    ] = None,
    cycles: Annotated[
        int | None,
        typer.Option(
            metavar="NUMBER", help="How many times POOL is labelled; 5 if not given.", rich_help_panel=METHOD
        ),
    ] = None,
    e_step: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="How POOL is labelled: top-k, beam, weighted-top-k or posterior; top-k if not given.",
            rich_help_panel=METHOD,
        ),
    ] = None,
    mixing: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="What is mixed with the supervised model: probabilities, scores or counts; probabilities for an HMM and scores for "
            "a crf if not given.",
            rich_help_panel=METHOD,
        ),
    ] = None,
    confidence: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE",
            help="Learn from this share of POOL, the most confidently labelled sequences; 1 if not given.",
            rich_help_panel=METHOD,
        ),
    ] = None,
    budget: Annotated[
        int | None,
        typer.Option(
            metavar="NUMBER",
            help="Most joint states of a sequence for probabilities under rules; 200000 if not given.",
            rich_help_panel=METHOD,
        ),
    ] = None,
    pool_size: Annotated[
        int | None,
        typer.Option(
            metavar="NUMBER", help="Use this many sequences of POOL, drawn at random.", rich_help_panel=METHOD
        ),
    ] = None,
    held_out: Annotated[
        str, file("Labelled sequences to evaluate the model on after each cycle; - for standard input.")
    ] = "",
    text: Annotated[
        bool,
        typer.Option(
            "--text/--no-text", help="Read POOL as plain text, one sequence a line. So are .txt files."
        ),
    ] = False,
    split: Annotated[
        str,
        typer.Option(
            metavar="WHERE",
            help="Split plain text into tokens at spaces, or also at punctuation: spaces or punctuation.",
        ),
    ] = "spaces",
    scheme: Scheme = "",
    column: Column = "",
    seed: Annotated[int, typer.Option(min=0, metavar="NUMBER", help="Seed of random draws.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Train a model on few labelled sequences, many unlabelled sequences, and rules (constraint-driven learning)."""
    from ilpinfer.cli.codl import CodlOptions, run_codl, weight

    given = {
        "kind": kind,
        "gamma": weight(gamma),
        "k": k,
        "cycles": cycles,
        "e_step": e_step,
        "mixing": mixing,
        "confidence": confidence,
        "budget": budget,
        "pool_size": pool_size,
        "seed": seed,
    }
    settings = {
        name: value
        for name, value in given.items()
        if value is not None or (name == "gamma" and gamma == "tokens")
    }
    run_codl(
        CodlOptions(
            labelled,
            pool,
            output,
            rules=rules or [],
            baseline=baseline,
            settings=settings,
            option=option or [],
            held_out=held_out,
            text=text,
            split=split,
            scheme=scheme,
            column=column,
            as_json=as_json,
        )
    )
