"""An independent check of the claims of solutions, in integer arithmetic; it shares no code with the methods."""

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from formulations import Trellis
from formulations.arguments import number, seconds, whole
from formulations.grid import UNITS_PER_NAT, nats, snap
from formulations.messages import counted
from ilpinfer.core.certificate import KINDS, Phases
from ilpinfer.core.printing import short
from ilpinfer.core.rule_compiler import Rules, compiler_of
from ilpinfer.proof.claims import ClaimedProblem, Claims, Path, units_of
from ilpinfer.proof.meter import MAX_STEPS, OVERHEAD, RULE, CheckFailure, Meter, need
from ilpinfer.proof.phases import check_phases
from ilpinfer.proof.tree import check_tree

LONGEST = 200  # largest number of characters of an error in a message


@dataclass(frozen=True)
class Verdict:
    """The result of a check; as a truth value, whether everything is proved.

    Parameters
    ----------
    ok : bool
        Whether no claim is known to be wrong and every claim has some support: a proof that was checked or,
        if `reasons` say so, the claim of a solver or method.
    proved : bool
        Whether a proof was checked that no labelling is better, or that no labelling is feasible.
    reasons : tuple of str, optional
        Errors that were found, or reasons why nothing is proved.

    Examples
    --------
    >>> import ilpinfer
    >>> from ilpinfer import Trellis
    >>> trellis = Trellis([0.0, -1.0], [[[0.0, -1.0], [-2.0, 0.5]]], labels=["a", "b"])
    >>> ilpinfer.verify(trellis, [], ilpinfer.decode(trellis, method="beam"))
    Verdict(ok=True, proved=True, reasons=())
    """

    ok: bool
    proved: bool
    reasons: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        """Whether it is proved."""
        return self.proved

    def __str__(self) -> str:
        if not self.ok:
            said = "wrong, or without support"
        else:
            said = "proved" if self.proved else "not proved, and no claim is wrong"
        return short([said, *(f"  {reason}" for reason in self.reasons)], "reason")


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
    """Check a solution, or a list of solutions, against its trellis and rules.

    Known labels of the solution, `given`, are added to those of the trellis. Each solution of a list has its own proof: it is the best labelling except for those that its certificate excludes, which
    are other labellings with scores at least as high.

    Parameters
    ----------
    trellis : Trellis
        Scores of T tokens and K labels, nats.
    rules : Rules
        Rules and features, or a rule set. Those that are Python functions are called again, as no proof can hold them.
    solution : object
        A solution of `decode` or `decode_two_phase`, or a list of them.
    top : int, optional
        Option of a list; a list with fewer labellings than this number also needs a proof that there are no
        more. Without it, a list claims to contain the best labellings, but not all.
    within : float, optional
        Option of a list, as for `decode`.
    max_steps : int, default MAX_STEPS
        Limit on the work of checking one solution. A step is about one edge of a pass by one machine; a
        longer proof is refused before it is checked. Proofs made by this package stay below the default.
    time_limit : float, optional
        Time limit in seconds for the whole call, after which a proof is refused; None for no limit.

    Returns
    -------
    Verdict
        The verdict, which contains all errors of the solution.

    Raises
    ------
    ValueError
        For rules that do not fit the trellis, and for limits out of range.

    Examples
    --------
    >>> import ilpinfer
    >>> from ilpinfer import Trellis
    >>> trellis = Trellis([0.0, -1.0], [[[0.0, -1.0], [-2.0, 0.5]]], labels=["a", "b"])
    >>> ilpinfer.verify(trellis, [], ilpinfer.decode(trellis))
    Verdict(ok=True, proved=True, reasons=())
    """
    whole(max_steps, "max_steps", 1)
    seconds(time_limit)
    if top is not None:
        whole(top, "top", 1)
    below = None if within is None else int(snap(number(within, "within", 0), "within"))
    compiler = compiler_of(rules)
    trellis = compiler.fit(trellis)
    claim = solution[0] if isinstance(solution, list | tuple) and solution else solution
    try:
        trellis = trellis.with_given(getattr(claim, "given", None))
    except ValueError as error:
        return Verdict(False, False, (f"the known labels cannot be read: {error}",))
    compiled = compiler.compiled_again(trellis.labels)
    case, began = ClaimedProblem(trellis, compiled, compiled.problem(trellis)), time.monotonic()
    if not isinstance(solution, list | tuple):
        return _verdict(case, solution, Meter(max_steps, time_limit, began=began))
    verdicts, reasons, before = list[Verdict](), list[str](), list[Any]()
    for place, each in enumerate(solution):
        verdict = _verdict(case, each, Meter(max_steps, time_limit, began=began), tuple(before))
        reasons += [f"solution {place}: {reason}" for reason in verdict.reasons]
        if not verdict.ok:
            return Verdict(False, False, tuple(reasons))
        verdicts.append(verdict)
        before.append(case.path(each.path))
    if surplus := _surplus(solution, top, within, below):
        return Verdict(False, False, (*reasons, surplus))
    gaps = _gaps(solution, below) if top is not None and len(solution) < top else []
    if not solution:
        gaps = gaps or ["an empty list claims nothing"]
    return Verdict(True, all(verdicts) and not gaps, (*reasons, *gaps))


