"""Evaluation of a given labelling."""

import math
from collections.abc import Iterable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from formulations import Trellis
from formulations.arguments import number
from formulations.grid import UNITS_PER_NAT, is_forbidden
from formulations.problem.known_labels import Given
from ilpinfer.core.context import Context
from ilpinfer.core.deadline import Deadline
from ilpinfer.core.result import Result
from ilpinfer.core.rule_compiler import Rules, compiler_of
from ilpinfer.core.solution import Solution
from ilpinfer.decoding.reporting import solution_of
from ilpinfer.decoding.runner import context_of

METHOD = "given labelling"


def evaluate_labelling(
    trellis: Trellis,
    rules: Rules,
    labels: Iterable[str] | Iterable[int] | NDArray[np.integer],
    *,
    bound: float | None = None,
    given: Given | None = None,
) -> Solution:
    """The score, its parts and the violations of a given labelling, computed as for any method.

    Parameters
    ----------
    trellis, rules : Trellis or Rules
        See `decode`.
    labels : iterable of str, iterable of int or NDArray[np.integer]
        T label names or label ids.
    bound : float, optional
        Upper bound on the score of every labelling, nats, such as the bound of an exact method; None if there is
        none.
    given : mapping of int to str, int or set, optional
        Known labels by position, or sets of allowed ones; see `Trellis.with_given`. A labelling that contradicts them takes a forbidden step.

    Returns
    -------
    Solution
        A solution without a proof. Its gap is the distance to the given bound, inf without one. The status is
        "optimal" if the score meets the bound, "unknown" with score -inf if the labelling breaks a hard rule
        or takes a forbidden step, else "feasible".

    Raises
    ------
    ValueError
        For a wrong number of labels, unknown labels, and a bound below the labelling's score.

    Examples
    --------
    >>> from ilpinfer import constraints as C
    >>> trellis = Trellis([0.0, -1.0], [[[0.0, -1.0], [-2.0, 0.5]]], labels=["a", "b"])
    >>> worth = evaluate_labelling(trellis, [C.requires_present("a", "b", penalty=0.75)], ["a", "a"], bound=-0.5)
    >>> worth.score, worth.penalty, worth.gap
    (-0.75, 0.75, 0.25)
    """
    trellis = compiler_of(rules).fit(trellis).with_given(given)
    bound = None if bound is None else number(bound, "bound", more=" of nats, or None for no bound")
    deadline, path = Deadline(), trellis.ids(labels)
    context = _context(trellis, rules)
    limit = math.inf if bound is None else float(bound) * UNITS_PER_NAT
    score = context.problem.value(path).score
    if limit < score and not is_forbidden(score):
        raise ValueError(
            f"bound is {bound!r}, but the labelling has the score {score / UNITS_PER_NAT!r}; expected an upper bound"
        )
    return solution_of(Solution, Result(path, limit, METHOD), context, deadline)


def no_labelling(trellis: Trellis, rules: Rules) -> Solution:
    """The solution for a missing labelling."""
    return solution_of(Solution, Result(None, math.inf, METHOD), _context(trellis, rules), Deadline())


def _context(trellis: Trellis, rules: Rules) -> Context:
    compiler = compiler_of(rules)
    trellis = compiler.fit(trellis)
    return replace(context_of(trellis, compiler), known_problem=compiler.problem(trellis))
