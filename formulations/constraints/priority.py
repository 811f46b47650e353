"""The order of hard token rules is their priority (Liao et al. 2009, section 3.1: "no matter what the context is")."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from formulations.compiled.lattice import StepTable
from formulations.compiled.machine import Machine
from formulations.constraints.rule import Rule
from formulations.constraints.template import Part
from formulations.labels import LabelSet


@dataclass
class Priorities:
    """Which labels the hard token rules so far leave to each token.

    A later one that leaves none of them is overruled there. Soft rules are never overruled: their penalties decide.
    """

    labels: LabelSet
    _left: dict[int, NDArray[np.bool_]] = field(default_factory=dict)
    _whose: dict[int, str] = field(default_factory=dict)
    conflicts: list[tuple[int, str, str]] = field(default_factory=list)
    """(token, rule that wins, rule that is overruled)."""

    def overruled(self, rule: Rule, name: str, tokens: Sequence[str]) -> list[int]:
        """Tokens at which an earlier rule forbids what this one demands."""
        if not rule.hard or rule.distance == "hamming":
            return []
        lost = []
        for statement in rule.statements(tuple(f.name for f in self.labels.each_field)):
            for t, selector in statement.demands(tokens).items():
                wanted = self.labels.field(selector).member
                left = self._left.get(t)
                if left is None:
                    if wanted.any():
                        self._left[t], self._whose[t] = wanted, name
                elif (left & wanted).any():
                    self._left[t] = left & wanted
                elif wanted.any() and self._whose[t] != name:
                    lost.append(t)
                    self.conflicts.append((t, self._whose[t], name))
        return lost


def silenced(part: Part, tokens: Sequence[int]) -> Part:
    """A local machine that emits nothing at the tokens."""
    assert isinstance(part, Machine)
    values = np.concatenate([part.steps.values, np.zeros_like(part.steps.values[:1])])
    index = part.steps.index.copy()
    index[list(tokens)] = len(values) - 1
    return replace(part, steps=StepTable(values, index))


def overruled_tokens(
    rules: Sequence[Rule], names: Sequence[str], labels: LabelSet, tokens: Sequence[str]
) -> dict[str, list[int]]:
    """For each rule that loses to another at some tokens, those tokens."""
    priorities = Priorities(labels)
    found = {name: priorities.overruled(rule, name, tokens) for rule, name in zip(rules, names, strict=True)}
    return {name: lost for name, lost in found.items() if lost}
