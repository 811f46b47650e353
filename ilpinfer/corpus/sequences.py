"""Reading sequences: columns, JSON, tables, archives of logits, and annotated documents, from files or standard input."""

import warnings
from collections.abc import Sequence
from pathlib import Path

from ilpinfer.corpus.examples import Example, InputError, InputNotice, Notify, Rejection
from ilpinfer.corpus.logits import LogitsOptions
from ilpinfer.corpus.streams import CorpusForm, open_stream, opened_lines

__all__ = ["Example", "InputError", "InputNotice", "read", "require_labels"]


def read(
    source: str | Path,
    reading: LogitsOptions | None = None,
    column: str = "",
    notify: Notify | None = None,
    *,
    unit: str = "line",
) -> list[Example]:
    """Every sequence of a file, of the files of a folder or pattern, or of standard input where the source is `-`.

    Parameters
    ----------
    source : `token<TAB>label` columns, JSON lines, a JSON list of objects, tasks of Prodigy and Label Studio; or a file that
        ends in `.npz`, with the layout of `ilpinfer.corpus.archives`, in `.parquet`, `.arrow`, `.conllu` or `.spacy`; or
        BRAT documents, `.txt` with `.ann`
    reading : how logits are to be read
    column : which column holds the labels, by number from 1 or by the header's name; `TOKEN,LABEL` names both, and
        `TOKEN,` leaves labels out; what stands in further columns goes with the tokens, see `Example.columns`
    notify : receives what was inferred, such as columns without tabs; an `InputNotice` where not given
    unit : what a sequence of a BRAT document is: a `line`, or the whole `document`

    Returns
    -------
    list of Example
        Each with `tokens`, `labels` (None where there are none), and for documents `passage`, the places in the text.

    Raises
    ------
    InputError
        for what is missing, empty, not UTF-8, or of another form; the message says what was found and the way out.
    """
    notices = list[str]()
    form = CorpusForm(reading, column, most=None, longest_line=None, unit=unit)
    examples = []
    with open_stream(source, form, notify or notices.append) as stream:
        for each in stream:
            if isinstance(each, Rejection):
                raise each.error
            examples.append(each)
    for notice in notices:
        warnings.warn(notice, InputNotice, stacklevel=2)
    return examples


def require_labels(
    examples: Sequence[Example], *, wordless: bool = False
) -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
    """Tokens and labels of every example; InputError where one has no labels, or no tokens unless `wordless`."""
    pairs = []
    for example in examples:
        if example.labels is None:
            way_out = (
                "expected token<TAB>label on every line" if example.passage is None else "annotate it first"
            )
            raise InputError(f"{example.where}: no labels; {way_out}")
        if not example.tokens and not wordless:
            raise InputError(f'{example.where}: labels without tokens; add "tokens"')
        pairs.append((example.tokens, example.labels))
    return pairs


def text_of(source: str | Path) -> str:
    """The text of a file, or of standard input where the source is `-`; InputError where it cannot be read."""
    with opened_lines(source, longest=None) as lines:
        return lines.text()
