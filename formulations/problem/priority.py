"""The order of hard token rules is their priority (Liao et al. 2009, section 3.1: "no matter what the context is")."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from formulations.automata.lattice import StepTable
from formulations.automata.machine import Machine
from formulations.automata.windows import Component, Condition
from formulations.dtypes import Booleans


@dataclass(frozen=True)
class Demand:
    """Tokens that must have one of the labels `wanted` (K,) by a hard rule."""

    condition: Condition
    wanted: Booleans


class Priorities:
    """The labels that hard token rules leave to each token; a later one that leaves none is overruled there."""

    def __init__(self) -> None:
        self._left: dict[int, tuple[str, Booleans]] = {}

    def overruled(self, name: str, demands: Iterable[tuple[Iterable[int], Booleans]]) -> list[int]:
        """Tokens at which an earlier rule forbids what this one demands, given tokens and the labels (K,) they must have."""
        lost = []
        for tokens, wanted in demands:
            for t in tokens if wanted.any() else ():
                whose, left = self._left.setdefault(t, (name, wanted))
                if (left & wanted).any():
                    self._left[t] = whose, left & wanted
                elif whose != name:
                    lost.append(t)
        return lost


def mask_tokens(component: Component, tokens: Sequence[int]) -> Component:
    """A local machine that emits nothing at the tokens."""
    assert isinstance(component, Machine)
    values = np.concatenate([component.steps.values, np.zeros_like(component.steps.values[:1])])
    index = component.steps.index.copy()
    index[list(tokens)] = len(values) - 1
    return replace(component, steps=StepTable(values, index))
