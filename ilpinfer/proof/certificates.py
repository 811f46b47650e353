"""The check whether a certificate proves the claims of its solution."""

import math
from collections.abc import Iterator
from typing import Any

from formulations.grid import UNITS_PER_NAT
from formulations.problem.problem import Problem
from ilpinfer.core.certificate import KINDS, Phases
from ilpinfer.proof.checker import check_tree
from ilpinfer.proof.claims import Case, is_two_phase, phases_claim, rank, read_path, units_of
from ilpinfer.proof.meter import OVERHEAD, RULE, CheckFailure, Meter
from ilpinfer.proof.phases import check_phases


def baseless_claims(solution: Any) -> Iterator[str]:
    """Claims without a proof or a source."""
    certificate = solution.certificate
    if certificate.kind not in KINDS:
        yield f"certificate: no kind {certificate.kind!r}; there are {', '.join(KINDS)}"
    elif certificate.kind == "exact" and certificate.tree is None:
        yield f"certificate: it is of kind 'exact', but holds no proof: {certificate.source or 'it names no argument'}"
    elif certificate.kind != "exact" and not certificate.source and solution.bound < math.inf:
        yield f"status: {solution.status!r} and bound {solution.bound!r} are claimed, but without any proof or source"


def proof_gaps(
    case: Case,
    solution: Any,
    path: tuple[int, ...] | None,
    meter: Meter,
    before: tuple[tuple[int, ...], ...] | None,
) -> Iterator[str]:
    """Why the solution is not proved. A wrong proof is rejected."""
    certificate, bound, problem = solution.certificate, solution.bound, case.problem
    if certificate.kind != "exact":
        yield _word(certificate, solution)
        return
    if certificate.digest != case.compiled.digest_of(case.trellis):
        raise CheckFailure(f"digest: {certificate.digest!r} is of another trellis or of other rules")
    excluded = _excluded(problem, solution, path, meter)
    if before is not None and not set(excluded) <= set(before):
        raise CheckFailure("certificate: it excludes labellings that are not before this one")
    if is_two_phase(solution) != isinstance(certificate.tree, Phases):
        raise CheckFailure("certificate: its proof is of another kind of inference than the solution")
    if bound == math.inf:
        yield "no bound is claimed"
        return
    if is_two_phase(solution):
        yield from _open_phases(problem, solution, path, excluded, meter)
        return
    claim = None if bound == -math.inf else math.floor(bound * UNITS_PER_NAT)
    check_tree(problem, certificate.tree, claim, excluded, meter)
    if certificate.rest is not None:
        _check_rest(problem, certificate.rest, path, excluded, meter)
    if solution.status not in ("optimal", "infeasible"):
        yield f"the bound is proved, but the labelling is {solution.status} only"


def _excluded(
    problem: Problem, solution: Any, path: tuple[int, ...] | None, meter: Meter
) -> tuple[tuple[int, ...], ...]:
    """The labellings that the certificate excludes: different from each other and from the solution's, none of them worse."""
    given = solution.certificate.excluded
    size = sum(problem.shape) + 4 * OVERHEAD
    meter.spend(len(given) * (size + RULE * len(problem.rules)))
    result = tuple(read_path(each, problem) for each in given)
    if path is None and result:
        raise CheckFailure("certificate: it excludes labellings, but there is none to compare them with")
    if len({path, *result}) != 1 + len(result) or None in result:
        raise CheckFailure("certificate: it excludes a labelling twice, or the solution's own")
    excluded = tuple(each for each in result if each is not None)
    for number, each in enumerate(excluded):
        if path is not None and rank(problem, each, solution) > rank(problem, path, solution):
            raise CheckFailure(
                f"certificate: labelling {number} of those it excludes is worse than the solution's"
            )
    return excluded


def _word(certificate: Any, solution: Any) -> str:
    if not certificate.source:
        return "no bound is claimed, and nothing is proved"
    what = f"that it is {solution.status}" if solution.status in ("optimal", "infeasible") else "the bound"
    return f"{what} is the claim of {certificate.source}, and not proved"


def _check_rest(
    problem: Problem,
    rest: Any,
    path: tuple[int, ...] | None,
    excluded: tuple[tuple[int, ...], ...],
    meter: Meter,
) -> None:
    """Check that nothing is left beside a list of labellings, or nothing that is worth more than a bound."""
    if path is None:
        raise CheckFailure("certificate: it has a proof of completeness, but there is no labelling")
    claim = None if rest.bound == -math.inf else units_of(rest.bound)
    check_tree(problem, rest.tree, claim, (*excluded, path), meter)


def _open_phases(
    problem: Problem,
    solution: Any,
    path: tuple[int, ...] | None,
    excluded: tuple[tuple[int, ...], ...],
    meter: Meter,
) -> Iterator[str]:
    """Why the two phases are not proved."""
    if solution.certificate.rest is not None:
        raise CheckFailure("certificate: two-phase inference has no proof that a list is complete")
    if solution.status not in ("optimal", "infeasible"):
        yield f"the labelling is {solution.status} only, which two phases prove nothing of"
        return
    claim = None if path is None else phases_claim(problem, solution, path)
    check_phases(problem, solution.certificate.tree, claim, excluded, meter)
