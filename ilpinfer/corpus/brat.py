"""BRAT standoff: a text `NAME.txt` and the spans of its annotations `NAME.ann`; offsets count code points."""

import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from formulations.messages import brief
from ilpinfer.corpus.examples import Example, InputError
from ilpinfer.corpus.passages import Doubts, Passage, Span, labels_of, token_offsets
from ilpinfer.system.storage import file_system, is_file, read_bytes, storage_errors

TEXT, ANNOTATIONS = ".txt", ".ann"
UNITS = ("line", "document")
"""Units of sequences: a line of the text, or the whole text."""
DISCONTINUOUS = "discontinuous spans are read from their first character to their last one"
LINE_ENDS = "offsets that count line ends or a byte order mark in another way are adjusted"
OVER_LINES = "spans that cross a line break are split into one span for each line"

MOST_DIGITS = 18
"""Largest number of digits of an offset; no text is this long."""

_BOUND = re.compile(r"(T\S*)\t(\S+) (\d+ \d+(?:;\d+ \d+)*)(?:\t(.*))?")
_OTHER = re.compile(r"[A-Z#*]\S*\t")
_LINE = re.compile(r"[^\r\n]+")


def is_brat(path: str) -> bool:
    """Whether a file is part of a document: annotations, or a text with an annotation file."""
    return path.endswith(ANNOTATIONS) or (
        path.endswith(TEXT) and is_file(path.removesuffix(TEXT) + ANNOTATIONS)
    )


def lacks_annotations(path: str) -> bool:
    """Whether a file is a text without annotations in a folder of documents."""
    if not path.endswith(TEXT) or is_brat(path):
        return False
    system, place = file_system(path)
    with storage_errors():
        beside = system.ls(str(Path(place).parent), detail=False)
    return any(each.endswith(ANNOTATIONS) for each in beside)


def read_brat(path: str, doubts: Doubts, unit: str = "line") -> Iterator[Example]:
    """The sequences of a document; `doubts` collects the doubts of all documents of a folder."""
    name = path.removesuffix(TEXT).removesuffix(ANNOTATIONS)
    if not is_file(name + TEXT):
        raise InputError(
            f"{path}: no {Path(name + TEXT).name} in the same folder; add the file with the text"
        )
    text, spans = _fitting(_read(name + TEXT), _read(name + ANNOTATIONS), name + ANNOTATIONS, doubts)
    stretches = [each.span() for each in _LINE.finditer(text)] if unit == "line" else [(0, len(text))]
    for begin, end in stretches:
        offsets = token_offsets(text, begin, end)
        if not offsets:
            continue
        number = 1 + len(re.findall(r"\r\n|\r|\n", text[:begin]))
        where = f"{name + TEXT}, line {number}"
        labels = labels_of(_within(spans, begin, end, doubts), text, offsets, doubts)
        passage = Passage(text, offsets, name)
        yield Example(passage.tokens, labels, where, file=name + TEXT, line=number, passage=passage)


def _fitting(text: str, annotations: str, path: str, doubts: Doubts) -> tuple[str, list[Span]]:
    """The text with the line ends that the offsets count, and the spans; InputError if neither way to count fits."""
    unix = text.replace("\r\n", "\n")
    versions = (text, unix, unix.replace("\n", "\r\n"))
    faults = []
    for version in dict.fromkeys(each for one in versions for each in (one, one.removeprefix("\ufeff"))):
        own = Doubts(path)
        try:
            spans = list(_spans(annotations, path, version, own))
        except InputError as error:
            faults.append(error)
            continue
        doubts.take(own)
        if version != text:
            doubts.add(LINE_ENDS, f"{spans[0].where} at {spans[0].begin}-{spans[0].end}")
        return version, spans
    raise faults[0]


def _read(path: str) -> str:
    """The text of a file with unchanged line ends, since offsets count them."""
    data = read_bytes(path, InputError)
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError(
            f"{path}, line {line}: byte {data[error.start]:#04x} is not UTF-8; save it as UTF-8"
        ) from None


def _spans(annotations: str, path: str, text: str, doubts: Doubts) -> Iterator[Span]:
    for number, line in enumerate(annotations.split("\n"), 1):
        line, where = line.rstrip("\r"), f"{path}, line {number}"
        if not line.strip() or (not line.startswith("T") and _OTHER.match(line)):
            continue
        found = _BOUND.fullmatch(line)
        if found is None:
            raise InputError(
                f"{where}: {brief(line)} is not an annotation; expected T1<TAB>TYPE BEGIN END<TAB>TEXT"
            )
        offsets = [part.split(" ") for part in found[3].split(";")]
        for offset in (each for part in offsets for each in part):
            if len(offset.lstrip("0")) > MOST_DIGITS:
                raise InputError(
                    f"{where}: {found[1]} has an offset of {len(offset)} digits, beyond the text, which has {len(text)} "
                    "characters"
                )
        parts = [tuple(map(int, part)) for part in offsets]
        for begin, end in parts:
            if not begin < end <= len(text):
                fault = (
                    f"beyond the text, which has {len(text)} characters" if begin < end else "without a text"
                )
                raise InputError(f"{where}: {found[1]} goes from {begin} to {end}, {fault}")
        _check_text(found[4], [text[begin:end] for begin, end in parts], f"{where}: {found[1]}")
        yield from _span(parts, found[2], found[1], text, doubts)


def _check_text(given: str | None, parts: list[str], what: str) -> None:
    """Raise InputError if the annotation quotes a text that differs from the document, except in white space."""
    there = " ".join(parts)
    if given is not None and given.split() != there.split():
        raise InputError(
            f"{what} is {brief(given)}, but the text at these offsets is {brief(there)}; was another version of the text annotated?"
        )


def _span(parts: list[tuple[int, ...]], label: str, name: str, text: str, doubts: Doubts) -> Iterator[Span]:
    """The span of an annotation; white space between its parts is no gap."""
    parts = sorted(parts)
    begin, end = parts[0][0], max(each[1] for each in parts)
    between = [text[one[1] : two[0]] for one, two in pairwise(parts)]
    if any(gap.strip() for gap in between):
        doubts.add(DISCONTINUOUS, f"{name}: {brief(text[begin:end])} at {begin}-{end}")
    yield Span(begin, end, label, name)


def _within(spans: list[Span], begin: int, end: int, doubts: Doubts) -> Iterator[Span]:
    for span in spans:
        if span.begin < end and begin < span.end:
            if span.begin < begin:
                doubts.add(OVER_LINES, f"{span.where} at {span.begin}-{span.end}")
            yield Span(max(begin, span.begin), min(end, span.end), span.label, span.where)
