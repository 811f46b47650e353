"""Arguments and options shared by several commands, and constructors of options."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, TypeVar

import typer

from ilpinfer.cli.streams import STDOUT

Value = TypeVar("Value", str, str | None)


def _stream(value: Value) -> Value:
    return STDOUT if value == "-" else value


def _no_stream(reason: str) -> Any:
    """A check that refuses - as a file."""

    def check(value: Any) -> Any:
        if "-" in (value if isinstance(value, list) else [value]):
            raise typer.BadParameter(reason)
        return value

    return check


_folder = _no_stream("standard output (-) cannot hold several files; name a folder")
_model = _no_stream("a model is not read from standard input; name a file")
_solutions = _no_stream("standard input (-) has no file name that tells the sequence; name a solution file")


def argument(metavar: str, help_text: str) -> Any:
    return typer.Argument(metavar=metavar, help=help_text)


@dataclass(frozen=True)
class OptionGroup:
    """A group of options in the help of a command."""

    title: str | None = None

    def option(self, default: Any, text: str, *names: str, **more: Any) -> Any:
        """A dataclass field for an option with the text `PLACEHOLDER: help`, or for a flag with only a help text."""
        metavar, _, help_text = (None, "", text) if isinstance(default, bool) else text.partition(": ")
        info = value_option(metavar, help_text, self, *names, **more)
        return field(default=default, metadata={"option": info})


OPTIONS = OptionGroup()
SCORES, LABELS = OptionGroup("Scores of sequences"), OptionGroup("Labels")


def value_option(
    metavar: str | None, help_text: str, group: OptionGroup = OPTIONS, *names: str, **more: Any
) -> Any:
    """An option for an annotation; its default name is the name of its field or parameter."""
    return typer.Option(*names, metavar=metavar, help=help_text, rich_help_panel=group.title, **more)


def output_file(help_text: str) -> Any:
    """An option for one output file, `-` for standard output."""
    return value_option("FILE", f"{help_text}; - for standard output.", callback=_stream)


def output_folder(help_text: str) -> Any:
    return value_option("FOLDER", help_text, callback=_folder)


def model_option(help_text: str, group: OptionGroup = OPTIONS) -> Any:
    """An option for a model: a file, or the name of a built-in model."""
    return value_option("MODEL", help_text, group, callback=_model)


def solution_files(help_text: str, group: OptionGroup) -> Any:
    """An option for solution files, which cannot come from standard input."""
    return value_option("SOLUTION", help_text, group, "--check", callback=_solutions)


Input = Annotated[
    str,
    argument(
        "INPUT",
        "Sequences: token<TAB>label columns, JSON lines, or logits in an .npz file; - for standard input.",
    ),
]
LABELLED = "Labelled sequences: token<TAB>label columns or JSON lines; - for standard input."
TrainFile = Annotated[str, argument("TRAIN", LABELLED)]
Model = Annotated[
    str | None,
    model_option(
        "Model that scores the sequences: a file from `ilpinfer train`. Not needed where INPUT has scores.",
        SCORES,
    ),
]
Rules = Annotated[
    Sequence[str],
    value_option(
        "RULES",
        "Rules: a TOML file, a name of the catalogue such as citations, or - for standard input. May be repeated to join "
        "several.",
    ),
]
BrokenRules = Annotated[
    Sequence[str],
    value_option(
        "RULES",
        "Rules whose violations are counted, in gold and in predictions: a TOML file, a name of the catalogue, or - for standard input. "
        "May be repeated to join several.",
    ),
]
RulesFirst = Annotated[
    bool,
    value_option(
        None,
        "Apply hard rules on single tokens before a CRF computes features. The CRF then does not score "
        "tokens that these rules decide. Same result, faster.",
        SCORES,
    ),
]
RuleFile = Annotated[
    str,
    argument(
        "RULES",
        "Rules: a TOML file, a name of the catalogue, or - for standard input.",
    ),
]
AsJson = Annotated[
    bool, typer.Option("--json/--no-json", help="Print the result as JSON on standard output.")
]
Scheme = Annotated[
    str,
    value_option(
        "SCHEME",
        "Labelling scheme: plain, bio, iob1, iobes, bilou (biluo), bmes, bmewo or paths. Labels in another scheme are converted; "
        "plain removes the prefixes. Inferred from the labels if not given.",
        LABELS,
    ),
]
Never = Annotated[
    Sequence[str],
    value_option(
        "NAME",
        "Label that is never predicted, such as [PAD] or [CLS]. It belongs to no field and does not count "
        "when the scheme is inferred. A notice says so if the model has no such label. May be repeated.",
        LABELS,
        "--never",
    ),
]
HelperLabels = Annotated[
    Sequence[str],
    value_option(
        "NAME",
        "Helper label, such as [PAD] or X. Tokens with this label are left out and counted in a notice. May be repeated.",
        LABELS,
        "--never",
    ),
]
Column = Annotated[
    str,
    value_option(
        "COLUMN",
        "Column with the labels: its number from 1, its name in the header, or its key in JSON and Parquet. "
        "TOKEN,LABEL names both columns, and token=TOKEN,label=OUTER+INNER,end=COLUMN names any. CRF templates can use the "
        "other columns.",
        LABELS,
    ),
]
Limit = Annotated[float | None, value_option("SECONDS", "Time limit for each sequence, in seconds.")]
LabelNames = Annotated[
    str | None,
    value_option(
        "FILE", "Names of the labels of logits: a config.json with id2label, or a JSON list.", SCORES
    ),
]
TagNames = Annotated[
    str | None,
    value_option(
        "FILE",
        "Names of labels that are numbers: a JSON list, a config.json with id2label, or a dataset_info.json.",
        LABELS,
    ),
]
Pool = Annotated[
    str,
    value_option("POOLING", "Which logits a word gets from its pieces: first, mean or max.", SCORES),
]
Logits = Annotated[
    str,
    value_option(
        "SCALE",
        "How logits become scores: log-softmax or raw. If not given: raw where the input has transitions, "
        "log-softmax elsewhere.",
        SCORES,
    ),
]
First = Annotated[int | None, value_option("NUMBER", "Use only the first NUMBER sequences.", min=1)]
MethodName = Annotated[
    str,
    value_option(
        "METHOD",
        "Decoding method; `ilpinfer methods` lists them.",
    ),
]
MethodOption = Annotated[
    Sequence[str], value_option("NAME=VALUE", "A parameter of the method. May be repeated.")
]
Threads = Annotated[
    int,
    value_option(
        "NUMBER",
        "Number of threads: of a solver, or, with the method auto, for decoding several sequences at a time.",
        min=1,
    ),
]
ModelKind = Annotated[
    str, value_option("KIND", "Kind of model: hmm (first order), hmm2 (second order) or crf.")
]
KindOption = Annotated[
    Sequence[str],
    value_option(
        "NAME=VALUE",
        "A parameter of this kind of model, such as template=citations or c1=0.1 for crf. May be repeated.",
    ),
]
ReferenceFiles = Annotated[
    list[str], argument("FILE", "References: JSON, JSON lines, or either gzipped; - for standard input.")
]
