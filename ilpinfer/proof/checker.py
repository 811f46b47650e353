"""A checker of proofs: trees whose leaves bound every labelling by passes over the lattice, in whole numbers.

It reads the compiled form alone. In each leaf, states through which nothing passes the claim are left out; a backward
pass bounds all completions of all prefixes; where that is not enough, further machines follow what is left, stage by
stage: a forward pass drops every prefix that cannot pass the claim, and a backward pass the steps that cannot.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from numbers import Integral
from typing import Any

import numpy as np

from formulations.automata.lattice import Lattice, StepTable
from formulations.automata.sums import Sum, bounded
from formulations.grid import FORBIDDEN, Grid, add, is_forbidden, nats
from formulations.problem.problem import GroundRule, Problem
from ilpinfer.core.certificate import Leaf, MachineKey, Split, TooManyCases, nodes
from ilpinfer.proof import recursions as passes
from ilpinfer.proof.accounts import Account, Spending
from ilpinfer.proof.meter import OVERHEAD, Meter, Rejected
from ilpinfer.proof.recursions import Followed, Graph, Labelling, Product
from ilpinfer.proof.shares import Share, dropped, read_share

FINE = 2**10
"""Units of multipliers in a grid unit."""
RULE = 200
"""Steps to look at a rule for a leaf."""
LARGEST = 2**57
"""All numbers of a leaf taken together stay below: no sum of four such totals overflows, or looks forbidden."""


def whole_numbers(values: Any, end: int, what: str) -> tuple[int, ...]:
    """The values, each of which must be a whole number from 0 and below `end`."""
    for value in values:
        if not isinstance(value, Integral) or isinstance(value, bool) or not 0 <= int(value) < end:
            raise Rejected(f"{value!r} is not a {what} from 0 to {end - 1}")
    return tuple(int(value) for value in values)


def check_tree(
    problem: Problem,
    tree: Any,
    claim: int | None,
    excluded: tuple[Labelling, ...],
    meter: Meter | None = None,
    account: Account | None = None,
) -> None:
    """Check that no labelling but those excluded is worth more than `claim` grid units; None: that there is none.

    With an account, that there is none which it speaks of; these are all worth more than its limit, the claim.

    Raises
    ------
    Rejected
        where the tree does not prove it, or that would take more than the meter allows.
    """
    meter = meter or Meter()
    _check_form(problem, tree, meter)
    if claim is None:
        problem, claim = _without_scores(problem), -1
    for rows, leaf in _leaves(tree, *problem.shape):
        meter.stored = 0
        _check_leaf(replace(problem, rules=problem.rules + rows), leaf, claim, excluded, meter, account)


def _check_form(problem: Problem, tree: Any, meter: Meter) -> None:
    """Refuse a tree that has a node of another kind, or more of them than can be checked, before any is."""
    (T, S), edges = problem.lattice.node.shape, math.prod(problem.lattice.pool.shape[1:])
    local = sum(len(rule.components) for rule in problem.rules if rule.folds)
    least = 0
    try:
        for depth, node in nodes(tree):
            if isinstance(node, Leaf):
                if not all(node.followed):
                    raise Rejected("leaf: one of its stages is empty")
                least += T * ((edges + OVERHEAD) * node.passes + local * S) + RULE * len(problem.rules)
                if least > meter.left:
                    raise Rejected(f"the check would take more than {meter.most} steps; {meter.way_out}")
            elif not isinstance(node, Split):
                raise Rejected(
                    f"the tree has a {type(node).__name__} below {depth} splits, which is neither leaf nor split"
                )
    except TooManyCases as error:
        raise Rejected(str(error)) from None


def _without_scores(problem: Problem) -> Problem:
    """The problem in which every labelling that keeps the hard rules is worth 0."""
    node, pool = (
        np.where(is_forbidden(x), FORBIDDEN, 0) for x in (problem.lattice.node, problem.lattice.pool)
    )
    rules = tuple(rule if rule.penalty is None else replace(rule, penalty=0) for rule in problem.rules)
    return replace(problem, lattice=Lattice(node, pool, problem.lattice.step), rules=rules)


def _leaves(tree: Leaf | Split, T: int, K: int) -> Iterator[tuple[tuple[GroundRule, ...], Leaf]]:
    """Every leaf, with the rows of the splits above it; a split's two rows leave no labelling out."""
    waiting: list[tuple[Leaf | Split, tuple[GroundRule, ...]]] = [(tree, ())]
    while waiting:
        node, rows = waiting.pop()
        if isinstance(node, Leaf):
            yield rows, node
            continue
        steps = _ones(node, T, K)
        (most,) = whole_numbers([node.most], T + 1, "side of a split")
        below, above = bounded(steps, None, most), bounded(steps, most + 1, None)
        if len(node.tokens) == 1 and not most:
            above = bounded(_ones(node, T, K, others=True), None, 0)
        for part, child in ((above, node.above), (below, node.below)):
            row = GroundRule(f"split {len(rows)}", None, False, (part,))
            waiting.append((child, (*rows, row)))


