"""Sequences as parts of a text: character offsets of tokens, and conversion between character spans and token labels."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from formulations.labels import schemes
from formulations.labels.schemes import OUTSIDE, WRITABLE
from formulations.messages import brief

WORDS = re.compile(r"\w+(?:[-.'’]\w+)*|[^\w\s]")
"""A token: letters and digits, with single hyphens, points and apostrophes between them; or one other character."""

Offsets = tuple[tuple[int, int], ...]
"""Begin and end of each token, in characters (code points) from 0; the end is after the last character."""


@dataclass(frozen=True)
class Span:
    begin: int
    end: int
    label: str
    where: str = field(default="", compare=False)


@dataclass(frozen=True)
class Passage:
    """Places of the tokens of a sequence in a text.

    Parameters
    ----------
    text : str
        Text of the whole document.
    offsets : tuple of tuple of (int, int)
        (T, 2) begin and end of each token in the text, in characters.
    document : str, optional
        Name of the document's file without its suffix; empty if the sequence has a record of its own.
    record : object, optional
        Content of the file, for the writer of the same format; None if it has none.

    Examples
    --------
    >>> Passage("Ada  slept", ((0, 3), (5, 10))).tokens
    ('Ada', 'slept')
    """

    text: str
    offsets: Offsets
    document: str = ""
    record: Any = None

    @classmethod
    def of_tokens(cls, tokens: Sequence[str]) -> "Passage":
        """A text of the tokens, separated by single spaces.

        Parameters
        ----------
        tokens : sequence of str
            T tokens.

        Returns
        -------
        Passage
            The text, with the places of the tokens.
        """
        offsets, begin = [], 0
        for token in tokens:
            offsets.append((begin, begin + len(token)))
            begin += len(token) + 1
        return cls(" ".join(tokens), tuple(offsets))

    @property
    def tokens(self) -> tuple[str, ...]:
        return tuple(self.text[begin:end] for begin, end in self.offsets)

    @property
    def alone(self) -> "Passage":
        """The passage with a separate text, from its first token to its last."""
        if not self.document or not self.offsets:
            return self
        begin, end = self.offsets[0][0], self.offsets[-1][1]
        return Passage(self.text[begin:end], tuple((a - begin, b - begin) for a, b in self.offsets))

    def spans(self, labels: Sequence[str], scheme: str) -> list[Span]:
        """The spans of labels, plain or of a scheme with one level.

        A run of a field is a span from the begin of its first token to the end of its last one.

        Parameters
        ----------
        labels : sequence of str
            T labels.
        scheme : str
            Scheme of the labels, such as "bio" or "plain".

        Returns
        -------
        list of Span
            Spans in the order of the text, without spans of white space only.

        Raises
        ------
        ValueError
            For a label that does not fit the scheme, and for nested labels.
        """
        if schemes.scheme_of(scheme) not in ("plain", *WRITABLE):
            raise ValueError(
                f"labels of scheme {scheme} are nested; take the innermost fields with --scheme plain"
            )
        schemes.check(labels, scheme)
        fields = [schemes.strip(label, scheme) for label in labels]
        result: list[Span] = []
        for (begin, end), label, begins in zip(
            self.offsets, fields, schemes.begins(labels, scheme), strict=True
        ):
            if label == OUTSIDE:
                continue
            if begins:
                result.append(Span(begin, end, label))
            else:
                result[-1] = Span(result[-1].begin, end, label)
        return [each for each in result if self.text[each.begin : each.end].strip()]


def token_offsets(text: str, begin: int = 0, end: int | None = None) -> Offsets:
    """The tokens of a text, split as plain text with `split="punctuation"`."""
    found = WORDS.finditer(text, begin, len(text) if end is None else end)
    return tuple((each.start(), each.end()) for each in found if each[0] != "\ufeff")


class Doubts:
    """Spans of a file that labels cannot represent, counted by kind for one notice per kind."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._found: dict[str, tuple[int, str]] = {}

    def add(self, kind: str, first: str) -> None:
        count, known = self._found.get(kind, (0, first))
        self._found[kind] = count + 1, known

    def take(self, others: "Doubts", where: str = "") -> None:
        """Add the doubts of another file; `where` names the file before the first of a kind."""
        for kind, (count, first) in others._found.items():
            known, before = self._found.get(kind, (0, f"{where}{first}"))
            self._found[kind] = known + count, before

    def tell(self, notify: Callable[[str], None]) -> None:
        for kind, (count, first) in self._found.items():
            more = f", and {count - 1} more" if count > 1 else ""
            notify(f"{self._file}: {kind}: {first + more if first else count}")
        self._found.clear()


SPLIT = "spans that begin or end inside a token are extended to whole tokens"
EMPTY = "spans without any token are left out"
OVERLAP = "spans that overlap a longer span, or an earlier span of the same length, are left out"


def labels_of(spans: Iterable[Span], text: str, offsets: Offsets, doubts: Doubts) -> tuple[str, ...]:
    """BIO labels of the tokens that spans touch; of overlapping spans the longest counts, of equally long spans the first."""
    begins, ends = [begin for begin, _ in offsets], [end for _, end in offsets]
    placed: list[tuple[int, int, Span]] = []
    for span in spans:
        first, last = bisect_right(ends, span.begin), bisect_left(begins, span.end)
        shown = f"{span.where}{': ' * bool(span.where)}{brief(text[span.begin : span.end])} at {span.begin}-{span.end}"
        if first >= last:
            doubts.add(EMPTY, shown)
            continue
        inside = text[offsets[first][0] : offsets[last - 1][1]]
        if text[span.begin : span.end].strip() != inside:
            doubts.add(SPLIT, f"{shown} as {brief(inside)}")
        placed.append((first, last, span))
    labels = [OUTSIDE] * len(offsets)
    for first, last, span in sorted(placed, key=lambda each: (each[0] - each[1], each[0])):
        if any(label != OUTSIDE for label in labels[first:last]):
            shown = f"{span.where}{': ' * bool(span.where)}{brief(text[span.begin : span.end])}"
            doubts.add(OVERLAP, f"{shown} at {span.begin}-{span.end}")
            continue
        labels[first:last] = [f"B-{span.label}", *[f"I-{span.label}"] * (last - first - 1)]
    return tuple(labels)
