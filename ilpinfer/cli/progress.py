"""Progress on standard error: bars on a terminal, lines elsewhere or as JSON; and log messages of the library."""

import contextlib
import itertools
import logging
import sys
import threading
from collections.abc import Callable, Iterator
from time import monotonic as clock
from typing import NamedTuple

from ilpinfer.cli import settings
from ilpinfer.cli.streams import log, remark, say

MINUTE = 60.0
"""Seconds between two lines of progress outside a terminal."""
LOG_SECONDS = 10.0
"""Seconds between two lines of progress with `--log-json`."""


def shown() -> bool:
    """Whether bars are shown: on a terminal, and not with `--quiet` or `--log-json`."""
    return sys.stderr.isatty() and not settings.quiet and not settings.log_json


class _Done(NamedTuple):
    """Progress of a task at a time: done size of the total, number of items, and number proved; None if nothing can be proved."""

    time: float
    size: int
    number: int
    proved: int | None


class _Task:
    """A task and its rate, measured from the first step on, which excludes the start and an earlier run."""

    def __init__(self, name: str, total: int | None, done: int, proved: int | None = None) -> None:
        self.name, self.total = name, total
        self.now = _Done(clock(), done, done, proved)
        self._first: _Done | None = None
        self.changed: Callable[[], None] = lambda: None

    def show(self, size: int, number: int, proved: int | None = None) -> None:
        self.now = _Done(clock(), size, number, proved)
        self._first = self._first or self.now
        self.changed()

    @property
    def share(self) -> float | None:
        return min(self.now.size / self.total, 1) if self.total else None

    @property
    def rate(self) -> float | None:
        """Steps per second; None if not known yet."""
        now, first = self.now, self._first or self.now
        return (now.number - first.number) / (now.time - first.time) if now.time > first.time else None

    @property
    def remaining(self) -> float | None:
        """Estimated remaining seconds at the current rate; None if unknown."""
        now, first = self.now, self._first or self.now
        if not self.total or now.size == first.size or now.size > self.total:
            return None
        return (self.total - now.size) * (now.time - first.time) / (now.size - first.size)

    @property
    def text(self) -> str:
        _, _, number, proved = self.now
        pace = (
            "" if self.rate is None else f", {self.rate:.0f}/s" if self.rate >= 10 else f", {self.rate:.2g}/s"
        )
        if proved is None:
            return f"{number} of {self.total} steps done" if self.total else f"{number} steps done{pace}"
        read = "" if self.share is None else f", {100 * self.share:.0f} % of the input read"
        return f"{number} sequences{pace}, {100 * proved / max(number, 1):.1f} % proved{read}"

    def say(self) -> None:
        left = f", about {duration(self.remaining)} left" if self.remaining else ""
        remark(f"ilpinfer: {self.name}: {self.text}{left}")

    def log(self) -> None:
        _, _, number, proved = self.now
        log(
            "progress",
            task=self.name,
            done=number,
            total=self.total if proved is None else None,  # otherwise, it is of bytes
            share=self.share,
            rate=None if self.rate is None else round(self.rate, 3),
            proved=None if proved is None else round(proved / max(number, 1), 6),
            remaining=None if self.remaining is None else round(self.remaining, 1),
        )


@contextlib.contextmanager
def progress(
    task: str, total: int | None, done: int = 0, *, bar: bool = True
) -> Iterator[Callable[[], None]]:
    """A progress bar that is removed at the end, or a line each minute elsewhere; call the value after each step.

    `total` is None if it is not known. Without `bar`, a terminal shows nothing.
    """
    steps = itertools.count(done + 1)
    with _shown(_Task(task, total, done), bar) as work:
        yield lambda: work.show(step := next(steps), step)


@contextlib.contextmanager
def rate_progress(
    task: str, total: int | None, *, bar: bool = True
) -> Iterator[Callable[[int, int, int], None]]:
    """A progress bar over bytes, or a line each minute elsewhere; call the value with bytes read, rows written, and rows proved."""
    with _shown(_Task(task, total, 0, proved=0), bar) as work:
        yield work.show


@contextlib.contextmanager
def _shown(task: _Task, bar: bool) -> Iterator[_Task]:
    if settings.quiet or (sys.stderr.isatty() and not settings.log_json):
        with _bar(task) if shown() and bar else contextlib.nullcontext():
            yield task
        return
    ended = threading.Event()
    tell, every = (task.log, LOG_SECONDS) if settings.log_json else (task.say, MINUTE)

    def run() -> None:
        while not ended.wait(every):
            tell()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    try:
        yield task
    finally:
        ended.set()
        thread.join()
        if settings.log_json:
            task.log()


@contextlib.contextmanager
def _bar(task: _Task) -> Iterator[None]:
    """A rich progress bar; its remaining time is also estimated from the first step on."""
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    from ilpinfer.cli.screen import console

    texts = [TextColumn(f"{{task.{each}}}") for each in ("description", "fields[text]")]
    columns = texts[0], BarColumn(), texts[1], TimeRemainingColumn()
    screen = console(stderr=True)
    with Progress(*columns, console=screen, transient=True, speed_estimate_period=600) as shown_bar:
        number = shown_bar.add_task(task.name, total=task.total, completed=task.now.size, text="")
        task.changed = lambda: shown_bar.update(number, completed=task.now.size, text=task.text)
        yield


def duration(seconds: float) -> str:
    """The time in a suitable unit."""
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
