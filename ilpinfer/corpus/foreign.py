"""Texts in formats that are not read, known by their first lines."""

import re
from collections.abc import Callable, Sequence

_MARKUP = ("<?xml", "<!doctype", "<!--", "<html")
"""How files of markup begin, in lower case."""
_TAG = re.compile(r"<([A-Za-z][\w:.-]*)(?:\s[^<>]*)?/?>")
_ELEMENT = re.compile(r"<([A-Za-z][\w:.-]*)(?:\s[^<>]*)?>[^<>]*</\1>")
_RESIDUES = re.compile(r"[A-Z*-]{2,}")


def foreign_format(lines: Sequence[str]) -> str:
    """The format of a text by its first lines, with the way out; empty where it may be one that is read."""
    texts = [line.strip() for line in lines if line.strip()]
    return next((said for said, fits in _FORMATS.items() if texts and fits(texts)), "")


def _is_markup(texts: Sequence[str]) -> bool:
    first = texts[0]
    if first.lower().startswith(_MARKUP):
        return True
    if any("\t" in text for text in texts):
        return False
    tag = _TAG.match(first)
    if tag and (first.endswith(">") or f"</{tag[1]}>" in first):
        return any(f"</{tag[1]}>" in text for text in texts)
    return 2 * sum("<" in text and _ELEMENT.search(text) is not None for text in texts) > len(texts)


def _is_fasta(texts: Sequence[str]) -> bool:
    return len(texts) > 1 and re.match(r">\S", texts[0]) is not None and bool(_RESIDUES.fullmatch(texts[1]))


def _begins(pattern: str) -> Callable[[Sequence[str]], bool]:
    return lambda texts: re.match(pattern, texts[0]) is not None


_FORMATS: dict[str, Callable[[Sequence[str]], bool]] = {
    "XML or HTML, by its first line; expected token<TAB>label lines or JSON lines": _is_markup,
    "FASTA, by its first lines; write a residue and its label a line, residue<TAB>label": _is_fasta,
    "WebAnno TSV, by its first line; export it as CoNLL 2002": _begins(r"#FORMAT=WebAnno"),
    "PubTator, by its first line; convert it to BRAT, or to JSON lines with text and spans": _begins(
        r"\d+\|[ta]\|"
    ),
    "annotations of BRAT, by its first line; name the file NAME.ann, with the text NAME.txt beside it": _begins(
        r"T\d+\t\S+ \d+ \d+(;\d+ \d+)*(\t|$)"
    ),
    "line ends of old Macintosh files, carriage returns alone; save it with those of Unix or Windows": lambda texts: (
        len(texts) == 1 and "\r" in texts[0]
    ),
    "PDF, by its first line; expected token<TAB>label lines or JSON lines": _begins(r"%PDF-"),
    "RTF, by its first line; save it as plain text": _begins(r"\{\\rtf"),
}
