"""Predictions from solutions, a policy for infeasible sequences, and F1 for scikit-learn."""

import warnings
from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from formulations.errors import stack_level
from formulations.messages import counted
from formulations.problem.problem import NoTokens
from ilpinfer.adapters.sklearn.inputs import SequenceError, rows
from ilpinfer.core.solution import Solution
from ilpinfer.core.status import Status
from ilpinfer.corpus.helper_labels import counted_labels
from ilpinfer.evaluation.alike import read_alike
from ilpinfer.evaluation.counts import f_measure
from ilpinfer.evaluation.evaluation import Pair, evaluate

Made = TypeVar("Made")
ON_INFEASIBLE = ("raise", "relax", "none")

TOKENS_HINT = 'name the feature that is the token, such as token="word"'


class InfeasibleError(SequenceError):
    """A sequence without a labelling that keeps the hard rules.

    Examples
    --------
    >>> from ilpinfer import constraints as C
    >>> from ilpinfer.adapters.sklearn import ConstrainedTagger
    >>> hmm = ConstrainedTagger([C.at_least_tokens("name", 2)], "hmm")
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
    >>> from ilpinfer import constraints as C
    >>> from ilpinfer.adapters.sklearn import ConstrainedTagger
    >>> rules = [C.at_least_tokens("name", 2)]
    >>> hmm = ConstrainedTagger(rules, "hmm", on_infeasible="relax")
    >>> hmm = hmm.fit([["Ada", "1815"]], [["name", "year"]])
    >>> with warnings.catch_warnings(record=True, action="always") as notices:
    ...     _ = hmm.predict([["Ada"]])
    >>> print(notices[0].message)
    hard rules are broken in 1 prediction, since no labelling keeps them: X[0]
    """


def check_on_infeasible(value: Any) -> None:
    if not isinstance(value, str) or value not in ON_INFEASIBLE:
        raise ValueError(f"on_infeasible is {value!r}; expected {', '.join(map(repr, ON_INFEASIBLE))}")


def labels_of(solutions: Sequence[Solution], on_infeasible: str) -> list[list[str] | None]:
    result: list[list[str] | None] = []
    relaxed, unproved = list[int](), list[int]()
    for i, solution in enumerate(solutions):
        if solution.has_labelling:
            result.append(solution.labels)
        elif on_infeasible == "none":
            result.append(None)
        else:
            why = solution.infeasibility
            instead = None if why is None else why.labels
            if on_infeasible == "raise" or instead is None:
                raise InfeasibleError(without_labelling(i, solution, on_infeasible))
            result.append(list(instead))
            relaxed.append(i)
            unproved += [i] if why is not None and "relaxation" in why.unfinished else []
    if relaxed:
        warnings.warn(_notice(relaxed, unproved), RelaxedNotice, stacklevel=stack_level())
    return result


def without_labelling(number: int, solution: Solution, on_infeasible: str) -> str:
    """The message for a sequence without a labelling: the reason and the remedies."""
    reason = f" ({solution.reason})" if solution.reason else ""
    way = 'on_infeasible="none" predicts None for it'
    if solution.status is not Status.INFEASIBLE:
        return f"X[{number}]: no labelling was found{reason}; give it more time, or {way}"
    if on_infeasible == "raise":
        way = f'on_infeasible="relax" predicts the labelling that breaks the fewest of them, {way}'
    return f"X[{number}]: no labelling keeps the hard rules{reason}; {way}"


def _notice(numbers: Sequence[int], unproved: Sequence[int]) -> str:
    more = f"; not proved to break the fewest before the time limit: {_shown(unproved)}" if unproved else ""
    predictions = counted(len(numbers), "prediction")
    return f"hard rules are broken in {predictions}, since no labelling keeps them: {_shown(numbers)}{more}"


def _shown(numbers: Sequence[int]) -> str:
    return ", ".join(f"X[{i}]" for i in numbers[:5]) + (", …" if len(numbers) > 5 else "")


def number_errors(made: Iterable[Made]) -> list[Made]:
    """Iterate; an error names the sequence, such as `X[3]`, and the parameter that provides tokens for rules."""
    result: list[Made] = []
    try:
        for each in made:
            result.append(each)
    except SequenceError:
        raise
    except ValueError as cause:
        told = NoTokens(cause.rule, TOKENS_HINT) if isinstance(cause, NoTokens) else cause
        raise SequenceError(f"X[{len(result)}]: {told}") from cause
    return result


def as_array(values: Sequence[Any]) -> NDArray[np.object_]:
    """An object array with one element for each sequence, also if all lengths are equal."""
    result = np.empty(len(values), object)
    for i, value in enumerate(values):
        result[i] = value
    return result


def span_f1(estimator: Any, X: Any, y: Any) -> float:
    """F1 of exact spans over all fields and sequences, micro-averaged: 2 TP / (2 TP + FP + FN).

    A span is a maximal run of a field, with its first and last token. `O` is no field. Gold and predicted labels
    are read as in `ilpinfer.classification_report`: predictions may be IOBES if `y` is BIO. Without
    any span the measure is 0. `GridSearchCV(..., scoring=span_f1)` takes this function. It measures any estimator of
    label sequences, also one without rules. Tokens whose gold label is in the estimator's `never`, if it has such a parameter, are not
    counted.

    Parameters
    ----------
    estimator : object
        Fitted estimator that predicts lists of label names; None counts as a prediction without spans.
    X : sequence of sequence
        N sequences, as the estimator takes them.
    y : sequence of sequence of str
        Label names of the N sequences.

    Returns
    -------
    float
        F1, from 0 to 1.

    Raises
    ------
    ValueError
        If the number of labels differs from the number of predicted labels.

    Examples
    --------
    >>> class Predicts:
    ...     def predict(self, X):
    ...         return [["B-name", "I-name", "O"]]
    >>> span_f1(Predicts(), [["Ada", "Lovelace", "1843"]], [["B-name", "I-name", "B-year"]])
    0.6666666666666666
    """
    gold = [tuple(labels) for labels in rows(y, "y", "sequences of labels")]
    predicted = [None if labels is None else tuple(labels) for labels in estimator.predict(X)]
    if len(gold) != len(predicted):
        raise ValueError(
            f"y has {counted(len(gold), 'sequence')}, and {len(predicted)} are predicted; expected as many"
        )
    for i, (one, other) in enumerate(zip(gold, predicted, strict=True)):
        if other is not None and len(one) != len(other):
            raise ValueError(
                f"y[{i}] has {counted(len(one), 'label')}, and {len(other)} are predicted; expected as many"
            )
    never = getattr(estimator, "never", ())
    _, gold, [predicted] = counted_labels(gold, [predicted], never)
    (golden, found), labels, _ = read_alike([[*gold], predicted])
    if labels is None:
        return 0.0
    tokens = [("",) * len(each) for each in gold]
    pairs = [Pair(t, p, g or ()) for t, p, g in zip(tokens, found, golden, strict=True)]
    return float(f_measure(evaluate(pairs, labels=labels).of_all("spans")))
