"""Outputs of a command: files, checked before any work and reserved during it, and the result on standard output."""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ilpinfer.cli.screen import console_beside, print_json
from ilpinfer.cli.signals import ContinuedBy
from ilpinfer.cli.streams import STDOUT, notice
from ilpinfer.corpus.examples import InputError
from ilpinfer.system.checkpoint import RowCheckpoint
from ilpinfer.system.files import reserve
from ilpinfer.system.output_paths import OutputError, OutputPath, output_path

if TYPE_CHECKING:
    from rich.console import Console


def check_streams(as_json: bool, outputs: Sequence[str | None], inputs: Sequence[str | None]) -> None:
    """Raise InputError if two results go to standard output, or two inputs come from standard input."""
    if sum(each == STDOUT for each in outputs) > 1:
        raise InputError("two outputs are -, for standard output; name a file for one of them")
    if as_json and STDOUT in outputs:
        raise InputError(
            "--json and an output - both write to standard output; leave one out, or name a file"
        )
    if sum(each == "-" for each in inputs) > 1:
        raise InputError("two inputs are read from standard input (-); name a file for one of them")


@contextlib.contextmanager
def resumable(checkpoint: RowCheckpoint) -> Iterator[RowCheckpoint]:
    """Rows of a run, including rows of an earlier interrupted run; an interrupt prints the command that continues it."""
    with ContinuedBy(kept=not checkpoint.place.direct), checkpoint:
        notice(checkpoint.damage)
        yield checkpoint


def rows_output(path: str | Path, inputs: Sequence[str | None]) -> OutputPath:
    """The path of an output whose rows are read back; OutputError if it is not a file."""
    place = output_path(path, inputs)
    if place.direct:
        raise OutputError(f"{place.name}: the command reads its rows again; name a file")
    return place


class Outputs:
    """The files that a command writes, and its result on standard output.

    Paths are named after their options, and are None if not given. InputError or OutputError for a file that is an input or is
    given twice, and for a second result on standard output.
    """

    def __init__(self, as_json: bool, inputs: Sequence[str | None], **paths: str | None) -> None:
        given = {option: path for option, path in paths.items() if path is not None}
        check_streams(as_json, list(given.values()), inputs)
        self.as_json, self.inputs, self.names = as_json, inputs, list(given.values())
        self.places = list[OutputPath]()
        options: dict[Any, str] = {}
        for option, path in given.items():
            place = output_path(path, inputs)
            other = options.setdefault(place.target, option)
            if other != option and not place.direct:
                raise OutputError(f"{path}: is given for --{other} and for --{option}; name two files")
            self.places.append(place)

    @property
    def screen(self) -> "Console":
        """Standard output, or standard error if a file goes to standard output."""
        return console_beside(*self.names)

    @contextlib.contextmanager
    def reserved(self) -> Iterator[None]:
        """Reserve the files for this run until they are written."""
        with contextlib.ExitStack() as stack:
            stack.enter_context(ContinuedBy(kept=False))
            for place in self.places:
                stack.enter_context(reserve(place))
            yield

    def show(self, record: Any, table: "Callable[[Console], None]") -> None:
        if self.as_json:
            print_json(record)
        else:
            table(self.screen)
