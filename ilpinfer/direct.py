"""Optima that compiled rules prove in one call of a kernel; all else about them is made when it is asked for."""

import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from formulations import Trellis
from formulations.grid import nats
from ilpinfer.certificate import Leaf, proof
from ilpinfer.explanation import Context
from ilpinfer.found import Found
from ilpinfer.reporting import valued
from ilpinfer.rule_compiler import RuleCompiler
from ilpinfer.solution import Solution
from ilpinfer.warming import warm

if TYPE_CHECKING:
    from ilpinfer.exact.compiled import Outcome

ContextMaker = Callable[..., Context]
"""Makes the context of solutions from a trellis and its problem."""


def direct(
    trellises: Sequence[Trellis], rules: RuleCompiler, context_of: ContextMaker
) -> list[Solution | NDArray[np.int64] | None]:
    """The proved optimum of each trellis, or else label ids (T,) of a labelling that other methods can begin with, or None."""
    warm_up = warm("compiled")
    found: list[Solution | NDArray[np.int64] | None] = []
    began = time.perf_counter()
    compiled = rules.compiled(trellises[0].labels)
    tables = rules.tables(trellises[0].labels)
    outcomes = tables.decode(trellises)
    seconds = (time.perf_counter() - began) / len(trellises)
    left = tables.folding.left
    for trellis, outcome in zip(trellises, outcomes, strict=True):
        if outcome is None:
            found.append(None)
        elif not outcome.proved or (left and _broken(trellis, rules, left, outcome.path)):
            found.append(outcome.incumbent)
        else:
            if compiled.notices:
                compiled.warn()
            known = _known(outcome, seconds, warm_up)
            found.append(Solution.lazy(known, partial(_rest, trellis, rules, context_of, outcome)))
    return found


def _broken(trellis: Trellis, rules: RuleCompiler, left: Sequence[int], path: NDArray[np.int64]) -> bool:
    """Whether a labelling breaks a rule that the tables leave out."""
    ground = rules.quietly(trellis).rules
    return any(ground[place].violations(path) for place in left)


def _method(outcome: "Outcome") -> str:
    return f"auto: label setting over {len(outcome.taken)} machines" if outcome.taken else "auto: viterbi"


def _known(outcome: "Outcome", seconds: float, warm_up: float) -> dict[str, Any]:
    """What need not be asked for."""
    score = nats(outcome.value)
    return {
        "status": "optimal",
        "score": score,
        "bound": score,
        "path": outcome.path,
        "method": _method(outcome),
        "seconds": seconds,
        "warm_up_seconds": warm_up,
    }


def _rest(
    trellis: Trellis, rules: RuleCompiler, context_of: ContextMaker, outcome: "Outcome"
) -> dict[str, Any]:
    """The other fields; a leaf that follows the machines taken up, but for those of rules that fold here, is the proof."""
    problem = rules.quietly(trellis)
    kept = set(map(id, problem.fold().rules))
    stage = tuple(part for part in outcome.taken if id(problem.rules[part[0]]) in kept)
    how = _method(outcome)
    certificate = proof(how.removeprefix("auto: "), Leaf(followed=(stage,) if stage else ()))
    found = Found(outcome.path, outcome.value, how, certificate, value=outcome.value)
    return valued(found, context_of(trellis, problem=problem))
