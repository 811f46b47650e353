"""The fewest tokens to relabel until a rule holds (Chang, Ratinov, Roth 2007, section 4), as a machine.

The machine follows, for every state that a repaired labelling could be in, how many tokens the repair has changed so
far: the product of the rule's own machines with a second labelling, made deterministic.
"""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from formulations.compiled.lattice import StepTable
from formulations.compiled.machine import Machine
from formulations.compiled.unroll import unroll

Costs = dict[tuple[int, ...], int]
"""(label class, states of the machines) of a repair that is possible, and how many tokens it changes."""


def relabelled(machines: Sequence[Machine], labels: int, length: int) -> Machine:
    """A machine that emits the Hamming distance to the labellings that break none of the machines.

    Raises
    ------
    TooManyStates
        where it would pass `MOST_STATES`.
    ValueError
        where no labelling of this length keeps the rule, so that there is no distance.
    """
    class_of, members = _classes(machines, labels)
    repairs = _Repairs(machines, members, length)
    if not repairs.possible:
        raise ValueError(
            f"no labelling of {length} tokens keeps the rule, so nothing can be relabelled until it holds"
        )

    def read(token: int, state: frozenset, symbol: int) -> tuple[frozenset, int]:
        costs: Costs = {}
        for place, cost in state:
            for after in repairs.after(token, place):
                total = cost + (after[0] != symbol)
                if total < costs.get(after, length + 1):
                    costs[after] = total
        least = min(costs.values())
        return frozenset((place, cost - least) for place, cost in costs.items()), least

    steps = StepTable(class_of[None, None, :], np.zeros(length, np.int64))
    start = frozenset([((-1, *(0 for _ in machines)), 0)])
    classes = range(len(members))
    return unroll(
        steps,
        start,
        read,
        [classes] * length,
        final=lambda state: min(cost for place, cost in state),
    )


class _Repairs:
    """Steps of labellings that keep the rule to the end."""

    def __init__(self, machines: Sequence[Machine], members: NDArray[np.int64], length: int) -> None:
        self.machines, self.members, self.length = machines, members, length
        self.after = lru_cache(None)(self._after)
        self.alive = self._living()

    @property
    def possible(self) -> bool:
        return bool(self.alive[0])

    def _living(self) -> list[set[tuple[int, ...]]]:
        """For each token, the places before it from which the rule can still be kept."""
        fronts: list[set[tuple[int, ...]]] = [{(-1, *(0 for _ in self.machines))}]
        for token in range(self.length):
            fronts.append({after for place in fronts[-1] for after in self._steps(token, place)})
        alive = [
            {p for p in fronts[-1] if not any(m.final[q] for m, q in zip(self.machines, p[1:], strict=True))}
        ]
        for token in range(self.length - 1, -1, -1):
            kept = {p for p in fronts[token] if any(after in alive[-1] for after in self._steps(token, p))}
            alive.append(kept)
        return alive[::-1]

    def _after(self, token: int, place: tuple[int, ...]) -> list[tuple[int, ...]]:
        return [after for after in self._steps(token, place) if after in self.alive[token + 1]]

    def _steps(self, token: int, place: tuple[int, ...]) -> list[tuple[int, ...]]:
        before = -1 if place[0] < 0 else int(self.members[place[0]])
        found = []
        for c, label in enumerate(self.members.tolist()):
            states = []
            for machine, state in zip(self.machines, place[1:], strict=True):
                table = machine.steps.at(token)
                symbol = int(table[before + 1 if len(table) > 1 else 0, label])
                if machine.emits[state, symbol]:
                    break
                states.append(int(machine.next_state[state, symbol]))
            else:
                found.append((c, *states))
        return found


def _classes(machines: Sequence[Machine], labels: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Labels that no machine tells apart: the class of each label (K,), and a member of each class."""
    rows = []
    for machine in machines:
        values = machine.steps.values
        rows.append(values.reshape(-1, labels).T)
        if values.shape[1] > 1:
            rows.append(values[:, 1:].transpose(1, 0, 2).reshape(labels, -1))
    _, member, classes = np.unique(
        np.concatenate(rows, axis=1), axis=0, return_index=True, return_inverse=True
    )
    return classes.reshape(-1).astype(np.int64), member.astype(np.int64)


def distance(machines: Sequence[Machine], path: NDArray[np.int64], labels: int) -> tuple[int, list[int]]:
    """The fewest tokens to relabel until the machines emit nothing, and one choice of them."""
    class_of, members = _classes(machines, labels)
    repairs = _Repairs(machines, members, len(path))
    front: dict[tuple[int, ...], tuple[int, tuple[int, ...]]] = {(-1, *(0 for _ in machines)): (0, ())}
    for token, label in enumerate(path.tolist()):
        following: dict[tuple[int, ...], tuple[int, tuple[int, ...]]] = {}
        for place, (cost, changed) in front.items():
            for after in repairs.after(token, place):
                keeps = after[0] == class_of[label]
                new = (cost, changed) if keeps else (cost + 1, (*changed, token))
                if after not in following or new < following[after]:
                    following[after] = new
        front = following
    if not front:
        raise ValueError(
            f"no labelling of {len(path)} tokens keeps the rule, so nothing can be relabelled until it holds"
        )
    cost, changed = min(front.values())
    return cost, list(changed)
