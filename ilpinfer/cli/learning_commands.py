"""The commands that learn: rules, penalties and models; the work is imported when a command runs."""

from collections.abc import Callable, Mapping
from typing import Annotated, Any

import typer

from ilpinfer.cli.arguments import Column, Rules, Scheme


def _codl(
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
    from ilpinfer.cli.codl import CodlOptions, codl, weight

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
    codl(
        CodlOptions(
            labelled,
            pool,
            output,
            rules=rules,
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


COMMANDS: Mapping[str, Callable[..., Any]] = {"codl": _codl}
"""Functions by the names of their commands, in the order of the help."""
