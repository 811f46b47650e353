"""The interface of a component of a rule."""

from typing import Protocol

from formulations.automata.machine import Machine
from formulations.dtypes import LabelIds


class Component(Protocol):
    """Interface of a ground rule or a part of one: a `Machine`, a `Sum` or a `Circuit`.

    Examples
    --------
    >>> from formulations import LabelSet, constraints as C
    >>> labels = LabelSet(("title", "O"))
    >>> [component] = C.at_most_runs("title", 1).ground(labels, ["a", "b", "c"])
    >>> component.violations(labels.ids(["title", "O", "title"]))
    1
    """

    @property
    def is_local(self) -> bool:
        """Whether its violations are a sum over single steps."""
        ...

    @property
    def most(self) -> int:
        """An upper bound on the violations of any labelling."""
        ...

    @property
    def machines(self) -> tuple[Machine, ...] | None:
        """Machines whose violations, summed, are its own; None where they would have too many states."""
        ...

    def violations(self, path: LabelIds) -> int:
        """Number of violations of a labelling.

        Parameters
        ----------
        path : ndarray of int, shape (T,)
            Label ids.

        Returns
        -------
        int
            The number of violations.
        """
        ...