def _ones(split: Split, T: int, K: int, *, others: bool = False) -> StepTable:
    """1 for each step to one of the labels, or to one of the others, at one of the tokens."""
    values, index = np.zeros((2, 1, K), np.int64), np.zeros(T, np.int64)
    values[1] = others
    values[1, 0, list(whole_numbers(split.labels, K, "label id"))] = not others
    index[list(whole_numbers(split.tokens, T, "token"))] = 1
    return StepTable(values, index)


@dataclass(frozen=True)
class Price:
    """A sum whose violations are priced.

    Parameters
    ----------
    rule : its place
    part : the sum
    machine : its place among the machines named by a leaf, if it has one
    each : fine units that a unit of weight is charged
    back : fine units that are given back at most, violations paid; None where no labelling keeps a hard rule
    """

    rule: int
    part: Sum
    machine: MachineKey | None
    each: int
    back: int | None


def _check_leaf(
    problem: Problem,
    leaf: Leaf,
    claim: int,
    excluded: tuple[Labelling, ...],
    meter: Meter,
    account: Account | None,
) -> None:
    rules = problem.rules
    inside, *stages = _machines(rules, [leaf.inside, *leaf.followed])
    multipliers = [_price(rules, key, each) for key, each in dict(leaf.multipliers).items()]
    for rule, machine in inside:
        if _shared(rules[rule]):
            raise Rejected(
                f"leaf: {rules[rule].name!r} counts once for several machines, so none can be inside"
            )
        if any(price.machine == (rule, machine) for price in multipliers):
            raise Rejected(f"leaf: {rules[rule].name!r} has a multiplier, and is inside too")
    if any(price.back is None for price in multipliers):
        return
    scale = 1 if all(price.each % FINE == 0 for price in multipliers) else FINE
    meter.spend(RULE * len(rules))
    meter.spend(sum(len(rule.components) for rule in rules if rule.folds) * problem.lattice.node.size)
    lattice = problem.fold().lattice
    _check_size(lattice, rules, multipliers, {key for keys in (inside, *stages) for key in keys}, scale)
    if account is not None and account.largest * scale > LARGEST:
        raise Rejected(
            f"leaf: its account adds up to more than the {LARGEST} that are checked without overflow"
        )
    limit = (claim + 1) * scale - 1
    lattice = Lattice(_scaled(lattice.node, scale), _scaled(lattice.pool, scale), lattice.step)
    lattice = passes.narrowed(lattice, limit, meter)
    given, lists = list[StepTable](), 0
    for stage in leaf.shares:
        shares = _shares(rules, stage, {*inside, *chain(*stages)}, scale, account)
        _check_sum(lattice, shares)
        lattice, lists = dropped(lattice, shares, limit, meter)
        given = [share.table for share in shares]
    limit -= lists
    charged = lattice.plus([*_charges(multipliers, scale), *given])
    product, final = passes.layers([passes.reader(rules, key, scale) for key in inside], lattice, meter)
    left: Product | Graph = Product(charged, product, passes.completions(charged, product, final, meter))
    nothing, tree = passes.trie((), problem.shape[1], meter), passes.trie(excluded, problem.shape[1], meter)
    stages = stages or ([[]] if excluded or account else [])
    for number, keys in enumerate(stages):
        if _bound(left, multipliers, scale) <= limit:
            return
        readers = [passes.reader(rules, key, scale) for key in keys]
        worths = [_worth(multipliers, key, scale) for key in keys]
        multipliers = [price for price in multipliers if price.machine not in keys]
        common: dict[str, Any] = {
            "base": left,
            "lattice": lattice,
            "readers": readers,
            "worths": worths,
            "potentials": [
                passes.potential(r, lattice, worth, meter) for r, worth in zip(readers, worths, strict=True)
            ],
            "back": _back(multipliers, scale),
            "limit": limit,
            "children": nothing if number else tree,
            "meter": meter,
        }
        if account is not None and number == len(stages) - 1:
            _check_accounted(rules, multipliers)
            if Spending(**common, account=account.scaled(scale)).remains():
                raise Rejected(
                    "leaf: labellings that cost less, or score more at that cost, are not ruled out"
                )
            return
        left = Followed(**common).graph()
    bound = _bound(left, multipliers, scale)
    if bound > limit and not is_forbidden(bound):
        raise Rejected(
            f"leaf: claims {nats(claim)!r} nats, but labellings up to {nats((bound + lists) // scale)!r} are not ruled out"
        )


