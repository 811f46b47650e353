"""Writing of labelled sequences, in the formats that are read."""

import contextlib
import io
import json
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from formulations.arguments import one_of
from formulations.files import is_packed, plain_name
from formulations.labels import schemes
from formulations.messages import brief
from formulations.problem.known_labels import plain_given
from ilpinfer.corpus.column_form import is_border, split
from ilpinfer.corpus.conllu import conllu_text
from ilpinfer.corpus.conversion import convert_all, convertible, in_form, shown_scheme, sound
from ilpinfer.corpus.examples import Example, InputError, Rejection, input_at
from ilpinfer.corpus.helper_labels import UNKNOWN_LABELS
from ilpinfer.corpus.lines import Lines
from ilpinfer.corpus.passages import Passage, Span
from ilpinfer.corpus.tables import parquet_bytes
from ilpinfer.corpus.text_formats import CorpusForm, sequences_in
from ilpinfer.corpus.text_spans import text_records
from ilpinfer.system.files import write_atomically

BY_SUFFIX = {
    **dict.fromkeys((".tsv", ".conll", ".bio", ".iob", ".iob2", ".txt"), "columns"),
    **dict.fromkeys((".jsonl", ".ndjson"), "json"),
    ".conllu": "conllu",
    ".parquet": "parquet",
}
"""Formats by file suffix."""
TEXTS = ("columns", "json", "spans")
"""Formats in which each sequence is read back before it is written."""
FORMATS = ("columns", "json", "spans", "parquet", "conllu")


@dataclass(frozen=True)
class WriteOptions:
    """Format and labels of written sequences.

    Parameters
    ----------
    format : str, optional
        "columns", "json", "spans", "parquet" or "conllu"; inferred from the name of the output if not given.
    scheme : str, optional
        Scheme to which labels are rewritten, such as "bio"; if not given, labels are unchanged.
    column : str, optional
        Place of labels in CoNLL-U: `upos`, or a key of the last column such as `misc.NER`.

    Examples
    --------
    >>> WriteOptions(scheme="iobes").format_of("names.jsonl")
    'json'
    """

    format: str = ""
    scheme: str = ""
    column: str = ""

    def format_of(self, path: str) -> str:
        """The format of an output.

        Parameters
        ----------
        path : str
            Path of the output; `-` is standard output.

        Returns
        -------
        str
            Name of the format.

        Raises
        ------
        InputError
            For an unknown format, and if the name of the output does not determine the format.
        """
        if self.format:
            one_of(self.format, "format", FORMATS, InputError)
            return self.format
        suffix = Path(plain_name(path)).suffix
        known = BY_SUFFIX.get(suffix, "")
        if not known:
            raise InputError(
                f"{path}: its name does not say the format; name one of {', '.join(FORMATS)} (--to on the command line)"
            )
        return known


def write(
    examples: Iterable[Example],
    path: str | Path,
    options: WriteOptions | None = None,
    inputs: Iterable[str | Path] = (),
) -> None:
    """Write sequences to a file.

    The file is written completely or not at all. Sequences read from a format are written back to it with other labels; texts,
    identifiers and further columns are kept. Tokens without a text are separated by single spaces.

    Parameters
    ----------
    examples : iterable of Example
        Sequences, as `ilpinfer.corpus.sequences.read` returns them, with labels or without.
    path : str or Path
        Path of the output; `-` is standard output.
    options : WriteOptions, optional
        Format and labels; the format is inferred from the name of the output if not given.
    inputs : iterable of str or Path, optional
        Files that must not be overwritten.

    Raises
    ------
    InputError
        For a format that cannot be inferred, and for labels or tokens that the format cannot represent.
    OutputError
        For an output that cannot be written.
    MissingLibrary
        For a format whose library is not installed.

    Examples
    --------
    >>> from ilpinfer.corpus.examples import Example
    >>> write([Example(("Ada", "slept"), ("B-name", "O"), "here")], "-", WriteOptions("json"))
    {"tokens": ["Ada", "slept"], "labels": ["B-name", "O"]}
    """
    options, name, known = options or WriteOptions(), str(path), list(examples)
    format_, inputs = options.format_of(name), list(inputs)
    if not known:
        raise InputError(f"{name}: no sequence to write")
    for example in known:
        if not example.tokens and example.scores is not None and example.scores.length:
            raise InputError(f"{example.where}: scores without tokens; add tokens")
        if not example.tokens and format_ not in ("json", "parquet"):
            raise InputError(
                f"{example.where}: the sequence is empty, which {format_} cannot represent; write JSON lines"
            )
    known, scheme = _in_scheme(known, options.scheme, runs=format_ == "spans")
    if format_ == "parquet" and is_packed(name):
        raise InputError(f"{name}: format {format_} is compressed itself; name the file {plain_name(name)}")
    data = _content(format_, known, scheme, options, name)
    if format_ in TEXTS:
        _check_read(str(data), format_, known)
    if name != "-":
        write_atomically(name, data, inputs)
    elif isinstance(data, str):
        sys.stdout.write(data)
    else:
        raise InputError(f"format {format_} is binary; name a file for the output")


