"""An independent check of what solutions claim, in whole numbers; it shares no code with the methods.

A labelling is valued anew, by the compiled rules and by the plain checker; a proof is checked by `proofs`.
"""

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np

from formulations import Trellis
from formulations.grid import FORBIDDEN, UNITS_PER_NAT, nats, snap
from formulations.labels.reading import Reading
from formulations.problem.compiled_rules import CompiledRules
from formulations.problem.problem import Problem, Value
from formulations.programs.formulation import score_floor
from ilpinfer.core.certificate import Phases
from ilpinfer.core.rule_compiler import Rules, compiler_of
from ilpinfer.proof.checker import RULE, check_tree, whole_numbers
from ilpinfer.proof.meter import MAX_STEPS, OVERHEAD, Meter, Rejected
from ilpinfer.proof.phases import PhasesClaim, check_phases
from ilpinfer.proof.recursions import Labelling

KINDS = ("exact", "solver", "none")
LONGEST = 200
"""Characters of a message about what cannot be read."""


@dataclass(frozen=True)
class Verdict:
    """What a check found; true where all is proved.

    Parameters
    ----------
    ok : whether nothing that is claimed is known to be wrong, and something stands behind all of it: a proof that was
        checked, or, as `reasons` then say, the word of a solver or of a method
    proved : whether a proof was checked, and shows that nothing is better, or that no labelling is possible
    reasons : what is wrong, or why nothing is proved
    """

    ok: bool
    proved: bool
    reasons: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        """Whether it is proved."""
        return self.proved


@dataclass(frozen=True)
class _Case:
    """What solutions are held against."""

    trellis: Trellis
    compiled: CompiledRules
    problem: Problem

    def counts(self, labels: list[str]) -> dict[str, int]:
        """Violations of each rule by the plain checker, where no earlier rule has priority."""
        labels_and_fields = self.trellis.labels.with_optional_fields(self.compiled.source.fields)
        reading = Reading(labels, self.trellis.tokens, labels_and_fields)
        items = {rule.name: rule.rule for rule in self.compiled.rules}
        result = {}
        for ground in self.problem.rules:
            rule, lost = items[ground.name], set(ground.overruled)

            count = sum(trial.amount for trial in rule.trials(reading) if not lost & set(trial.tokens[:1]))
            result[ground.name] = min(count, 1) if rule.distance == "binary" else count
        return result


def verify(
    trellis: Trellis,
    rules: Rules,
    solution: Any,
    *,
    top: int | None = None,
    within: float | None = None,
    max_steps: int = MAX_STEPS,
    time_limit: float | None = None,
) -> Verdict:
    """Check a solution, or the list of the best few, against the trellis and the rules that it is for.

    One of the best few is proved by itself: to be the best but for those that its certificate excludes, each of which is
    another labelling and at least as good.

    Parameters
    ----------
    solution : of `decode` or `decode_two_phase`, or a list of them
    top, within : what a list was asked for; where it has fewer than `top`, that there are no more has to be proved too.
        Without `top`, a list claims to be the best so many, and not that it is complete
    max_steps : what the check of one solution may take, a step being about an edge of a pass read by one machine; a
        proof that would take more is refused before it does. The proofs made here stay below the default
    time_limit : seconds for the whole call, beyond which a proof is refused; None for no limit

    Raises
    ------
    ValueError
        for rules that do not fit the trellis, and for limits that make no sense; whatever is wrong with the solution is
        part of the verdict.
    """
    _check_limits(max_steps, time_limit)
    _check_asked(top, within)
    compiled = compiler_of(rules).compiled(trellis.labels)
    problem = compiled.problem(trellis)
    case = _Case(trellis, compiled, problem)
    began = time.monotonic()
    if not isinstance(solution, list | tuple):
        return _verdict(case, solution, Meter(max_steps, time_limit, began=began))
    verdicts, reasons, before = [], [], list[Any]()
    for number, each in enumerate(solution):
        verdict = _verdict(case, each, Meter(max_steps, time_limit, began=began), tuple(before))
        verdicts.append(verdict)
        reasons += [f"solution {number}: {reason}" for reason in verdict.reasons]
        if not verdict.ok:
            break
        before.append(_path(each.path, problem))
    ok, proved = all(v.ok for v in verdicts), all(v.proved for v in verdicts)
    if ok and (beyond := _beyond(solution, top, within)):
        ok, reasons = False, [*reasons, beyond]
    elif ok and top is not None and len(solution) < top:
        reasons += (missing := _incomplete(solution, within))
        proved = proved and not missing
    elif not solution:
        proved, reasons = False, ["an empty list claims nothing"]
    return Verdict(ok, ok and proved, tuple(reasons))