def _shares(
    rules: Sequence[GroundRule], stage: Any, machines: set[MachineKey], scale: int, account: Account | None
) -> list[Share]:
    """What lists of tokens give to the lattice, where their machines are not followed as well."""
    result = []
    for key, rows in dict(stage).items():
        rule, place = _named(rules, key, "components")
        if (rule, _first_machine(rules[rule], place)) in machines:
            raise Rejected(f"leaf: {rules[rule].name!r} has shares, and its machine is named too")
        if account is not None:
            raise Rejected(f"leaf: {rules[rule].name!r} has shares, where account is kept")
        result.append(read_share(rules[rule], rules[rule].components[place], rows, scale))
    return result


def _check_sum(lattice: Lattice, shares: Sequence[Share]) -> None:
    """Refuse shares that 64 bits might not hold, beside the scores."""
    total = len(lattice.node) * sum(_largest(x) for x in (lattice.node, lattice.pool))
    total += sum(share.largest for share in shares)
    if total > LARGEST:
        raise Rejected(
            f"leaf: its shares may add up to {total}, more than the {LARGEST} that are checked without overflow"
        )


def _first_machine(rule: GroundRule, part: int) -> int:
    """The place of a part's first machine among the rule's."""
    return sum(len(before.machines or ()) for before in rule.components[:part])


def _check_accounted(rules: Sequence[GroundRule], multipliers: list[Price]) -> None:
    """Refuse a price that is charged but not spent, as what is spent would be too little to tell the score from."""
    for price in multipliers:
        if rules[price.rule].penalty is not None:
            raise Rejected(
                f"leaf: {rules[price.rule].name!r} has a multiplier, but does not follow where account is kept"
            )


def _bound(left: Product | Graph, multipliers: list[Price], scale: int) -> int:
    """On every labelling that is left, fine units."""
    return int(add(left.ahead(0)[0], np.array(_back(multipliers, scale))))


def _shared(rule: GroundRule) -> bool:
    """Whether it counts once for several machines."""
    return _once(rule) and len(rule.machines) > 1


def _once(rule: GroundRule) -> bool:
    """Whether a second violation costs no more; of a hard rule none is ever paid for."""
    return rule.binary and rule.penalty is not None


def _named(rules: Sequence[GroundRule], key: Any, what: str) -> MachineKey:
    """The key of a rule's part or machine, which must exist."""
    if not isinstance(key, tuple) or len(key) != 2:
        raise Rejected(f"leaf: {key!r} is not a pair of a rule and one of its {what}")
    (rule,) = whole_numbers(key[:1], len(rules), "rule")
    if rules[rule].folds:
        raise Rejected(f"leaf: {rules[rule].name!r} has folded into the scores, and has no {what} left")
    (place,) = whole_numbers(
        key[1:], len(getattr(rules[rule], what)), f"place among the {what} of {rules[rule].name!r}"
    )
    return rule, place


