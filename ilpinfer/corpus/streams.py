"""Sequences of files and folders of any size, one after the other; JSON lists and archives are read whole."""

import contextlib
import json
import os
import sys
from collections import deque
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, BinaryIO, Self

from formulations.arguments import one_of
from formulations.files import CHUNK_SIZE, plain_name
from ilpinfer.corpus import brat, crfsuite_data, fasta, labelled_xml, parallel
from ilpinfer.corpus.column_names import ColumnNames
from ilpinfer.corpus.columns import LOOK_AHEAD, columns
from ilpinfer.corpus.conllu import SUFFIXES as CONLLU
from ilpinfer.corpus.conllu import read_conllu
from ilpinfer.corpus.examples import Example, InputError, Notify, Rejection
from ilpinfer.corpus.foreign import foreign_format
from ilpinfer.corpus.json_records import json_array, json_lines
from ilpinfer.corpus.lines import LONGEST, Lines
from ilpinfer.corpus.logits import LogitsOptions
from ilpinfer.corpus.notices import Notices
from ilpinfer.corpus.passages import Doubts
from ilpinfer.corpus.records import EXPECTED
from ilpinfer.corpus.slices import InputPosition, SliceDigest, open_content
from ilpinfer.corpus.tables import ARROW, PARQUET, TABLES, count_rows, read_table
from ilpinfer.errors import ModelError, describe, without_place
from ilpinfer.system.storage import (
    file_size,
    file_system,
    joined,
    local_name,
    open_bytes,
    source_name,
    storage_errors,
)

JSON = (".jsonl", ".ndjson", ".json")
SUFFIXES = (
    *(".tsv", ".txt", ".csv", ".conll", "_conll", *CONLLU, ".bio", ".iob", ".iob2"),
    *(*JSON, ".npz"),
    brat.ANNOTATIONS,
    *TABLES,
    *(parallel.TOKENS, *labelled_xml.SUFFIXES, *fasta.SUFFIXES, *crfsuite_data.SUFFIXES),
)
"""Endings of the files that are read of a folder; `.gz` may follow."""
ABOUT_DATA_SETS = ("dataset_info.json", "dataset_dict.json", "state.json")
"""Files that `datasets` of Hugging Face writes beside Arrow files."""
UNPACKED = (".npz", brat.ANNOTATIONS, "seq.in", *TABLES)
"""Endings of files that cannot be read compressed: most are compressed themselves, and BRAT and slots need two files."""

Found = Example | Rejection


@dataclass(frozen=True)
class CorpusForm:
    logits: LogitsOptions | None = None
    column: str = ""
    most: int | None = LOOK_AHEAD
    longest: int | None = None
    longest_line: int | None = LONGEST
    unit: str = "line"
    slices: bool = False
    """Whether places and digests of what was read are told."""
    beside: bool = False
    """Whether the column is that of another file with the same sequences."""

    def __post_init__(self) -> None:
        one_of(self.unit, "unit", brat.UNITS, InputError)

    @property
    def names(self) -> ColumnNames:
        return ColumnNames.read(self.column, self.beside)

    def check_no_column(self, name: str) -> None:
        """Raise InputError where a column is named; `name` is that of a file without columns."""
        if self.column and not self.beside:
            raise InputError(
                f"{name}: --column {self.column}: a file of this format has no columns; leave it out"
            )


