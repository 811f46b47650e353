"""Streams of sequences from files and folders of any size; JSON lists and archives are read whole."""

import contextlib
from collections import deque
from collections.abc import Callable, Generator, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Self

from formulations.files import CHUNK_SIZE, plain_name
from ilpinfer.corpus import brat, parallel
from ilpinfer.corpus.examples import Example, InputError, Notify, Rejection
from ilpinfer.corpus.input_files import files_of, opened_lines
from ilpinfer.corpus.lines import Lines
from ilpinfer.corpus.logits import LogitsOptions
from ilpinfer.corpus.notices import Notices
from ilpinfer.corpus.passages import Doubts
from ilpinfer.corpus.slices import InputPosition, SliceDigest, open_content
from ilpinfer.corpus.tables import PARQUET, TABLES, count_rows, read_table
from ilpinfer.corpus.text_formats import CorpusForm, Found, sequences_in
from ilpinfer.errors import ModelError, describe, without_place
from ilpinfer.system.storage import file_size, source_name

UNPACKED = (".npz", brat.ANNOTATIONS, "seq.in", *TABLES)
"""Suffixes of files that cannot be gzipped: most formats are compressed already, and BRAT and slots need two files."""


class ExampleStream:
    """Examples and rejections of a source, in order; for use in a `with` statement."""

    def __init__(self, files: list[str], form: CorpusForm, notify: Notify) -> None:
        self.files, self._form = files, form
        self._notices = Notices(files, notify)
        self._notify = self._notices.add
        self._lines: Lines | None = None
        self._stack = contextlib.ExitStack()
        self._found, self._ahead = self._all(), deque[Found]()
        self.done, self._of_table = 0, 0
        self.reject: Callable[[InputError], None] | None = None
        """Receives the errors of rejections, which are then left out of the stream."""
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
        """The next item, which stays next; None if all are rejected or the stream has ended."""
        found = next(self, None)
        if found is not None:
            self._ahead.append(found)
        return found

    def go_to(self, place: InputPosition) -> None:
        """Continue from a value of `place`, where a slice begins."""
        self._found.close()
        self._stack.close()
        self._slice, self._lines, self._of_table = SliceDigest(), None, 0
        self.done = sum(map(file_size, self.files[: place.file]))
        self._found = self._all(place)

    @property
    def place(self) -> InputPosition | None:
        """The end of the last example, or of the input; None for a stream that cannot be read again.

        It is inexact after a rejection, whose sequence may continue.
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
        """Whether reading the next sequence may block, as from a pipe."""
        return not self._ahead and self._lines is not None and self._lines.paused

    @property
    def size(self) -> int:
        """Approximate number of bytes of the returned sequences; for a Parquet file, in proportion to its rows."""
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
        """The item, or the rejection of a sequence that is too long."""
        longest = self._form.longest
        if longest is None or isinstance(found, Rejection):
            return found
        size = max(len(found.tokens), 0 if found.scores is None else found.scores.length)
        if size <= longest:
            return found
        return Rejection(found.file, found.line, f"{found.where}: a sequence of more than {longest} tokens")

    def _file(self, file: str, start: InputPosition) -> Iterator[Found]:
        """The records of a file after a position."""
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
        """Note the unread rest of a file without further records."""
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
        """The sequences of a BRAT document. Its doubts, with its name if there are several, are reported at the end."""
        doubts = Doubts(file.removesuffix(brat.TEXT).removesuffix(brat.ANNOTATIONS) + brat.ANNOTATIONS)
        yield from brat.read_brat(file, doubts, self._form.unit)
        if len(self.files) == 1:
            doubts.tell(self._notify)
        else:
            self._doubts.take(doubts, f"{Path(file).name}: ")


def open_stream(source: str | Path, form: CorpusForm, notify: Notify) -> ExampleStream:
    """Open the sequences of a file, of standard input (`-`), or of all files of a folder or pattern by name, for a `with` statement."""
    return ExampleStream(files_of(source), form, notify)
