"""`ilpinfer convert`."""

from dataclasses import dataclass

from ilpinfer.cli.inputs import about, checked_scheme
from ilpinfer.cli.streams import notice
from ilpinfer.corpus import brat
from ilpinfer.corpus.examples import Example
from ilpinfer.corpus.sequences import read
from ilpinfer.corpus.streams import files_of
from ilpinfer.corpus.writing import WriteOptions, write
from ilpinfer.evaluation.predictions import check_same
from ilpinfer.system.output_paths import output_path


@dataclass(frozen=True)
class ConvertOptions:
    """Options of `ilpinfer convert`.

    Parameters
    ----------
    source : what to read
    output : a file, a folder for BRAT, or `-` for standard output
    to : format of the output; empty to infer it from the name
    labels : a file with labels of the same sequences, in place of those of the source; empty for none
    unit : sequences of BRAT files: `line` or `document`
    column : column of the labels in the source
    into : column of the labels in CoNLL-U output
    scheme : scheme of the labels in the output
    """

    source: str
    output: str
    to: str = ""
    labels: str = ""
    unit: str = "line"
    column: str = ""
    into: str = ""
    scheme: str = ""

    @property
    def files(self) -> list[str]:
        """Files that are read."""
        result = [*files_of(self.source), *([self.labels] if self.labels else [])]
        return result + [file.removesuffix(brat.ANNOTATIONS) + brat.TEXT for file in result]


def convert(options: ConvertOptions) -> None:
    """Read all sequences, and write them with their labels or with those of another file."""
    predicted = bool(options.labels)
    how = WriteOptions(
        options.to, checked_scheme(options.scheme), options.into, options.unit, predicted=predicted
    )
    inputs, format_ = options.files, how.format_of(options.output)
    if format_ != "brat" and options.output != "-":
        output_path(options.output, inputs)
    with about(options.source):
        examples = read(options.source, column=options.column, notify=notice, unit=options.unit)
    if predicted:
        examples = _with_labels(examples, options)
    written = write(examples, options.output, how, inputs)
    if options.output != "-":
        place = f"{options.output}: {written} files" if format_ == "brat" else options.output
        notice(f"{place}: {len(examples)} sequence{'s' * (len(examples) != 1)} as {format_}")


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
