"""Trees of splits and leaves: the form of a proof, and its plain values."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from formulations.errors import InferenceError
from formulations.plain_values import items, of_type, repeated, table

MachineKey = tuple[int, int]
"""A rule by its place among the compiled rules, and a component or machine of it by its own.

A split above a leaf adds a rule after the last one, so that those of nested splits are numbered from the root.
"""

DEEPEST, MOST_LEAVES = 200, 10_000
"""Splits one below the other that a tree may have, and leaves."""


class TooManyCases(InferenceError, ValueError):
    """A tree of more than `DEEPEST` splits one below the other, or of more than `MOST_LEAVES` leaves."""


@dataclass(frozen=True)
class Leaf:
    """A bound that passes over the folded lattice recompute. Rules without a name in it are relaxed."""

    # For each unit of weight of a `Sum` whose violations count singly, in units of 2^-30 nats: the lattice pays it, and the
    # bound gets back the best future of the sum's machine.
    multipliers: Mapping[MachineKey, int] = field(default_factory=dict)
    # Machines that the lattice is multiplied with for the first backward pass.
    product: tuple[MachineKey, ...] = ()
    # Further machines: those of a stage read what the stage before has left, and prune what cannot pass the bound.
    stages: tuple[tuple[MachineKey, ...], ...] = ()
    # By stage, for an `Agreement` whose violations count singly, the scores (n, F), grid units, that its tokens give to the
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

    @classmethod
    def from_dict(cls, values: Any) -> "Leaf":
        return _leaf(values, "leaf")


@dataclass(frozen=True)
class Split:
    """Two cases that cover all labellings: the row Σ_t [t in tokens and label t in labels] is <= most, or above."""

    tokens: tuple[int, ...]
    labels: tuple[int, ...]
    most: int
    below: "Leaf | Split" = field(repr=False)
    above: "Leaf | Split" = field(repr=False)

    def to_dict(self) -> dict[str, Any]:
        return as_plain(self)

    @classmethod
    def from_dict(cls, values: Any) -> "Split":
        result = tree_of(values, "split")
        if not isinstance(result, Split):
            raise ValueError("split has no below")
        return result


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
    """A tree as plain values, those of the two cases of a split inside its own; TooManyCases as `nodes`."""
    root: dict[str, Any] = {}
    places = [(root, "tree")]
    for _, node in nodes(tree):
        parent, name = places.pop()
        if isinstance(node, Split):
            row = {"tokens": list(node.tokens), "labels": list(node.labels), "most": node.most}
            parent[name] = {**row, "below": None, "above": None}
            places += [(parent[name], "above"), (parent[name], "below")]
        else:
            parent[name] = node.to_dict()
    result: dict[str, Any] = root["tree"]
    return result


def tree_of(value: Any, what: str = "tree") -> Tree:
    """The tree that `as_plain` has made this value of; ValueError for others."""
    waiting: list[tuple[Any, int, str]] = [(value, 0, what)]
    splits: list[tuple[tuple[int, ...], tuple[int, ...], int] | Leaf] = []
    leaves = 0
    while waiting:
        given, depth, where = waiting.pop()
        if not isinstance(given, dict) or "below" not in given:
            splits.append(_leaf(given, where))
            leaves += 1
            if leaves > MOST_LEAVES:
                raise TooManyCases(f"{what} has more than {MOST_LEAVES} leaves")
            continue
        if depth == DEEPEST:
            raise TooManyCases(f"{what} is deeper than {DEEPEST} splits")
        table(given, SPLIT_KEYS, where)
        places = (of_type(tuple[int, ...], given[key], f"{where}: {key}") for key in ("tokens", "labels"))
        splits.append((*places, of_type(int, given["most"], f"{where}: most")))
        waiting += [
            (given[side], depth + 1, f"{what}, split {len(splits) - 1}: {side}")
            for side in ("above", "below")
        ]
    made: list[Tree] = []
    for node in reversed(splits):
        made.append(node if isinstance(node, Leaf) else Split(*node, made.pop(), made.pop()))
    return made[0]


SPLIT_KEYS = ("tokens", "labels", "most", "below", "above")
LEAF_KEYS = ("multipliers", "inside", "followed")


def _leaf(value: Any, what: str) -> Leaf:
    given = table(value, LEAF_KEYS, what, ("shares",))
    multipliers = [
        of_type(tuple[int, int, int], x, what) for x in items(given["multipliers"], f"{what}: multipliers")
    ]
    stages = enumerate(items(given["followed"], f"{what}: followed"))
    shares = enumerate(items(given.get("shares", []), f"{what}: shares"))
    return Leaf(
        _keyed([((rule, component), x) for rule, component, x in multipliers], f"{what}: multipliers"),
        _machines(given["inside"], f"{what}: inside"),
        tuple(_machines(stage, f"{what}: followed[{at}]") for at, stage in stages),
        tuple(_shares(stage, f"{what}: shares[{at}]") for at, stage in shares),
    )


def _machines(value: Any, what: str) -> tuple[MachineKey, ...]:
    return tuple(_key(x, f"{what}[{at}]") for at, x in enumerate(items(value, what)))


def _shares(value: Any, what: str) -> dict[MachineKey, list[list[int]]]:
    result = []
    for at, share in enumerate(items(value, what)):
        where = f"{what}[{at}]"
        rule, component, rows = items(share, where, 3)
        result.append((_key((rule, component), where), of_type(list[list[int]], rows, f"{where}[2]")))
    return _keyed(result, what)


def _key(value: Any, what: str) -> MachineKey:
    rule, place = of_type(tuple[int, int], value, what)
    return rule, place


def _keyed(pairs: Sequence[tuple[MachineKey, Any]], what: str) -> dict[MachineKey, Any]:
    """The pairs as a dict; ValueError for a key that is there twice."""
    result = dict(pairs)
    if len(result) < len(pairs):
        raise ValueError(f"{what} names {list(repeated(pairs))} twice")
    return result
