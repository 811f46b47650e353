"""The claims of a solution about its labelling, which is evaluated again by the compiled rules and by the plain checker."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from formulations import Trellis
from formulations.arguments import whole
from formulations.grid import FORBIDDEN, HARD, UNITS_PER_NAT, nats
from formulations.labels.reading import Reading
from formulations.problem.compiled_rules import CompiledRules
from formulations.problem.problem import Problem, Value
from formulations.programs.formulation import score_floor
from ilpinfer.proof.meter import need
from ilpinfer.proof.phases import PhasesClaim

Path = tuple[int, ...]  # label ids (T,)


@dataclass(frozen=True)
class ClaimedProblem:
    trellis: Trellis
    compiled: CompiledRules
    problem: Problem

    @cached_property
    def digest(self) -> str:
        """The digest that certificates of this trellis and these rules carry."""
        return self.compiled.digest_of(self.trellis)

    def path(self, given: Any) -> Path | None:
        """The label ids of a labelling, checked."""
        T, K = self.problem.shape
        if given is None:
            return None
        need(np.shape(given) == (T,), f"path has shape {np.shape(given)}; expected ({T},)")
        return tuple(whole(label, "path: a label id", 0, K - 1) for label in np.asarray(given).tolist())

    def value(self, path: Path) -> Value:
        return self.problem.value(np.array(path, np.int64))

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
    """Grid units of a number that must be on the grid."""
    units = nats * UNITS_PER_NAT
    on_grid = math.isfinite(units) and units == math.floor(units)
    need(on_grid, f"{nats!r} nats is not on the score grid")
    return int(units)


@dataclass(frozen=True)
class Claims:
    """A solution and its labelling. Each of the checks yields the claims that are wrong."""

    case: ClaimedProblem
    solution: Any
    path: Path | None

    @property
    def in_two_phases(self) -> bool:
        return hasattr(self.solution, "best_score")

    def labelling(self) -> Iterator[str]:
        """Scores, violations and names."""
        value, names, solution = (
            Value(FORBIDDEN, 0, 0, {}, True),
            self.case.trellis.labels.names,
            self.solution,
        )
        claims: dict[str, tuple[Any, Any]] = {"given": (dict(solution.given), self.case.trellis.given)}
        if self.path is not None:
            value, labels = self.case.value(self.path), [names[k] for k in self.path]
            known = tuple(solution.names)  # empty for solutions from files without these keys
            claims["names"] = known, tuple(name and right for name, right in zip(known, names, strict=False))
            claims["labels"] = list(solution.labels), labels
            claims["ids"] = tuple(solution.ids), self.path
            for name, count in self.case.counts(labels).items():
                if count != value.violations[name]:
                    yield f"the plain checker and the compiled form disagree on {name!r}: {count}, {value.violations[name]}"
        claims["model_score"] = solution.model_score, nats(value.model)
        claims["feature_score"] = solution.feature_score, nats(value.features)
        claims["penalty"] = solution.penalty, nats(value.penalty) if value.feasible else math.inf
        claims["score"] = solution.score, nats(value.score)
        for name in {**value.violations, **solution.violations}:
            if name not in value.violations:
                yield f"violations of {name!r}: there is no such rule"
            elif name not in solution.violations:
                yield f"violations of {name!r}: none are claimed"
            else:
                claims[f"violations of {name!r}"] = solution.violations[name], value.violations[name]
        for what, (claimed, result) in claims.items():
            if claimed != result:
                yield f"{what}: {claimed!r} is claimed, but {result!r} was found"

    def status(self) -> Iterator[str]:
        """Status, score and bound, which follow from each other."""
        score, bound = self.solution.score, self.solution.bound
        if not bound >= score:
            yield f"bound: {bound!r} is below the score {score!r}"
        if score > -math.inf:
            expected = "optimal" if bound == score else "feasible"
        else:
            expected = "infeasible" if self.solution.path is None and bound == -math.inf else "unknown"
        if self.solution.status != expected:
            yield f"status: {str(self.solution.status)!r} is claimed, but with score {score!r} and bound {bound!r} it is {expected!r}"

    def phases(self) -> Iterator[str]:
        """The figures of both phases."""
        if self.path is None:
            return
        claim, solution = self.phases_claim(self.path), self.solution
        optimal, cost_bound, cost = solution.status == "optimal", solution.cost_bound, nats(claim.cost)
        given = solution.floor_kind == "score"
        floor = claim.floor if given else score_floor(claim.best, solution.tau, solution.floor_kind)
        if claim.floor != floor:
            result = -math.inf if floor is None else nats(floor)
            yield f"floor: {solution.floor!r} is claimed, but {result!r} was found"
        if optimal and claim.score > claim.best:
            yield f"best_score: the labelling scores {nats(claim.score)!r}, more than the claimed {solution.best_score!r}"
        if claim.floor is not None and claim.score < claim.floor:
            yield f"floor: the labelling scores {nats(claim.score)!r}, less than the floor {solution.floor!r}"
        if not 0 <= cost_bound <= cost:
            yield f"cost_bound: {cost_bound!r} is not from 0 to the penalty {cost!r}"
        if optimal and cost_bound != cost:
            yield f"cost_bound: {cost_bound!r} is claimed, but with status 'optimal' it has to be the penalty {cost!r}"

    def phases_claim(self, path: Path) -> PhasesClaim:
        value, solution = self.case.value(path), self.solution
        floor = None if solution.floor == -math.inf else units_of(solution.floor)
        return PhasesClaim(units_of(solution.best_score), floor, value.model + value.features, value.penalty)

    def order(self, before: Sequence[Path]) -> Iterator[str]:
        """The place of one of several labellings."""
        if self.path is None:
            yield "path: one of several solutions has no labelling"
        elif self.path in before:
            yield f"path: solution {before.index(self.path)} has the same labelling"
        elif before and self.rank(self.path) < self.rank(before[-1]):
            yield f"score: it is better than the score of solution {len(before) - 1}, which is listed before it"

    def rank(self, path: Path) -> tuple[int, int]:
        """Lower for better labellings. In two phases, cost comes first, and labellings below the floor come last."""
        value, last = self.case.value(path), (HARD, HARD)
        if not value.feasible:
            return last
        if not self.in_two_phases:
            return -value.score, 0
        score = value.model + value.features
        return (value.penalty, -score) if nats(score) >= self.solution.floor else last
