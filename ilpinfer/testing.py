"""Assertions that compare the labellings of a decoder with references, whose optima are proved."""

import math
from collections.abc import Iterable

from formulations import parse_rules
from formulations.dtypes import Integers
from formulations.messages import brief, counted
from ilpinfer.core.solution import Solution
from ilpinfer.decoding.evaluation import evaluate_labelling
from ilpinfer.references.record import Reference

Labelling = Iterable[str] | Iterable[int] | None
"""T label names or label ids; None if the decoder found no feasible labelling."""
MOST_SHOWN = 12
"""Largest number of tokens in a message."""


def assert_optimal(labelling: Labelling, reference: Reference) -> None:
    """Assert that a labelling is optimal. Each of several optima is accepted, and None if no labelling is feasible.

    Parameters
    ----------
    labelling : Labelling
        T label names or ids, or None.
    reference : Reference
        The sequence with its proved optima.

    Raises
    ------
    AssertionError
        With the tokens where the labelling differs from the nearest optimum, the rules that it breaks, and
        its loss in nats.

    Examples
    --------
    >>> from ilpinfer import Trellis
    >>> from ilpinfer import references
    >>> trellis = Trellis([0.0, -1.0], [[[0.0, -1.0], [-2.0, 0.5]]], labels=["a", "b"])
    >>> assert_optimal(["a", "a"], references.make(trellis, []))
    """
    __tracebackhide__ = True
    if fault := fault_of(labelling, reference, 0.0):
        raise AssertionError(fault)


def assert_within(labelling: Labelling, reference: Reference, *, gap: float) -> None:
    """Assert that a labelling loses at most `gap` nats against the optimum. None is accepted if no labelling is feasible.

    Parameters
    ----------
    labelling : Labelling
        T label names or ids, or None.
    reference : Reference
        The sequence with its proved optima.
    gap : float
        Largest loss, nats.

    Raises
    ------
    AssertionError
        As for `assert_optimal`.
    ValueError
        For a gap that is not a number from 0.

    Examples
    --------
    >>> from ilpinfer import Trellis
    >>> from ilpinfer import references
    >>> trellis = Trellis([0.0, -1.0], [[[0.0, -1.0], [-2.0, 0.5]]], labels=["a", "b"])
    >>> assert_within(["b", "b"], references.make(trellis, []), gap=0.5)
    """
    __tracebackhide__ = True
    if isinstance(gap, bool) or not isinstance(gap, int | float) or not 0 <= gap < math.inf:
        raise ValueError(f"gap is {gap!r}; expected nats from 0")
    if fault := fault_of(labelling, reference, float(gap)):
        raise AssertionError(fault)


def fault_of(labelling: Labelling, reference: Reference, gap: float) -> str:
    """The reason why a labelling is not within `gap` nats of the optimum; empty if it is."""
    name, best = reference.name, reference.score
    if labelling is None:
        return (
            "" if best is None else f"{name}: no labelling is given, and the optimum is worth {best:.6g} nats"
        )
    labelling = list(labelling)  # type: ignore[assignment]
    if best is None:
        return f"{name}: no labelling keeps the hard rules, so that None is expected, not {brief(labelling)}"
    try:
        ids = reference.trellis.ids(labelling)
    except ValueError as error:
        return f"{name}: {error}"
    worth = evaluate_labelling(reference.trellis, parse_rules(reference.rules), ids)
    if worth.score > best:
        return f"{name}: it is worth {worth.score!r} nats, more than the optimum {best!r}: the reference is wrong; verify it"
    return "" if worth.score >= best - gap else "\n".join(_report(ids, reference, worth, best, gap))


def _report(ids: Integers, reference: Reference, worth: Solution, best: float, gap: float) -> Iterable[str]:
    """The message of a failed assertion."""
    allowed = f", where {gap:g} are allowed" if gap else ""
    loss = f"is worth {best - worth.score:.6g} nats less than the optimum {best:.6g}{allowed}"
    if worth.score == -math.inf:
        broken = any(worth.violations.values())
        loss = (
            "breaks a hard rule"
            if broken and worth.penalty == math.inf
            else "takes a step that the scores forbid"
        )
    yield f"{reference.name}: the labelling {loss}"
    nearest = min(
        reference.optima, key=lambda optimum: sum(a != b for a, b in zip(ids, optimum, strict=True))
    )
    places = [t for t, (a, b) in enumerate(zip(ids, nearest, strict=True)) if a != b]
    for t in places[:MOST_SHOWN]:
        expected, given = reference.labels[nearest[t]], reference.labels[ids[t]]
        yield f"  token {t} {brief(reference.tokens[t], 30)}: expected {expected}, got {given}"
    if len(places) > MOST_SHOWN:
        yield f"  … and {counted(len(places) - MOST_SHOWN, 'token')} more"
    optima = len(reference.optima)
    if optima > 1:
        yield f"  (nearest of {optima}{'' if reference.complete else ' listed'} optima)"
    yield from (
        f'  rule "{rule}": {counted(times, "violation")}' for rule, times in worth.violations.items() if times
    )
