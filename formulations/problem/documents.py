"""Several sequences as one, so that rules can tie tokens of different ones."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from formulations.labels.label_set import OUTSIDE
from formulations.problem.trellis import Trellis

Value = TypeVar("Value")


@dataclass(frozen=True)
class Document:
    """The trellis of a document, and where its sequences are.

    Parameters
    ----------
    trellis : of all tokens; its score is the sum of the sequences' scores
    sequences : (first, end) token of each

    Examples
    --------
    >>> sentences = [Trellis([0.0, -1.0], [], ["a", "O"], [word]) for word in ("x", "y")]
    >>> document = join(sentences)
    >>> document.trellis.tokens, document.split(["O", "O", "a"])
    (('x', '\\n', 'y'), [['O'], ['a']])
    """

    trellis: Trellis
    sequences: tuple[tuple[int, int], ...]

    def split(self, values: Sequence[Value]) -> list[list[Value]]:
        """Values of each sequence, from a labelling (T,) or other values by token."""
        if len(values) != len(self.trellis):
            raise ValueError(
                f"{len(values)} values are given, but the document has {len(self.trellis)} tokens"
            )
        return [list(values[first:end]) for first, end in self.sequences]


def join(trellises: Iterable[Trellis], separator: str | None = "\n") -> Document:
    """The document of sequences that follow each other.

    Rules then speak of the whole document: a count is one over all sequences, and what comes before comes before in any of
    them. A token between two sequences, which is always `O` and scores nothing, keeps runs apart.

    Parameters
    ----------
    trellises : with the same labels and order
    separator : the text of these tokens; None for none, where a run may go on into the next sequence

    Raises
    ------
    ValueError
        for no trellises, for some that differ in labels or order, and for a separator where there is no label `O`.
    """
    result = list(trellises)
    if not result:
        raise ValueError("a document has at least one sequence, but none is given")
    between = [] if separator is None else [_separator(result[0], separator)]
    pieces = [piece for each in result for piece in (*between, each)][len(between) :]
    ends = np.cumsum([len(piece) for piece in pieces])[:: 1 + len(between)].tolist()
    sequences = tuple((end - len(each), end) for each, end in zip(result, ends, strict=True))
    return Document(Trellis.joined(pieces), sequences)


def _separator(like: Trellis, text: str) -> Trellis:
    """One token that is `O`."""
    labels = like.labels
    if OUTSIDE not in labels.names:
        raise ValueError(
            f"no label {OUTSIDE!r} for the tokens between sequences; separator=None puts none there"
        )
    start = [0.0 if name == OUTSIDE else -math.inf for name in labels.names]
    if like.order == 2:
        return Trellis.second_order(start, None, [], labels, [text])
    return Trellis(start, [], labels, [text])