def _check_limits(max_steps: Any, time_limit: Any) -> None:
    if not isinstance(max_steps, Integral) or isinstance(max_steps, bool) or max_steps < 1:
        raise ValueError(f"max_steps is {max_steps!r}; expected a whole number from 1")
    if time_limit is not None and not (isinstance(time_limit, Real) and float(time_limit) > 0):
        raise ValueError(f"time_limit is {time_limit!r}; expected seconds above 0, or None for no limit")


def _check_asked(top: Any, within: Any) -> None:
    if top is not None and (not isinstance(top, Integral) or isinstance(top, bool) or top < 1):
        raise ValueError(f"top is {top!r}; expected a whole number from 1")
    if within is not None and not (isinstance(within, Real) and 0 <= float(within) < math.inf):
        raise ValueError(f"within is {within!r}; expected nats from 0")


def _beyond(solutions: Any, top: int | None, within: float | None) -> str:
    """What a list holds beyond what was asked for; empty where it holds nothing else."""
    if top is not None and len(solutions) > top:
        return f"the list has {len(solutions)} labellings, of which {top} at most were asked for"
    if within is None or not solutions:
        return ""
    lowest = _units(solutions[0].score) - int(snap(within, "within"))
    below = next((n for n, each in enumerate(solutions) if _units(each.score) < lowest), None)
    return "" if below is None else f"solution {below}: its score is more than {within} nats below the best"


def _incomplete(solutions: Any, within: float | None) -> list[str]:
    """Why a list that holds fewer labellings than were asked for may lack some."""
    if not solutions:
        return ["an empty list holds no proof that there is no labelling; decode without top has one"]
    rest, few = solutions[-1].certificate.rest, f"{len(solutions)} labelling" + "s" * (len(solutions) > 1)
    lowest = -math.inf if within is None else _units(solutions[0].score) - int(snap(within, "within"))
    if rest is not None and (rest.bound == -math.inf or _units(rest.bound) < lowest):
        return []
    return [f"that there {'are' if len(solutions) > 1 else 'is'} no more than {few} is not proved"]


def _verdict(
    case: _Case, solution: Any, meter: Meter, before: tuple[Labelling, ...] | None = None
) -> Verdict:
    """Of a solution; `before` are the labellings before it, where it is one of several."""
    faults, unproved = list[str](), list[str]()
    try:
        path = _path(solution.path, case.problem)
        faults += _labelling_faults(case, solution, path)
        faults += _status_faults(solution)
        faults += _phase_faults(case.problem, solution, path) if _two_phase(solution) else ()
        faults += _order_faults(case.problem, solution, path, before) if before is not None else ()
        if not faults:
            faults += _unfounded(solution)
        if not faults:
            unproved += _unproved(case, solution, path, meter, before)
    except Rejected as error:
        faults.append(str(error))
    except Exception as error:
        faults.append(f"the solution cannot be read: {type(error).__name__}: {_short(error)}")
    return Verdict(not faults, not faults and not unproved, tuple(faults or unproved))


def _short(error: Exception) -> str:
    """What it says, or the beginning of that."""
    text = str(error)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]} …"


