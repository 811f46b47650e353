"""Detection of unsupported text formats by their first lines."""

import re
from collections.abc import Callable, Sequence


def foreign_format(lines: Sequence[str]) -> str:
    """The unsupported format of a text by its first lines, with the way out; empty if the format may be supported."""
    texts = [line.strip() for line in lines if line.strip()]
    return next((said for said, fits in _FORMATS.items() if texts and fits(texts)), "")


def _begins(pattern: str) -> Callable[[Sequence[str]], bool]:
    return lambda texts: re.match(pattern, texts[0]) is not None


_FORMATS: dict[str, Callable[[Sequence[str]], bool]] = {
    "HTML, by its first line; expected token<TAB>label lines or JSON lines": _begins(
        r"(?i)<!doctype html|<html"
    ),
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
