"""Whether the checker accepts a tree as the proof of a claim."""

from collections.abc import Sequence
from unittest.mock import patch

from formulations.problem.problem import Problem
from ilpinfer.core.trees import Leaf, Split
from ilpinfer.proof.meter import CheckFailure
from ilpinfer.proof.tree import check_tree


def accepted(
    problem: Problem,
    tree: Leaf | Split,
    claim: int | None,
    excluded: Sequence[tuple[int, ...]] = (),
    few: int = 100_000,
) -> bool:
    """Whether a tree proves a claim; another reason to refuse it than the labellings that are left is an error."""
    with patch("ilpinfer.proof.stages.FEW", few):
        try:
            check_tree(problem, tree, claim, tuple(excluded))
        except CheckFailure as failure:
            if "not excluded" not in str(failure):
                raise
            return False
    return True
