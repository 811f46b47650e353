"""Documents: several sequences as one, so that rules apply across sequences."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from formulations.arguments import instances, items, text
from formulations.labels.schemes import OUTSIDE
from formulations.messages import counted
from formulations.problem.trellis import Trellis

Value = TypeVar("Value")


@dataclass(frozen=True)
class Document:
    """The trellis of a document, and the ranges of its sequences.

    Parameters
    ----------
    trellis : Trellis
        Trellis of all tokens; its score is the sum of the sequences' scores.
    sequences : tuple of tuple of (int, int)
        Range (first token, end) of each sequence.

    Examples
    --------
    >>> sentences = [Trellis([0.0, -1.0], [], ["a", "O"], tokens=[word]) for word in ("x", "y")]
    >>> document = join(sentences)
    >>> document.trellis.tokens, document.split(["O", "O", "a"])
    (('x', '\\n', 'y'), [['O'], ['a']])
    """

    trellis: Trellis
    sequences: tuple[tuple[int, int], ...]

    def split(self, values: Sequence[Value]) -> list[list[Value]]:
        """Split a labelling (T,), or other values by token, into sequences.

        Parameters
        ----------
        values : sequence of Value
            T values, such as a labelling.

        Returns
        -------
        list of list of Value
            The values of each sequence, without those of separator tokens.

        Raises
        ------
        ValueError
            If the number of values differs from the number of tokens.
        """
        values = items(values, "values")
        if len(values) != len(self.trellis):
            tokens = len(self.trellis)
            raise ValueError(f"{counted(len(values), 'value')} for a document of {counted(tokens, 'token')}")
        return [values[first:end] for first, end in self.sequences]


def join(trellises: Iterable[Trellis], separator: str | None = "\n") -> Document:
    """Join sequences into one document, so that rules apply to all of them together.

    Rules then count over the whole document, and orders of fields hold across sequences. A separator token between two
    sequences is always labelled `O` and scores 0; it separates the runs of the sequences.

    Parameters
    ----------
    trellises : iterable of Trellis
        Trellises with the same labels and order.
    separator : str or None, default newline
        Text of the separator tokens. If None, there are no separator tokens, and a run may continue in the
        next sequence.

    Returns
    -------
    Document
        The joint trellis, with the range of each sequence.

    Raises
    ------
    ValueError
        If there are no trellises, if they differ in labels or order, or if there is no label `O` for separators.

    Examples
    --------
    >>> sentences = [Trellis([0.0, -1.0], [], ["a", "O"], tokens=[word]) for word in ("x", "y")]
    >>> join(sentences).sequences, join(sentences, separator=None).sequences
    (((0, 1), (2, 3)), ((0, 1), (1, 2)))
    """
    result = instances(trellises, Trellis, "trellises", "a Trellis")
    if not result:
        raise ValueError("a document has at least one sequence, but none is given")
    between = [] if separator is None else [_separator(result[0], text(separator, "separator"))]
    pieces = [piece for each in result for piece in (*between, each)][len(between) :]
    ends = np.cumsum([len(piece) for piece in pieces])[:: 1 + len(between)].tolist()
    sequences = tuple((end - len(each), end) for each, end in zip(result, ends, strict=True))
    return Document(Trellis.joined(pieces), sequences)


def _separator(like: Trellis, text: str) -> Trellis:
    labels = like.labels
    outside = labels.outside
    if outside is None:
        what = f"there is no label {OUTSIDE!r} for the separator tokens between sequences"
        raise ValueError(f"{what}; give separator=None for no separators")
    start = [0.0 if name == outside else -math.inf for name in labels.names]
    if like.order == 2:
        return Trellis.second_order(start, None, [], labels, tokens=[text])
    return Trellis(start, [], labels, tokens=[text])
