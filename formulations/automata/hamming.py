"""The fewest tokens to relabel until a rule holds (Chang, Ratinov, Roth 2007, section 4), as a deterministic machine."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache

import numpy as np

from formulations import time_limits
from formulations.automata.lattice import StepTable
from formulations.automata.machine import Automaton, Machine, TooManyStates
from formulations.dtypes import Integers, LabelIds

MOST_STATES = 5_000  # states of the deterministic machine; above, only rows express the distance
MOST_PLACES = 2_000
"""Largest number of places at a token, and in total. A place is a state of the product of the rule's machines with a second labelling."""

Place = tuple[int, ...]
"""The label class of a repaired labelling's last token, and the states of the rule's machines."""


Arcs = tuple[tuple[int, int], ...]
"""Pairs of place numbers: a place, and a place that can follow it."""
FAR = 2**30
"""The cost of an unreachable place."""
MOST_CELLS = 2**23
"""Limit on states times label classes, times places or kinds of tokens."""


@dataclass(frozen=True, eq=False)
class HammingDistance:
    """The fewest tokens to relabel until no machine emits a violation; T if that is impossible."""

    rule: Sequence[Machine]
    labels: int  # K
    length: int  # T
    hard: bool = False  # whether the distance must be 0; the machines of the rule then suffice

    is_local = False

    @property
    def possible(self) -> bool:
        return bool(self.feasible[0])

    @cached_property
    def classes(self) -> tuple[Integers, Integers]:
        """The class (K,) of each label, and a member of each class; all machines read the labels of a class alike."""
        return label_classes(self.rule, self.labels)

    @property
    def start(self) -> Place:
        return (-1, *(0 for _ in self.rule))

    @property
    def most(self) -> int:
        return self.length

    def violations(self, path: LabelIds) -> int:
        return self.nearest(path)[0]

    def nearest(self, path: LabelIds) -> tuple[int, list[int]]:
        """The distance of label ids (T,), and a minimal choice of tokens to relabel."""
        if not self.possible:
            return self.length, list(range(self.length))
        front: dict[Place, tuple[int, tuple[int, ...]]] = {self.start: (0, ())}
        for token, label in enumerate(path.tolist()):
            following: dict[Place, tuple[int, tuple[int, ...]]] = {}
            for place, (cost, changed) in front.items():
                for after in self.repairs(token, place):
                    keeps = after[0] == self.classes[0][label]
                    new = (cost, changed) if keeps else (cost + 1, (*changed, token))
                    if after not in following or new < following[after]:
                        following[after] = new
            front = following
        cost, tokens = min(front.values())
        return cost, list(tokens)

    @cached_property
    def machines(self) -> tuple[Machine, ...] | None:
        """A machine that emits the distance."""
        if self.hard:
            return tuple(self.rule)
        try:
            return (self._machine(),)
        except TooManyStates:
            return None

    def _machine(self) -> Machine:
        class_of, members = self.classes
        everywhere = np.zeros(self.length, np.int64)
        if not self.possible:
            nothing = np.zeros((1, 1), np.int64)
            steps = StepTable(np.zeros((1, 1, self.labels), np.int64), everywhere)
            return Machine(steps, Automaton(nothing, nothing, np.array([self.length])))
        tables = np.stack([machine.steps.index for machine in self.rule])
        _, first, kind = np.unique(tables, axis=1, return_index=True, return_inverse=True)
        kinds, tokens = kind.reshape(-1), first.tolist()
        number, places, arcs = {self.start: 0}, [self.start], [list[tuple[int, int]]() for _ in tokens]
        for source, place in enumerate(places):
            for token, some in zip(tokens, arcs, strict=True):
                if source == 0 and token:
                    continue
                for after in self._steps(token, place):
                    if after not in number:
                        number[after] = len(places)
                        places.append(after)
                    some.append((source, number[after]))
            if len(places) > MOST_PLACES:
                raise TooManyStates(f"more than {MOST_PLACES} places")
        ends = tuple(place in self.feasible[-1] for place in places)
        classes = tuple(place[0] for place in places)
        automaton = _distance(tuple(kinds.tolist()), len(members), tuple(map(tuple, arcs)), classes, ends)
        values = np.arange(len(tokens))[:, None, None] * len(members) + class_of
        return Machine(StepTable(values, kinds), automaton)

    @cached_property
    def feasible(self) -> list[set[Place]]:
        """For each token, the places before it from which the rule can be kept."""
        fronts: list[set[Place]] = [{self.start}]
        for token in range(self.length):
            time_limits.check()
            fronts.append({after for place in fronts[-1] for after in self._steps(token, place)})
            if len(fronts[-1]) > MOST_PLACES:
                raise TooManyStates(f"more than {MOST_PLACES} places")
        final = [machine.final for machine in self.rule]
        kept = {p for p in fronts[-1] if not any(f[q] for f, q in zip(final, p[1:], strict=True))}
        feasible = [kept]
        for token in range(self.length - 1, -1, -1):
            time_limits.check()
            kept = {p for p in fronts[token] if not kept.isdisjoint(self._steps(token, p))}
            feasible.append(kept)
        return feasible[::-1]

    @cached_property
    def repairs(self) -> Callable[[int, Place], list[Place]]:
        """For a place before a token, the next places in labellings that keep the rule to the end."""

        @cache
        def after(token: int, place: Place) -> list[Place]:
            return [after for after in self._steps(token, place) if after in self.feasible[token + 1]]

        return after

    def _steps(self, token: int, place: Place) -> list[Place]:
        before = -1 if place[0] < 0 else int(self.classes[1][place[0]])
        result = []
        for c, label in enumerate(self.classes[1].tolist()):
            states = []
            for machine, state in zip(self.rule, place[1:], strict=True):
                symbol = machine.steps.of(token, before, label)
                if machine.emits[state, symbol]:
                    break
                states.append(int(machine.next_state[state, symbol]))
            else:
                result.append((c, *states))
        return result


