"""The status of a solution."""

from enum import StrEnum


class Status(StrEnum):
    """The status of a solution.

    Examples
    --------
    >>> import ilpinfer
    >>> ilpinfer.Status.OPTIMAL == "optimal"
    True
    """

    OPTIMAL = "optimal"
    """Score and bound are equal."""
    FEASIBLE = "feasible"
    """A limit ended the method, or a heuristic has no proof."""
    INFEASIBLE = "infeasible"
    """No labelling keeps the hard rules."""
    UNKNOWN = "unknown"
    """No labelling that keeps the hard rules was found."""
