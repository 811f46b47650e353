"""Candidates, each fitted without every fold in turn and scored on it, and the one that is taken."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from ilpinfer.learning.measures import Measures

Candidate = TypeVar("Candidate")
Fitted = TypeVar("Fitted")
Folds = Sequence[Sequence[int]]
"""The places of the sequences of each fold; every place is in one of them."""
MARGIN = 2.0
"""Standard errors by which one candidate has to differ from another to be clearly better."""
Scores = NDArray[Any]
"""(N, …) a row for each sequence, by what was fitted without it."""


@dataclass(frozen=True, eq=False)
class Trial(Generic[Fitted]):
    """A candidate on the folds: what was fitted without each of them, and the scores of all sequences."""

    fitted: tuple[Fitted, ...]
    scores: Scores
    seconds: float


Choose = Callable[[Mapping[str, Trial[Any]]], str]
"""Names the candidate to take."""


@dataclass(frozen=True, eq=False)
class Selection(Generic[Fitted]):
    """The name of the candidate that is taken, and the trials of all."""

    chosen: str
    trials: Mapping[str, Trial[Fitted]]


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
        Reason for which it cannot be taken.

    Examples
    --------
    >>> Tried("counts", Measures(0.9, 0.8, 0.5), seconds=1.5).refused
    ''
    """

    name: str
    measures: Measures
    seconds: float
    refused: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Plain values without the time, the same in every run.

        Returns
        -------
        dict of str to object
            Name, measures and refusal.
        """
        return {"name": self.name, **self.measures._asdict(), "refused": self.refused}


def select(
    candidates: Mapping[str, Candidate],
    fit: Callable[[Candidate, Sequence[int]], Fitted],
    score: Callable[[Fitted, Sequence[int]], Scores],
    folds: Folds,
    choose: Choose,
) -> Selection[Fitted]:
    """Fit each candidate without each fold, score (n, …) the n sequences of the fold, and take one by the trials of all."""
    trials = {}
    for name, candidate in candidates.items():
        began = time.perf_counter()
        fitted, rows = list[Fitted](), list[Scores]()
        for fold in folds:
            fitted.append(fit(candidate, fold))
            rows.append(np.asarray(score(fitted[-1], fold)))
        order = np.argsort(np.concatenate([np.asarray(fold, np.int64) for fold in folds]))
        trials[name] = Trial(tuple(fitted), np.concatenate(rows)[order], time.perf_counter() - began)
    return Selection(choose(trials), trials)


def largest(value: Callable[[Scores], float]) -> Choose:
    """The first candidate of the largest value of its scores."""
    return lambda trials: max(trials, key=lambda name: value(trials[name].scores))


def tried(trials: Mapping[str, Trial[Any]], refused: Mapping[str, str] | None = None) -> tuple[Tried, ...]:
    """Trials whose scores are counts (N, 6), as records."""
    said = refused or {}
    return tuple(
        Tried(name, Measures.of_counts(trial.scores), trial.seconds, said.get(name, ""))
        for name, trial in trials.items()
    )
