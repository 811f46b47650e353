"""Cross-validated selection: each candidate is fitted without each fold and scored on it."""

import contextlib
import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from formulations.dtypes import Integers
from formulations.time_limits import OutOfTime
from ilpinfer.core.deadline import Deadline
from ilpinfer.learning.measures import Measures

Candidate = TypeVar("Candidate")
Fitted = TypeVar("Fitted")
Folds = Sequence[Sequence[int]]
"""Indices of the sequences of each fold; every sequence is in one fold."""
WAITING = 3.0
"""Seconds of wall time that count as one second of processor time."""
MARGIN = 2.0
"""Number of standard errors by which a clearly better candidate leads."""
Scores = NDArray[Any]
"""(N, …) one row per sequence, from the fit without it."""


@dataclass(frozen=True, eq=False)
class CandidateTrial(Generic[Fitted]):
    """The fits of a candidate without each fold, and the scores of the sequences of the folds.

    If its time did not suffice for all folds, `stopped` says so, and `places` are the indices of the sequences that have scores.
    """

    fitted: tuple[Fitted, ...]
    scores: Scores
    seconds: float
    places: Integers | None = None
    stopped: str = ""


Choose = Callable[[Mapping[str, CandidateTrial[Any]]], str]
"""Returns the name of the selected candidate."""


@dataclass(frozen=True, eq=False)
class Selection(Generic[Fitted]):
    """The name of the selected candidate, and all trials."""

    chosen: str
    trials: Mapping[str, CandidateTrial[Fitted]]


@dataclass(frozen=True)
class Tried:
    """A candidate that was tried on held-out folds.

    Parameters
    ----------
    name : str
        Name of the candidate.
    measures : Measures
        Measures of the labellings of all folds.
    seconds : float
        Seconds that its fits and labellings took.
    refused : str, default ""
        Reason why it cannot be selected.
    stopped : str, default ""
        Number of folds on which it was tried, if not all.

    Examples
    --------
    >>> Tried("counts", Measures(0.9, 0.8, 0.5), seconds=1.5).refused
    ''
    """

    name: str
    measures: Measures
    seconds: float
    refused: str = ""
    stopped: str = ""

    @property
    def measured(self) -> bool:
        """Whether there was time for at least one fold."""
        return not math.isnan(self.measures.accuracy)

    def to_dict(self) -> dict[str, Any]:
        """Plain values without the time, the same in every run.

        Returns
        -------
        dict of str to object
            Name, measures and refusal.
        """
        own = {"name": self.name, **self.measures._asdict(), "refused": self.refused}
        return own | ({"stopped": self.stopped} if self.stopped else {})


def select(
    candidates: Mapping[str, Candidate],
    fit: Callable[[Candidate, Sequence[int]], Fitted],
    score: Callable[[Fitted, Sequence[int]], Scores],
    folds: Folds,
    choose: Choose,
    seconds: float | None = None,
) -> Selection[Fitted]:
    """Fit each candidate without each fold, score (n, …) the n sequences of the fold, and select a candidate by all trials.

    Each candidate has `seconds` of processor time plus the time that earlier candidates left. A candidate that needs more is tried on
    as many folds as it has time for. The first candidate, the baseline, is tried on all folds; OutOfTime if a limit of the caller
    passes meanwhile.
    """
    trials, left = dict[str, CandidateTrial[Fitted]](), 0.0
    for name, candidate in candidates.items():
        limit = None if seconds is None or not trials else seconds + left
        trials[name] = _trial(partial(fit, candidate), score, folds, limit)
        left = 0.0 if limit is None else max(0.0, limit - trials[name].seconds)
    return Selection(choose(trials), trials)


def _clock() -> Callable[[], float]:
    """Seconds of processor time from now, or a third of the wall time if that is more, as solvers run in other processes."""
    processor, clock = time.process_time(), time.perf_counter()
    return lambda: max(time.process_time() - processor, (time.perf_counter() - clock) / WAITING)


def _trial(
    fit: Callable[[Sequence[int]], Fitted],
    score: Callable[[Fitted, Sequence[int]], Scores],
    folds: Folds,
    seconds: float | None,
) -> CandidateTrial[Fitted]:
    deadline, fitted, rows = Deadline(seconds, _clock()), list[Fitted](), list[Scores]()
    with contextlib.ExitStack() as limits:
        if seconds is not None:
            limits.enter_context(contextlib.suppress(OutOfTime))
            limits.enter_context(deadline.as_limit())
        for number, fold in enumerate(folds):
            if number and deadline.elapsed * (number + 1) / number > deadline.limit:
                break
            made = fit(fold)
            rows.append(np.asarray(score(made, fold)))
            fitted.append(made)
    stopped = ""
    if len(rows) < len(folds):
        stopped = f"{len(rows)} of {len(folds)} folds in {seconds:.3g} s"
    places = np.array([place for fold in folds[: len(rows)] for place in fold], np.int64)
    order = np.argsort(places)
    scores = np.concatenate(rows)[order] if rows else np.zeros((0, 6), np.int64)
    return CandidateTrial(tuple(fitted), scores, deadline.elapsed, places[order], stopped)


def largest(value: Callable[[Scores], float]) -> Choose:
    """Selects the first candidate with the largest value of its scores."""
    return lambda trials: max(trials, key=lambda name: value(trials[name].scores))


def tried(
    trials: Mapping[str, CandidateTrial[Any]], refused: Mapping[str, str] | None = None
) -> tuple[Tried, ...]:
    """Records of trials whose scores are counts (N, 6)."""
    said, none = refused or {}, Measures(math.nan, math.nan, math.nan)
    return tuple(
        Tried(
            name,
            Measures.of_counts(trial.scores) if len(trial.scores) else none,
            trial.seconds,
            said.get(name, ""),
            trial.stopped,
        )
        for name, trial in trials.items()
    )
