"""The check of solutions under rules that are functions, which is a list of labellings and a proof that no other is better."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from formulations.constraints.predicates import Predicate, cost_of
from formulations.grid import HARD, UNITS_PER_NAT, nats
from ilpinfer.proof.claims import Case, Claims, Path
from ilpinfer.proof.meter import OVERHEAD, RULE, CheckFailure, Meter
from ilpinfer.proof.tree import check_tree


def faults_of(case: Case, solution: Any, predicates: Sequence[Predicate]) -> Iterator[str]:
    """Claims about the labelling that are wrong: those of the other rules, and those of the predicates."""
    path = case.path(solution.path)
    yield from Claims(case, solution, path).status()
    if path is None:
        yield from Claims(case, solution, path).labelling()
        return
    counts = _counts(case, path, predicates)
    for name, count in counts.items():
        if solution.violations.get(name) != count:
            yield f"violations of {name!r}: {solution.violations.get(name)!r} is claimed, and {count!r} found"
    cost = cost_of(counts, predicates)
    if cost == HARD:
        yield "the labelling breaks a hard predicate"
        return
    others = {name: count for name, count in solution.violations.items() if name not in counts}
    own = {"penalty": solution.penalty - nats(cost), "score": solution.score + nats(cost)}
    yield from Claims(case, replace(solution, violations=others, **own), path).labelling()


def unproved_of(case: Case, solution: Any, predicates: Sequence[Predicate], meter: Meter) -> Iterator[str]:
    """Why nothing is proved; CheckFailure for a wrong proof."""
    certificate = solution.certificate
    if certificate.kind != "exact":
        yield f"the bound is the claim of {certificate.source or 'a method'}, and not proved"
        return
    if certificate.digest != case.digest:
        raise CheckFailure(f"digest: {certificate.digest!r} is of another trellis or of other rules")
    problem, bound = case.problem, solution.bound
    meter.spend(len(certificate.excluded) * (sum(problem.shape) + 4 * OVERHEAD + RULE * len(problem.rules)))
    listed = [path for each in certificate.excluded if (path := case.path(each)) is not None]
    for place, path in enumerate(listed):
        cost, value = cost_of(_counts(case, path, predicates), predicates), case.value(path)
        if cost != HARD and value.feasible and nats(value.score - cost) > bound:
            raise CheckFailure(
                f"certificate: labelling {place} of its list is better than the bound {bound!r}"
            )
    if certificate.rest is not None and certificate.rest.bound == -math.inf:
        check_tree(problem, certificate.rest.tree, None, tuple(listed), meter)
    else:
        claim = None if bound == -math.inf else math.floor(bound * UNITS_PER_NAT)
        check_tree(problem, certificate.tree, claim, tuple(listed), meter)
    if solution.status not in ("optimal", "infeasible"):
        yield f"the bound is proved, but the labelling is {solution.status} only"


def _counts(case: Case, path: Path, predicates: Sequence[Predicate]) -> dict[str, int]:
    names = case.trellis.labels.names
    labels = [names[k] for k in path]
    return {each.name: each.violations(labels, case.trellis.tokens) for each in predicates}
