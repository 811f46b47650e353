"""The check of a leaf: prices are moved from the scores to machines, and machines are followed, stage by stage.

The lattice pays a price for each unit of a sum, or a share for each kind of a token, and the bound gets back the most that a machine
can gain by itself. A machine that is followed gives its prices back to each labelling, and takes its costs.
"""

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from formulations.arguments import whole
from formulations.automata.lattice import Lattice, StepTable
from formulations.automata.sums import Sum
from formulations.grid import FORBIDDEN, Grid, is_forbidden, nats
from formulations.problem.problem import GroundRule
from ilpinfer.core.trees import Leaf, MachineKey
from ilpinfer.proof.graphs import LARGEST_KEY, Graph, Marginals, Product
from ilpinfer.proof.machines import Machine, acceptor, is_shared, machine_of
from ilpinfer.proof.meter import RULE, CheckFailure, Meter
from ilpinfer.proof.shares import Share, drop_states, read_share
from ilpinfer.proof.stages import Account, Stage, remains

FINE = 2**10  # units of multipliers in a grid unit
LARGEST = 2**57
"""All numbers of a leaf taken together stay below: no sum of four such totals overflows, or looks forbidden."""
OVERFLOW = f"more than the {LARGEST} that are checked without overflow"


class Multiplier(NamedTuple):
    """A price for each unit of a sum, in fine units. The machine is None where the sum is too large for one."""

    rule: int
    component: Sum
    machine: MachineKey | None
    value: int


