"""Trees of splits and leaves: the form of a proof, and its plain values."""

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from formulations.errors import InferenceError
from formulations.plain_values import READERS, PlainValues, of_type, repeated, table

MachineKey = tuple[int, int]
"""A rule by its place among the compiled rules, and a component or machine of it by its own.

A split above a leaf adds a rule after the last one, so that rules of nested splits are numbered from the root.
"""

DEEPEST, MOST_LEAVES = 200, 10_000
"""Splits one below the other that a tree may have, and leaves."""


class TooManyCases(InferenceError, ValueError):
    """A tree of more than `DEEPEST` splits one below the other, or of more than `MOST_LEAVES` leaves."""


@dataclass(frozen=True)
class Leaf(PlainValues):
    """A bound that passes over the folded lattice recompute. Rules without a name in it are relaxed."""

    # Price of each unit of weight of a `Sum` whose violations are counted one by one, in units of 2^-30 nats: the lattice
    # pays it, and the bound gets back the best future of the sum's machine.
    multipliers: Mapping[MachineKey, int] = field(default_factory=dict)
    # Machines that the lattice is multiplied with for the first backward pass.
    product: tuple[MachineKey, ...] = ()
    # Further machines: those of a stage read what the previous stage has left, and prune what cannot exceed the bound.
    stages: tuple[tuple[MachineKey, ...], ...] = ()
    # By stage, for an `Agreement` whose violations are counted one by one, the scores (n, F), grid units, that its tokens give to the
    # lattice for each kind; the shares of the last stage stay there.
    shares: tuple[Mapping[MachineKey, Sequence[Sequence[int]]], ...] = ()

    @property
    def passes(self) -> int:
        return 2 + len(self.product) + sum(1 + len(stage) for stage in self.stages) + 2 * len(self.shares)

    def to_dict(self) -> dict[str, Any]:
        shares = [
            [[*component, [list(row) for row in rows]] for component, rows in stage.items()]
            for stage in self.shares
        ]
        return {
            "multipliers": [[*component, value] for component, value in self.multipliers.items()],
            "inside": [list(component) for component in self.product],
            "followed": [[list(component) for component in stage] for stage in self.stages],
            **({"shares": shares} if shares else {}),
        }


@dataclass(frozen=True)
class Split(PlainValues):
    """Two cases that cover all labellings: the row Σ_t [t in tokens and label t in labels] is <= most, or above."""

    tokens: tuple[int, ...]
    labels: tuple[int, ...]
    most: int
    below: "Leaf | Split" = field(repr=False)
    above: "Leaf | Split" = field(repr=False)

    def to_dict(self) -> dict[str, Any]:
        return as_plain(self)


Tree = Leaf | Split


def nodes(tree: Any) -> Iterator[tuple[int, Any]]:
    """Depth and node of each node, parents first; TooManyCases beyond `DEEPEST` and `MOST_LEAVES`."""
    waiting, leaves = [(0, tree)], 0
    while waiting:
        depth, node = waiting.pop()
        yield depth, node
        if isinstance(node, Split):
            if depth == DEEPEST:
                raise TooManyCases(f"the tree is deeper than {DEEPEST} splits")
            waiting += [(depth + 1, node.above), (depth + 1, node.below)]
        else:
            leaves += 1
            if leaves > MOST_LEAVES:
                raise TooManyCases(f"the tree has more than {MOST_LEAVES} leaves")


def as_plain(tree: Tree) -> dict[str, Any]:
    """A tree as plain values; the values of a split contain the values of its two cases. TooManyCases as `nodes`."""

    def plain(node: Tree) -> dict[str, Any]:
        if isinstance(node, Leaf):
            return node.to_dict()
        row = {"tokens": list(node.tokens), "labels": list(node.labels), "most": node.most}
        return {**row, "below": plain(node.below), "above": plain(node.above)}

    deque(nodes(tree), 0)  # refuses one that is too large
    return plain(tree)


def tree_of(value: Any, what: str = "tree") -> Tree:
    """The tree that `as_plain` has made this value of; ValueError for others."""
    splits, leaves = count(), count(1)

    def read(given: Any, depth: int, where: str) -> Tree:
        if not isinstance(given, dict) or "below" not in given:
            if next(leaves) > MOST_LEAVES:
                raise TooManyCases(f"{what} has more than {MOST_LEAVES} leaves")
            return _leaf(given, where)
        if depth == DEEPEST:
            raise TooManyCases(f"{what} is deeper than {DEEPEST} splits")
        table(given, SPLIT_KEYS, where)
        tokens, labels = (
            of_type(tuple[int, ...], given[key], f"{where}: {key}") for key in ("tokens", "labels")
        )
        most, place = of_type(int, given["most"], f"{where}: most"), f"{what}, split {next(splits)}"
        cases = (read(given[side], depth + 1, f"{place}: {side}") for side in ("below", "above"))
        return Split(tokens, labels, most, *cases)

    return read(value, 0, what)


SPLIT_KEYS = ("tokens", "labels", "most", "below", "above")
LEAF_KEYS = ("multipliers", "inside", "followed")
Machines = tuple[MachineKey, ...]


def _leaf(value: Any, what: str) -> Leaf:
    given = table(value, LEAF_KEYS, what, ("shares",))
    multipliers = of_type(list[tuple[int, int, int]], given["multipliers"], f"{what}: multipliers")
    shares = of_type(list[list[tuple[int, int, list[list[int]]]]], given.get("shares", []), f"{what}: shares")
    return Leaf(
        _keyed(multipliers, f"{what}: multipliers"),
        of_type(Machines, given["inside"], f"{what}: inside"),
        of_type(tuple[Machines, ...], given["followed"], f"{what}: followed"),
        tuple(_keyed(stage, f"{what}: shares[{at}]") for at, stage in enumerate(shares)),
    )


def _keyed(values: list[tuple[int, int, Any]], what: str) -> dict[MachineKey, Any]:
    """Values by rule and component; ValueError for a pair that is there twice."""
    pairs = [((rule, component), value) for rule, component, value in values]
    result = dict(pairs)
    if len(result) < len(pairs):
        raise ValueError(f"{what} names {list(repeated(pairs))} twice")
    return result


READERS[Tree] = tree_of
