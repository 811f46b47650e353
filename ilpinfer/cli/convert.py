"""`ilpinfer convert`."""

from dataclasses import dataclass
from typing import Annotated

from formulations.messages import counted
from ilpinfer.cli import arguments
from ilpinfer.cli.arguments import OPTIONS, argument
from ilpinfer.cli.command import command
from ilpinfer.cli.failure import about
from ilpinfer.cli.inputs import canonical_scheme
from ilpinfer.cli.labelled import reading
from ilpinfer.cli.streams import notice
from ilpinfer.corpus import brat, parallel
from ilpinfer.corpus.examples import Example
from ilpinfer.corpus.input_files import files_of
from ilpinfer.corpus.sequences import read
from ilpinfer.corpus.writing import WriteOptions, write
from ilpinfer.evaluation.predictions import check_same
from ilpinfer.system.output_paths import output_path


@dataclass(frozen=True)
class ConvertOptions:
    source: Annotated[
        str,
        argument(
            "INPUT",
            "A file, folder or pattern: columns, JSON lines, texts with spans, Parquet, CoNLL-U, BRAT, slots (seq.in), XML, FASTA, "
            "data of CRFsuite; or - for standard input.",
        ),
    ]
    output: Annotated[
        str,
        argument(
            "OUTPUT",
            "A file whose ending tells the format: .tsv, .jsonl, .parquet or .conllu; or - for standard output.",
        ),
    ]
    to: str = OPTIONS.option(
        "",
        "FORMAT: columns, json, spans, parquet or conllu, if the name of OUTPUT does not tell.",
    )
    labels: str = OPTIONS.option(
        "",
        "FILE: Write the labels in FILE, of the same sequences, instead of the labels in INPUT: output of `ilpinfer "
        "decode`, or columns.",
    )
    unit: str = OPTIONS.option(
        "line", "UNIT: Part of a BRAT document that is one sequence: line or document."
    )
    column: str = OPTIONS.option(
        "",
        "COLUMN: Column of the labels in INPUT, by name or number; in CoNLL-U such as upos or misc.NER. TOKEN,LABEL names both columns.",
    )
    into: str = OPTIONS.option(
        "", "COLUMN: Column for the labels in CoNLL-U output, such as upos or misc.NER."
    )
    scheme: arguments.Scheme = ""
    label_names: arguments.TagNames = None

    @property
    def files(self) -> list[str]:
        result = [*files_of(self.source), *filter(None, [self.labels, self.label_names])]
        beside = [
            each for file in result if parallel.is_parallel(file) for each in parallel.files_beside(file)
        ]
        return result + beside + [file.removesuffix(brat.ANNOTATIONS) + brat.TEXT for file in result]


@command(
    "ilpinfer convert TRAIN.conllu TRAIN.tsv",
    "ilpinfer convert texts/ labelled.jsonl --to spans --labels OUT.jsonl",
)
def convert(options: ConvertOptions) -> None:
    """Convert labelled sequences, or write predicted labels into their documents."""
    how = WriteOptions(options.to, canonical_scheme(options.scheme), options.into)
    inputs, format_ = options.files, how.format_of(options.output)
    if options.output != "-":
        output_path(options.output, inputs)
    with about(options.source):
        examples = read(
            options.source,
            reading(options.label_names, options.column),
            options.column,
            notice,
            unit=options.unit,
        )
    if options.labels:
        examples = _with_labels(examples, options)
    write(examples, options.output, how, inputs)
    if options.output != "-":
        notice(f"{options.output}: {counted(len(examples), 'sequence')} as {format_}")


def _with_labels(examples: list[Example], options: ConvertOptions) -> list[Example]:
    """The sequences with the labels of another file of the same sequences."""
    with about(options.labels):
        found = [each for each in read(options.labels, notify=notice) if each.rank == 1]
    check_same(found, examples, options.labels, options.source)
    without = sum(each.labels is None for each in found)
    if without:
        notice(
            f"{options.labels}: {without} sequence{'s have' if without > 1 else ' has'} no labelling, and no labels in the output"
        )
    return [one.with_labels(two.labels) for one, two in zip(examples, found, strict=True)]