def _units(nats: float) -> int:
    """Grid units of a number that must be on the grid.

    Raises
    ------
    Rejected
        where it is not.
    """
    units = nats * UNITS_PER_NAT
    if not math.isfinite(units) or units != math.floor(units):
        raise Rejected(f"{nats!r} nats is not on the score grid")
    return int(units)


def _path(path: Any, problem: Problem) -> Labelling | None:
    T, K = problem.shape
    if path is None:
        return None
    if np.shape(path) != (T,):
        raise Rejected(f"path has shape {np.shape(path)}; expected ({T},)")
    return whole_numbers(np.asarray(path).tolist(), K, "label id")


def _labelling_faults(case: _Case, solution: Any, path: Labelling | None) -> Iterator[str]:
    """Where the solution does not say what its labelling is worth."""
    value, names = Value(FORBIDDEN, 0, 0, {}, True), case.trellis.labels.names
    claims: dict[str, tuple[Any, Any]] = {}
    if path is not None:
        value, labels = case.problem.value(np.array(path, np.int64)), [names[k] for k in path]
        claims["names"] = tuple(solution.names), names
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


def _status_faults(solution: Any) -> Iterator[str]:
    """Where status, score and bound do not fit together."""
    score, bound = solution.score, solution.bound
    if not bound >= score:
        yield f"bound: {bound!r} is not at least the score {score!r}"
    if score > -math.inf:
        expected = "optimal" if bound == score else "feasible"
    else:
        expected = "infeasible" if solution.path is None and bound == -math.inf else "unknown"
    if solution.status != expected:
        yield f"status: {solution.status!r} is claimed, but score {score!r} and bound {bound!r} make it {expected!r}"


def _phase_faults(problem: Problem, solution: Any, path: Labelling | None) -> Iterator[str]:
    """Where the figures of the two phases do not fit together, or do not fit the labelling."""
    if path is None:
        return
    claim = _claim(problem, solution, path)
    floor = score_floor(claim.best, solution.tau, solution.floor_kind)
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


def _claim(problem: Problem, solution: Any, path: Labelling) -> PhasesClaim:
    value = problem.value(np.array(path, np.int64))
    floor = None if solution.floor == -math.inf else _units(solution.floor)
    return PhasesClaim(_units(solution.best_score), floor, value.model + value.features, value.penalty)


def _rank(problem: Problem, path: Labelling, solution: Any) -> tuple[int, int]:
    """The lower, the better; of two-phase solutions the cost comes first, and what is below the floor comes last."""
    value, last = problem.value(np.array(path, np.int64)), (-FORBIDDEN, -FORBIDDEN)
    if not value.feasible:
        return last
    if not _two_phase(solution):
        return -value.score, 0
    score = value.model + value.features
    return (value.penalty, -score) if nats(score) >= solution.floor else last


def _two_phase(solution: Any) -> bool:
    return hasattr(solution, "best_score")


def _order_faults(
    problem: Problem, solution: Any, path: Labelling | None, before: tuple[Labelling, ...]
) -> Iterator[str]:
    """Where one of several labellings repeats one before it, or is better."""
    if path is None:
        yield "path: one of several solutions has no labelling"
    elif path in before:
        yield f"path: it is the labelling of solution {before.index(path)} too"
    elif before:
        this, last = (_rank(problem, p, solution) for p in (path, before[-1]))
        if this < last:
            yield f"score: it is better than solution {len(before) - 1}, which is before it"


def _excluded(problem: Problem, solution: Any, path: Labelling | None, meter: Meter) -> tuple[Labelling, ...]:
    """What its certificate excludes: labellings that differ from each other and from the solution's, none of them worse."""
    given = solution.certificate.excluded
    size = sum(problem.shape) + 4 * OVERHEAD
    meter.spend(len(given) * (size + RULE * len(problem.rules)))
    result = tuple(_path(each, problem) for each in given)
    if path is None and result:
        raise Rejected("certificate: it excludes labellings, but there is none to compare them with")
    if len({path, *result}) != 1 + len(result) or None in result:
        raise Rejected("certificate: it excludes a labelling twice, or the solution's own")
    excluded = tuple(each for each in result if each is not None)
    for number, each in enumerate(excluded):
        if path is not None and _rank(problem, each, solution) > _rank(problem, path, solution):
            raise Rejected(
                f"certificate: labelling {number} of those it excludes is worse than the solution's"
            )
    return excluded


