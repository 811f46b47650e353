"""The commands that learn: rules, penalties and models; the work is imported when a command runs."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from ilpinfer.cli.arguments import (
    AsJson,
    Column,
    Limit,
    Rules,
    Scheme,
    reads_input,
)

if TYPE_CHECKING:
    from ilpinfer.cli.inputs import InputOptions


def mine(
    source: Annotated[str, typer.Argument(metavar="TRAIN", help="Labelled sequences.")],
    output: Annotated[str, typer.Option(help="Where to write the rules, a TOML file.")],
    families: Annotated[
        str,
        typer.Option(
            help="Names with commas between; all if not given: one-run, requires-present, never-together, requires-before, "
            "precedence, presence-precedence, adjacency, state-change, begin-end, minimum-length, words, next-words, "
            "first-field, last-field."
        ),
    ] = "",
    support: Annotated[int, typer.Option(help="Least number of places at which a rule applies.")] = 10,
    confidence: Annotated[
        str, typer.Option(help="Least share of them at which it holds, or cross-validated.")
    ] = "0.95",
    gain: Annotated[float, typer.Option(help="Nats that a rule has to say beyond chance.")] = 5.0,
    word_support: Annotated[int, typer.Option(help="Least number of occurrences of each word.")] = 5,
    smoothing: Annotated[float, typer.Option(help="Added to both counts of a penalty.")] = 1.0,
    folds: Annotated[
        int, typer.Option(help="A rule has to hold in held-out parts of TRAIN, of so many; 0 for none.")
    ] = 5,
    pruning: Annotated[
        Literal["cover", "none"],
        typer.Option(help="cover: the cheapest rules that tell right labellings from wrong ones; none: all."),
    ] = "cover",
    power: Annotated[
        int, typer.Option(help="Least number of wrong labellings that only this rule and later ones show.")
    ] = 1,
    most: Annotated[int | None, typer.Option(help="Keep the first so many rules.")] = None,
    predictions: Annotated[
        str, typer.Option(help="TRAIN as a model labels it: rules have to show where it is wrong.")
    ] = "",
    scheme: Scheme = "",
    column: Column = "",
    seed: Annotated[int, typer.Option(help="Seed of the parts, and of wrong labellings.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Mine soft rules from labelled sequences, with the counts as their reasons."""
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


def codl(
    labelled: Annotated[
        str, typer.Argument(metavar="LABELLED", help="token<TAB>label columns or JSON lines.")
    ],
    pool: Annotated[
        str,
        typer.Argument(metavar="POOL", help="Sequences whose labels, if any, are ignored; or plain text."),
    ],
    output: Annotated[str, typer.Option(help="Where to write the model, a JSON file.")],
    rules: Rules = None,
    kind: Annotated[str, typer.Option(help="hmm: first order; hmm2: second order; crf.")] = "hmm",
    option: Annotated[
        list[str] | None, typer.Option(help="NAME=VALUE, as for `ilpinfer train`; may be repeated.")
    ] = None,
    baseline: Annotated[
        str,
        typer.Option(
            help="codl, supervised, hard-em, weighted-hard-em, soft-em, posterior, self-training or high-confidence."
        ),
    ] = "codl",
    gamma: Annotated[
        str | None,
        typer.Option(
            help="Weight of the supervised model, 0 to 1 (default 0.9); `tokens`: by numbers of tokens."
        ),
    ] = None,
    k: Annotated[
        int | None, typer.Option(help="Labellings of each sequence of the pool (default 1).")
    ] = None,
    cycles: Annotated[int | None, typer.Option(help="How often the pool is labelled (default 5).")] = None,
    e_step: Annotated[
        str | None, typer.Option(help="top-k (default), beam, weighted-top-k or posterior.")
    ] = None,
    mixing: Annotated[
        str | None, typer.Option(help="probabilities (default for HMMs), scores (for crf) or counts.")
    ] = None,
    confidence: Annotated[
        float | None, typer.Option(help="Learn from this share of the pool, the surest (default 1).")
    ] = None,
    budget: Annotated[
        int | None,
        typer.Option(help="Joint states of a sequence for probabilities under rules (default 200000)."),
    ] = None,
    pool_size: Annotated[int | None, typer.Option(help="Draw so many sequences from the pool.")] = None,
    held_out: Annotated[str, typer.Option(help="A file to try the model on after each cycle.")] = "",
    text: Annotated[
        bool, typer.Option("--text", help="POOL is plain text, a sequence a line; so are .txt files.")
    ] = False,
    split: Annotated[
        str, typer.Option(help="Split lines of text at spaces, or also around punctuation.")
    ] = "spaces",
    scheme: Scheme = "",
    column: Column = "",
    seed: Annotated[int, typer.Option(min=0, help="Seed of what is drawn.")] = 0,
) -> None:
    """Learn a model from few labelled sequences, many unlabelled ones, and rules."""
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
        )
    )


