"""An independent check of what solutions claim, in whole numbers; it shares no code with the methods.

A labelling is valued anew, by the compiled rules and by the plain checker; a proof is checked by `proofs`.
"""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from formulations import Feature, Rule, RuleSet, Trellis
from formulations.compiled.digest import digest
from formulations.compiled.problem import Problem, Value, compile_problem, unique_names
from formulations.constraints.reading import Reading
from formulations.grid import FORBIDDEN, UNITS_PER_NAT, nats
from ilpinfer.passes import Labelling, Rejected
from ilpinfer.proofs import check_tree, whole_numbers


@dataclass(frozen=True)
class Verdict:
    """What a check found.

    Parameters
    ----------
    ok : whether all that is claimed holds, as far as there is something to hold it against
    proved : whether a proof was checked, and shows that nothing is better, or that no labelling is possible
    reasons : what is wrong, or why nothing is proved
    """

    ok: bool
    proved: bool
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Case:
    """What solutions are held against."""

    trellis: Trellis
    rules: RuleSet | list[Rule | Feature]
    problem: Problem

    def counts(self, labels: list[str]) -> dict[str, int]:
        """Violations of each rule by the plain checker, where no earlier rule has priority."""
        declared = self.rules.fields if isinstance(self.rules, RuleSet) else ()
        reading = Reading(labels, self.trellis.tokens, self.trellis.labels.declaring(declared))
        items = dict(zip(unique_names(self.rules), self.rules, strict=True))
        found = {}
        for ground in self.problem.rules:
            rule, lost = items[ground.name], set(ground.overruled)
            assert isinstance(rule, Rule)
            count = sum(trial.amount for trial in rule.trials(reading) if not lost & set(trial.tokens[:1]))
            found[ground.name] = min(count, 1) if rule.distance == "binary" else count
        return found


def verify(trellis: Trellis, rules: Iterable[Rule | Feature], solution: Any) -> Verdict:
    """Check a solution, or the list of the best few, against the trellis and the rules that it is for.

    Raises
    ------
    ValueError
        for rules that do not fit the trellis; whatever is wrong with the solution is part of the verdict.
    """
    rules = rules if isinstance(rules, RuleSet | str | Rule | Feature) else list(rules)
    problem = compile_problem(trellis, rules)
    case = _Case(trellis, rules, problem)
    if not isinstance(solution, list | tuple):
        return _verdict(case, solution, ())
    verdicts, reasons, before = [], [], list[Any]()
    for number, each in enumerate(solution):
        verdict = _verdict(case, each, tuple(before), several=True)
        verdicts.append(verdict)
        reasons += [f"solution {number}: {reason}" for reason in verdict.reasons]
        if not verdict.ok:
            break
        before.append(_path(each.path, problem))
    ok, proved = all(v.ok for v in verdicts), bool(verdicts) and all(v.proved for v in verdicts)
    return Verdict(ok, proved, tuple(reasons) if solution else ("an empty list claims nothing",))


def _verdict(case: _Case, solution: Any, before: tuple[Labelling, ...], *, several: bool = False) -> Verdict:
    faults, unproved = list[str](), list[str]()
    try:
        path = _path(solution.path, case.problem)
        faults += _labelling_faults(case, solution, path)
        faults += _status_faults(solution)
        faults += _order_faults(case.problem, path, before) if several else ()
        if not faults:
            unproved += _unproved(case, solution, before)
    except Rejected as error:
        faults.append(str(error))
    except Exception as error:
        faults.append(f"the solution cannot be read: {type(error).__name__}: {error}")
    return Verdict(not faults, not faults and not unproved, tuple(faults or unproved))


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
    for what, (claimed, found) in claims.items():
        if claimed != found:
            yield f"{what}: {claimed!r} is claimed, and {found!r} found"


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


def _order_faults(problem: Problem, path: Labelling | None, before: tuple[Labelling, ...]) -> Iterator[str]:
    """Where one of several labellings repeats one before it, or is better."""
    if path is None:
        yield "path: one of several solutions has no labelling"
    elif path in before:
        yield f"path: it is the labelling of solution {before.index(path)} too"
    elif before:
        this, last = (problem.value(np.array(p, np.int64)).score for p in (path, before[-1]))
        if this > last:
            yield f"score: {nats(this)!r} is better than the {nats(last)!r} before it"


def _unproved(case: _Case, solution: Any, before: tuple[Labelling, ...]) -> Iterator[str]:
    """Why the bound is not proved, or shows too little; a proof that does not prove it is rejected."""
    certificate, bound = solution.certificate, solution.bound
    if certificate.kind not in ("exact", "solver", "none"):
        raise Rejected(f"certificate: no kind {certificate.kind!r}; there are exact, solver and none")
    if certificate.kind != "exact":
        yield f"the bound is the word of {certificate.source or 'nobody'}"
        return
    if certificate.tree is None:
        yield f"the certificate holds no proof to check: {certificate.source or 'it names no argument'}"
        return
    if certificate.digest != digest(case.problem, case.trellis.labels.names, case.trellis.tokens):
        raise Rejected(f"digest: {certificate.digest!r} is of another trellis or of other rules")
    if tuple(map(tuple, certificate.excluded)) != before:
        raise Rejected("certificate: what it excludes is not the labellings before this one")
    if bound == math.inf:
        yield "no bound is claimed"
        return
    claim = None if bound == -math.inf else math.floor(bound * UNITS_PER_NAT)
    check_tree(case.problem, certificate.tree, claim, before)
    if solution.status not in ("optimal", "infeasible"):
        yield f"the bound is proved, but the labelling is {solution.status} only"
