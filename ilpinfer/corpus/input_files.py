"""Files of an input (a file, standard input, the files of a folder or pattern) and their lines."""

import contextlib
import os
import sys
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import BinaryIO

from formulations.files import plain_name
from ilpinfer.corpus import brat, crfsuite_data, fasta, labelled_xml, parallel
from ilpinfer.corpus.conllu import SUFFIXES as CONLLU
from ilpinfer.corpus.examples import InputError
from ilpinfer.corpus.lines import LONGEST, Lines
from ilpinfer.corpus.slices import InputPosition
from ilpinfer.corpus.tables import ARROW, TABLES
from ilpinfer.corpus.text_formats import JSON
from ilpinfer.system.storage import file_system, joined, local_name, open_bytes, source_name, storage_errors

SUFFIXES = (
    *(".tsv", ".txt", ".csv", ".conll", "_conll", *CONLLU, ".bio", ".iob", ".iob2"),
    *(*JSON, ".npz"),
    brat.ANNOTATIONS,
    *TABLES,
    *(parallel.TOKENS, *labelled_xml.SUFFIXES, *fasta.SUFFIXES, *crfsuite_data.SUFFIXES),
)
"""Suffixes of the files in a folder that are read; `.gz` may follow."""
ABOUT_DATA_SETS = ("dataset_info.json", "dataset_dict.json", "state.json")
"""Files that Hugging Face `datasets` writes next to Arrow files."""


def files_of(source: str | Path) -> list[str]:
    """The files of a source; InputError for a folder or pattern without files, or an address that cannot be listed."""
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
    """The files below a folder that contain sequences; `place` is the folder in its file system."""
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
    """The lines of a file, or of standard input for `-`; InputError if it cannot be opened.

    `start` and `keep` are as for `Lines`.
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