def check_leaf(
    rules: Sequence[GroundRule],
    folded: Marginals,
    leaf: Leaf,
    claim: int,
    excluded: tuple[tuple[int, ...], ...],
    meter: Meter,
    account: Account | None,
) -> None:
    """Check that a leaf proves the claim, grid units; `rules` are those of the problem, then the rows of the splits above."""
    inside, *stages = _machine_keys(rules, [leaf.product, *leaf.stages])
    followed = [*inside, *chain(*stages)]
    multipliers = [_multiplier(rules, key, value) for key, value in dict(leaf.multipliers).items()]
    _check_inside(rules, inside, multipliers)
    scale = 1 if all(multiplier.value % FINE == 0 for multiplier in multipliers) else FINE
    meter.spend(RULE * len(rules))
    meter.spend(sum(len(rule.components) for rule in rules if rule.folds) * folded.lattice.node.size)
    _check_size(folded.lattice, rules, multipliers, followed, scale)
    if account is not None and account.largest * scale > LARGEST:
        raise CheckFailure(f"leaf: its account adds up to {OVERFLOW}")
    claim = min(max(claim, -2 * LARGEST // scale), 2 * LARGEST // scale)
    limit = (claim + 1) * scale - 1
    if folded.request(meter).best <= claim:
        return

    prices = {m.machine: m.value * scale // FINE * m.component.weights for m in multipliers if m.machine}
    machines = {key: machine_of(rules, key, scale, prices.get(key), meter) for key in {*prices, *followed}}
    gains: dict[Any, int] = {key: int(machines[key].futures[0][0]) for key in prices}
    gains |= {n: _corner(m, scale, rules[m.rule]) for n, m in enumerate(multipliers) if not m.machine}
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
        charges = [_charge(multiplier, scale) for multiplier in multipliers]
        scores = Marginals(lattice.plus([*charges, *(share.table for share in shares)])).request(meter)

    def stage(keys: Sequence[MachineKey], more: Sequence[Machine]) -> Stage:
        """A stage over the graph so far; the gains of all other machines with prices belong to the bound."""
        rest = sum(gain for key, gain in gains.items() if key not in keys)
        return Stage(graph, [*(machines[key] for key in keys), *more], limit - rest, K, meter)

    K, left = scores.lattice.pool.shape[2], scores.graph(limit - sum(gains.values()), meter)
    apart = [acceptor(excluded, K, meter)] if excluded else []
    graph: Graph | Product = left
    if not left.layers or (account is None and stage(followed, apart).excludes()):
        return
    if inside:
        graph = Product(left, [machines[key] for key in inside], meter)
    stages = stages or [[]] * bool(excluded or account)
    for number, keys in enumerate(stages):
        if graph.ahead(0)[0] <= limit - sum(gains.values()):
            return
        last, this, apart = number == len(stages) - 1, stage(keys, apart), []
        gains = {key: gain for key, gain in gains.items() if key not in keys}
        if account is not None and last:
            _check_account(rules, multipliers, gains)
            if remains(this, account.scale_by(scale), sum(gains.values())):
                what = "labellings that cost less, or score more at that cost"
                raise CheckFailure(f"leaf: {what}, are not excluded")
            return
        graph = this.graph()
    if (bound := int(graph.ahead(0)[0]) + sum(gains.values())) > limit:
        words = f"claims {nats(claim)!r} nats, but labellings up to {nats(bound // scale)!r}"
        raise CheckFailure(f"leaf: {words} are not excluded")


def _key(rules: Sequence[GroundRule], key: Any, what: str) -> MachineKey:
    """The key of a rule's component or machine, which must exist."""
    if not isinstance(key, tuple) or len(key) != 2:
        raise CheckFailure(f"leaf: {key!r} is not a pair of a rule and one of its {what}")
    rule = whole(key[0], "leaf: a rule", 0, len(rules) - 1)
    ground = rules[rule]
    if ground.folds:
        raise CheckFailure(f"leaf: {ground.name!r} has folded into the scores, and has no {what} left")
    last = len(getattr(ground, what)) - 1
    return rule, whole(key[1], f"leaf: a place among the {what} of {ground.name!r}", 0, last)


def _machine_keys(rules: Sequence[GroundRule], stages: Sequence[Any]) -> list[list[MachineKey]]:
    """The machines of each stage. Each is named once; machines of a rule that counts once are in one stage."""
    result = [[_key(rules, key, "machines") for key in stage] for stage in stages]
    stage_of: dict[Any, int] = {}
    for number, stage in enumerate(result):
        for key in stage:
            if key in stage_of:
                raise CheckFailure(f"leaf: machine {key!r} is named twice")
            stage_of[key] = number
            name = rules[key[0]].name
            if is_shared(rules[key[0]]) and stage_of.setdefault(key[0], number) != number:
                raise CheckFailure(f"leaf: {name!r} counts once for several machines, but they follow apart")
    return result


def _first_machine(rule: GroundRule, component: int) -> int:
    """The place of a component's first machine among the rule's."""
    return sum(len(before.machines or ()) for before in rule.components[:component])


def _multiplier(rules: Sequence[GroundRule], key: Any, value: Any) -> Multiplier:
    """A checked multiplier; 0 for a rule whose penalty is 0."""
    rule, place = _key(rules, key, "components")
    ground, component = rules[rule], rules[rule].components[place]
    what = f"leaf: the multiplier of {ground.name!r}"
    value = whole(value, what)
    if not isinstance(component, Sum) or ground.once:
        no_sum = "is no sum whose violations count singly"
        raise CheckFailure(f"leaf: {ground.name!r} has a multiplier, but {no_sum}")
    value = value if ground.penalty else 0
    if (value > 0 and component.high is None) or (value < 0 and component.low is None):
        raise CheckFailure(f"{what} is {value}: the wrong sign, as that side is open")
    if abs(value) > FINE * ground.penalty:
        raise CheckFailure(f"{what} is {value}, more than the penalty")
    machine = (rule, _first_machine(ground, place)) if component.machines else None
    return Multiplier(rule, component, machine, value)


def _corner(multiplier: Multiplier, scale: int, rule: GroundRule) -> int:
    """The gain of a sum that is too large for a machine: at a corner of the cost, which is convex in the sum."""
    component, value = multiplier.component, multiplier.value * scale // FINE
    low, high = component.reach
    sides = [side for side in (component.low, component.high) if side is not None and low <= side <= high]
    kept = [total for total in (low, high, *sides) if not rule.hard or not component.away(total)]
    penalty = scale * rule.finite_penalty
    return max((value * total - penalty * component.away(total) for total in kept), default=FORBIDDEN)


def _charge(multiplier: Multiplier, scale: int) -> StepTable:
    steps = multiplier.component.steps
    return StepTable(-(multiplier.value * scale // FINE) * steps.values, steps.index)


def _shares(
    rules: Sequence[GroundRule],
    named: Any,
    followed: Sequence[MachineKey],
    scale: int,
    account: Account | None,
) -> Iterator[Share]:
    """Shares of a stage; their machines may not be named as well."""
    for key, rows in dict(named).items():
        rule, place = _key(rules, key, "components")
        if (rule, _first_machine(rules[rule], place)) in followed:
            raise CheckFailure(f"leaf: {rules[rule].name!r} has shares, and its machine is named too")
        if account is not None:
            raise CheckFailure(f"leaf: {rules[rule].name!r} has shares, where account is kept")
        yield read_share(rules[rule], rules[rule].components[place], rows, scale)


def _check_inside(
    rules: Sequence[GroundRule], inside: Sequence[MachineKey], multipliers: Sequence[Multiplier]
) -> None:
    """Refuse machines that cannot be in the product."""
    for key in inside:
        name = rules[key[0]].name
        if is_shared(rules[key[0]]):
            raise CheckFailure(f"leaf: {name!r} counts once for several machines, so none can be inside")
        if any(multiplier.machine == key for multiplier in multipliers):
            raise CheckFailure(f"leaf: {name!r} has a multiplier, and is inside too")


def _check_account(
    rules: Sequence[GroundRule], multipliers: Sequence[Multiplier], gains: dict[Any, int]
) -> None:
    """Refuse a multiplier whose machine does not follow, as its cost would be missing in the account."""
    for number, multiplier in enumerate(multipliers):
        rule = rules[multiplier.rule]
        if not rule.hard and (multiplier.machine or number) in gains:
            late = "does not follow where account is kept"
            raise CheckFailure(f"leaf: {rule.name!r} has a multiplier, but {late}")


def _check_size(
    lattice: Lattice,
    rules: Sequence[GroundRule],
    multipliers: Sequence[Multiplier],
    machines: Sequence[MachineKey],
    scale: int,
) -> None:
    """Refuse numbers of machines and multipliers that 64 bits might not hold."""
    if any(scale * rules[r].finite_penalty > LARGEST_KEY for r, _ in machines):
        raise CheckFailure("leaf: a penalty is larger than what can be checked without overflow")
    more = sum(scale * rules[r].finite_penalty * rules[r].machines[m].most for r, m in machines)
    for rule, component, _, value in multipliers:
        more += abs(value) * len(lattice.node) * _largest(component.steps.values) * scale // FINE
        more += scale * rules[rule].finite_penalty * component.most
    _check_total(lattice, scale, more, "numbers")


def _check_total(lattice: Lattice, scale: int, more: int, what: str) -> None:
    """Refuse scores and further numbers that 64 bits might not hold, by adding up their sizes in Python integers."""
    total = scale * len(lattice.node) * (_largest(lattice.node) + _largest(lattice.pool)) + more
    if total > LARGEST:
        raise CheckFailure(f"leaf: its {what} may add up to {total}, {OVERFLOW}")


def _largest(values: Grid) -> int:
    return int(np.where(is_forbidden(values), 0, np.abs(values)).max(initial=0))


def _scaled(lattice: Lattice, scale: int) -> Lattice:
    """The lattice in units of which a grid unit has `scale`."""
    node, pool = (
        np.where(is_forbidden(x), FORBIDDEN, np.where(is_forbidden(x), 0, x) * scale)
        for x in (lattice.node, lattice.pool)
    )
    return Lattice(node, pool, lattice.step)
