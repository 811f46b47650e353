"""The check of a leaf: prices are moved from the scores to machines, and machines are followed, stage by stage.

The lattice pays a price for each unit of a sum, or a share for each kind of a token, and the bound gets back the most that a machine
can gain by itself. A machine that is followed gives its prices back to each labelling, and takes its costs.
"""

from collections.abc import Collection, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from formulations.arguments import whole
from formulations.automata.lattice import Lattice, StepTable
from formulations.automata.sums import Sum
from formulations.grid import FORBIDDEN, Grid, is_forbidden, nats
from formulations.problem.problem import GroundRule
from ilpinfer.core.trees import Leaf, MachineKey
from ilpinfer.proof.graphs import Graph, MaxMarginals
from ilpinfer.proof.machines import acceptor, is_shared, machine_of
from ilpinfer.proof.meter import RULE, Meter, need
from ilpinfer.proof.product import GraphProduct
from ilpinfer.proof.shares import Share, drop_states, read_share
from ilpinfer.proof.stages import Account, MachinePass, remains

FINE = 2**10  # units of multipliers in a grid unit
LARGEST = 2**57
"""All numbers of a leaf taken together stay below: no sum of four such totals overflows, or looks forbidden."""
MOST_PRUNED = 2**22  # steps that are left by machines of the product before it is made
LARGEST_PENALTY = 2**62  # in units of a leaf, so that sums of two fit 64 bits
Rules = Sequence[GroundRule]