def _surplus(solutions: Sequence[Any], top: int | None, within: float | None, below: int | None) -> str:
    """Why a list has too many labellings; empty where it has not."""
    if top is not None and len(solutions) > top:
        return f"the list has {counted(len(solutions), 'labelling')}, but at most {top} were requested"
    for place, each in enumerate(solutions):
        if below is not None and units_of(each.score) < units_of(solutions[0].score) - below:
            return f"solution {place}: its score is more than {within} nats below the best"
    return ""


def _gaps(solutions: Sequence[Any], below: int | None) -> list[str]:
    """Why a list with fewer labellings than wanted may be incomplete."""
    if not solutions:
        return ["an empty list has no proof that there is no labelling; decode without top to get one"]
    rest, few = solutions[-1].certificate.rest, counted(len(solutions), "labelling")
    lowest = -math.inf if below is None else units_of(solutions[0].score) - below
    if rest is not None and (rest.bound == -math.inf or units_of(rest.bound) < lowest):
        return []
    return [f"it is not proved that the list of {few} is complete"]


def _verdict(
    case: ClaimedProblem,
    solution: Any,
    meter: Meter,
    before: Sequence[Path] | None = None,
) -> Verdict:
    """The verdict on one solution; `before` are the labellings before it, where it is one of several."""
    faults, unproved = list[str](), list[str]()
    try:
        claims = Claims(case, solution, case.path(solution.path))
        faults += [*claims.labelling(), *claims.status()]
        faults += claims.phases() if claims.in_two_phases else ()
        faults += claims.order(before) if before is not None else ()
        if not faults:
            faults += _baseless(solution)
        if not faults:
            unproved += _unproved(claims, meter, before)
    except CheckFailure as error:
        faults.append(str(error))
    except Exception as error:
        text = str(error)
        text = text if len(text) <= LONGEST else f"{text[:LONGEST]} …"
        faults.append(f"the solution cannot be read: {type(error).__name__}: {text}")
    return Verdict(not faults, not faults and not unproved, tuple(faults or unproved))


def _baseless(solution: Any) -> Iterator[str]:
    """Claims without a proof or a source."""
    certificate = solution.certificate
    if certificate.kind not in KINDS:
        yield f"certificate: unknown kind {certificate.kind!r}; expected one of {', '.join(KINDS)}"
    elif certificate.kind == "exact" and certificate.tree is None:
        yield f"certificate: its kind is 'exact', but it contains no proof: {certificate.source or 'no reason is given'}"
    elif certificate.kind != "exact" and not certificate.source and solution.bound < math.inf:
        yield f"status: {solution.status!r} and bound {solution.bound!r} are claimed without a proof or a source"


