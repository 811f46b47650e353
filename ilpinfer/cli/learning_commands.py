"""The commands that learn: rules, penalties and models; the work is imported when a command runs."""

from collections.abc import Callable, Mapping
from typing import Annotated, Any

import typer

from ilpinfer.cli.arguments import Column, Input, LabelNames, Limit, Logits, Model, Pool, Rules, Scheme


def _pareto(
    source: Input,
    output: Annotated[str, typer.Option(help="Where to write JSON lines, a frontier a sequence.")],
    model: Model = None,
    rules: Rules = None,
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
    scheme: Scheme = "",
    column: Column = "",
    label_names: LabelNames = None,
    pool: Pool = "first",
    logits: Logits = "",
) -> None:
    """Every trade-off between score and violation cost, exactly, for each sequence and for all together."""
    from ilpinfer.cli.inputs import InputOptions
    from ilpinfer.cli.pareto import ParetoOptions, pareto

    pareto(
        ParetoOptions(
            InputOptions(source, model, rules, scheme, column, label_names, pool, logits),
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


COMMANDS: Mapping[str, Callable[..., Any]] = {"pareto": _pareto}
"""Functions by the names of their commands, in the order of the help."""
