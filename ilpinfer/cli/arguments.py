"""Arguments and options that several commands share."""

from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from inspect import Parameter, Signature, signature
from typing import Annotated, Any, TypeVar

import typer

from ilpinfer.cli import completion
from ilpinfer.cli.streams import STDOUT

Value = TypeVar("Value", str, str | None)
Names = TypeVar("Names", list[str], list[str] | None)


def _stream(value: Value) -> Value:
    return STDOUT if value == "-" else value


def _folder(value: Value) -> Value:
    if value == "-":
        raise typer.BadParameter("several files are written, which - cannot stand for; name a folder")
    return value


def _rows(value: Value) -> Value:
    if value == "-":
        raise typer.BadParameter("the rows are read back, which - cannot stand for; name a file")
    return value


def _model(value: Value) -> Value:
    if value == "-":
        raise typer.BadParameter("a model is not read from standard input; name a file")
    return value


def _solutions(values: Names) -> Names:
    if "-" in (values or ()):
        raise typer.BadParameter(
            "the name of a solution file says which sequence it is of, and standard input has none; name a file"
        )
    return values


def output(help_text: str, panel: str | None = None) -> Any:
    """An option for one file that is written, `-` for standard output."""
    text = f"{help_text}; - for standard output."
    return typer.Option(metavar="FILE", help=text, callback=_stream, rich_help_panel=panel)


def output_folder(help_text: str) -> Any:
    """An option for an output folder."""
    return typer.Option(metavar="FOLDER", help=help_text, callback=_folder)


def output_rows(help_text: str) -> Any:
    """An option for an output file whose rows are read again, after an interrupt and at the end."""
    return typer.Option(metavar="FILE", help=help_text, callback=_rows)


def model_option(help_text: str, panel: str | None = None) -> Any:
    """An option for a model: a file, or the name of a built-in model."""
    return typer.Option(
        metavar="MODEL",
        help=help_text,
        autocompletion=completion.models,
        callback=_model,
        rich_help_panel=panel,
    )


def solution_files(help_text: str) -> Any:
    """An argument for solution files, which cannot come from standard input."""
    return typer.Argument(metavar="SOLUTION", help=help_text, callback=_solutions)


def file(help_text: str, panel: str | None = None, metavar: str = "FILE") -> Any:
    """An option for a file that is read, `-` for standard input."""
    return typer.Option(metavar=metavar, help=help_text, rich_help_panel=panel)


SCORES, LABELS = "Scores of sequences", "Labels"
"""Titles of groups of options."""
_RULES = {"metavar": "RULES", "autocompletion": completion.rule_sets}

Input = Annotated[
    str,
    typer.Argument(
        metavar="INPUT",
        help="Sequences: token<TAB>label columns, JSON lines, or logits in an .npz file; - for standard input.",
    ),
]
Labelled = Annotated[
    str,
    typer.Argument(
        metavar="TRAIN",
        help="Labelled sequences: token<TAB>label columns or JSON lines; - for standard input.",
    ),
]
Model = Annotated[
    str | None,
    model_option(
        "Model that scores the sequences: a file from `ilpinfer train`, or case-law. Not needed where INPUT has scores.",
        SCORES,
    ),
]
Rules = Annotated[
    list[str] | None,
    typer.Option(
        help="Rules: a TOML file, a name of the catalogue such as citations, or - for standard input. May be repeated to join "
        "several.",
        **_RULES,
    ),
]
Reward = Annotated[
    list[str] | None,
    typer.Option(
        metavar="FIELD=NATS",
        help="Nats to add to the score of each token in a field or with a label, such as SECTION_TITLE=1.2 for more titles of "
        "court decisions. May be repeated.",
        rich_help_panel=SCORES,
    ),
]
RulesFirst = Annotated[
    bool,
    typer.Option(
        "--rules-first/--no-rules-first",
        help="Apply hard rules on single tokens before a CRF computes features. The CRF then does not score tokens that these "
        "rules decide. The labelling is the same, and takes less time.",
        rich_help_panel=SCORES,
    ),
]
RuleFile = Annotated[
    str,
    typer.Argument(help="A TOML file, a name of the catalogue, or - for standard input.", **_RULES),
]
AsJson = Annotated[
    bool,
    typer.Option("--json/--no-json", help="Print the result as JSON on standard output.", show_default=False),
]
Scheme = Annotated[
    str,
    typer.Option(
        metavar="SCHEME",
        help="Labelling scheme: plain, bio, iob1, iobes, bilou (biluo), bmes or paths. Labels in another scheme are converted; "
        "plain removes the prefixes. Inferred from the labels if not given.",
        autocompletion=completion.schemes,
        rich_help_panel=LABELS,
        show_default=False,
    ),
]
Column = Annotated[
    str,
    typer.Option(
        metavar="COLUMN",
        help="Column of the labels, by its number from 1 or its name in the header. TOKEN,LABEL names both columns. The other "
        "columns are kept with the tokens, for CRF templates that use them.",
        rich_help_panel=LABELS,
        show_default=False,
    ),
]
Limit = Annotated[
    float | None, typer.Option(metavar="SECONDS", help="Time limit for each sequence, in seconds.")
]
LabelNames = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        help="Names of the labels of logits: a config.json with id2label, or a JSON list.",
        rich_help_panel=SCORES,
    ),
]
Pool = Annotated[
    str,
    typer.Option(
        metavar="POOLING",
        help="How logits of word pieces become those of a word: first, mean or max.",
        rich_help_panel=SCORES,
    ),
]
Logits = Annotated[
    str,
    typer.Option(
        "--logits",
        metavar="SCALE",
        help="log-softmax or raw. If not given, raw where there are transitions, and log-softmax otherwise.",
        rich_help_panel=SCORES,
        show_default=False,
    ),
]
First = Annotated[
    int | None, typer.Option(min=1, metavar="NUMBER", help="Use only this many sequences, the first ones.")
]
MethodName = Annotated[
    str,
    typer.Option(
        metavar="METHOD",
        help="Decoding method; `ilpinfer methods` lists them.",
        autocompletion=completion.methods,
    ),
]
MethodOption = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME=VALUE", help="A parameter of the method. May be repeated."),
]
Width = Annotated[int, typer.Option(min=1, metavar="NUMBER", help="Width of the beam, in labellings.")]
Threads = Annotated[int, typer.Option(min=1, metavar="NUMBER", help="Threads of a solver.")]

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
"""Annotation and default of each argument and option of `InputOptions`."""
REWARDS: Mapping[str, tuple[Any, Any]] = {"reward": (Reward, None), "rules_first": (RulesFirst, False)}
"""Annotation and default of each option of decoding."""


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

    return with_signature(run, [*options, *(each.replace(kind=Parameter.KEYWORD_ONLY) for each in own)])


def with_signature(run: Callable[..., None], parameters: Sequence[Parameter]) -> Callable[..., None]:
    """The function with these parameters, as the command line reads them."""
    run.__dict__.pop("__wrapped__", None)
    run.__annotations__ = {each.name: each.annotation for each in parameters}
    run.__dict__["__signature__"] = Signature(parameters)
    return run


def decodes_input(command: Callable[..., None]) -> Callable[..., None]:
    """`reads_input` with the options of decoding."""
    return reads_input(command, {**INPUT, **REWARDS})


def reads_many(command: Callable[..., None]) -> Callable[..., None]:
    """`decodes_input` for a command with an argument `sources` of its own, the first of which is the source."""
    shared = {**INPUT, **REWARDS}
    del shared["source"]
    return reads_input(command, shared)
