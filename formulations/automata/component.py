"""The interface of a component of a rule."""

from typing import Protocol

from formulations.automata.machine import Machine
from formulations.dtypes import LabelIds


class Component(Protocol):
    """A ground rule, or a piece of one: a `Machine`, a `Sum` or a `Circuit`."""

    @property
    def is_local(self) -> bool: ...

    @property
    def most(self) -> int: ...

    @property
    def machines(self) -> tuple[Machine, ...] | None: ...

    def violations(self, path: LabelIds) -> int: ...
