"""The check of a leaf: backward and forward passes over the lattice, in integer arithmetic."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from formulations.automata.lattice import Lattice, StepTable
from formulations.grid import FORBIDDEN, Grid, add, is_forbidden, nats
from formulations.problem.problem import GroundRule
from ilpinfer.core.certificate import Leaf, MachineKey
from ilpinfer.proof.accounts import Account, ResourcePass
from ilpinfer.proof.edges import FoldedProblem
from ilpinfer.proof.meter import RULE, CheckFailure, Meter
from ilpinfer.proof.multipliers import (
    FINE,
    Multiplier,
    charge_of,
    charges,
    check_account,
    constants,
    first_machine,
    is_shared,
    key_of,
    largest,
    read_multiplier,
    with_constant,
)
from ilpinfer.proof.product import Product, completions, layers
from ilpinfer.proof.scored_machines import potentials, scored_machine
from ilpinfer.proof.shares import Share, drop_states, read_share
from ilpinfer.proof.stages import LARGEST_KEY, PrunedGraph, StagePass, build_trie
from ilpinfer.proof.survivors import rules_out

LARGEST = 2**57
"""All numbers of a leaf taken together stay below: no sum of four such totals overflows, or looks forbidden."""


def check_leaf(
    rules: Sequence[GroundRule],
    folded: FoldedProblem,
    leaf: Leaf,
    claim: int,
    excluded: tuple[tuple[int, ...], ...],
    meter: Meter,
    account: Account | None,
) -> None:
    """Check that a leaf proves the claim, grid units; other parameters and errors as of `check_tree`.

    Parameters
    ----------
    rules : sequence of GroundRule
        Rules of the problem, and the rows of the splits above.
    folded : FoldedProblem
        Scores with those of them that fold.
    """
    inside, *stages = _machines(rules, [leaf.product, *leaf.stages])
    followed = [*inside, *chain(*stages)]
    multipliers = [read_multiplier(rules, key, value) for key, value in dict(leaf.multipliers).items()]
    _check_inside(rules, inside, multipliers)
    scale = 1 if all(multiplier.value % FINE == 0 for multiplier in multipliers) else FINE
    meter.spend(RULE * len(rules))
    meter.spend(sum(len(rule.components) for rule in rules if rule.folds) * folded.lattice.node.size)
    _check_size(folded.lattice, rules, multipliers, {*followed}, scale)
    multipliers = [with_constant(multiplier, rules, scale, meter) for multiplier in multipliers]
    if any(multiplier.constant is None for multiplier in multipliers):
        return
    if account is not None and account.largest * scale > LARGEST:
        raise CheckFailure(
            f"leaf: its account adds up to more than the {LARGEST} that are checked without overflow"
        )
    lattice, limit = folded.prune(claim, meter), (claim + 1) * scale - 1
    lattice = Lattice(_scale(lattice.node, scale), _scale(lattice.pool, scale), lattice.step)
    given, lists = list[StepTable](), 0
    for stage in leaf.shares:
        shares = _shares(rules, stage, {*followed}, scale, account)
        _check_sum(lattice, shares)
        lattice, lists = drop_states(lattice, shares, limit, meter)
        given = [share.table for share in shares]
    limit -= lists
    parts = _Parts(rules, inside, stages, multipliers, lattice, given, scale)
    if account is None and parts.rule_out(excluded, limit, meter):
        return
    bound = parts.bound(excluded, limit, meter, account and account.scale_by(scale))
    if bound > limit and not is_forbidden(bound):
        raise CheckFailure(
            f"leaf: claims {nats(claim)!r} nats, but labellings up to {nats((bound + lists) // scale)!r} are not excluded"
        )


@dataclass(frozen=True)
class _Parts:
    """The part of a leaf that is left after pruning of states.

    Parameters
    ----------
    rules : sequence of GroundRule
        As of `check_leaf`.
    inside, stages : list of MachineKey or list of list of MachineKey
        Machines that are multiplied into the lattice, and that are followed after it.
    multipliers : list of Multiplier
        Multipliers on sums.
    lattice : Lattice
        Fine units.
    given : list of StepTable
        Scores moved to it from the lists.
    scale : int
        Fine units of a grid unit.
    """

    rules: Sequence[GroundRule]
    inside: list[MachineKey]
    stages: list[list[MachineKey]]
    multipliers: list[Multiplier]
    lattice: Lattice
    given: list[StepTable]
    scale: int

    def rule_out(self, excluded: tuple[tuple[int, ...], ...], limit: int, meter: Meter) -> bool:
        """Whether one pass shows that no labelling, apart from those excluded, passes the limit."""
        followed = [*self.inside, *chain(*self.stages)]
        machines = [scored_machine(self.rules, key, self.scale) for key in followed]
        apart = [multiplier for multiplier in self.multipliers if multiplier.machine not in followed]
        lattice = self._without_states(limit, meter) if self.multipliers else self.lattice
        charged = lattice.plus([*charges(apart), *self.given])
        return rules_out(charged, machines, excluded, limit - constants(apart), meter)

    def _without_states(self, limit: int, meter: Meter) -> Lattice:
        """The lattice without the states through which no labelling passes the limit by the multipliers."""
        charged = self.lattice.plus([*charges(self.multipliers), *self.given])
        left = FoldedProblem(charged).prune(limit - constants(self.multipliers), meter)
        node = np.where(is_forbidden(left.node), FORBIDDEN, self.lattice.node)
        return Lattice(node, self.lattice.pool, self.lattice.step)

    def bound(
        self, excluded: tuple[tuple[int, ...], ...], limit: int, meter: Meter, account: Account | None
    ) -> int:
        """A bound on labellings apart from those excluded, fine units; at most the limit where the account holds.

        Raises
        ------
        CheckFailure
            Where the account does not hold.
        """
        rules, lattice, scale, multipliers = self.rules, self.lattice, self.scale, self.multipliers
        charged = lattice.plus([*charges(multipliers), *self.given])
        machines = [scored_machine(rules, key, scale) for key in self.inside]
        product, final = layers(machines, lattice, meter)
        left: Product | PrunedGraph = Product(charged, product, completions(charged, product, final, meter))
        K = lattice.pool.shape[2]
        nothing, tree = build_trie((), K, meter), build_trie(excluded, K, meter)
        stages = self.stages or ([[]] if excluded or account else [])
        for number, keys in enumerate(stages):
            if (bound := _bound(left, multipliers)) <= limit:
                return bound
            machines = [scored_machine(rules, key, scale) for key in keys]
            worths = [charge_of(multipliers, key) for key in keys]
            multipliers = [multiplier for multiplier in multipliers if multiplier.machine not in keys]
            futures = [
                potentials(r, lattice, worth, meter) for r, worth in zip(machines, worths, strict=True)
            ]
            constant, trie = constants(multipliers), nothing if number else tree
            stage = StagePass(left, lattice, machines, worths, futures, constant, limit, trie, meter)
            if account is not None and number == len(stages) - 1:
                check_account(rules, multipliers)
                if ResourcePass(**vars(stage), account=account).remains():
                    raise CheckFailure(
                        "leaf: labellings that cost less, or score more at that cost, are not excluded"
                    )
                return limit
            left = stage.graph()
        return _bound(left, multipliers)


def _check_inside(
    rules: Sequence[GroundRule], inside: list[MachineKey], multipliers: list[Multiplier]
) -> None:
    """Refuse machines that cannot be multiplied into the lattice."""
    for rule, machine in inside:
        if is_shared(rules[rule]):
            raise CheckFailure(
                f"leaf: {rules[rule].name!r} counts once for several machines, so none can be inside"
            )
        if any(multiplier.machine == (rule, machine) for multiplier in multipliers):
            raise CheckFailure(f"leaf: {rules[rule].name!r} has a multiplier, and is inside too")


def _shares(
    rules: Sequence[GroundRule], stage: Any, machines: set[MachineKey], scale: int, account: Account | None
) -> list[Share]:
    """Shares of a stage; their machines may not be named as well."""
    result = []
    for key, rows in dict(stage).items():
        rule, place = key_of(rules, key, "components")
        if (rule, first_machine(rules[rule], place)) in machines:
            raise CheckFailure(f"leaf: {rules[rule].name!r} has shares, and its machine is named too")
        if account is not None:
            raise CheckFailure(f"leaf: {rules[rule].name!r} has shares, where account is kept")
        result.append(read_share(rules[rule], rules[rule].components[place], rows, scale))
    return result


def _check_sum(lattice: Lattice, shares: Sequence[Share]) -> None:
    """Refuse shares that 64 bits might not hold, beside the scores."""
    total = len(lattice.node) * sum(largest(x) for x in (lattice.node, lattice.pool))
    total += sum(share.largest for share in shares)
    if total > LARGEST:
        raise CheckFailure(
            f"leaf: its shares may add up to {total}, more than the {LARGEST} that are checked without overflow"
        )


def _bound(left: Product | PrunedGraph, multipliers: list[Multiplier]) -> int:
    """Bound on every labelling that is left, fine units."""
    return int(add(left.ahead(0)[0], np.array(constants(multipliers))))


def _machines(rules: Sequence[GroundRule], stages: Sequence[Any]) -> list[list[MachineKey]]:
    """The machines of each stage. Each is named once; machines of a rule that counts once are in one stage."""
    result = [[key_of(rules, key, "machines") for key in stage] for stage in stages]
    stage_of: dict[Any, int] = {}
    for number, stage in enumerate(result):
        for key in stage:
            if key in stage_of:
                raise CheckFailure(f"leaf: machine {key!r} is named twice")
            stage_of[key] = number
            rule = key[0]
            if is_shared(rules[rule]) and stage_of.setdefault(("paid", rule), number) != number:
                raise CheckFailure(
                    f"leaf: {rules[rule].name!r} counts once for several machines, but they follow apart"
                )
    return result


def _check_size(
    lattice: Lattice,
    rules: Sequence[GroundRule],
    multipliers: list[Multiplier],
    machines: set[MachineKey],
    scale: int,
) -> None:
    """Refuse numbers that 64 bits might not hold, by adding up their sizes in Python integers."""
    T = len(lattice.node)
    total = scale * T * sum(largest(x) for x in (lattice.node, lattice.pool))
    total += sum(scale * rules[r].finite_penalty * rules[r].machines[m].most for r, m in machines)
    if any(scale * rules[r].finite_penalty > LARGEST_KEY for r, _ in machines):
        raise CheckFailure("leaf: a penalty is larger than what can be checked without overflow")
    for multiplier in multipliers:
        component, penalty = multiplier.component, rules[multiplier.rule].finite_penalty
        total += abs(multiplier.value) * T * largest(component.steps.values) * scale // FINE
        total += scale * penalty * component.most
    if total > LARGEST:
        raise CheckFailure(
            f"leaf: its numbers may add up to {total}, more than the {LARGEST} that are checked without overflow"
        )


def _scale(values: Grid, scale: int) -> Grid:
    return np.where(is_forbidden(values), FORBIDDEN, np.where(is_forbidden(values), 0, values) * scale)
