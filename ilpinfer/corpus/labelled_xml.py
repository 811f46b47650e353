"""Labelled XML: fields are elements, in the items of a root element, or in a text with one item per line."""

import re
from collections.abc import Iterator, Sequence
from xml.parsers import expat

from formulations.labels.schemes import OUTSIDE
from ilpinfer.corpus.column_labels import DEEPEST
from ilpinfer.corpus.examples import Example, InputError, Rejection
from ilpinfer.corpus.lines import few
from ilpinfer.corpus.passages import Passage, token_offsets

SUFFIXES = (".xml",)
EXPECTED = "expected <ROOT><ITEM><FIELD>text</FIELD> ...</ITEM> ...</ROOT>"
_TAG = re.compile(r"<([A-Za-z][\w:.-]*)(?:\s[^<>]*)?/?>")
_ELEMENT = re.compile(r"<([A-Za-z][\w:.-]*)(?:\s[^<>]*)?>[^<>]*</\1>")


def is_xml(lines: Sequence[str]) -> bool:
    """Whether a text is XML, or most of its lines contain elements."""
    texts = [line.strip() for line in few(lines)]
    if not texts:
        return False
    if texts[0].startswith("<") and _is_document([line.strip() for line in lines if line.strip()]):
        return True
    return 2 * sum("<" in text and _ELEMENT.search(text) is not None for text in texts) > len(texts)


def _is_document(texts: Sequence[str]) -> bool:
    """Whether the first element ends at the end of the text."""
    tag = _TAG.match(texts[0])
    if tag is None:
        return texts[0].startswith(("<?", "<!"))
    end = f"</{tag[1]}>"
    if end in texts[0]:
        return len(texts) == 1 and texts[0].index(end) == len(texts[0]) - len(end)
    return texts[0].endswith(">") and any(end in text for text in texts)


def read_xml(text: str, name: str, after: int = 0) -> Iterator[Example | Rejection]:
    """The items of a text after the first `after`."""
    lines = text.split("\n")
    texts = [line.strip() for line in lines if line.strip()]
    if texts and _is_document(texts):
        items = _items(text, name)
        if items and not any(item.has_fields for item in items):
            raise InputError(f"{name}: no element inside of an item; {EXPECTED}")
        yield from (item.example(number, name) for number, item in enumerate(items, 1) if number > after)
        return
    number = 0
    for at, line in enumerate(lines, 1):
        if not line.strip():
            continue
        number += 1
        if number <= after:
            continue
        try:
            (item,) = _items(f"<text><line>{line.strip()}</line></text>", name, at)
        except (InputError, ValueError) as error:
            said = error if isinstance(error, InputError) else f"{name}, line {at}: tags do not fit together"
            yield Rejection(name, number, f"{said}")
        else:
            yield item.example(number, name)


class _Item:
    """The tokens of an item, each with the path of its enclosing elements."""

    def __init__(self, line: int) -> None:
        self._line, self._text = line, ""
        self._offsets: list[tuple[int, int]] = []
        self._labels: list[str] = []
        self._open: list[tuple[str, bool]] = []
        self.has_fields = False

    def begin(self, field: str) -> None:
        self.has_fields = True
        self._open.append((field, True))

    def end(self) -> None:
        self._open.pop()

    def add(self, text: str) -> None:
        """Add a text without elements; no token crosses its ends."""
        begin = len(self._text)
        self._text += text
        for one, two in token_offsets(self._text, begin):
            self._offsets.append((one, two))
            marks = (f"{'B' if first else 'I'}-{field}" for field, first in self._open)
            self._labels.append("/".join(marks) or OUTSIDE)
            self._open = [(field, False) for field, _ in self._open]

    def example(self, number: int, name: str) -> Example:
        cut = len(self._text) - len(self._text.lstrip())
        passage = Passage(self._text.strip(), tuple((one - cut, two - cut) for one, two in self._offsets))
        where = f"{name}, item {number}, line {self._line}"
        return Example(passage.tokens, tuple(self._labels), where, file=name, line=number, passage=passage)


def _items(text: str, name: str, line: int = 1) -> list[_Item]:
    """The items of a document that begins at line number `line`."""
    items: list[_Item] = []
    parts: list[str] = []
    depth = 0
    parser = expat.ParserCreate()

    def place() -> str:
        return f"{name}, line {line - 1 + parser.CurrentLineNumber}"

    def flush() -> None:
        if depth > 1 and parts:
            items[-1].add("".join(parts))
        elif "".join(parts).strip():
            raise InputError(f"{place()}: a text outside of the items; {EXPECTED}")
        parts.clear()

    def begin(tag: str, _: object) -> None:
        nonlocal depth
        flush()
        if depth == 1:
            items.append(_Item(line - 1 + parser.CurrentLineNumber))
        elif depth > DEEPEST:
            raise InputError(f"{place()}: elements are nested too deeply; expected {DEEPEST} levels at most")
        elif depth > 1:
            items[-1].begin(tag)
        depth += 1

    def end(_: str) -> None:
        nonlocal depth
        flush()
        depth -= 1
        if depth > 1:
            items[-1].end()

    def refuse(*_: object) -> None:
        raise InputError(f"{place()}: a document type; remove it")

    parser.StartElementHandler, parser.EndElementHandler = begin, end
    parser.CharacterDataHandler, parser.StartDoctypeDeclHandler = parts.append, refuse
    try:
        parser.Parse(text, True)
    except expat.ExpatError as error:
        number, why = line - 1 + error.lineno, expat.errors.messages[error.code]
        raise InputError(f"{name}, line {number}: not well-formed XML: {why}; {EXPECTED}") from None
    return items
