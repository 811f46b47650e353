"""An independent check of the claims of solutions, in integer arithmetic; it shares no code with the methods.

A labelling is evaluated again, by the compiled rules and by the plain checker. `checker` checks the proofs.
"""

import math
import time
from dataclasses import dataclass
from typing import Any

from formulations import Trellis
from formulations.arguments import instance, number, seconds, whole
from formulations.grid import snap
from ilpinfer.core.rule_compiler import Rules, compiler_of
from ilpinfer.proof.certificates import baseless_claims, proof_gaps
from ilpinfer.proof.claims import (
    Case,
    is_two_phase,
    labelling_faults,
    order_faults,
    phase_faults,
    read_path,
    status_faults,
    units_of,
)
from ilpinfer.proof.meter import MAX_STEPS, CheckFailure, Meter

LONGEST = 200
"""Largest number of characters of an error in a message."""


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
    >>> from formulations import Trellis
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

    Each solution of a list has its own proof: it is the best labelling except for those that its certificate excludes, which
    are other labellings with scores at least as high.

    Parameters
    ----------
    trellis : Trellis
        Scores of T tokens and K labels, nats.
    rules : Rules
        Rules and features, or a rule set.
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
    >>> from formulations import Trellis
    >>> trellis = Trellis([0.0, -1.0], [[[0.0, -1.0], [-2.0, 0.5]]], labels=["a", "b"])
    >>> ilpinfer.verify(trellis, [], ilpinfer.decode(trellis))
    Verdict(ok=True, proved=True, reasons=())
    """
    _check_limits(max_steps, time_limit)
    _check_list_options(top, within)
    instance(trellis, Trellis, "trellis", "a Trellis")
    compiled = compiler_of(rules).anew(trellis.labels)
    problem = compiled.problem(trellis)
    case = Case(trellis, compiled, problem)
    began = time.monotonic()
    if not isinstance(solution, list | tuple):
        return _verdict(case, solution, Meter(max_steps, time_limit, began=began))
    verdicts, reasons, before = [], [], list[Any]()
    for place, each in enumerate(solution):
        verdict = _verdict(case, each, Meter(max_steps, time_limit, began=began), tuple(before))
        verdicts.append(verdict)
        reasons += [f"solution {place}: {reason}" for reason in verdict.reasons]
        if not verdict.ok:
            break
        before.append(read_path(each.path, problem))
    ok, proved = all(v.ok for v in verdicts), all(v.proved for v in verdicts)
    if ok and (surplus := excess(solution, top, within)):
        ok, reasons = False, [*reasons, surplus]
    elif ok and top is not None and len(solution) < top:
        reasons += (gaps := missing(solution, within))
        proved = proved and not gaps
    elif not solution:
        proved, reasons = False, ["an empty list claims nothing"]
    return Verdict(ok, ok and proved, tuple(reasons))


def _check_limits(max_steps: Any, time_limit: Any) -> None:
    whole(max_steps, "max_steps", 1)
    seconds(time_limit)


def _check_list_options(top: Any, within: Any) -> None:
    if top is not None:
        whole(top, "top", 1)
    if within is not None:
        snap(number(within, "within", 0), "within")


def excess(solutions: Any, top: int | None, within: float | None) -> str:
    """Why a list has too many labellings; empty where it has not."""
    if top is not None and len(solutions) > top:
        return f"the list has {len(solutions)} labellings, of which {top} at most were asked for"
    if within is None or not solutions:
        return ""
    lowest = units_of(solutions[0].score) - int(snap(within, "within"))
    below = next((n for n, each in enumerate(solutions) if units_of(each.score) < lowest), None)
    return "" if below is None else f"solution {below}: its score is more than {within} nats below the best"


def missing(solutions: Any, within: float | None) -> list[str]:
    """Why a list with fewer labellings than wanted may be incomplete."""
    if not solutions:
        return ["an empty list holds no proof that there is no labelling; decode without top has one"]
    rest, few = solutions[-1].certificate.rest, f"{len(solutions)} labelling" + "s" * (len(solutions) > 1)
    lowest = -math.inf if within is None else units_of(solutions[0].score) - int(snap(within, "within"))
    if rest is not None and (rest.bound == -math.inf or units_of(rest.bound) < lowest):
        return []
    return [f"that there {'are' if len(solutions) > 1 else 'is'} no more than {few} is not proved"]


def _verdict(
    case: Case, solution: Any, meter: Meter, before: tuple[tuple[int, ...], ...] | None = None
) -> Verdict:
    """The verdict on one solution; `before` are the labellings before it, where it is one of several."""
    faults, unproved = list[str](), list[str]()
    try:
        path = read_path(solution.path, case.problem)
        faults += labelling_faults(case, solution, path)
        faults += status_faults(solution)
        faults += phase_faults(case.problem, solution, path) if is_two_phase(solution) else ()
        faults += order_faults(case.problem, solution, path, before) if before is not None else ()
        if not faults:
            faults += baseless_claims(solution)
        if not faults:
            unproved += proof_gaps(case, solution, path, meter, before)
    except CheckFailure as error:
        faults.append(str(error))
    except Exception as error:
        faults.append(f"the solution cannot be read: {type(error).__name__}: {_short(error)}")
    return Verdict(not faults, not faults and not unproved, tuple(faults or unproved))


def _short(error: Exception) -> str:
    """The beginning of the error's text."""
    text = str(error)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]} …"
