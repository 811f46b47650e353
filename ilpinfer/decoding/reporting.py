"""What methods have found, as solutions: values and proofs are made when they are asked for."""

import math
from dataclasses import replace
from functools import partial
from operator import attrgetter
from typing import Any

from formulations.grid import FORBIDDEN, is_forbidden, nats
from formulations.problem.problem import Value
from ilpinfer.core.certificate import NONE, Certificate
from ilpinfer.core.deadline import Deadline
from ilpinfer.core.explanation import Context
from ilpinfer.core.result import Result
from ilpinfer.core.solution import Solution

NOTHING = Value(FORBIDDEN, 0, 0, {}, True)
"""What no labelling is worth."""


def reported(result: Result, context: Context, deadline: Deadline) -> Solution:
    """What a method has found, as a solution; what its labelling is worth is not left to the method's word.

    Of an optimum whose value the engine knows, all else is valued when it is asked for.
    """
    known: dict[str, Any] = {
        "method": result.method,
        "seconds": deadline.elapsed,
        "warm_up_seconds": deadline.warm_up,
        "improvements": result.improvements,
    }
    if result.path is None:
        status = "infeasible" if result.proves_infeasibility else "unknown"
        bound = -math.inf if result.proves_infeasibility else nats_of_bound(result.bound)
        known |= _parts(result, context, NOTHING)
        return Solution(status=status, score=-math.inf, bound=bound, **known)
    known["path"] = result.path
    if result.value is not None and result.bound <= result.value and not is_forbidden(result.value):
        score = nats(result.value)
        known |= {"status": "optimal", "score": score, "bound": score, "names": context.trellis.labels.names}
        return Solution.lazy(partial(valued, result, context), known)
    value = context.problem.value(result.path)
    bound = max(result.bound, value.score)
    status = "unknown" if not value.feasible else "optimal" if value.score >= bound else "feasible"
    known |= _parts(result, context, value)
    return Solution(status=status, score=nats(value.score), bound=nats_of_bound(bound), **known)


def valued(result: Result, context: Context) -> dict[str, Any]:
    """The fields that a lazy solution lacks; ArithmeticError where the engine's value is not what the rules say."""
    assert result.path is not None
    value = context.problem.value(result.path)
    if value.score != result.value:
        raise ArithmeticError(
            f"the engine's value {result.value} of a labelling is not the rules' {value.score}"
        )
    return _parts(result, context, value)


def _parts(result: Result, context: Context, value: Value) -> dict[str, Any]:
    return parts(value, NONE if result.bound == math.inf else result.certificate, context)


def parts(value: Value, certificate: Certificate, context: Context) -> dict[str, Any]:
    """The fields that do not depend on the bound."""
    rules = () if context.known_problem is None else context.known_problem.rules
    return {
        "model_score": nats(value.model),
        "feature_score": nats(value.features),
        "penalty": nats(value.penalty) if value.feasible else math.inf,
        "violations": value.violations,
        "certificate": stamped(certificate, context),
        "names": context.trellis.labels.names,
        "overruled": {rule.name: list(rule.overruled) for rule in rules if rule.overruled},
        "context": context,
    }


def stamped(certificate: Certificate, context: Context) -> Certificate:
    """The certificate with the digest of what it speaks about, where it holds a proof."""
    digest = partial(attrgetter("digest"), context)
    return certificate if certificate.tree is None else replace(certificate, make_digest=digest)


def nats_of_bound(units: float) -> float:
    """A bound in grid units as nats."""
    return units if math.isinf(units) else nats(math.floor(units))
