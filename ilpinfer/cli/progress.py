"""Progress on standard error: bars on a terminal, lines elsewhere or as JSON; and log messages of the library."""

import contextlib
import itertools
import logging
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from ilpinfer.cli import settings
from ilpinfer.cli.streams import log, remark, say

if TYPE_CHECKING:
    from rich.progress import Progress, ProgressColumn, TaskID


@dataclass
class _Count:
    """What is done of a task in a bar."""

    bar: "Progress"
    number: "TaskID"
    done: int = 0

    def set(self, done: int, **columns: Any) -> None:
        self.done = done
        self.bar.update(self.number, completed=done, **columns)


MINUTE = 60.0
"""Seconds between two lines of progress outside a terminal."""
LOG_SECONDS = 10.0
"""Seconds between two lines of progress with `--log-json`."""


def shown() -> bool:
    """Whether bars are shown: on a terminal, and not with `--quiet` or `--log-json`."""
    return sys.stderr.isatty() and not settings.quiet and not settings.log_json


def _by_lines() -> bool:
    return not settings.quiet and (settings.log_json or not sys.stderr.isatty())


@contextlib.contextmanager
def progress(
    task: str, total: int | None, done: int = 0, *, bar: bool = True
) -> Iterator[Callable[[], None]]:
    """A progress bar that is removed at the end, or a line each minute elsewhere; call the value after each step.

    `total` is None if it is not known. Without `bar`, a terminal shows nothing.
    """
    if _by_lines():
        with _told(task, total, _Done(done, done, None)) as tell:
            steps = itertools.count(done + 1)
            yield lambda: tell(step := next(steps), step, None)
        return
    if not (shown() and bar):
        yield lambda: None
        return
    from rich.progress import MofNCompleteColumn

    with _bar(task, total, done, MofNCompleteColumn()) as count:
        yield lambda: count.set(count.done + 1)


@contextlib.contextmanager
def rate_progress(
    task: str, total: int | None, *, bar: bool = True
) -> Iterator[Callable[[int, int, int], None]]:
    """A progress bar over bytes, or a line each minute elsewhere; call the value with bytes read, rows written, and rows proved."""
    if _by_lines():
        with _told(task, total, _Done(0, 0, 0)) as tell:
            yield tell
        return
    if not (shown() and bar):
        yield lambda *_: None
        return
    from rich.progress import TaskProgressColumn, TextColumn

    shares = [] if total is None else [TaskProgressColumn()]
    began = time.monotonic()
    with _bar(task, total, 0, *shares, TextColumn("{task.fields[rows]}")) as count:

        def show(size: int, rows: int, proved: int) -> None:
            count.set(size, rows=_rate(rows, proved, rows / max(time.monotonic() - began, 1e-9)))

        yield show


@contextlib.contextmanager
def _bar(task: str, total: int | None, done: int, *columns: "ProgressColumn") -> Iterator[_Count]:
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    from ilpinfer.cli.screen import console

    around = TextColumn("{task.description}"), BarColumn(), *columns, TimeRemainingColumn()
    with Progress(*around, console=console(stderr=True), transient=True) as screen:
        yield _Count(screen, screen.add_task(task, total=total, completed=done, rows=""), done)


def _pace(rate: float) -> str:
    return f"{rate:.0f}" if rate >= 10 else f"{rate:.2g}"


def _rate(rows: int, proved: int, rate: float) -> str:
    return f"{rows} sequences, {_pace(rate)}/s, {100 * proved / max(rows, 1):.1f} % proved"


@contextlib.contextmanager
def _told(task: str, total: int | None, now: "_Done") -> Iterator[Callable[[int, int, int | None], None]]:
    """Lines with what is done, the rate since the line before, and the time that the rest takes at that rate.

    Call the value with the size of what is done, of `total`, with what is done, and with how many of that are proved. With
    `--log-json` there is a line at the end, too, with the rate of the whole.
    """
    ended, began = threading.Event(), time.monotonic()
    every = LOG_SECONDS if settings.log_json else MINUTE
    tell = _log if settings.log_json else _say

    def show(*state: Any) -> None:
        nonlocal now
        now = _Done(*state)

    def run() -> None:
        before = now
        while not ended.wait(every):
            state = now
            tell(task, state, before, total, every)
            before = state

    first, thread = now, threading.Thread(target=run, daemon=True)
    thread.start()
    try:
        yield show
    finally:
        ended.set()
        thread.join()
        if settings.log_json:
            _log(task, now, first, total, max(time.monotonic() - began, 1e-9))


class _Done(NamedTuple):
    """What is done of a task: its size, of the total, its number, and how many of that are proved; None where nothing is."""

    size: int
    number: int
    proved: int | None

    def left(self, before: "_Done", total: int | None, seconds: float) -> float | None:
        """Seconds that the rest takes at the rate since `before`; None if unknown."""
        rate = (self.size - before.size) / seconds
        return (total - self.size) / rate if total and rate > 0 and self.size <= total else None


def _say(task: str, now: _Done, before: _Done, total: int | None, seconds: float) -> None:
    rate = (now.number - before.number) / seconds
    if now.proved is None:
        text = f"{now.number} of {total} steps done" if total else f"{now.number} steps done, {_pace(rate)}/s"
    else:
        text = _rate(now.number, now.proved, rate)
        text += f", {100 * min(now.size / total, 1):.0f} % of the input read" if total else ""
    left = now.left(before, total, seconds)
    text += f", about {duration(left)} left" if left else ""
    remark(f"ilpinfer: {task}: {text}")


def _log(task: str, now: _Done, before: _Done, total: int | None, seconds: float) -> None:
    log(
        "progress",
        task=task,
        done=now.number,
        total=total if now.proved is None else None,  # otherwise, it is of bytes
        share=min(now.size / total, 1) if total else None,
        rate=round((now.number - before.number) / seconds, 3),
        proved=None if now.proved is None else round(now.proved / max(now.number, 1), 6),
        remaining=None if (left := now.left(before, total, seconds)) is None else round(left, 1),
    )


def duration(seconds: float) -> str:
    """The time in the unit that fits it."""
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


@contextlib.contextmanager
def status(text: str) -> Iterator[Callable[[str], None] | None]:
    """A line about the current work; call the value with a text to change it. None if progress is not shown."""
    if not shown():
        yield None
        return
    from ilpinfer.cli.screen import console

    with console(stderr=True).status(text) as line:
        yield line.update


class _Lines(logging.Handler):
    """A handler for the current standard error, which a progress bar or a test may replace."""

    def emit(self, record: logging.LogRecord) -> None:
        line = f"ilpinfer: {record.getMessage()}"
        (say if record.levelno >= logging.ERROR else remark)(line)


@contextlib.contextmanager
def show_logs() -> Iterator[None]:
    """Show the warnings of the logger `ilpinfer`."""
    logger, lines = logging.getLogger("ilpinfer"), _Lines(logging.WARNING)
    before, logger.propagate = logger.propagate, False
    logger.addHandler(lines)
    try:
        yield
    finally:
        logger.removeHandler(lines)
        logger.propagate = before
