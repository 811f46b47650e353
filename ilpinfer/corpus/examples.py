"""A sequence of a file or caller, its fingerprint, and the errors of invalid input."""

import contextlib
import hashlib
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from formulations import Trellis
from formulations.errors import InferenceError
from formulations.labels.label_set import kept_label_set
from formulations.messages import counted
from formulations.problem.known_labels import Known
from ilpinfer.corpus.candidates import CandidateSet
from ilpinfer.corpus.passages import Passage
from ilpinfer.corpus.scores import SequenceScores
from ilpinfer.corpus.tokens import column, column_names


class InputError(InferenceError, ValueError):
    """Error for input that cannot be used; the message names file, place and value, and a remedy.

    Examples
    --------
    >>> from ilpinfer.corpus.sequences import read
    >>> try:
    ...     read("missing.tsv")
    ... except InputError as error:
    ...     print(error)
    missing.tsv: cannot be read: No such file or directory
    """


class InputNotice(UserWarning):
    """Warning about an inferred way of reading a file, such as columns without tabs."""


@contextlib.contextmanager
def input_at(where: str) -> Iterator[None]:
    """Turn ValueError into InputError at a place."""
    try:
        yield
    except InputError:
        raise
    except RecursionError:
        raise InputError(f"{where}: lists are nested too deeply") from None
    except ValueError as error:
        raise InputError(f"{where}: {error}") from None


Notify = Callable[[str], None]


@dataclass(frozen=True)
class Rejection:
    """A record of a file that cannot be used.

    Parameters
    ----------
    file : str
        Name of the file.
    line : int
        Number of the line, item or row, from 1; 0 for the whole file.
    message : str
        Message with place, value and remedy.

    Examples
    --------
    >>> Rejection("refs.tsv", 3, "refs.tsv, line 3: a label is missing").line
    3
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
        """The error of the rejection, for callers that accept no rejections."""
        return InputError(self.message)


@dataclass(frozen=True)
class Example:
    """One sequence of a file.

    Parameters
    ----------
    tokens : tuple of str
        T texts, with the cells of further columns if there are any.
    labels : tuple of str or None
        T label names, or None without labels.
    where : str
        File and line, for messages.
    scores : Scores, optional
        Scores of the sequence; None if a model has to score it.
    rank : int, default 1
        Rank among several labellings of a sequence, as written by `ilpinfer decode --top`.
    file : str, optional
        Name of the file; empty if there is none.
    line : int, default 0
        Number of its first line, item or row from 1; 0 if there is none.
    passage : Passage, optional
        Places of the tokens in a text; None if the file has only tokens.
    about : dict of str to object, optional
        Notes of the file about the sequence, under `id`, `name` and further keys, which result rows repeat.
    given : dict of int to str or tuple of str, optional
        Known label, or allowed labels, by token, which decoding keeps; see `Trellis.with_given`.
    candidates : CandidateSet, optional
        Candidate spans that the scores were made from; None if there are none.
    predicted : bool, default False
        Whether it is a row written by `ilpinfer decode`.

    Examples
    --------
    >>> Example(("Ada", "1815"), ("name", "year"), "line 1").labels
    ('name', 'year')
    """

    tokens: tuple[str, ...]
    labels: tuple[str, ...] | None
    where: str
    scores: SequenceScores | None = None
    rank: int = 1
    file: str = ""
    line: int = 0
    passage: Passage | None = field(default=None, repr=False, compare=False)
    about: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)
    given: Mapping[int, Known] = field(default_factory=dict, repr=False)
    candidates: CandidateSet | None = field(default=None, repr=False, compare=False)
    predicted: bool = field(default=False, repr=False, compare=False)

    def with_labels(self, labels: Sequence[str] | None) -> "Example":
        """The same sequence with other labels, such as predicted labels, or without labels.

        Parameters
        ----------
        labels : sequence of str or None
            T label names; None for a sequence without labels.

        Returns
        -------
        Example
            With these labels.

        Raises
        ------
        InputError
            For a number of labels that differs from the number of tokens.
        """
        if labels is not None and self.tokens and len(labels) != len(self.tokens):
            raise InputError(
                f"{self.where}: {counted(len(labels), 'label')} for {counted(len(self.tokens), 'token')}"
            )
        return replace(self, labels=None if labels is None else tuple(labels))

    def at(self, places: Sequence[int]) -> "Example":
        """The subsequence at some positions, for an example without scores.

        Parameters
        ----------
        places : sequence of int
            Positions of the tokens, in order.

        Returns
        -------
        Example
            Their texts, labels and known labels.
        """
        labels = None if self.labels is None else tuple(self.labels[t] for t in places)
        given = {new: self.given[t] for new, t in enumerate(places) if t in self.given}
        tokens = tuple(self.tokens[t] for t in places)
        return replace(self, tokens=tokens, labels=labels, given=given, passage=None)

    @property
    def gold(self) -> tuple[str, ...]:
        """The labels; InputError if there are none."""
        if self.labels is None:
            way_out = (
                "expected token<TAB>label on every line" if self.passage is None else "annotate it first"
            )
            raise InputError(f"{self.where}: no labels; {way_out}")
        return self.labels

    @property
    def notes(self) -> dict[str, Any]:
        """Notes of the file about the sequence, with the metadata keys merged in."""
        metadata = self.about.get("metadata")
        own = metadata if isinstance(metadata, dict) else {}
        return {**{key: value for key, value in self.about.items() if key != "metadata"}, **own}

    @property
    def columns(self) -> dict[str, tuple[str, ...]]:
        """Further columns by name, T texts each, such as parts of speech."""
        return {name: tuple(column(self.tokens, name)) for name in column_names(self.tokens)}

    @property
    def named_columns(self) -> dict[str, list[str]]:
        """Named further columns, as plain values."""
        return {name: list(cells) for name, cells in self.columns.items() if not name.isdecimal()}

    def trellis(self, scheme: str = "", never: Collection[str] = ()) -> Trellis:
        """The trellis of the scores of the file.

        Parameters
        ----------
        scheme : str, optional
            Scheme of the labels; inferred where not given.
        never : collection of str, optional
            Labels that are never predicted, in addition to the labels named in the file; unknown labels are ignored.

        Returns
        -------
        Trellis
            The trellis.

        Raises
        ------
        ValueError
            If the file has no scores for the sequence, or inconsistent scores.
        """
        assert self.scores is not None
        names, absent = self.scores.label_names, frozenset(self.scores.optional_fields)
        with input_at(self.where):
            out = frozenset(self.scores.never).union(name for name in never if names and name in names)
            labels = (
                None if names is None else kept_label_set(names, scheme or self.scores.scheme, absent, out)
            )
            return self.scores.trellis(labels, self.tokens or None)


def fingerprint(example: Example) -> str:
    """Digest of tokens, columns, labels, scores and notes in 16 hexadecimal digits; the same in every process."""
    texts = (example.tokens, example.columns, example.labels, *sorted(example.about.items()))
    known = (sorted(example.given.items()),) if example.given else ()
    result = hashlib.sha256(repr((*texts, *known)).encode("utf-8", "backslashreplace"))
    if example.scores is not None:
        for name, value in vars(example.scores).items():
            if isinstance(value, np.ndarray):
                result.update(f"{name} {value.shape}".encode())
                result.update(np.ascontiguousarray(value, np.float64).tobytes())
            elif value:
                result.update(repr((name, value)).encode("utf-8", "backslashreplace"))
    return result.hexdigest()[:16]
