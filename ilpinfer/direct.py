"""Optima that compiled rules prove in one call of a kernel; all else about them is made when it is asked for."""

import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from formulations import Trellis
from formulations.grid import nats
from formulations.token_scores import TokenScores
from ilpinfer.certificate import Leaf, proof
from ilpinfer.explanation import Context
from ilpinfer.found import Found
from ilpinfer.reporting import valued
from ilpinfer.rule_compiler import RuleCompiler
from ilpinfer.solution import Solution
from ilpinfer.warming import warm

if TYPE_CHECKING:
    from ilpinfer.exact.compiled import Outcome, Tables

ContextMaker = Callable[..., Context]
"""Makes the context of solutions from a trellis and its problem."""
Answer = Solution | NDArray[np.int64] | None
"""A proved optimum; or else label ids (T,) of a labelling that other methods can begin with, or nothing."""


def direct(
    trellises: Sequence[Trellis],
    rules: RuleCompiler,
    context_of: ContextMaker,
    time_limit: float | None = None,
) -> list[Answer]:
    """What compiled rules prove about trellises with the same labels."""
    warm_up = warm("compiled")
    began = time.perf_counter()
    tables = rules.tables(trellises[0].labels)
    outcomes = tables.decode(trellises, time_limit)
    seconds = (time.perf_counter() - began) / len(trellises), warm_up
    return [
        _answer(outcome, partial(_same, trellis), tables, rules, context_of, seconds)
        for trellis, outcome in zip(trellises, outcomes, strict=True)
    ]


def direct_tokens(
    texts: Sequence[Sequence[str]],
    scores: TokenScores,
    rules: RuleCompiler,
    context_of: ContextMaker,
    time_limit: float | None = None,
) -> list[Answer]:
    """What compiled rules prove about texts, by a model's scores of single tokens."""
    warm_up = warm("compiled")
    began = time.perf_counter()
    tables = rules.token_tables(scores)
    outcomes = tables.decode_tokens(texts, time_limit)
    seconds = (time.perf_counter() - began) / len(texts), warm_up
    return [
        _answer(outcome, partial(scores.trellis, words), tables, rules, context_of, seconds)
        for words, outcome in zip(texts, outcomes, strict=True)
    ]


def _same(trellis: Trellis) -> Trellis:
    return trellis


def _answer(
    outcome: "Outcome | None",
    trellis: Callable[[], Trellis],
    tables: "Tables",
    rules: RuleCompiler,
    context_of: ContextMaker,
    seconds: tuple[float, float],
) -> Answer:
    if outcome is None:
        return None
    left = tables.folding.left
    if not outcome.proved or (left and _broken(trellis(), rules, left, outcome.path)):
        return outcome.incumbent
    if tables.rules.notices:
        tables.rules.warn()
    return Solution.lazy(_known(outcome, *seconds), partial(_rest, trellis, rules, context_of, outcome))


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
    made: Callable[[], Trellis], rules: RuleCompiler, context_of: ContextMaker, outcome: "Outcome"
) -> dict[str, Any]:
    """The other fields; a leaf that follows the machines taken up, but for those of rules that fold here, is the proof."""
    trellis = made()
    problem = rules.quietly(trellis)
    kept = set(map(id, problem.fold().rules))
    stage = tuple(part for part in outcome.taken if id(problem.rules[part[0]]) in kept)
    how = _method(outcome)
    certificate = proof(how.removeprefix("auto: "), Leaf(followed=(stage,) if stage else ()))
    found = Found(outcome.path, outcome.value, how, certificate, value=outcome.value)
    return valued(found, context_of(trellis, problem=problem))
