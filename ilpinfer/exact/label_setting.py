"""Label setting: all prefixes that could still reach a floor, with the states of machines.

Prefixes with the same label and machine states have the same future, so that the best of them dominates the others. The
completions of a guide bound the rest of a labelling (resource-constrained shortest paths by label setting).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from formulations import constraints as C
from formulations.dtypes import Integers, LabelIds, Small
from formulations.grid import FORBIDDEN
from ilpinfer.core.certificate import MachineKey
from ilpinfer.core.deadline import Deadline
from ilpinfer.exact.guide import Guide, Relaxed, all_domains, joint_symbols, prune
from ilpinfer.exact.rule_machines import RuleMachine, pack_rule_machines, rule_machines
from ilpinfer.kernels import machine_label_setting as kernels
from ilpinfer.kernels.machines import joint_of
from ilpinfer.kernels.packed import chain_of
from ilpinfer.kernels.warming import Stage, example_problem

_WORK_PER_CALL = 200_000
_LARGEST_MEMO = 4_000_000
"""Largest number of stored entries for joint states and symbols; label setting ends beyond it."""


@dataclass(frozen=True)
class LabelSetting:
    """The result of label setting.

    Parameters
    ----------
    paths : list of ndarray of int
        Labellings that reach the floor, best first, or cheapest first; equal ones by label ids.
    values : list of int
        Values in the relaxation that includes the followed machines, grid units.
    left_out : int
        The best that a prefix left out for want of width could have reached; `FORBIDDEN` for none.
    complete : bool, default True
        Whether it went to the last token.
    costs : sequence of int, optional
        Costs of their violations if these were recorded, else 0.
    """

    paths: list[LabelIds]
    values: list[int]
    left_out: int
    complete: bool = True
    costs: Sequence[int] = ()

    @property
    def exact(self) -> bool:
        """Whether the first labelling is the best one that reaches the floor, or there is none."""
        return self.complete and (
            self.left_out < self.values[0] if self.paths else self.left_out <= FORBIDDEN
        )


def label_setting(
    guide: Guide,
    multipliers: Integers,
    relaxed: Relaxed,
    machines: Sequence[RuleMachine],
    deadline: Deadline,
    *,
    floor: int = FORBIDDEN,
    width: int,
    beam: bool = False,
    copies: int = 1,
    budget: int = -1,
    undominated: bool = False,
) -> LabelSetting:
    """The best labellings under some machines.

    Parameters
    ----------
    guide, multipliers, relaxed : Guide, ndarray of int or Relaxed
        Product whose completions bound the scores after a prefix; the machines inside it and those charged come first
        among
        `machines`.
    floor : int, default FORBIDDEN
        Grid units; prefixes that cannot reach it are dropped.
    width : int
        How many prefixes a token may have; more end the search, or, with `beam`, only the best are kept.
    copies : int, default 1
        Number of prefixes with the same future that are kept.
    budget : int, default -1
        Grid units; the most that violations may cost in all, where labellings are wanted that cost the least,
        of those the best; -1 where the best are wanted.
    undominated : bool, default False
        Undominated of the cheapest, only those that score more than every cheaper one.
    """
    by_key = dict(zip((machine.key for machine in guide.charged), multipliers.tolist(), strict=True))
    if not guide.futures_in_time(by_key, deadline):
        return LabelSetting([], [], relaxed.bound, complete=False)
    lattice = guide.lattice
    T, B = lattice.shape
    room = width * B if beam else min(width, 512)
    front, new = _prefixes(width if beam else room), _extensions(room)
    front.value[0], front.key[0] = 0, 0
    joint = joint_of(pack_rule_machines(machines, lattice), joint_symbols(lattice, machines))
    back = kernels.Back(
        _empty(4096 + len(front.value)), _empty(4096 + len(front.value)), np.zeros(T + 1, np.int64)
    )
    counts, bounds = np.array([0, 1, FORBIDDEN]), _bounds(guide, by_key, relaxed, machines)
    while counts[0] < T:
        if deadline.passed:
            return LabelSetting([], [], relaxed.bound, complete=False)
        now = len(front.value)
        limits = kernels.Limits(floor, budget, now, copies, _WORK_PER_CALL)
        arrays = bounds, joint, front, new, back, counts
        code = kernels.advance(chain_of(lattice), guide.domains, *arrays, limits)
        if code == kernels.BACK:
            back = back._replace(state=_double(back.state), parent=_double(back.parent))
        elif code == kernels.FRESH and now < width:
            wider = _prefixes(min(width, 4 * now))
            for old, larger in zip(front, wider, strict=True):
                larger[:now] = old
            front, new = wider, _extensions(len(wider.value))
        elif code == kernels.FRESH:
            if copies == 1 or len(new.value) >= width * B:
                return LabelSetting([], [], relaxed.bound, complete=False)
            new = _extensions(4 * len(new.value))
        elif code == kernels.MEMO:
            if joint.memo.after.size > _LARGEST_MEMO:
                return LabelSetting([], [], relaxed.bound, complete=False)
            joint = joint.grown()
    if counts[2] > FORBIDDEN and not beam:
        return LabelSetting([], [], relaxed.bound, complete=False)
    size = int(counts[1])
    values, costs = front.value[:size], front.key[:size, 1]
    order = [h for h in np.lexsort((-values, costs)).tolist() if values[h] >= max(floor, FORBIDDEN // 2)]
    if undominated:
        order = _undominated(order, costs, values + costs)
    paths = [lattice.labels_of(_backtrack(back, h)) for h in order]
    return LabelSetting(paths, values[order].tolist(), int(counts[2]), costs=costs[order].tolist())


def _undominated(order: list[int], costs: Integers, scores: Integers) -> list[int]:
    """Of prefixes in the order of their costs, those that score more than every cheaper one."""
    result: list[int] = []
    for h in order:
        if not result or scores[h] > scores[result[-1]]:
            result.append(h)
    return result


def _bounds(
    guide: Guide, multipliers: Mapping[MachineKey, int], relaxed: Relaxed, machines: Sequence[RuleMachine]
) -> kernels.Bounds:
    """Bounds on completions of prefixes, for the kernel."""
    inside = len(guide.product)
    ahead = guide.futures(multipliers)
    radix = np.zeros(len(machines), np.int64)
    radix[:inside] = guide.radix
    completion, room = relaxed.completion, sum(ahead.most.get(machine.key, 0) for machine in machines)
    ceiling = (completion[:, :, 0] if guide.states == 1 else completion.max(axis=2)) + room
    return kernels.Bounds(ceiling, completion, radix, ahead.of(machines))


def _prefixes(n: int) -> kernels.Prefixes:
    return kernels.Prefixes(np.empty(n, np.int64), np.empty(n, np.int64), np.empty((n, 2), np.int64))


def _extensions(n: int) -> kernels.Extensions:
    return kernels.Extensions(*_prefixes(n), _empty(n), _empty(n), _empty(1 << (2 * n - 1).bit_length()))


def _empty(n: int) -> Small:
    return np.empty(n, np.int32)


def _backtrack(back: kernels.Back, h: int) -> LabelIds:
    path = np.empty(len(back.begins) - 1, np.int64)
    for t in range(len(path) - 1, -1, -1):
        at = back.begins[t] + h
        path[t], h = back.state[at], back.parent[at]
    return path


def _double(array: Small) -> Small:
    return np.concatenate([array, np.empty_like(array)])


def _example() -> None:
    problem = example_problem(C.at_most_runs("0", 1), C.at_least_runs("1", 1, penalty=1.0))
    inside, charged = (rule_machines(rule, place)[0] for place, rule in enumerate(problem.rules))
    guide, multipliers = Guide(problem.lattice, inside, charged), np.array([-1])
    prune(problem.lattice, all_domains(problem.lattice), np.zeros((3, 2), np.int64), 0)
    relaxed = guide.solve(multipliers, Deadline())
    if relaxed is not None:
        label_setting(guide, multipliers, relaxed, [*inside, *charged], Deadline(), width=64)


LABEL_SETTING = Stage("engine", "multipliers and label setting", _example)