@lru_cache(maxsize=64)
def _distance(
    kinds: tuple[int, ...],
    C: int,
    arcs: tuple[Arcs, ...],
    classes: tuple[int, ...],
    ends: tuple[bool, ...],
) -> Automaton:
    """The automaton whose states are the costs of all places above the least cost; increases of the least cost are emitted."""
    labels = np.array(classes)
    pairs = [np.array(some, np.int64).reshape(-1, 2) for some in arcs]
    orders = [np.argsort(each[:, 1], kind="stable") for each in pairs]
    costs = np.full((1, len(classes)), FAR)
    costs[0, 0] = 0
    number, read = {costs[0].tobytes(): 0}, np.zeros((1, len(arcs)), bool)
    after, emits = (np.zeros((1, len(arcs), C), np.int64) for _ in range(2))
    layer = np.zeros(1, np.int64)
    for kind in kinds:
        time_limits.check()
        new = layer[~read[layer, kind]]
        read[new, kind] = True
        source, target = pairs[kind][orders[kind]].T
        begins = np.flatnonzero(np.append(True, target[1:] != target[:-1]))
        if len(costs) * C * max(len(arcs), len(classes)) > MOST_CELLS:
            raise TooManyStates(f"more than {MOST_CELLS} costs of places, or arcs")
        reached = np.full((len(new), C, len(classes)), FAR)
        kept = np.minimum.reduceat(costs[np.ix_(new, source)], begins, axis=1)
        reached[:, :, target[begins]] = kept[:, None] + (labels[target[begins]] != np.arange(C)[:, None])
        least = reached.min(axis=2)
        rows = np.where(reached < FAR, reached - least[:, :, None], FAR).reshape(-1, len(classes))
        found = [number.setdefault(row.tobytes(), len(number)) for row in rows]
        if len(number) > MOST_STATES:
            raise TooManyStates(f"more than {MOST_STATES} states")
        after[new, kind], emits[new, kind] = np.array(found, np.int64).reshape(-1, C), least
        more = len(number) - len(costs)
        first = dict(zip(reversed(found), reversed(range(len(found))), strict=True))
        fresh = [first[n] for n in range(len(costs), len(number))]
        costs = np.concatenate([costs, rows[fresh]])
        read, after, emits = (np.pad(a, [(0, more)] + [(0, 0)] * (a.ndim - 1)) for a in (read, after, emits))
        layer = np.unique(after[layer, kind])
    final = np.where(ends, costs, FAR).min(axis=1)
    final = np.where(final < FAR, final, 0)
    Q = len(costs)
    stays = np.broadcast_to(np.arange(Q)[:, None, None], after.shape)
    after = np.where(read[:, :, None], after, stays)
    return Automaton(after.reshape(Q, -1), emits.reshape(Q, -1), final)


def label_classes(machines: Sequence[Machine], labels: int) -> tuple[Integers, Integers]:
    """The class of each label (K,), and a member of each class; all machines read the labels of a class alike."""
    rows = []
    for machine in machines:
        values = machine.steps.values
        rows.append(values.reshape(-1, labels).T)
        if values.shape[1] > 1:
            rows.append(values[:, 1:].transpose(1, 0, 2).reshape(labels, -1))
    table = np.concatenate(rows, axis=1)
    _, member, classes = np.unique(table, axis=0, return_index=True, return_inverse=True)
    return classes.reshape(-1).astype(np.int64), member.astype(np.int64)
