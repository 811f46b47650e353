"""What a solver is given beside the program: a labelling to begin with, and the root bound of the engine."""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from formulations.dtypes import LabelIds
from formulations.grid import nats
from formulations.messages import brief, counted
from formulations.problem.problem import Problem
from formulations.time_limits import OutOfTime
from ilpinfer.core.deadline import Deadline
from ilpinfer.core.incumbents import Improvement
from ilpinfer.core.request import Request
from ilpinfer.core.result import Task
from ilpinfer.exact import limits
from ilpinfer.solvers.answer import Choices

NAME = re.compile(r"[\w/]+")


@dataclass(frozen=True)
class SolverOptions:
    """Options of solvers.

    `start` is a method, or T label names or ids; with `root_bound`, the engine bounds the score by its kernels, too.
    `solver_options` are parameters of the solver by its own names, None for the solver's default, in the place of those that
    the toolkit sets; what the solver prints is appended to the file `solver_log`.
    """

    start: str | Sequence[str] | Sequence[int] | None = None
    root_bound: bool = False
    solver_options: Mapping[str, Any] | None = None
    solver_log: str | Path | None = None

    def __post_init__(self) -> None:
        _check_options(self.solver_options)
        if not isinstance(self.solver_log, str | Path | None):
            raise ValueError(f"solver_log is {brief(self.solver_log)}; expected the path of a file")
        if not isinstance(self.root_bound, bool):
            raise ValueError(f"root_bound is {brief(self.root_bound)}; expected true or false")
        known = self.request
        if known is not None and (known.method.function is not None or known.method.record is SolverOptions):
            raise ValueError(f"start is {brief(self.start)}; expected a search, auto, or labels")
        if known is None and self.start is not None and not isinstance(self.start, Sequence):
            raise ValueError(f"start is {brief(self.start)}; expected a method, or a label for each token")

    @cached_property
    def choices(self) -> Choices:
        """Options and log for the solver; OSError where the log cannot be written."""
        log = "" if self.solver_log is None else str(Path(self.solver_log).absolute())
        if log:
            Path(log).open("a").close()
        return Choices(dict(self.solver_options or {}), log)

    @cached_property
    def request(self) -> Request | None:
        """The request of the method that makes the start."""
        return Request.of(self.start, None, {}) if isinstance(self.start, str) else None


def _check_options(options: Any) -> None:
    """Raise ValueError unless these are names with values that a solver can be given."""
    if options is None:
        return
    if not isinstance(options, Mapping):
        raise ValueError(f"solver_options is {brief(options)}; expected a mapping from names to values")
    for name, value in options.items():
        if not isinstance(name, str) or not NAME.fullmatch(name):
            raise ValueError(f"solver_options: {brief(name)} is no name of an option")
        for one in value if isinstance(value, list | tuple) else [value]:
            plain = isinstance(one, str | bool | int | float | None)
            if not plain or (isinstance(one, str) and not one.isprintable()):
                raise ValueError(
                    f"solver_options: {name} is {brief(value)}; expected a text, number, true or false"
                )


@contextmanager
def share_of(whole: Deadline) -> Iterator[Deadline]:
    """A deadline for work that has a share of the time that is left, and is given up when this has passed."""
    left = whole.remaining
    deadline = Deadline(None if left is None else limits.START_SHARE * left)
    with suppress(OutOfTime), deadline.as_limit():
        yield deadline


class Beginning(NamedTuple):
    """A labelling that keeps the hard rules, or none, with its value in grid units; and words on where it is from."""

    path: LabelIds | None = None
    value: int = 0
    words: str = ""
    improvements: tuple[Improvement, ...] = ()


def beginning(options: SolverOptions, problem: Problem, task: Task) -> Beginning:
    """The labelling that a solver begins with; ValueError for labels that are not those of a labelling."""
    if options.start is None:
        return Beginning()
    path: LabelIds | None = None
    words = "labels"
    if options.request is None:
        path = problem.labels.ids(options.start)
        if len(path) != problem.shape[0]:
            raise ValueError(
                f"start has {counted(len(path), 'label')} for {counted(problem.shape[0], 'token')}"
            )
    else:
        words = str(options.start)
        with share_of(task.deadline) as deadline:
            own = replace(options.request.task(), deadline=deadline)
            path = next(iter(options.request.method.run(problem, own))).path
    if path is None or not problem.value(path).feasible:
        return Beginning(words=f"; {words}: no labelling to begin with")
    value = problem.value(path).score
    first = Improvement(task.deadline.elapsed, value, path)
    return Beginning(path, value, f"; begun with {words}, {nats(value):.6g} nats", (first,))
