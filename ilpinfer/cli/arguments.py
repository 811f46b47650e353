"""Arguments and options that several commands share."""

from collections.abc import Callable, Mapping
from functools import wraps
from inspect import Parameter, Signature, signature
from typing import Annotated, Any

import typer

Input = Annotated[
    str,
    typer.Argument(
        metavar="INPUT",
        help="token<TAB>label columns, JSON lines, logits in an .npz file, or - for standard input.",
    ),
]
Model = Annotated[
    str | None,
    typer.Option(help="A file from `ilpinfer train`, or case-law; not needed where INPUT has scores."),
]
Rules = Annotated[
    list[str] | None,
    typer.Option(
        help="A TOML file, or a name of the catalogue such as `citations`; may be repeated, to join several."
    ),
]
Reward = Annotated[
    list[str] | None,
    typer.Option(
        help="FIELD=NATS, added to the score of each token in a field or with a label, such as SECTION_TITLE=1.2 to see more "
        "titles of court decisions; may be repeated."
    ),
]
RulesFirst = Annotated[
    bool,
    typer.Option(
        "--rules-first",
        help="Apply hard rules on single tokens before a crf looks for features: what they decide is not scored. The "
        "labelling is the same, without the time and the scores of these tokens.",
    ),
]
RuleFile = Annotated[str, typer.Argument(help="A TOML file, or a name of the catalogue.")]
AsJson = Annotated[bool, typer.Option("--json", help="Write JSON.")]
Scheme = Annotated[
    str,
    typer.Option(
        help="plain, bio, iob1, iobes, bilou (biluo), bmes or paths; labels of another one are rewritten, and plain strips "
        "prefixes. Inferred if not given."
    ),
]
Column = Annotated[
    str,
    typer.Option(
        help="The column of the labels, by number from 1 or by its name in a header; TOKEN,LABEL names both columns. "
        "Further columns go with the tokens, for templates of a crf that name them."
    ),
]
Limit = Annotated[float | None, typer.Option(help="Seconds for each sequence.")]
LabelNames = Annotated[
    str | None, typer.Option(help="Names for logits: a config.json with id2label, or a JSON list.")
]
Pool = Annotated[str, typer.Option(help="How logits of pieces become a word's: first, mean or max.")]
Logits = Annotated[
    str,
    typer.Option(
        "--logits", help="log-softmax or raw; raw if there are transitions, and log-softmax if not."
    ),
]
Width = Annotated[int, typer.Option(min=1, help="Width of a beam.")]
Threads = Annotated[int, typer.Option(min=1, help="Threads of a solver.")]

INPUT: Mapping[str, tuple[Any, Any]] = {
    "source": (Input, Parameter.empty),
    "model": (Model, None),
    "rules": (Rules, None),
    "scheme": (Scheme, ""),
    "column": (Column, ""),
    "label_names": (LabelNames, None),
    "pool": (Pool, "first"),
    "logits": (Logits, ""),
}
"""Annotation and default of each argument and option that makes an `InputOptions`."""
REWARDS: Mapping[str, tuple[Any, Any]] = {"reward": (Reward, None), "rules_first": (RulesFirst, False)}
"""Likewise of those that only decoding has."""


def reads_input(
    command: Callable[..., None], shared: Mapping[str, tuple[Any, Any]] = INPUT
) -> Callable[..., None]:
    """The command with arguments and options of its own in place of its first parameter, an `InputOptions`."""
    own = list(signature(command).parameters.values())[1:]
    options = [
        Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
        for name, (annotation, default) in shared.items()
    ]

    @wraps(command)
    def run(**values: Any) -> None:
        from ilpinfer.cli.inputs import InputOptions

        given: dict[str, Any] = {name: values.pop(name) for name in shared}
        if "source" not in given:
            given["source"] = values["sources"][0]
        given |= {"rules": given.pop("rules") or [], "rewards": given.pop("reward", None) or []}
        command(InputOptions(**given), **values)

    parameters = [*options, *(each.replace(kind=Parameter.KEYWORD_ONLY) for each in own)]
    run.__dict__.pop("__wrapped__")
    run.__annotations__ = {each.name: each.annotation for each in parameters}
    run.__dict__["__signature__"] = Signature(parameters)
    return run


def decodes_input(command: Callable[..., None]) -> Callable[..., None]:
    """`reads_input` with what only decoding has."""
    return reads_input(command, {**INPUT, **REWARDS})


def reads_many(command: Callable[..., None]) -> Callable[..., None]:
    """`decodes_input` for a command with an argument `sources` of its own, the first of which is the source."""
    shared = {**INPUT, **REWARDS}
    del shared["source"]
    return reads_input(command, shared)
