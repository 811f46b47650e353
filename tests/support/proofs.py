"""Whether the checker accepts a tree as the proof of a claim."""

from collections.abc import Sequence

from formulations.problem.problem import Problem
from ilpinfer.core.trees import Leaf, Split
from ilpinfer.proof.meter import CheckFailure
from ilpinfer.proof.tree import check_tree


def accepted(
    problem: Problem,
    tree: Leaf | Split,
    claim: int | None,
    excluded: Sequence[tuple[int, ...]] = (),
    reasons: str = "not excluded",
) -> bool:
    """Whether a tree proves a claim; a refusal for another reason than the labellings that are left is an error."""
    try:
        check_tree(problem, tree, claim, tuple(excluded))
    except CheckFailure as failure:
        if reasons not in str(failure):
            raise
        return False
    return True


def proves(
    problem: Problem, tree: Leaf | Split, claim: int | None, excluded: Sequence[tuple[int, ...]] = ()
) -> bool:
    """Whether any tree proves a claim."""
    return accepted(problem, tree, claim, excluded, "")