class ExampleStream:
    """Examples and rejections of a source, in order; to be used in a `with` statement."""

    def __init__(self, files: list[str], form: CorpusForm, notify: Notify) -> None:
        self.files, self._form = files, form
        self._notices = Notices(files, notify)
        self._notify = self._notices.add
        self._lines: Lines | None = None
        self._stack = contextlib.ExitStack()
        self._found, self._ahead = self._all(), deque[Found]()
        self.done, self._of_table = 0, 0
        self.reject: Callable[[InputError], None] | None = None
        """Takes the errors of rejections, which are then left out of the stream."""
        self._file_number, self._last_line, self._content_size = 0, 0, 0
        self._slice = SliceDigest()
        self._doubts = Doubts(self._notices.name)

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Found:
        while True:
            found = self._ahead.popleft() if self._ahead else next(self._found)
            if self.reject is None or not isinstance(found, Rejection):
                return found
            self.reject(found.error)

    def peek(self) -> Found | None:
        """What is next, and stays so; None where all are rejected."""
        found = next(self, None)
        if found is not None:
            self._ahead.append(found)
        return found

    def go_to(self, place: InputPosition) -> None:
        """Go on from a place, as `place` tells it, where a slice begins."""
        self._found.close()
        self._stack.close()
        self._slice, self._lines, self._of_table = SliceDigest(), None, 0
        self.done = sum(map(file_size, self.files[: place.file]))
        self._found = self._all(place)

    @property
    def place(self) -> InputPosition | None:
        """The end of the example that came last, or of the input; None in a stream that cannot be read again.

        It is not told rightly behind a rejection, whose sequence may go on.
        """
        if self._lines is None:
            return InputPosition(self._file_number, self._content_size, self._last_line)
        if self._lines.live:
            return None
        offset, line = self._lines.place
        return InputPosition(self._file_number, offset, self._last_line if self._lines.is_one_text else line)

    def end_slice(self) -> str:
        """The digest of the bytes up to `place` since the last call; a new slice begins."""
        if self._lines is not None:
            self._slice.add(self._lines.kept())
        result = self._slice.text
        self._slice = SliceDigest()
        if self._file_number < len(self.files):
            self._slice.begin(self._file_number)
        return result

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._found.close()
        self._stack.close()

    @property
    def paused(self) -> bool:
        """Whether the next sequence may have to be waited for, as that of a pipe."""
        return not self._ahead and self._lines is not None and self._lines.paused

    @property
    def size(self) -> int:
        """About the number of bytes of the sequences that were returned; of a Parquet file, the share of its rows."""
        return self.done + self._of_table + (0 if self._lines is None else self._lines.taken)

    @property
    def total(self) -> int | None:
        """Number of bytes of the files; None for standard input and pipes."""
        if "-" in self.files:
            return None
        return sum(map(file_size, self.files)) or None

    def _all(self, start: InputPosition | None = None) -> Generator[Found, None, None]:
        empty = start is None
        begin = start or InputPosition()
        for number, file in enumerate(self.files[begin.file :], begin.file):
            self._file_number = number
            begun = begin if number == begin.file else InputPosition()
            self._slice.begin(self._file_number)
            self._content_size = -1
            try:
                for each in self._file(file, begun):
                    empty = False
                    self._last_line = each.line
                    yield self._limited(each)
            except (InputError, ModelError) as error:
                empty = False
                self._last_line = 0
                if self._lines is None and self._content_size < 0:
                    self._note_content(file, begun)
                yield Rejection(file, 0, str(error))
            except Exception as error:
                if not without_place(error):
                    raise
                raise InputError(f"{source_name(file)}: {describe(error)}") from error
            if file != "-":
                with contextlib.suppress(OSError):
                    self.done += file_size(file)
            self._lines, self._of_table = None, 0
        self._file_number, self._content_size, self._last_line = len(self.files), 0, 0
        self._doubts.tell(self._notices.notify)
        self._notices.end()
        if empty:
            yield Rejection(self.files[0], 0, f"{self.files[0]}: no sequence")

    def _limited(self, found: Found) -> Found:
        """What was found, or the rejection of a sequence that is too long."""
        longest = self._form.longest
        if longest is None or isinstance(found, Rejection):
            return found
        size = max(len(found.tokens), 0 if found.scores is None else found.scores.length)
        if size <= longest:
            return found
        return Rejection(found.file, found.line, f"{found.where}: a sequence of more than {longest} tokens")

    def _file(self, file: str, start: InputPosition) -> Iterator[Found]:
        """The records of a file, those up to a place left out."""
        form, name = self._form, plain_name(file)
        if name.endswith(".spacy"):
            raise InputError(
                f"{file}: documents of spaCy; write json.dumps(doc.to_json()) of each as a line of a .jsonl file"
            )
        if name != file and name.endswith(UNPACKED):
            raise InputError(f"{file}: {Path(name).suffix} files are not read compressed; unpack it")
        pair = brat.is_brat(file) or parallel.is_parallel(file)
        if file.endswith(".npz") or pair:
            form.check_no_column(file)
        if name.endswith(UNPACKED) or pair:
            self._note_content(file, start)
        if file.endswith(".npz"):
            from ilpinfer.corpus.archives import read_logits

            for number, each in enumerate(read_logits(file, form.logits or LogitsOptions()), 1):
                if number > start.line:
                    yield replace(each, file=file, line=number)
        elif file.endswith(TABLES):
            rows, size = count_rows(file) if file.endswith(PARQUET) else 0, file_size(file)
            form.names.check_no_roles(file)
            found = read_table(file, form.logits, form.names, self._notify, start.line)
            for number, row in enumerate(found, start.line + 1):
                self._of_table = size * number // rows if rows else 0
                yield row
        elif brat.is_brat(file):
            yield from (each for each in self._document(file) if each.line > start.line)
        elif pair:
            yield from (each for each in parallel.read_parallel(file) if each.line > start.line)
        elif len(self.files) > 1 and brat.lacks_annotations(file):
            raise InputError(
                f"{file}: no {Path(file).stem}{brat.ANNOTATIONS} in the same folder, although other texts have one; create an empty file "
                "if there are no annotations"
            )
        else:
            with opened_lines(file, form.longest_line, start, keep=form.slices) as lines:
                self._lines = lines
                try:
                    yield from sequences_in(lines, form, self._notify, name)
                except InputError:
                    self._note_rest(lines)
                    raise
                self._note_rest(lines)

    def _note_rest(self, lines: Lines) -> None:
        """Note what was not read of a file, of which no further record comes."""
        if self._form.slices:
            for chunk in lines.rest():
                self._slice.add(chunk)

    def _note_content(self, file: str, start: InputPosition) -> None:
        """Note size and digest of a file that is read as a whole."""
        self._content_size = start.offset
        if self._form.slices and file != "-":
            with contextlib.suppress(OSError), open_content(file) as stream:
                stream.seek(start.offset)
                while chunk := stream.read(CHUNK_SIZE):
                    self._content_size += len(chunk)
                    self._slice.add(chunk)

    def _document(self, file: str) -> Iterator[Example]:
        """The sequences of a document of BRAT. Its doubts, which name it where there are several, are told at the end."""
        doubts = Doubts(file.removesuffix(brat.TEXT).removesuffix(brat.ANNOTATIONS) + brat.ANNOTATIONS)
        yield from brat.read_brat(file, doubts, self._form.unit)
        if len(self.files) == 1:
            doubts.tell(self._notify)
        else:
            self._doubts.take(doubts, f"{Path(file).name}: ")


