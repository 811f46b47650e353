"""The result of a method, before it is valued and reported; and the task of a method."""

from collections.abc import Callable
from dataclasses import dataclass

from formulations.dtypes import LabelIds
from formulations.grid import FORBIDDEN
from ilpinfer.core.certificate import NONE, Certificate
from ilpinfer.core.deadline import Deadline
from ilpinfer.core.incumbents import Improvement


@dataclass(frozen=True)
class Result:
    """One labelling, or none, with a bound on all other labellings.

    Parameters
    ----------
    path : ndarray of int or None
        Label ids (T,), or None.
    bound : float
        Upper bound, in grid units, on every labelling not found before this one; inf where unknown,
        `FORBIDDEN` or less where none is left.
    method : str, optional
        Description in a few words.
    certificate : Certificate, default NONE
        Proof of the bound.
    improvements : tuple of Improvement, optional
        The labellings that were the best so far, in order, where the method keeps them.
    value : int, optional
        Value of the labelling in grid units; None if the method does not know it.
    """

    path: LabelIds | None
    bound: float
    method: str = ""
    certificate: Certificate = NONE
    improvements: tuple[Improvement, ...] = ()
    value: int | None = None

    @property
    def proves_infeasibility(self) -> bool:
        """Whether it is proved that no labelling is left."""
        return self.path is None and self.bound <= FORBIDDEN // 2


@dataclass(frozen=True)
class Task:
    """Options of a method for one sequence.

    Parameters
    ----------
    deadline : Deadline
        Time limit.
    top : int, default 1
        Number of labellings, best first.
    threads : int, default 1
        Threads for solvers that can use more than one.
    width : int, default 10
        Width of a beam.
    within : int, optional
        Largest distance of a labelling from the best one, grid units; None for any distance.
    incumbent : ndarray of int, optional
        Label ids (T,) of a labelling that is known already.
    parameters : object, optional
        Parameters of a search that has some, as a record; None for the usual ones.
    watch : callable, optional
        Called with seconds, and incumbent and bound in grid units, whenever one of them gets better.
    """

    deadline: Deadline
    top: int = 1
    threads: int = 1
    width: int = 10
    within: int | None = None
    incumbent: LabelIds | None = None
    parameters: object = None
    watch: Callable[[float, int, float], None] | None = None
