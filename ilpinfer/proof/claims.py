"""Checks of the claims about a labelling, by the compiled rules and by the plain checker."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from formulations import Trellis
from formulations.grid import FORBIDDEN, HARD, UNITS_PER_NAT, nats
from formulations.labels.reading import Reading
from formulations.problem.compiled_rules import CompiledRules
from formulations.problem.problem import Problem, Value
from formulations.programs.formulation import score_floor
from ilpinfer.proof.meter import CheckFailure, whole_numbers
from ilpinfer.proof.phases import PhasesClaim


@dataclass(frozen=True)
class Case:
    """Trellis, rules and problem of a check."""

    trellis: Trellis
    compiled: CompiledRules
    problem: Problem

    def counts(self, labels: list[str]) -> dict[str, int]:
        """Violations of each rule by the plain checker, where no earlier rule has priority."""
        declaring = self.trellis.labels.with_optional_fields(self.compiled.rule_set.fields)
        reading = Reading(labels, self.trellis.tokens, declaring)
        items = {rule.name: rule.rule for rule in self.compiled.rules}
        result = {}
        for ground in self.problem.rules:
            rule, lost = items[ground.name], set(ground.overruled)

            count = sum(trial.amount for trial in rule.trials(reading) if not lost & set(trial.tokens[:1]))
            result[ground.name] = min(count, 1) if rule.distance == "binary" else count
        return result


def units_of(nats: float) -> int:
    """Grid units of a number that must be on the grid.

    Raises
    ------
    CheckFailure
        Where it is not.
    """
    units = nats * UNITS_PER_NAT
    if not math.isfinite(units) or units != math.floor(units):
        raise CheckFailure(f"{nats!r} nats is not on the score grid")
    return int(units)


def read_path(path: Any, problem: Problem) -> tuple[int, ...] | None:
    T, K = problem.shape
    if path is None:
        return None
    if np.shape(path) != (T,):
        raise CheckFailure(f"path has shape {np.shape(path)}; expected ({T},)")
    return whole_numbers(np.asarray(path).tolist(), K, "label id")


def labelling_faults(case: Case, solution: Any, path: tuple[int, ...] | None) -> Iterator[str]:
    """Wrong claims about scores and violations of the labelling."""
    value, names = Value(FORBIDDEN, 0, 0, {}, True), case.trellis.labels.names
    claims: dict[str, tuple[Any, Any]] = {}
    if path is not None:
        value, labels = case.problem.value(np.array(path, np.int64)), [names[k] for k in path]
        known = tuple(solution.names)  # empty for solutions from files without these keys
        claims["names"] = known, tuple(name and right for name, right in zip(known, names, strict=False))
        claims["labels"] = list(solution.labels), labels
        claims["ids"] = tuple(solution.ids), path
        for name, count in case.counts(labels).items():
            if count != value.violations[name]:
                yield f"the plain checker and the compiled form disagree on {name!r}: {count}, {value.violations[name]}"
    claims["model_score"] = solution.model_score, nats(value.model)
    claims["feature_score"] = solution.feature_score, nats(value.features)
    claims["penalty"] = solution.penalty, nats(value.penalty) if value.feasible else math.inf
    claims["score"] = solution.score, nats(value.score)
    for name in {**value.violations, **solution.violations}:
        claims[f"violations of {name!r}"] = solution.violations.get(name), value.violations.get(name)
    for what, (claimed, result) in claims.items():
        if claimed != result:
            yield f"{what}: {claimed!r} is claimed, and {result!r} found"


def status_faults(solution: Any) -> Iterator[str]:
    """Contradictions between status, score and bound."""
    score, bound = solution.score, solution.bound
    if not bound >= score:
        yield f"bound: {bound!r} is not at least the score {score!r}"
    if score > -math.inf:
        expected = "optimal" if bound == score else "feasible"
    else:
        expected = "infeasible" if solution.path is None and bound == -math.inf else "unknown"
    if solution.status != expected:
        yield f"status: {solution.status!r} is claimed, but score {score!r} and bound {bound!r} make it {expected!r}"


def phase_faults(problem: Problem, solution: Any, path: tuple[int, ...] | None) -> Iterator[str]:
    """Contradictions between the figures of the two phases and the labelling."""
    if path is None:
        return
    claim = phases_claim(problem, solution, path)
    given = solution.floor_kind == "score"
    floor = claim.floor if given else score_floor(claim.best, solution.tau, solution.floor_kind)
    if claim.floor != floor:
        result = -math.inf if floor is None else nats(floor)
        yield f"floor: {solution.floor!r} is claimed, and {result!r} found"
    if solution.status == "optimal" and claim.score > claim.best:
        yield f"best_score: the labelling scores {nats(claim.score)!r}, more than the {solution.best_score!r} claimed"
    if claim.floor is not None and claim.score < claim.floor:
        yield f"floor: the labelling scores {nats(claim.score)!r}, less than the floor {solution.floor!r}"
    cost_bound, cost = solution.cost_bound, nats(claim.cost)
    if not 0 <= cost_bound <= cost:
        yield f"cost_bound: {cost_bound!r} is not from 0 to the penalty {cost!r}"
    if solution.status == "optimal" and cost_bound != cost:
        yield f"cost_bound: {cost_bound!r} is claimed with status 'optimal', where it is the penalty {cost!r}"


def phases_claim(problem: Problem, solution: Any, path: tuple[int, ...]) -> PhasesClaim:
    value = problem.value(np.array(path, np.int64))
    floor = None if solution.floor == -math.inf else units_of(solution.floor)
    return PhasesClaim(units_of(solution.best_score), floor, value.model + value.features, value.penalty)


def rank(problem: Problem, path: tuple[int, ...], solution: Any) -> tuple[int, int]:
    """Rank of a labelling, lower for better ones. In two phases, cost comes first, and labellings below the floor come last."""
    value, last = problem.value(np.array(path, np.int64)), (HARD, HARD)
    if not value.feasible:
        return last
    if not is_two_phase(solution):
        return -value.score, 0
    score = value.model + value.features
    return (value.penalty, -score) if nats(score) >= solution.floor else last


def is_two_phase(solution: Any) -> bool:
    return hasattr(solution, "best_score")


def order_faults(
    problem: Problem, solution: Any, path: tuple[int, ...] | None, before: tuple[tuple[int, ...], ...]
) -> Iterator[str]:
    """Repetitions and wrong order of one of several labellings."""
    if path is None:
        yield "path: one of several solutions has no labelling"
    elif path in before:
        yield f"path: it is the labelling of solution {before.index(path)} too"
    elif before:
        this, last = (rank(problem, p, solution) for p in (path, before[-1]))
        if this < last:
            yield f"score: it is better than solution {len(before) - 1}, which is before it"
