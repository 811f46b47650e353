"""The command `convert`; the work is imported when it runs."""

from typing import Annotated

import typer

from ilpinfer.cli.arguments import Scheme


def convert(
    source: Annotated[
        str,
        typer.Argument(
            metavar="INPUT",
            help="A file, folder or pattern: columns, JSON lines, Parquet, CoNLL-U, BRAT, DocBin (.spacy), tasks of Prodigy or "
            "Label Studio; or - for standard input.",
        ),
    ],
    output: Annotated[
        str,
        typer.Argument(
            metavar="OUTPUT",
            help="A file whose name says the format: .tsv, .jsonl, .parquet, .conllu, .spacy, .json (Label Studio); or a folder, "
            "for BRAT.",
        ),
    ],
    to: Annotated[
        str,
        typer.Option(
            metavar="FORMAT",
            help="columns, json, parquet, conllu, brat, spacy, prodigy or label-studio, where OUTPUT's name does not say it.",
        ),
    ] = "",
    labels: Annotated[
        str,
        typer.Option(
            metavar="FILE",
            help="Labels of the same sequences to write in place of INPUT's: output of `ilpinfer decode`, or columns.",
        ),
    ] = "",
    unit: Annotated[
        str,
        typer.Option(metavar="UNIT", help="Part of a BRAT document that is one sequence: line or document."),
    ] = "line",
    column: Annotated[
        str,
        typer.Option(
            metavar="COLUMN",
            help="The column of the labels in INPUT, by name or number: upos, misc.NER of CoNLL-U; TOKEN,LABEL names both.",
        ),
    ] = "",
    into: Annotated[
        str,
        typer.Option(
            metavar="COLUMN", help="Column of the labels in CoNLL-U that is written: upos, misc.NER, …."
        ),
    ] = "",
    scheme: Scheme = "",
) -> None:
    """Convert labelled sequences, or write predicted labels into the documents that they are about."""
    from ilpinfer.cli.converting import ConvertOptions
    from ilpinfer.cli.converting import convert as work

    work(ConvertOptions(source, output, to, labels, unit, column, into, scheme))
