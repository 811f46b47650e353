"""FASTA with labels: one line each for header, residues and residue labels; two lines without labels."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from string import ascii_uppercase

from formulations.messages import brief, counted
from ilpinfer.corpus.examples import Example, Rejection
from ilpinfer.corpus.lines import Lines, few

SUFFIXES = (".fasta", ".fa", ".3line")
_RESIDUES = re.compile(r"[A-Za-z*-]{2,}")
RESIDUES = f"{ascii_uppercase}acgtn*-"
"""Characters of residues, with masked bases in lower case."""
LOOKED_AT = 300
"""Number of first lines that decide whether there are labels."""
LEAST, MANY, FEW_REPEATS = 20, 1 / 2, 1 / 3
"""Least number of neighbouring pairs; least share of equal pairs in labels; bound on the share in residues."""


def is_fasta(lines: Sequence[str]) -> bool:
    """Whether a text begins with a header and residues."""
    texts = [line.strip() for line in few(lines, 2)]
    return len(texts) > 1 and re.match(r">\S", texts[0]) is not None and bool(_RESIDUES.fullmatch(texts[1]))


def read_fasta(lines: Lines, head: Sequence[str]) -> Iterator[Example | Rejection]:
    """The records of a file; the first records decide whether there are labels."""
    labelled = has_labels(head)
    lines.resume()
    record: list[tuple[int, str]] = []
    for number, line in lines:
        if isinstance(line, Rejection):
            yield line
            record = []
            continue
        text = line.strip()
        if not text:
            continue
        if text.startswith(">"):
            if record and len(record) < 2 + labelled:
                lines.held = True
                yield _incomplete(record, lines.name, labelled)
                lines.held = False
            record = [(number, text)]
        elif not record:
            yield Rejection(
                lines.name,
                number,
                f"{lines.name}, line {number}: {brief(text)} has no header; {_expected(labelled)}",
            )
        else:
            record.append((number, text))
            if len(record) == 2 + labelled:
                yield _example(record, lines.name)
                record = []
    if record:
        yield _incomplete(record, lines.name, labelled)


def has_labels(lines: Sequence[str]) -> bool:
    """Whether the second lines of records are labels, not residues: by characters that no residue has, or by their runs."""
    records = list[list[str]]()
    for text in map(str.strip, few(lines, LOOKED_AT)):
        if text.startswith(">"):
            records.append([])
        elif records:
            records[-1].append(text)
    if not records or len(records[0]) != 2:
        return False
    pairs = [record for record in records if len(record) == 2]
    residues, labels = ([pair[side] for pair in pairs] for side in (0, 1))
    odd = {*"".join(labels)} - {*"".join(residues), *RESIDUES}
    return bool(odd) or (_repeats(labels) >= MANY and _repeats(residues) < FEW_REPEATS)


def _repeats(texts: Sequence[str]) -> float:
    """The share of characters that repeat the previous character; 0 for too few characters."""
    pairs = [one == two for text in texts for one, two in pairwise(text)]
    return sum(pairs) / len(pairs) if len(pairs) >= LEAST else 0.0


def _expected(labelled: bool) -> str:
    if labelled:
        return "expected >NAME, then the residues on one line and their labels on the next"
    return "expected >NAME, then all residues on one line; labels on the next are known by lower case, digits or long runs"


def _incomplete(record: list[tuple[int, str]], name: str, labelled: bool) -> Rejection:
    number, header = record[0]
    lacking = "residues" if len(record) < 2 else "labels"
    return Rejection(
        name, number, f"{name}, line {number}: {brief(header)} has no {lacking}; {_expected(labelled)}"
    )


def _example(record: list[tuple[int, str]], name: str) -> Example | Rejection:
    (begin, header), (_, residues), *states = record
    if states and len(states[0][1]) != len(residues):
        number, names = states[0]
        return Rejection(
            name,
            number,
            f"{name}, line {number}: {counted(len(names), 'label')} for {counted(len(residues), 'residue')}; "
            f"{_expected(labelled=True)}",
        )
    first, _, rest = header[1:].strip().partition(" ")
    about = {"id": first, "comment": rest.strip()} if rest.strip() else {"id": first}
    labels = tuple(states[0][1]) if states else None
    return Example(tuple(residues), labels, f"{name}, line {begin}", file=name, line=begin, about=about)
