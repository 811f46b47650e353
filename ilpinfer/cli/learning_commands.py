"""The commands that learn: rules, penalties and models; the work is imported when a command runs."""

from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal

import typer

from ilpinfer.cli.arguments import AsJson, Column, Scheme


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

    mine(
        MineOptions(
            source,
            output,
            families=families,
            support=support,
            confidence=confidence,
            gain=gain,
            word_support=word_support,
            smoothing=smoothing,
            folds=folds,
            pruning=pruning,
            power=power,
            most=most,
            predictions=predictions,
            scheme=scheme,
            column=column,
            seed=seed,
            as_json=as_json,
        )
    )


COMMANDS: Mapping[str, Callable[..., Any]] = {"mine": mine}
"""Functions by the names of their commands, in the order of the help."""