class Multiplier(NamedTuple):
    """A price for each unit of a sum, in fine units. The machine is None where the sum is too large for one."""

    rule: GroundRule
    component: Sum
    machine: MachineKey | None
    value: int

    def corner(self, scale: int) -> int:
        """The gain of a sum that is too large for a machine: at a corner of the cost, which is convex in the sum."""
        component, value = self.component, self.value * scale // FINE
        low, high = component.reach
        sides = [side for side in (component.low, component.high) if side is not None and low <= side <= high]
        kept = [total for total in (low, high, *sides) if not self.rule.hard or not component.away(total)]
        penalty = scale * self.rule.finite_penalty
        return max((value * total - penalty * component.away(total) for total in kept), default=FORBIDDEN)

    def charge(self, scale: int) -> StepTable:
        steps = self.component.steps
        return StepTable(-(self.value * scale // FINE) * steps.values, steps.index)


def check_leaf(
    rules: Rules,
    folded: MaxMarginals,
    leaf: Leaf,
    claim: int,
    excluded: tuple[tuple[int, ...], ...],
    meter: Meter,
    account: Account | None,
) -> None:
    """Check that a leaf proves the claim, grid units; `rules` are those of the problem, then the rows of the splits above."""
    stages = _stages(rules, leaf)
    followed = {key for stage in stages for key in stage}
    multipliers = [_multiplier(rules, key, value) for key, value in dict(leaf.multipliers).items()]
    _check_inside(rules, stages[0] if leaf.product else [], multipliers)
    scale = 1 if all(multiplier.value % FINE == 0 for multiplier in multipliers) else FINE
    meter.spend(RULE * len(rules))
    meter.spend(sum(len(rule.components) for rule in rules if rule.folds) * folded.lattice.node.size)
    _check_size(folded.lattice, rules, multipliers, followed, scale, account)
    claim = min(max(claim, -2 * LARGEST // scale), 2 * LARGEST // scale)
    limit = (claim + 1) * scale - 1
    if folded.request(meter).best <= claim:
        return

    prices = {m.machine: m.value * scale // FINE * m.component.weights for m in multipliers if m.machine}
    machines = {key: machine_of(rules, key, scale, prices.get(key), meter) for key in {*prices, *followed}}
    gains: dict[Any, int] = {key: int(machines[key].futures[0][0]) for key in prices}
    gains |= {n: m.corner(scale) for n, m in enumerate(multipliers) if not m.machine}
    if any(map(is_forbidden, gains.values())):
        return
    scores = folded
    if multipliers or leaf.shares:
        lattice, shares = _scaled(folded.without(claim), scale), list[Share]()
        for named in leaf.shares:
            shares = list(_shares(rules, named, followed, scale, account))
            _check_total(lattice, 1, sum(share.largest for share in shares), "shares")
            if (dropped := drop_states(lattice, shares, limit, meter)) is None:
                return
            lattice, gains["shares"] = dropped
        tables = [*(m.charge(scale) for m in multipliers), *(share.table for share in shares)]
        scores = MaxMarginals(lattice.plus(tables)).request(meter)

    (T, K), left = folded.lattice.shape, scores.graph(limit - sum(gains.values()), meter)
    graph: Graph | GraphProduct = left
    if not stages or (excluded and stages == [list(leaf.product)]):
        stages.append([])
    for number, keys in enumerate(stages):
        if graph.best[0][0] <= limit - sum(gains.values()):
            return
        followers, last = [machines[key] for key in keys], number + 1 == len(stages)
        if not keys or (excluded and last):
            followers.append(acceptor(excluded, T, K, meter))
        gains = {key: gain for key, gain in gains.items() if key not in keys}
        stage = MachinePass(graph, followers, limit - sum(gains.values()), meter)
        if last and account is not None:
            _check_account(multipliers, gains)
            cheaper = remains(stage, account.scale_by(scale), sum(gains.values()))
            what = "labellings that cost less, or score more at the same cost"
            need(not cheaper, f"leaf: {what}, are not excluded")
            return
        if number or not leaf.product:
            graph = stage.graph()
        else:
            graph = stage.pruned(MOST_PRUNED) or GraphProduct(left, followers, meter)
    bound = int(graph.best[0][0]) + sum(gains.values())
    words = f"labellings with scores up to {nats(bound // scale)!r} nats are not excluded"
    need(bound <= limit, f"leaf: the claimed bound is {nats(claim)!r} nats, but {words}")


def _check_inside(rules: Rules, inside: Collection[MachineKey], multipliers: Sequence[Multiplier]) -> None:
    """Refuse machines that cannot be in the product."""
    for key in inside:
        name = rules[key[0]].name
        shared = is_shared(rules[key[0]])
        need(
            not shared,
            f"leaf: {name!r} counts once for several machines, so none of them can be in the product",
        )
        priced = any(multiplier.machine == key for multiplier in multipliers)
        need(not priced, f"leaf: {name!r} has a multiplier and is also in the product")


def _check_account(multipliers: Sequence[Multiplier], gains: Collection[Any]) -> None:
    """Refuse a multiplier whose machine does not follow, as its cost would be missing in the account."""
    for place, (rule, _, machine, _) in enumerate(multipliers):
        late = not rule.hard and (machine or place) in gains
        need(
            not late,
            f"leaf: {rule.name!r} has a multiplier and no machine in a stage, which is needed where costs are counted",
        )


def _key(rules: Rules, key: Any, what: str) -> MachineKey:
    """The key of a rule's component or machine, which must exist."""
    need(
        isinstance(key, tuple) and len(key) == 2,
        f"leaf: {key!r} is not a pair of a rule and the index of one of its {what}",
    )
    rule = whole(key[0], "leaf: a rule", 0, len(rules) - 1)
    ground = rules[rule]
    need(not ground.folds, f"leaf: {ground.name!r} is folded into the scores and has no {what}")
    last = len(getattr(ground, what)) - 1
    return rule, whole(key[1], f"leaf: an index into the {what} of {ground.name!r}", 0, last)


def _stages(rules: Rules, leaf: Leaf) -> list[list[MachineKey]]:
    """The machines of each stage, those of the product first. Each is named once; machines of a rule that counts once are in one stage."""
    result = [[_key(rules, key, "machines") for key in stage] for stage in (leaf.product, *leaf.stages)]
    stage_of: dict[Any, int] = {}
    for number, stage in enumerate(result):
        for key in stage:
            need(key not in stage_of, f"leaf: machine {key!r} is named twice")
            stage_of[key] = number
            if is_shared(rules[key[0]]):
                together = stage_of.setdefault(key[0], number) == number
                need(
                    together,
                    f"leaf: {rules[key[0]].name!r} counts once for several machines, but they are in different stages",
                )
    return [stage for stage in result if stage]


def _first_machine(rule: GroundRule, component: int) -> int:
    """The place of a component's first machine among the rule's."""
    return sum(len(before.machines or ()) for before in rule.components[:component])


def _multiplier(rules: Rules, key: Any, value: Any) -> Multiplier:
    """A checked multiplier; 0 for a rule whose penalty is 0."""
    rule, place = _key(rules, key, "components")
    ground, component = rules[rule], rules[rule].components[place]
    what = f"leaf: the multiplier of {ground.name!r}"
    value = whole(value, what)
    single = isinstance(component, Sum) and not ground.once
    need(
        single,
        f"leaf: {ground.name!r} has a multiplier, but is not a sum whose violations are counted one by one",
    )
    assert isinstance(component, Sum)
    value = value if ground.penalty else 0
    side = component.high if value > 0 else component.low
    need(
        not value or side is not None,
        f"{what} is {value}, which has the wrong sign: the sum has no limit on that side",
    )
    need(abs(value) <= FINE * ground.penalty, f"{what} is {value}, more than the penalty")
    machine = (rule, _first_machine(ground, place)) if component.machines else None
    return Multiplier(ground, component, machine, value)


def _shares(
    rules: Rules, named: Any, followed: Collection[MachineKey], scale: int, account: Account | None
) -> Iterator[Share]:
    """Shares of a stage; their machines may not be named as well."""
    for key, rows in dict(named).items():
        rule, place = _key(rules, key, "components")
        name, machine = rules[rule].name, (rule, _first_machine(rules[rule], place))
        need(machine not in followed, f"leaf: {name!r} has shares, and also a machine in a stage")
        need(account is None, f"leaf: {name!r} has shares, which are not allowed if costs are counted")
        yield read_share(rules[rule], rules[rule].components[place], rows, scale)


def _check_size(
    lattice: Lattice,
    rules: Rules,
    multipliers: Sequence[Multiplier],
    machines: Collection[MachineKey],
    scale: int,
    account: Account | None,
) -> None:
    """Refuse numbers of machines, multipliers and the account that 64 bits might not hold."""
    large = any(scale * rules[r].finite_penalty > LARGEST_PENALTY for r, _ in machines)
    need(not large, "leaf: a penalty is too large to be checked without overflow")
    more = sum(scale * rules[r].finite_penalty * rules[r].machines[m].most for r, m in machines)
    for rule, component, _, value in multipliers:
        more += abs(value) * len(lattice.node) * _largest(component.steps.values) * scale // FINE
        more += scale * rule.finite_penalty * component.most
    _check_total(lattice, scale, more, "numbers")
    need(
        account is None or account.largest * scale <= LARGEST,
        f"leaf: its costs add up to more than {LARGEST}",
    )


def _check_total(lattice: Lattice, scale: int, more: int, what: str) -> None:
    """Refuse scores and further numbers that 64 bits might not hold, by adding up their sizes in Python integers."""
    total = scale * len(lattice.node) * (_largest(lattice.node) + _largest(lattice.pool)) + more
    words = f"leaf: its {what} may add up to {total}; at most {LARGEST} can be checked without overflow"
    need(total <= LARGEST, words)


def _largest(values: Grid) -> int:
    return int(np.where(is_forbidden(values), 0, np.abs(values)).max(initial=0))


def _scaled(lattice: Lattice, scale: int) -> Lattice:
    """The lattice in units of which a grid unit has `scale`."""
    node, pool = (
        np.where(is_forbidden(x), FORBIDDEN, np.where(is_forbidden(x), 0, x) * scale)
        for x in (lattice.node, lattice.pool)
    )
    return Lattice(node, pool, lattice.step)