def _unproved(claims: Claims, meter: Meter, before: Sequence[Path] | None) -> Iterator[str]:
    """Why the solution is not proved. A wrong proof is refused."""
    case, solution, certificate = claims.case, claims.solution, claims.solution.certificate
    problem, decided = case.problem, solution.status in ("optimal", "infeasible")
    if certificate.kind != "exact":
        what = f"the status {solution.status}" if decided else "the bound"
        word = f"{what} is claimed by {certificate.source} and not proved"
        yield word if certificate.source else "no bound is claimed, and nothing is proved"
        return
    known = certificate.digest == case.digest
    need(known, f"digest: {certificate.digest!r} belongs to another trellis or to other rules")
    excluded = _excluded(claims, meter)
    among = before is None or set(excluded) <= set(before)
    need(among, "certificate: it excludes labellings that are not before this one")
    before, excluded = excluded, (*excluded, *_listed(claims, meter))
    alike = claims.in_two_phases == isinstance(certificate.tree, Phases)
    need(alike, "certificate: its proof is of another kind of inference than the solution")
    if solution.bound == math.inf:
        yield "no bound is claimed"
    elif claims.in_two_phases:
        need(
            certificate.rest is None, "certificate: two-phase inference has no proof that a list is complete"
        )
        if not decided:
            yield f"the status is {solution.status}; a certificate of two-phase inference proves only optimal labellings"
            return
        claim = None if claims.path is None else claims.phases_claim(claims.path)
        check_phases(problem, certificate.tree, claim, excluded, meter)
    else:
        bound = None if solution.bound == -math.inf else math.floor(solution.bound * UNITS_PER_NAT)
        check_tree(problem, certificate.tree, bound, excluded, meter)
        if (rest := certificate.rest) is not None:
            need(claims.path is not None, "certificate: it proves a list complete, but there is no labelling")
            assert claims.path is not None
            bound = None if rest.bound == -math.inf else units_of(rest.bound)
            for value in map(case.value, {*excluded} - {*before, claims.path}):
                left_out = value.feasible and (bound is None or value.score > bound)
                need(not left_out, "certificate: its proof of completeness leaves out a labelling")
            check_tree(problem, rest.tree, bound, (*excluded, claims.path), meter)
        if not decided:
            yield f"the bound is proved, but the status is {solution.status}, not optimal"


def _listed(claims: Claims, meter: Meter) -> tuple[Path, ...]:
    """The further labellings that the proof leaves out; none of them is better than the bound."""
    listed, bound = _read(claims, claims.solution.certificate.listed, meter), claims.solution.bound
    need(not (listed and claims.in_two_phases), "certificate: two-phase inference has no list of labellings")
    for place, value in enumerate(map(claims.case.value, listed)):
        fits = not value.feasible or nats(value.score) <= bound
        need(fits, f"certificate: labelling {place} of its list is better than the bound {bound!r}")
    return listed


def _read(claims: Claims, given: Any, meter: Meter) -> tuple[Path, ...]:
    """Label ids of labellings, checked."""
    problem = claims.case.problem
    meter.spend(len(given) * (sum(problem.shape) + 4 * OVERHEAD + RULE * len(problem.rules)))
    read = tuple(path for each in given if (path := claims.case.path(each)) is not None)
    need(len(read) == len(given), "certificate: one of its excluded or listed labellings is invalid")
    return read


def _excluded(claims: Claims, meter: Meter) -> tuple[Path, ...]:
    """The labellings that the certificate excludes: different from each other and from the solution's, none of them worse."""
    path, excluded = claims.path, _read(claims, claims.solution.certificate.excluded, meter)
    comparable = path is not None or not excluded
    need(comparable, "certificate: it excludes labellings, but there is none to compare them with")
    different = len({path, *excluded}) == 1 + len(excluded)
    need(different, "certificate: it excludes a labelling twice, or the solution's own")
    for place, each in enumerate(excluded):
        worse = path is not None and claims.rank(each) > claims.rank(path)
        need(
            not worse,
            f"certificate: it excludes labelling {place} of its list, which is worse than that of the solution",
        )
    return excluded
