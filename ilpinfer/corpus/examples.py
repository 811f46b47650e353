"""A sequence as it came from a file or a caller, and the error for one that cannot be used."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from formulations import LabelSet, Trellis
from formulations.errors import InferenceError
from ilpinfer.corpus.passages import Passage
from ilpinfer.corpus.scores import Scores
from ilpinfer.corpus.tokens import column, column_names


class InputError(InferenceError, ValueError):
    """Input that cannot be used; the message names file, place, value and way out."""


class InputNotice(UserWarning):
    """How a file was read where that had to be inferred, such as columns without tabs."""


Notify = Callable[[str], None]
"""Receives a notice."""


@dataclass(frozen=True)
class Rejection:
    """A record that cannot be used.

    Parameters
    ----------
    file : as it was named
    line : number of the line, item or row from 1; 0 for what concerns the whole file
    message : names place, value and way out
    """

    file: str
    line: int
    message: str

    @property
    def reason(self) -> str:
        """The message without the file and the line."""
        rest = self.message.removeprefix(self.file)
        return re.sub(r"^(, (line|item|row|sequence) [0-9]+)?[:,]? ?", "", rest)

    @property
    def error(self) -> InputError:
        """To raise where no record may be lost."""
        return InputError(self.message)


@dataclass(frozen=True)
class Example:
    """One sequence as it came.

    Parameters
    ----------
    tokens : T texts, with the cells of further columns where the file has some
    labels : T label names, or None where there are none
    where : file and line, for messages
    scores : None where a model has to score the tokens
    rank : 1, or the place among several labellings of one sequence, as `ilpinfer decode --top` writes them
    file : that it came from; empty where it came from none
    line : number of its first line, item or row from 1; 0 where there is none
    passage : where the tokens stand in a text; None where the file has tokens alone
    """

    tokens: tuple[str, ...]
    labels: tuple[str, ...] | None
    where: str
    scores: Scores | None = None
    rank: int = 1
    file: str = ""
    line: int = 0
    passage: Passage | None = field(default=None, repr=False, compare=False)

    def with_labels(self, labels: Sequence[str] | None) -> "Example":
        """The same sequence with other labels, such as predicted ones, or with none.

        Raises
        ------
        InputError
            for another number of labels than of tokens.

        Examples
        --------
        >>> Example(("Ada", "slept"), None, "here").with_labels(["name", "O"]).labels
        ('name', 'O')
        """
        if labels is not None and self.tokens and len(labels) != len(self.tokens):
            raise InputError(f"{self.where}: {len(labels)} labels for {len(self.tokens)} tokens")
        return replace(self, labels=None if labels is None else tuple(labels))

    @property
    def columns(self) -> dict[str, tuple[str, ...]]:
        """Further columns by name, of T texts each, such as parts of speech."""
        return {name: tuple(column(self.tokens, name)) for name in column_names(self.tokens)}

    def trellis(self, scheme: str = "") -> Trellis:
        """The trellis of given scores."""
        assert self.scores is not None
        names = self.scores.label_names
        try:
            labels = None if names is None else LabelSet(names, scheme)
            return self.scores.trellis(labels, self.tokens or None)
        except ValueError as error:
            raise InputError(f"{self.where}: {error}") from None
