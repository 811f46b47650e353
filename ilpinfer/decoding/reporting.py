"""Results of methods as solutions. Scores are always recomputed from the labelling."""

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from operator import attrgetter
from typing import Any, TypeVar

from formulations.grid import FORBIDDEN, is_forbidden, nats
from formulations.problem.problem import Value
from ilpinfer.core.certificate import NONE, Certificate
from ilpinfer.core.deadline import Deadline
from ilpinfer.core.explanation import Context
from ilpinfer.core.result import Result
from ilpinfer.core.solution import Solution, Status

Kind = TypeVar("Kind", bound=Solution)
Fields = dict[str, Any]
"""Arguments of a solution."""

NOTHING = Value(FORBIDDEN, 0, 0, {}, True)
"""The value where there is no labelling."""


def solution_of(result: Result, context: Context, deadline: Deadline) -> Solution:
    """The solution of a result.

    If the engine has computed the value of an optimum, the other fields are computed when one of them is read.
    """
    value = result.value
    if result.path is None or value is None or result.bound > value or is_forbidden(value):
        return full_solution(Solution, result, context, deadline)
    score = nats(value)
    known = {
        **_account(result, deadline),
        "status": Status.OPTIMAL,
        "score": score,
        "bound": score,
        "path": result.path,
        "names": context.trellis.labels.names,
    }
    return Solution.lazy(partial(checked_fields, result, context), known)


def full_solution(
    kind: Callable[..., Kind],
    result: Result,
    context: Context,
    deadline: Deadline,
    status: Status | None = None,
    **own: object,
) -> Kind:
    """A solution with all fields.

    Parameters
    ----------
    kind : callable
        Class of the solution.
    status : Status, optional
        Status of a labelling, where the bound does not decide it.
    own
        Fields that the class adds.
    """
    value = NOTHING if result.path is None else context.problem.value(result.path)
    bound = max(result.bound, value.score)
    if result.path is None:
        status = Status.INFEASIBLE if result.proves_infeasibility else Status.UNKNOWN
        bound = -math.inf if result.proves_infeasibility else result.bound
    elif not value.feasible:
        status = Status.UNKNOWN
    elif status is None:
        status = Status.OPTIMAL if value.score >= bound else Status.FEASIBLE
    elif status is Status.OPTIMAL:
        bound = value.score
    return kind(
        status=status,
        score=nats(value.score),
        bound=nats_of_bound(bound),
        path=result.path,
        **_account(result, deadline),
        **_value_fields(result, context, value),
        **own,
    )


def checked_fields(result: Result, context: Context) -> Fields:
    """The fields that a lazy solution lacks; ArithmeticError if the engine's value differs from that under the rules."""
    assert result.path is not None
    value = context.problem.value(result.path)
    if value.score != result.value:
        raise ArithmeticError(
            f"the engine's value {result.value} of a labelling is not the rules' {value.score}"
        )
    return _value_fields(result, context, value)


def _account(result: Result, deadline: Deadline) -> Fields:
    """A description of how the result was found."""
    return {
        "method": result.method,
        "seconds": deadline.elapsed,
        "warm_up_seconds": deadline.warm_up,
        "improvements": result.improvements,
    }


def _value_fields(result: Result, context: Context, value: Value) -> Fields:
    """The fields that do not depend on the bound."""
    rules = () if context.known_problem is None else context.known_problem.rules
    proof = result.certificate
    open_bound = result.bound == math.inf and proof.kind != "none"
    return {
        "model_score": nats(value.model),
        "feature_score": nats(value.features),
        "penalty": nats(value.penalty) if value.feasible else math.inf,
        "violations": value.violations,
        "certificate": with_digest(NONE if open_bound else proof, context),
        "names": context.trellis.labels.names,
        "overruled": {rule.name: list(rule.overruled) for rule in rules if rule.overruled},
        "context": context,
    }


def with_digest(certificate: Certificate, context: Context) -> Certificate:
    """The certificate with the digest of the problem that it is about, where it holds a proof."""
    digest = partial(attrgetter("digest"), context)
    return certificate if certificate.tree is None else replace(certificate, make_digest=digest)


def nats_of_bound(units: float) -> float:
    """A bound in grid units as nats."""
    return units if math.isinf(units) else nats(math.floor(units))
