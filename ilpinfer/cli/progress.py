"""A progress bar on standard error, where that is a terminal."""

import contextlib
import sys
import time
from collections.abc import Callable, Iterator


@contextlib.contextmanager
def progress(what: str, total: int | None, done: int = 0) -> Iterator[Callable[[], None]]:
    """A bar that is gone when the work is done, without an end where that is not known; call what is returned once a step."""
    if not sys.stderr.isatty():
        yield lambda: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn(what), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(what, total=total, completed=done)
        yield lambda: bar.advance(task)


@contextlib.contextmanager
def rate_progress(what: str, total: int | None) -> Iterator[Callable[[int, int, int], None]]:
    """A bar over bytes that is gone when the work is done; call what is returned with bytes, rows, and rows that are proved."""
    if not sys.stderr.isatty():
        yield lambda *_: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn(what), BarColumn(), TextColumn("{task.fields[rows]}"), TimeRemainingColumn())
    began = time.monotonic()
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=total, rows="")

        def show(size: int, rows: int, proved: int) -> None:
            rate = rows / max(time.monotonic() - began, 1e-9)
            text = f"{rows} sequences, {rate:.0f}/s, {100 * proved / max(rows, 1):.1f} % proved"
            bar.update(task, completed=size, rows=text)

        yield show
