"""The result of a method, before it is valued and reported; and the task of a method."""

from dataclasses import dataclass
from typing import Any, NamedTuple

from formulations.dtypes import LabelIds
from formulations.grid import FORBIDDEN
from ilpinfer.core.certificate import NONE, Certificate
from ilpinfer.core.deadline import Deadline
from ilpinfer.core.incumbents import Improvement
from ilpinfer.core.trees import Leaf
from ilpinfer.core.watching import Watch


@dataclass(frozen=True)
class Result:
    """One labelling, or none, with its value and a bound on all labellings that were not found before it; grid units, inf if unknown."""

    path: LabelIds | None
    bound: float
    method: str = ""
    certificate: Certificate = NONE
    improvements: tuple[Improvement, ...] = ()
    value: int | None = None
    stages: tuple[tuple[str, float], ...] = ()
    """The stages of a method in the order in which they ended, with their seconds."""

    @property
    def proves_infeasibility(self) -> bool:
        """Whether it is proved that no labelling is left."""
        return self.path is None and self.bound <= FORBIDDEN // 2


class Start(NamedTuple):
    """What is known of a sequence before its method begins: a labelling, and a bound in grid units with its proof.

    `tried` says whether kernels have worked with the machines and multipliers of the proof, up to their limits. `packed` is the
    sequence as they read it, if that has all rules. `declined` says why they have no answer. `deadline` is that of the sequence,
    if its time has begun.
    """

    path: LabelIds | None = None
    bound: float = float("inf")
    proof: Leaf | None = None
    tried: bool = False
    packed: Any = None
    declined: str = ""
    deadline: Deadline | None = None


NOTHING_KNOWN = Start()


@dataclass(frozen=True)
class Task:
    """Options of a method for one sequence; `within` is in grid units, and `watch` hears what the method reports."""

    deadline: Deadline
    top: int = 1
    threads: int = 1
    width: int = 10
    within: int | None = None
    start: Start = NOTHING_KNOWN
    parameters: object = None
    watch: Watch | None = None
