"""Labels as CoNLL-U."""

import re
from collections.abc import Iterator, Mapping, Sequence

from formulations.labels.schemes import OUTSIDE
from ilpinfer.corpus.column_form import ColumnNames
from ilpinfer.corpus.conllu_cells import COLUMNS, EMPTY, GLOBAL, Cell, Sentence, usual
from ilpinfer.corpus.examples import Example, InputError


def conllu_text(examples: Sequence[Example], column: str, scheme: str) -> Iterator[str]:
    """Sequences as sentences: those that were read of such a file with other labels, others with a word a line."""
    named = ColumnNames.read(column).label
    before: tuple[str, ...] = COLUMNS
    for example in examples:
        assert example.passage is not None
        sentence = example.passage.record if example.passage.format == "conllu" else _new(example)
        if sentence.columns != before and not any(line.startswith(GLOBAL) for line in sentence.lines):
            yield f"{GLOBAL} {' '.join(sentence.columns)}\n"
        before = sentence.columns
        name = named or usual(sentence.columns, entities=scheme != "plain")
        yield "\n".join(_labelled(sentence, example, Cell.named(name, sentence.columns, example.where)))
        yield "\n\n"


def _labelled(sentence: Sentence, example: Example, place: Cell) -> list[str]:
    result = list(sentence.lines)
    for at, label in zip(sentence.words, example.labels or ("",) * len(sentence.words), strict=True):
        cells = result[at].split("\t")
        if any(sign in label for sign in "\t\r\n") or (place.key and "|" in label):
            raise InputError(f"{example.where}: label {label!r} has no place in a cell of CoNLL-U; rename it")
        value = "" if place.key and label == OUTSIDE else label
        result[at] = "\t".join(place.put(cells, value))
    return result


def _new(example: Example) -> Sentence:
    """A sentence of tokens, with their further columns where those have names of the format."""
    assert example.passage is not None
    text, offsets = example.passage.text, example.passage.offsets
    further: Mapping[str, Sequence[str]] = example.columns
    lines = []
    for at, token in enumerate(example.tokens):
        if not token or re.search(r"[\t\r\n]", token):
            raise InputError(
                f"{example.where}: token {at} is {token!r}, which has no place in a line of CoNLL-U"
            )
        cells = [str(at + 1), str(token), *(EMPTY,) * 8]
        for place, column in enumerate(COLUMNS[2:], 2):
            if further.get(column):
                cells[place] = further[column][at] or EMPTY
        if cells[-1] == EMPTY and at + 1 < len(offsets) and offsets[at][1] == offsets[at + 1][0]:
            cells[-1] = "SpaceAfter=No"
        lines.append("\t".join(cells))
    shown = re.sub(r"\s", " ", text[offsets[0][0] : offsets[-1][1]])
    return Sentence((f"# text = {shown}", *lines), tuple(range(1, len(lines) + 1)), COLUMNS)
