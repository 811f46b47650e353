"""Verification of references: of their tables, or also of their rules and scores."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np

from formulations import parse_rules
from formulations.arguments import whole
from formulations.errors import InferenceError
from ilpinfer import checker
from ilpinfer.core.rule_compiler import RuleCompiler, compiler_of
from ilpinfer.errors import describe
from ilpinfer.proof.claims import ClaimedProblem
from ilpinfer.references.form import check_form
from ilpinfer.references.record import Reference
from ilpinfer.references.tables import tables_of

Depth = Literal["tables", "meaning"]
DEPTHS = ("tables", "meaning")


@dataclass(frozen=True)
class Finding:
    """The result of a check; true if everything is proved.

    Parameters
    ----------
    holds : bool
        Whether everything that the reference claims is proved.
    reasons : tuple of str, optional
        Errors that were found.

    Examples
    --------
    >>> from ilpinfer import Trellis
    >>> from ilpinfer import references
    >>> reference = references.make(Trellis([0.0, -1.0], [], labels=["a", "b"]), [])
    >>> references.verify(reference)
    Finding(holds=True, reasons=())
    """

    holds: bool
    reasons: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return self.holds


def verify(reference: Reference, depth: Depth = "tables", *, max_steps: int = checker.MAX_STEPS) -> Finding:
    """Check a reference. No solver is needed.

    Parameters
    ----------
    reference : Reference
        The reference.
    depth : Depth, default "tables"
        "tables" checks form, proofs and tables of the reference as `ilpinfer.checker` does. "meaning" also
        computes the tables from rules and scores and compares them, and compares the violations with the plain
        checker of each template.
    max_steps : int, default checker.MAX_STEPS
        Limit on the steps of the check of the proofs.

    Returns
    -------
    Finding
        The result, with the errors that were found.

    Raises
    ------
    ValueError
        For another depth, and a number of steps out of range.

    Examples
    --------
    >>> from ilpinfer import Trellis
    >>> from ilpinfer import references
    >>> reference = references.make(Trellis([0.0, -1.0], [], labels=["a", "b"]), [])
    >>> references.verify(reference, "meaning").holds
    True
    """
    if depth not in DEPTHS:
        raise ValueError(f"depth is {depth!r}; expected {' or '.join(DEPTHS)}")
    whole(max_steps, "max_steps", 1)
    record = reference.to_dict()
    try:
        check_form(record)
    except ValueError as error:
        return Finding(False, (str(error),))
    reasons = []
    try:
        checker.check(record, max_steps)
    except checker.CheckError as fault:
        reasons.append(str(fault))
    try:
        if depth == "meaning":
            reasons.extend(_differences(reference))
    except (InferenceError, ValueError, RecursionError, MemoryError, OverflowError) as error:
        reasons.append(describe(error))
    return Finding(not reasons, tuple(reasons))


@lru_cache(maxsize=8)
def _compiler(text: str) -> RuleCompiler:
    return compiler_of(parse_rules(text))


def _differences(reference: Reference) -> Iterator[str]:
    """Differences between a reference and the tables and violations computed from its rules and scores."""
    trellis = reference.trellis
    compiled = _compiler(reference.rules).compiled(trellis.labels)
    problem = compiled.problem(trellis, quiet=True)
    if compiled.digest_of(trellis) != reference.digest:
        yield f"digest: {reference.digest!r} belongs to another trellis or to other rules"
    tables = tables_of(problem)
    for name, values in tables.plain.items():
        if values != reference.tables.get(name):
            yield f'tables: "{name}" differ from those of the rules and scores'
            return
    case = ClaimedProblem(trellis, compiled, problem)
    for number, level in enumerate(reference.levels):
        for path in level.labellings:
            value = problem.value(np.array(path, np.int64))
            if level.score is None or value.score != level.score:
                yield f"level {number}: a labelling has the score {value.score}, not {level.score}"
            for name, count in case.counts(reference.named(path)).items():
                if count != value.violations[name]:
                    yield f"level {number}: the plain checker counts {count} violations of {name!r}, not {value.violations[name]}"