def _unfounded(solution: Any) -> Iterator[str]:
    """What is claimed with nothing behind it."""
    certificate = solution.certificate
    if certificate.kind not in KINDS:
        yield f"certificate: no kind {certificate.kind!r}; there are {', '.join(KINDS)}"
    elif certificate.kind == "exact" and certificate.tree is None:
        yield f"certificate: it is of kind 'exact', but holds no proof: {certificate.source or 'it names no argument'}"
    elif certificate.kind != "exact" and not certificate.source and solution.bound < math.inf:
        yield f"status: {solution.status!r} and bound {solution.bound!r} are claimed, but nothing stands behind them"


def _unproved(
    case: _Case, solution: Any, path: Labelling | None, meter: Meter, before: tuple[Labelling, ...] | None
) -> Iterator[str]:
    """Why the bound is not proved, or shows too little; a proof that does not prove it is rejected."""
    certificate, bound, problem = solution.certificate, solution.bound, case.problem
    if certificate.kind != "exact":
        yield _word(certificate, solution)
        return
    if certificate.digest != case.compiled.stamp(case.trellis):
        raise Rejected(f"digest: {certificate.digest!r} is of another trellis or of other rules")
    excluded = _excluded(problem, solution, path, meter)
    if before is not None and not set(excluded) <= set(before):
        raise Rejected("certificate: it excludes labellings that are not before this one")
    if _two_phase(solution) != isinstance(certificate.tree, Phases):
        raise Rejected("certificate: its proof is of another kind of inference than the solution")
    if bound == math.inf:
        yield "no bound is claimed"
        return
    if _two_phase(solution):
        yield from _open_phases(problem, solution, path, excluded, meter)
        return
    claim = None if bound == -math.inf else math.floor(bound * UNITS_PER_NAT)
    check_tree(problem, certificate.tree, claim, excluded, meter)
    if certificate.rest is not None:
        _check_rest(problem, certificate.rest, path, excluded, meter)
    if solution.status not in ("optimal", "infeasible"):
        yield f"the bound is proved, but the labelling is {solution.status} only"


def _word(certificate: Any, solution: Any) -> str:
    if not certificate.source:
        return "no bound is claimed, and nothing is proved"
    what = f"that it is {solution.status}" if solution.status in ("optimal", "infeasible") else "the bound"
    return f"{what} is the word of {certificate.source}, and not proved"


def _check_rest(
    problem: Problem, rest: Any, path: Labelling | None, excluded: tuple[Labelling, ...], meter: Meter
) -> None:
    """Check that nothing is left beside a list of labellings, or nothing that is worth more than a bound."""
    if path is None:
        raise Rejected("certificate: it says what is left beside a labelling, but there is none")
    claim = None if rest.bound == -math.inf else _units(rest.bound)
    check_tree(problem, rest.tree, claim, (*excluded, path), meter)


def _open_phases(
    problem: Problem, solution: Any, path: Labelling | None, excluded: tuple[Labelling, ...], meter: Meter
) -> Iterator[str]:
    """Why the two phases are not proved."""
    if solution.certificate.rest is not None:
        raise Rejected("certificate: what is left beside a list has no proof for two-phase inference")
    if solution.status not in ("optimal", "infeasible"):
        yield f"the labelling is {solution.status} only, which two phases prove nothing of"
        return
    claim = None if path is None else _claim(problem, solution, path)
    check_phases(problem, solution.certificate.tree, claim, excluded, meter)