def open_stream(source: str | Path, form: CorpusForm, notify: Notify) -> ExampleStream:
    """Open the sequences of a file, of standard input (`-`), or of all files of a folder or pattern by name, for a `with` statement."""
    return ExampleStream(files_of(source), form, notify)


def files_of(source: str | Path) -> list[str]:
    """The files of a source; InputError where it is a folder or pattern without any, or an address that cannot be listed."""
    name = local_name(source)
    if name == "-":
        return [name]
    try:
        system, place = file_system(name)
        with storage_errors():
            if system.isfile(place):
                return [name]
            if system.isdir(place):
                return _files_of_folder(name, system.find(place), place)
            if not any(sign in name for sign in "*?[") or os.path.lexists(name):
                return [name]
            found = [str(system.unstrip_protocol(each)) for each in system.glob(place) if system.isfile(each)]
    except OSError as error:
        raise InputError(f"{source}: cannot be read: {error.strerror}") from None
    if not found:
        raise InputError(f"{name}: no file matches this pattern")
    return sorted(found)


def _files_of_folder(folder: str, paths: list[str], place: str) -> list[str]:
    """Those of the files below a folder that are sequences; `place` is the folder in its file system."""
    names = [each.removeprefix(place).replace(os.sep, "/").lstrip("/") for each in paths]
    shards = [each for each in names if "/" not in each and fnmatchcase(each, "part-*.parquet")]
    if shards and "manifest.json" in names:  # a run of `ilpinfer reprocess`
        return [joined(folder, each) for each in sorted(shards)]
    files = [
        joined(folder, each)
        for each in names
        if plain_name(each).endswith(SUFFIXES)
        and not any(part.startswith((".", "_")) for part in each.split("/"))
    ]
    files = [each for each in files if not (each.endswith(brat.TEXT) and brat.is_brat(each))]
    files = [each for each in files if not each.endswith(parallel.TOKENS) or parallel.is_parallel(each)]
    if any(each.endswith(ARROW) for each in files):
        files = [each for each in files if os.path.basename(each) not in ABOUT_DATA_SETS]
    if not files:
        raise InputError(
            f"{folder}: no readable file in this folder; expected names that end in {', '.join(SUFFIXES)}"
        )
    return sorted(files)


