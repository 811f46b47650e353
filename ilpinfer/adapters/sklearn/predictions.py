"""Predictions from solutions, with a policy for sequences where no labelling keeps the hard rules."""

import warnings
from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from formulations.errors import stack_level
from formulations.problem.missing_tokens import NoTokens
from ilpinfer.adapters.sklearn.inputs import SequenceError
from ilpinfer.core.solution import Solution
from ilpinfer.core.status import Status

Made = TypeVar("Made")
ON_INFEASIBLE = ("raise", "relax", "none")

WITH_TOKENS = 'name the feature that is the token, such as token="word"'


class InfeasibleError(SequenceError):
    """A sequence without a labelling that keeps the hard rules.

    Examples
    --------
    >>> from formulations import constraints as C
    >>> from ilpinfer.adapters.sklearn import ConstrainedHMM
    >>> hmm = ConstrainedHMM([C.at_least_tokens("name", 2)])
    >>> try:
    ...     hmm.fit([["Ada", "1815"]], [["name", "year"]]).predict([["Ada"]])
    ... except InfeasibleError as error:
    ...     print(str(error).partition(" (")[0])
    X[0]: no labelling keeps the hard rules
    """


class RelaxedNotice(UserWarning):
    """A warning that names sequences whose predictions break hard rules, since no labelling keeps them.

    Examples
    --------
    >>> import warnings
    >>> from formulations import constraints as C
    >>> from ilpinfer.adapters.sklearn import ConstrainedHMM
    >>> rules = [C.at_least_tokens("name", 2)]
    >>> hmm = ConstrainedHMM(rules, on_infeasible="relax").fit([["Ada", "1815"]], [["name", "year"]])
    >>> with warnings.catch_warnings(record=True, action="always") as notices:
    ...     _ = hmm.predict([["Ada"]])
    >>> print(notices[0].message)
    hard rules are broken in 1 predictions, since no labelling keeps them: X[0]
    """


def check_on_infeasible(value: Any) -> None:
    if not isinstance(value, str) or value not in ON_INFEASIBLE:
        raise ValueError(f"on_infeasible is {value!r}; expected {', '.join(map(repr, ON_INFEASIBLE))}")


def labels_of(solutions: Sequence[Solution], on_infeasible: str) -> list[list[str] | None]:
    """Labels of N sequences."""
    result: list[list[str] | None] = []
    relaxed = []
    for i, solution in enumerate(solutions):
        if solution.has_labelling:
            result.append(solution.labels)
        elif on_infeasible == "none":
            result.append(None)
        else:
            instead = None if solution.infeasibility is None else solution.infeasibility.labels
            if on_infeasible == "raise" or instead is None:
                raise InfeasibleError(without_labelling(i, solution, on_infeasible))
            result.append(list(instead))
            relaxed.append(i)
    if relaxed:
        warnings.warn(_notice(relaxed), RelaxedNotice, stacklevel=stack_level())
    return result


def without_labelling(number: int, solution: Solution, on_infeasible: str) -> str:
    """The message for a sequence that has no labelling, with the reason and the ways out."""
    reason = f" ({solution.reason})" if solution.reason else ""
    way = 'on_infeasible="none" predicts None for it'
    if solution.status is not Status.INFEASIBLE:
        return f"X[{number}]: no labelling was found{reason}; give it more time, or {way}"
    if on_infeasible == "raise":
        way = f'on_infeasible="relax" predicts the labelling that breaks the fewest of them, {way}'
    return f"X[{number}]: no labelling keeps the hard rules{reason}; {way}"


def _notice(numbers: Sequence[int]) -> str:
    shown = ", ".join(f"X[{i}]" for i in numbers[:5]) + (", …" if len(numbers) > 5 else "")
    return f"hard rules are broken in {len(numbers)} predictions, since no labelling keeps them: {shown}"


def numbered(made: Iterable[Made]) -> list[Made]:
    """The elements of an iterable; an error names the sequence, as `X[3]`, and the parameter that gives tokens to rules."""
    result: list[Made] = []
    try:
        for each in made:
            result.append(each)
    except SequenceError:
        raise
    except ValueError as cause:
        told = NoTokens(cause.rule, WITH_TOKENS) if isinstance(cause, NoTokens) else cause
        raise SequenceError(f"X[{len(result)}]: {told}") from cause
    return result


def as_array(values: Sequence[Any]) -> NDArray[np.object_]:
    """An array of objects with one element for each sequence whatever their lengths."""
    result = np.empty(len(values), object)
    for i, value in enumerate(values):
        result[i] = value
    return result
