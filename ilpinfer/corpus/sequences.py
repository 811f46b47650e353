"""Reading of sequences in all formats, and of plain text, from files or standard input."""

import os
import warnings
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from formulations.arguments import one_of
from formulations.messages import brief
from formulations.score_numbers import OneNotice
from ilpinfer.corpus.examples import Example, InputError, InputNotice, Notify, Rejection
from ilpinfer.corpus.helper_labels import UNKNOWN_LABELS, check_labelled
from ilpinfer.corpus.input_files import opened_lines
from ilpinfer.corpus.logits import LogitsOptions
from ilpinfer.corpus.passages import WORDS
from ilpinfer.corpus.streams import open_stream
from ilpinfer.corpus.text_formats import CorpusForm
from ilpinfer.system.storage import source_name

__all__ = ["Example", "InputError", "InputNotice", "read", "require_labels"]


def read(
    source: str | Path,
    reading: LogitsOptions | None = None,
    column: str = "",
    notify: Notify | None = None,
    *,
    unit: str = "line",
) -> list[Example]:
    """Read all sequences of a file, or of standard input if the source is `-`.

    Parameters
    ----------
    source : str or Path
        File with `token<TAB>label` columns, JSON (also texts with spans), an `.npz`, `.parquet`, `.arrow` or `.conllu` file,
        BRAT documents, `.txt` with `.ann`, slots, `seq.in` with `seq.out`, XML, FASTA or data of CRFsuite; or a folder or
        pattern of such files.
    reading : LogitsOptions, optional
        Options for reading logits.
    column : str, optional
        Column of the labels, by number from 1 or by name in the header; of JSON and Parquet by its key. `TOKEN,LABEL` names
        both columns, `TOKEN,` ignores labels, and `token=1,label=3+4,end=5` names columns by their roles, where `+` joins levels
        of nested labels. Cells of further columns are kept with the tokens; see `Example.columns`.
    notify : Notify, optional
        Function that is called with each notice about inferred settings; by default, notices are `InputNotice` warnings.
    unit : {"line", "document"}, default "line"
        Part of a BRAT document that is one sequence.

    Returns
    -------
    list of Example
        The sequences in order. Sequences of documents have a `passage`, the places of their tokens in the text.

    Raises
    ------
    InputError
        For a file that is missing, empty, not UTF-8, or of another form; the message gives a remedy.
    ValueError
        For a source that is not a path.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "names.tsv")
    ...     _ = path.write_text("Ada\\tname\\n1815\\tyear\\n")
    ...     [(example.tokens, example.labels) for example in read(path)]
    [(('Ada', '1815'), ('name', 'year'))]
    """
    if not isinstance(source, str | os.PathLike):
        raise ValueError(
            f"source is {brief(source)}; expected a path; data frames are read by sequences_of of ilpinfer.adapters.frames"
        )
    notices = list[str]()
    form = CorpusForm(reading, column, most=None, longest_line=None, unit=unit)
    examples = _all(source, form, notify or notices.append)
    for notice in notices:
        warnings.warn(notice, InputNotice, stacklevel=2)
    return examples


def read_beside(
    source: str | Path, column: str, notify: Notify, reading: LogitsOptions | None = None
) -> list[Example]:
    """As `read`, with the column of a main file; files of tokens and labels only, as from `ilpinfer decode`, do not need it."""
    return _all(source, CorpusForm(reading, column, most=None, longest_line=None, beside=True), notify)


def _all(source: str | Path, form: CorpusForm, notify: Notify) -> list[Example]:
    examples = []
    with OneNotice(), open_stream(source, form, notify) as stream:
        for each in stream:
            if isinstance(each, Rejection):
                raise each.error
            examples.append(each)
    return examples


def require_labels(
    examples: Sequence[Example], *, wordless: bool = False, partly: bool = False, never: Collection[str] = ()
) -> list[tuple[tuple[str, ...], tuple[Any, ...]]]:
    """Tokens and labels of all examples.

    Parameters
    ----------
    examples : sequence of Example
        Sequences of a file.
    wordless : bool, default False
        Whether sequences may lack tokens.
    partly : bool, default False
        Whether tokens may lack labels, which are then None. In files, such labels are `_` or `?`, and null in JSON.
    never : collection of str, optional
        Helper labels, which may also be named `_` or `?`.

    Returns
    -------
    list of tuple of (tuple of str, tuple of str or None)
        Tokens and labels of each sequence.

    Raises
    ------
    InputError
        If a sequence has no labels, no tokens although it needs them, or a token without a label.

    Examples
    --------
    >>> from ilpinfer.corpus.examples import Example
    >>> require_labels([Example(("Ada",), ("name",), "line 1")])
    [(('Ada',), ('name',))]
    >>> require_labels([Example(("Ada", "Lovelace"), ("name", "_"), "line 1")], partly=True)
    [(('Ada', 'Lovelace'), ('name', None))]
    """
    marks = [mark for mark in UNKNOWN_LABELS if mark not in never]
    pairs = []
    for example in examples:
        labels: tuple[Any, ...] = example.gold
        if labels and not example.tokens and not wordless:
            raise InputError(f'{example.where}: labels without tokens; add "tokens"')
        if any(mark in labels for mark in marks):
            labels = tuple(None if label in marks else label for label in labels)
            if not partly:
                check_labelled(labels, example.where, InputError)
        pairs.append((example.tokens, labels))
    return pairs


def text_of(source: str | Path) -> str:
    """The text of a file, or of standard input if the source is `-`; InputError if it cannot be read."""
    with opened_lines(source, longest=None) as lines:
        return lines.text()


SPLITS: Mapping[str, Callable[[str], list[str]]] = {"spaces": str.split, "punctuation": WORDS.findall}
"""How a line is split: at white space, or also before and after punctuation that is not within a word."""


def read_plain_text(source: str | Path, split: str = "spaces") -> list[Example]:
    """The lines of a file, or of standard input for `-`, as sequences without labels; empty lines are left out."""
    one_of(split, "split", SPLITS, InputError)
    name = source_name(source)
    lines = enumerate(text_of(source).splitlines(), 1)
    texts = [(number, tuple(SPLITS[split](line))) for number, line in lines]
    result = [Example(tokens, None, f"{name}, line {number}") for number, tokens in texts if tokens]
    if not result:
        raise InputError(f"{name}: no text; expected a sequence a line")
    return result