@contextlib.contextmanager
def opened_lines(
    source: str | Path,
    longest: int | None = LONGEST,
    start: InputPosition | None = None,
    *,
    keep: bool = False,
) -> Iterator[Lines]:
    """The lines of a file, or of standard input where the source is `-`; InputError where it cannot be opened.

    `start` and `keep` are those of `Lines`.
    """
    with contextlib.ExitStack() as stack:
        if str(source) == "-":
            stream: BinaryIO = sys.stdin.buffer
        else:
            try:
                stream = stack.enter_context(open_bytes(source))
            except OSError as error:
                raise InputError(f"{source}: cannot be read: {error.strerror}") from None
        begin = (start.offset, start.line) if start and start.offset else None
        yield Lines(stream, source_name(source), longest, start=begin, keep=keep)


def sequences_in(
    lines: Lines, form: CorpusForm, notify: Notify = lambda _: None, name: str = ""
) -> Generator[Found, None, None]:
    """The sequences of a text: of CoNLL-U or JSON by the name of the file, or of columns or JSON, which its first lines tell apart."""
    if name.endswith(CONLLU):
        form.names.check_no_roles(lines.name)
        yield from read_conllu(lines, form.names, notify, form.most)
    else:
        yield from _of_text(lines, form, notify, name)


def _of_text(lines: Lines, form: CorpusForm, notify: Notify, name: str) -> Iterator[Found]:
    head = lines.ahead(form.most, lambda texts: any(map(str.strip, texts)))
    first = next((line for line in head if line.strip()), "")
    if not first and lines.ended:
        faults = [line for _, line in lines if isinstance(line, Rejection)]
        if not faults:
            raise InputError(f"{lines.name}: empty; expected token<TAB>label lines or JSON lines")
        yield from faults
        return
    if foreign := foreign_format(head):
        raise InputError(f"{lines.name}: {foreign}")
    text = _json_text(lines, first.lstrip(), form)
    if text is not None or name.endswith(JSON):
        form.names.check_no_roles(lines.name)
        if text:
            after = 0 if lines.start is None else lines.start[1]
            lines.resume()
            yield from json_array(text, lines.name, form.logits, notify, form.names, after)
        else:
            yield from json_lines(lines, form.logits, notify, form.names)
    elif name.endswith(labelled_xml.SUFFIXES) or labelled_xml.is_xml(head):
        form.check_no_column(lines.name)
        text, after = lines.text(), 0 if lines.start is None else lines.start[1]
        lines.resume()
        yield from labelled_xml.read_xml(text, lines.name, after)
    elif name.endswith(fasta.SUFFIXES) or fasta.is_fasta(head):
        form.check_no_column(lines.name)
        yield from fasta.read_fasta(lines, head)
    elif name.endswith(crfsuite_data.SUFFIXES) or crfsuite_data.is_crfsuite(head, form.names):
        yield from crfsuite_data.read_crfsuite_data(lines, head, form.names, notify)
    else:
        yield from _of_columns(lines, form, notify)


def _of_columns(lines: Lines, form: CorpusForm, notify: Notify) -> Iterator[Found]:
    names = None if form.logits is None else form.logits.names
    empty = True
    for each in columns(lines, form.names, notify, form.most, form.longest, names):
        empty = False
        yield each
    if empty and lines.start is None:
        raise InputError(
            f"{lines.name}: no sequence, but a header or borders only; expected token<TAB>label lines"
        )


def _json_text(lines: Lines, first: str, form: CorpusForm) -> str | None:
    """A JSON list as a text, an empty text for JSON lines, and None for another text."""
    if "\t" in first[:2]:
        return None
    if first.startswith("{"):
        if isinstance(_value(first), dict):
            return ""
        head = lines.ahead(form.most)
        if not lines.ended and any(isinstance(_value(line), dict) for line in head):
            return ""
        text = "\n".join(head if lines.ended else lines.ahead(None))
        return f"[{lines.text()}]" if isinstance(_value(text), dict) else ""
    if not first.startswith("["):
        return None
    head = lines.ahead(form.most)
    opened = next((line for line in [first[1:], *head[1:]] if line.strip()), "").lstrip()
    if first[1:].lstrip().startswith("{") or (not lines.ended and opened.startswith("{")):
        return lines.text()
    result = _value("\n".join(head)) if lines.ended else None
    if isinstance(result, list) and not _numbers(result):
        return lines.text()
    result = _value(first)
    if isinstance(result, list) and not _numbers(result):
        raise InputError(f"{lines.name}: a list on each line; {EXPECTED}")
    return None


def _value(text: str) -> Any:
    """The value of a JSON text, or None for a text that is not JSON."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _numbers(result: list[Any]) -> bool:
    """Whether a list is a token such as `[12]`."""
    return bool(result) and all(isinstance(each, int | float) for each in result)