def learn(
    rules: Annotated[str, typer.Argument(metavar="RULES", help="A TOML file, or a name of the catalogue.")],
    source: Annotated[str, typer.Argument(metavar="TRAIN", help="Labelled sequences.")],
    output: Annotated[str, typer.Option(help="Where to write the rules with learnt penalties, a TOML file.")],
    model: Annotated[
        str | None,
        typer.Option(
            help="A model that scores TRAIN. Where it was trained on TRAIN, models of its kind are trained without parts of it."
        ),
    ] = None,
    kind: Annotated[
        str, typer.Option(help="Without --model: hmm, hmm2 or crf, trained without parts of TRAIN in turn.")
    ] = "",
    option: Annotated[
        list[str] | None, typer.Option(help="NAME=VALUE of the kind, as `train` takes it; may be repeated.")
    ] = None,
    more: Annotated[
        list[str] | None, typer.Option("--rules", help="More rules, such as bio; may be repeated.")
    ] = None,
    algorithm: Annotated[
        str,
        typer.Option(
            help="cross-validated, given, log-odds, perceptron, perceptron-given, conservative or conservative-given."
        ),
    ] = "cross-validated",
    measure: Annotated[str, typer.Option(help="What to aim at: tokens, spans, sequences or all.")] = "all",
    folds: Annotated[int, typer.Option(help="Parts in which models, algorithms and rules are tried.")] = 5,
    rate: Annotated[float, typer.Option(help="Nats of a step of the perceptron.")] = 0.3,
    epochs: Annotated[int, typer.Option(help="Passes of the perceptron in each round.")] = 20,
    prune: Annotated[bool, typer.Option(help="Leave out rules that do not help.")] = True,
    seed: Annotated[int, typer.Option(min=0, help="Seed of parts and orders.")] = 0,
    scheme: Scheme = "",
    column: Column = "",
    as_json: AsJson = False,
) -> None:
    """Learn the penalties of rules from labelled sequences, by what rules change in held-out labellings."""
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


@reads_input
def pareto(
    source: "InputOptions",
    output: Annotated[str, typer.Option(help="Where to write JSON lines, a frontier a sequence.")],
    picture: Annotated[
        str, typer.Option(help="Where to draw the frontier, an SVG file; of several sequences, their sum.")
    ] = "",
    summary: Annotated[
        str, typer.Option(help="Where to write the trade-off over all sequences, a JSON file.")
    ] = "",
    first: Annotated[int | None, typer.Option(min=1, help="The first so many sequences.")] = None,
    time_limit: Limit = None,
    hull: Annotated[
        bool, typer.Option("--hull", help="Only the points that are the best at some weight, in less time.")
    ] = False,
    heaviest: Annotated[
        float | None, typer.Option(help="The heaviest weight on all penalties that is looked at.")
    ] = None,
    most: Annotated[
        int | None, typer.Option(min=1, help="Points of a sequence after which it is left as it is.")
    ] = None,
    choose_tau: Annotated[
        bool,
        typer.Option("--choose-tau", help="Also choose the tau of two-phase inference on the gold labels."),
    ] = False,
    bound: Annotated[str, typer.Option(help="The floor that tau stands for: relative or odds.")] = "relative",
    measure: Annotated[str, typer.Option(help="What tau is chosen by: accuracy, f1 or whole.")] = "accuracy",
    folds: Annotated[int, typer.Option(help="Parts; for each, tau is chosen on the others.")] = 2,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the parts.")] = 0,
) -> None:
    """Every trade-off between score and violation cost, exactly, for each sequence and for all together."""
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
        )
    )


COMMANDS: Mapping[str, Callable[..., Any]] = {"mine": mine, "learn": learn, "codl": codl, "pareto": pareto}
"""Functions by the names of their commands, in the order of the help."""
