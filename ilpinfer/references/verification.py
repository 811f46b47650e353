"""Whether references hold: by their tables alone, or also by what their rules and scores mean."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np

from formulations import RuleSet, parse_rules
from formulations.errors import InferenceError
from ilpinfer import checker
from ilpinfer.core.rule_compiler import RuleCompiler, compiler_of
from ilpinfer.proof.claims import Case
from ilpinfer.references.record import Reference
from ilpinfer.references.tables import tables_of

Depth = Literal["tables", "meaning"]
DEPTHS = ("tables", "meaning")


@dataclass(frozen=True)
class Finding:
    """The result of a check; true where all holds.

    Parameters
    ----------
    holds : whether all that is claimed is proved
    reasons : what is wrong
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
    depth : "tables" trusts the tables, as `ilpinfer.checker` does; "meaning" also compares them with what `formulations` makes
        of the rules and the scores, and the violations with those of the plain checker of each template
    max_steps : that the check of each proof may take

    Raises
    ------
    ValueError
        for another depth, and a number of steps that makes no sense.
    """
    if depth not in DEPTHS:
        raise ValueError(f"depth is {depth!r}; expected {' or '.join(DEPTHS)}")
    if not isinstance(max_steps, int) or isinstance(max_steps, bool) or max_steps < 1:
        raise ValueError(f"max_steps is {max_steps!r}; expected a whole number from 1")
    reasons = list[str]()
    try:
        checker.check(reference.to_dict(), max_steps)
        if depth == "meaning":
            reasons += _differences(reference)
    except (checker.Wrong, InferenceError, ValueError, RecursionError, MemoryError, OverflowError) as error:
        reasons.append(str(error) or type(error).__name__)
    return Finding(not reasons, tuple(reasons))


@lru_cache(maxsize=8)
def _compiler(text: str) -> RuleCompiler:
    rules: RuleSet = parse_rules(text)
    return compiler_of(rules)


def _differences(reference: Reference) -> Iterator[str]:
    """What the tables say that rules and scores do not; the tables themselves hold."""
    trellis = reference.trellis
    compiled = _compiler(reference.rules).compiled(trellis.labels)
    problem = compiled.problem(trellis, quiet=True)
    if compiled.digest_of(trellis) != reference.digest:
        yield f"digest: {reference.digest!r} is of another trellis or of other rules"
    tables = tables_of(problem).plain
    for name, values in tables.items():
        if values != reference.tables.get(name):
            yield f'tables: "{name}" are not what the rules and scores say'
    case = Case(trellis, compiled, problem)
    for number, level in enumerate(reference.levels):
        for path in level.labellings:
            value = problem.value(np.array(path, np.int64))
            if level.score is None or value.score != level.score:
                yield f"level {number}: a labelling is worth {value.score}, and {level.score} is claimed"
            counts = case.counts(reference.named(path))
            wrong = next((name for name, count in counts.items() if count != value.violations[name]), None)
            if wrong is not None:
                yield f"level {number}: the plain checker counts {counts[wrong]} violations of {wrong!r}, not {value.violations[wrong]}"
