"""Verification of references, by their tables alone or also by their rules and scores."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np

from formulations import parse_rules
from formulations.errors import InferenceError
from formulations.problem.problem import Problem
from ilpinfer import checker
from ilpinfer.core.rule_compiler import RuleCompiler, compiler_of
from ilpinfer.proof.checker import check_tree, fold
from ilpinfer.proof.claims import Case
from ilpinfer.proof.meter import CheckFailure, Meter
from ilpinfer.references.certificates import tree_of
from ilpinfer.references.record import Reference
from ilpinfer.references.tables import Tables, tables_of

Depth = Literal["tables", "meaning"]
DEPTHS = ("tables", "meaning")


@dataclass(frozen=True)
class Finding:
    """The result of a check; it is true if everything is proved.

    Parameters
    ----------
    holds : bool
        Whether everything that the reference claims is proved.
    reasons : tuple of str, optional
        Errors that were found.

    Examples
    --------
    >>> from ilpinfer import references
    >>> [instance] = references.generate("plain", 1, T=5)
    >>> references.verify(references.make(instance.trellis, instance.rules))
    Finding(holds=True, reasons=())
    """

    holds: bool
    reasons: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        """Whether it holds."""
        return self.holds


def verify(reference: Reference, depth: Depth = "tables", *, max_steps: int = checker.MAX_STEPS) -> Finding:
    """Check a reference. No solver is needed.

    Parameters
    ----------
    reference : Reference
        The reference.
    depth : Depth, default "tables"
        "tables" checks the proofs against the tables of the reference, as `ilpinfer.checker` does. "meaning" also
        computes the tables from rules and scores and compares them, and compares the violations with the plain
        checker of each template.
    max_steps : int, default checker.MAX_STEPS
        Limit on the steps of the check of each proof.

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
    >>> from ilpinfer import references
    >>> [instance] = references.generate("plain", 1, T=5)
    >>> references.verify(references.make(instance.trellis, instance.rules), "meaning").holds
    True
    """
    if depth not in DEPTHS:
        raise ValueError(f"depth is {depth!r}; expected {' or '.join(DEPTHS)}")
    if not isinstance(max_steps, int) or isinstance(max_steps, bool) or max_steps < 1:
        raise ValueError(f"max_steps is {max_steps!r}; expected a whole number from 1")
    try:
        reasons = tuple(_differences(reference, max_steps)) if depth == "meaning" else ()
        if depth == "tables":
            checker.check(reference.to_dict(), max_steps)
    except (
        checker.CheckError,
        InferenceError,
        ValueError,
        RecursionError,
        MemoryError,
        OverflowError,
    ) as error:
        reasons = (str(error) or type(error).__name__,)
    return Finding(not reasons, reasons)


@lru_cache(maxsize=8)
def _compiler(text: str) -> RuleCompiler:
    """The compiled rules of a text, cached."""
    return compiler_of(parse_rules(text))


def _differences(reference: Reference, max_steps: int) -> Iterator[str]:
    """Differences between a reference and the tables, violations and proofs that follow from its rules and scores."""
    trellis = reference.trellis
    compiled = _compiler(reference.rules).compiled(trellis.labels)
    problem = compiled.problem(trellis, quiet=True)
    if compiled.digest_of(trellis) != reference.digest:
        yield f"digest: {reference.digest!r} is of another trellis or of other rules"
    tables = tables_of(problem)
    for name, values in tables.plain.items():
        if values != reference.tables.get(name):
            yield f'tables: "{name}" differ from those of the rules and scores'
            return
    case = Case(trellis, compiled, problem)
    for number, level in enumerate(reference.levels):
        for path in level.labellings:
            value = problem.value(np.array(path, np.int64))
            if level.score is None or value.score != level.score:
                yield f"level {number}: a labelling has the score {value.score}, not {level.score}"
            for name, count in case.counts(reference.named(path)).items():
                if count != value.violations[name]:
                    yield f"level {number}: the plain checker counts {count} violations of {name!r}, not {value.violations[name]}"
    if not _proved(reference, problem, tables, max_steps):
        checker.check(reference.to_dict(), max_steps)


def _proved(reference: Reference, problem: Problem, tables: Tables, max_steps: int) -> bool:
    """Whether the checker of certificates proves each level; the labellings are compared elsewhere.

    It may reject a tree that the plain checker accepts, since it reads the trees in another form.
    """
    listed, meter, folded = list[tuple[int, ...]](), Meter(max_steps), fold(problem)
    scores = [level.score for level in reference.levels]
    known = [score for score in scores if score is not None]
    if None in scores[:-1] or known != sorted({*known}, reverse=True):
        return False
    try:
        for level in reference.levels:
            listed_before = tuple(listed)
            listed += level.labellings
            whole = isinstance(level.proof["steps"], int) and level.proof["steps"] <= max_steps
            if len(set(listed)) < len(listed) or (level.score is None) != (not level.labellings) or not whole:
                return False
            tree = tree_of(problem, tables, level.proof["tree"])
            check_tree(problem, tree, level.score, listed_before, meter, folded=folded)
    except (CheckFailure, LookupError, TypeError, AttributeError, ValueError, OverflowError, RecursionError):
        return False
    return True