def _check_read(text: str, format_: str, examples: list[Example]) -> None:
    """Raise InputError for the first sequence of a text that a reader refuses or reads differently."""
    lines = Lines(io.BytesIO(text.encode("utf-8", "backslashreplace")), format_, None)
    with contextlib.closing(sequences_in(lines, CorpusForm(most=None))) as found:
        for example in examples:
            other = next(found, None)
            if (
                other is None
                or isinstance(other, Rejection)
                or _read(other, format_) != _read(example, format_)
            ):
                why = f": {other.reason}" if isinstance(other, Rejection) else ""
                way = "rename labels, tokens or notes" if format_ == "json" else "write JSON lines"
                raise InputError(
                    f"{example.where}: the sequence that begins with {brief(''.join(example.tokens[:1]))} cannot be written as {format_}, of which "
                    f"another one would be read{why}; {way}"
                )


def _read(example: Example, format_: str) -> tuple[list[str], object]:
    """The content to read back: tokens and labels, except that spans come back in the reader's scheme."""
    labels = example.labels
    known = labels is not None if format_ == "spans" else labels and [*labels]
    return [*map(str, example.tokens)], known


def _content(
    format_: str, examples: list[Example], scheme: str, options: WriteOptions, path: str
) -> str | bytes:
    match format_:
        case "columns":
            return _columns(examples)
        case "json":
            return _json_lines(map(_record, examples))
        case "spans":
            return _json_lines(text_records(*_spans(examples, scheme)))
        case "conllu":
            known, _ = _spans([each.with_labels(None) for each in examples], scheme)
            labelled = [one.with_labels(two.labels) for one, two in zip(known, examples, strict=True)]
            return "".join(conllu_text(labelled, options.column, scheme))
        case _:
            return parquet_bytes(examples, path)


def _in_scheme(examples: list[Example], scheme: str, *, runs: bool) -> tuple[list[Example], str]:
    """Sequences with rewritten labels, and the scheme of the labels; InputError for labels without such a form."""
    given = [each.labels for each in examples if each.labels is not None]
    if scheme or runs:
        _check_scheme(given, scheme, examples[0].where.partition(",")[0])
    labellings = convert_all(given, scheme) if scheme else given
    rewritten = iter(labellings)
    examples = [each if each.labels is None else each.with_labels(next(rewritten)) for each in examples]
    return examples, shown_scheme(labellings)


def _check_scheme(labellings: list[tuple[str, ...]], scheme: str, source: str) -> None:
    """Raise InputError for labels that cannot be written in a scheme, or as runs if no scheme is named."""
    names = sorted({name for labels in labellings for name in labels})
    unknown = [name for name in names if name in UNKNOWN_LABELS]
    scheme_of_known = schemes.infer([name for name in names if name not in unknown])
    odd = (scheme_of_known, unknown) if unknown and scheme_of_known != "plain" else schemes.helpers(names)
    if odd is not None:
        listed = ", ".join(map(brief, odd[1]))
        raise InputError(
            f"{source}: {listed} among {odd[0]} labels: no label of a scheme; give these tokens another label, or remove them"
        )
    shown = shown_scheme(labellings)
    stays = schemes.scheme_of(in_form(schemes.scheme_name(scheme), shown)) in (
        "plain",
        schemes.scheme_of(shown),
    )
    written = [name for name in names if name not in schemes.OUTSIDES]
    if scheme and written and not stays and not (convertible(scheme, shown) and sound(labellings)):
        raise InputError(
            f"{source}: labels such as {brief(written[0])} are {shown}, which cannot be written as {scheme}; leave --scheme out"
        )


def _spans(examples: list[Example], scheme: str) -> tuple[list[Example], list[list[Span] | None]]:
    """Sequences with a passage each, and their label spans."""
    result, found = [], list[list[Span] | None]()
    for example in examples:
        if "" in example.tokens:
            at = example.tokens.index("")
            raise InputError(f"{example.where}: token {at} is empty; write it, or leave it out")
        passage = (example.passage or Passage.of_tokens(example.tokens)).alone
        result.append(replace(example, passage=passage))
        with input_at(example.where):
            found.append(None if example.labels is None else passage.spans(example.labels, scheme))
    return result, found


def _columns(examples: list[Example]) -> str:
    unlabelled = [each.where for each in examples if each.labels is None]
    if unlabelled and len(unlabelled) < len(examples):
        raise InputError(f"{unlabelled[0]}: no labels, but other sequences have some; write JSON lines")
    return "\n".join("".join(_rows(each)) for each in examples)


def _rows(example: Example) -> Iterator[str]:
    for at, token in enumerate(example.tokens):
        cells = [str(token)] if example.labels is None else [str(token), example.labels[at]]
        line = "\t".join(cells)
        again = split(line, "\t" if len(cells) > 1 else "")
        if again != cells or "" in cells or is_border(cells) or re.search(r"[\r\n]", line):
            raise InputError(
                f"{example.where}: token {at}, {line!r}, cannot be written in columns; write JSON lines"
            )
        yield line + "\n"


def _record(example: Example) -> dict[str, Any]:
    named = example.named_columns
    return {
        **example.about,
        "tokens": list(map(str, example.tokens)),
        **({} if example.labels is None else {"labels": list(example.labels)}),
        **({"given": plain_given(example.given)} if example.given else {}),
        **({"columns": named} if named else {}),
    }


def _json_lines(records: Iterable[dict[str, Any]]) -> str:
    return "".join(json.dumps(each, ensure_ascii=False, allow_nan=False) + "\n" for each in records)