def _machines(rules: Sequence[GroundRule], stages: Sequence[Any]) -> list[list[MachineKey]]:
    """The machines of each stage, each of which is named once, and together with those that it pays with."""
    result = [[_named(rules, key, "machines") for key in stage] for stage in stages]
    stage_of: dict[Any, int] = {}
    for number, stage in enumerate(result):
        for key in stage:
            if key in stage_of:
                raise Rejected(f"leaf: machine {key!r} is named twice")
            stage_of[key] = number
            rule = key[0]
            if _shared(rules[rule]) and stage_of.setdefault(("paid", rule), number) != number:
                raise Rejected(
                    f"leaf: {rules[rule].name!r} counts once for several machines, but they follow apart"
                )
    return result


def _price(rules: Sequence[GroundRule], key: Any, each: Any) -> Price:
    """A multiplier that is charged; of a rule that costs nothing, none is."""
    rule, place = _named(rules, key, "components")
    ground, part = rules[rule], rules[rule].components[place]
    if not isinstance(each, Integral) or isinstance(each, bool):
        raise Rejected(f"leaf: the multiplier of {ground.name!r} is {each!r}, which is no whole number")
    if not isinstance(part, Sum) or _once(ground):
        raise Rejected(f"leaf: {ground.name!r} has a multiplier, but is no sum whose violations count singly")
    each = int(each) if ground.penalty != 0 else 0
    if (each > 0 and part.high is None) or (each < 0 and part.low is None):
        raise Rejected(
            f"leaf: the multiplier of {ground.name!r} is {each}: the wrong sign, as that side is open"
        )
    if ground.penalty is not None and abs(each) > FINE * ground.penalty:
        raise Rejected(f"leaf: the multiplier of {ground.name!r} is {each}, more than the penalty")
    machine = rule, _first_machine(ground, place)
    return Price(
        rule, part, machine if part.machines else None, each, _given_back(part, each, ground.penalty)
    )


def _given_back(part: Sum, each: int, penalty: int | None) -> int | None:
    """The largest of each · N less what N costs, over all sums N: as it is concave, one at a side or an end."""
    low, high = part.reach
    sums = {low, high, *(side for side in (part.low, part.high) if side is not None and low <= side <= high)}
    kept = [total for total in sums if penalty is not None or not part.away(total)]
    return max((each * total - FINE * (penalty or 0) * part.away(total) for total in kept), default=None)


def _check_size(
    lattice: Lattice,
    rules: Sequence[GroundRule],
    multipliers: list[Price],
    machines: set[MachineKey],
    scale: int,
) -> None:
    """Refuse numbers that 64 bits might not hold, by adding up their sizes in Python's own."""
    T = len(lattice.node)
    total = scale * T * sum(_largest(x) for x in (lattice.node, lattice.pool))
    total += sum(scale * (rules[r].penalty or 0) * rules[r].machines[m].most for r, m in machines)
    if any(scale * (rules[r].penalty or 0) > passes.LARGEST_KEY for r, _ in machines):
        raise Rejected("leaf: a penalty is larger than what can be checked without overflow")
    for price in multipliers:
        largest = abs(price.each) * T * _largest(price.part.steps.values) + abs(price.back or 0)
        total += largest * scale // FINE
    if total > LARGEST:
        raise Rejected(
            f"leaf: its numbers may add up to {total}, more than the {LARGEST} that are checked without overflow"
        )


def _largest(values: Grid) -> int:
    return int(np.where(is_forbidden(values), 0, np.abs(values)).max(initial=0))


def _scaled(values: Grid, scale: int) -> Grid:
    return np.where(is_forbidden(values), FORBIDDEN, np.where(is_forbidden(values), 0, values) * scale)


def _charges(multipliers: list[Price], scale: int) -> list[StepTable]:
    return [
        StepTable(-(price.each * scale // FINE) * price.part.steps.values, price.part.steps.index)
        for price in multipliers
    ]


def _back(multipliers: list[Price], scale: int) -> int:
    return sum(price.back or 0 for price in multipliers) * scale // FINE


def _worth(multipliers: list[Price], key: MachineKey, scale: int) -> tuple[StepTable, int] | None:
    result = [(price.part.steps, price.each * scale // FINE) for price in multipliers if price.machine == key]
    return result[0] if result else None
