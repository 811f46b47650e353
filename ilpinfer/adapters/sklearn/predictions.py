"""Predictions from solutions, with a policy for sequences where no labelling keeps the hard rules."""

import warnings
from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from formulations.callers import stack_level
from ilpinfer.adapters.sklearn.inputs import SequenceError
from ilpinfer.core.solution import Solution
from ilpinfer.core.status import Status

Made = TypeVar("Made")
ON_INFEASIBLE = ("raise", "relax", "none")
"""Policies where no labelling keeps the hard rules: raise an error, predict the labelling that breaks the fewest, or
predict None.
"""

NO_TOKENS = "but the trellis has none; give it tokens"
NO_TOKENS_HERE = 'but X has features only; token="word" names the feature that is the token'


class InfeasibleError(SequenceError):
    """Error for a sequence without a labelling that keeps the hard rules."""


class RelaxedNotice(UserWarning):
    """Warning about sequences whose prediction breaks hard rules, since no labelling keeps them."""


def check_on_infeasible(value: Any) -> None:
    """Raise ValueError for a value that is not in `ON_INFEASIBLE`."""
    if not isinstance(value, str) or value not in ON_INFEASIBLE:
        raise ValueError(f"on_infeasible is {value!r}; expected {', '.join(map(repr, ON_INFEASIBLE))}")


def labels_of(solutions: Sequence[Solution], on_infeasible: str) -> list[list[str] | None]:
    """Labels of N sequences.

    Parameters
    ----------
    solutions : of N sequences
    on_infeasible : "raise"; "relax" for the best labelling that breaks as few hard rules as possible, with a `RelaxedNotice`;
        "none" for None

    Raises
    ------
    InfeasibleError
        for the first sequence without a prediction.
    """
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
    """The reason why a sequence has no labelling, with a remedy."""
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
    """The elements of an iterable; its ValueErrors name the sequence, as `X[3]`.

    If rules use tokens and X has none, the message also names the parameter `token`.

    Raises
    ------
    SequenceError
        in place of other ValueErrors.
    """
    result: list[Made] = []
    try:
        for each in made:
            result.append(each)
    except SequenceError:
        raise
    except ValueError as cause:
        text = str(cause).replace(NO_TOKENS, NO_TOKENS_HERE)
        raise SequenceError(f"X[{len(result)}]: {text}") from cause
    return result


def as_array(values: Sequence[Any]) -> NDArray[np.object_]:
    """(N,) an array of objects, as scikit-learn concatenates them, with one element for each sequence whatever their lengths."""
    result = np.empty(len(values), object)
    for i, value in enumerate(values):
        result[i] = value
    return result
