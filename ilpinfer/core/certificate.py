"""What stands behind a bound."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any

MachineKey = tuple[int, int]
"""A rule by its place among the compiled rules, and a component or machine of it by its own.

A split above a leaf adds a rule after the last one, so that those of nested splits are numbered from the root.
"""

DEEPEST, MOST_LEAVES = 200, 10_000
"""Splits one below the other that a tree may have, and leaves."""


class TooManyCases(ValueError):
    """A tree of more than `DEEPEST` splits one below the other, or of more than `MOST_LEAVES` leaves."""


@dataclass(frozen=True)
class Cost:
    """What a check has to do, as far as the form of a proof says.

    Parameters
    ----------
    leaves : how many bounds are recomputed
    passes : over the lattice, in all: two for each leaf, one for each of its stages, and one for each machine
    """

    leaves: int
    passes: int


@dataclass(frozen=True)
class Leaf:
    """A bound that one pass over the folded lattice recomputes; a rule that is not named is relaxed, at no cost.

    Parameters
    ----------
    multipliers : (rule, component) of a `Sum` whose violations count singly, and its multiplier for each unit of weight: an
        integer in units of 2^-30 nats, from -penalty to penalty; charged for each unit, and given back at the sides
    product : (rule, machine) followed by the backward pass too: the lattice is multiplied with these machines
    stages : (rule, machine) of further machines, in stages: those of a stage follow what the one before has left, by a
        forward pass which drops a prefix as soon as it cannot pass the bound, and a backward pass, which drops the
        steps that cannot; empty where the first backward pass alone proves it, while no stage is empty itself
    shares : (rule, component) of an `Agreement` whose violations count singly, and what each of its tokens gives to the lattice
        for each kind, (n, F) grid units, so that its own scores are less by it; in stages, each of which drops the states
        that then cannot pass the bound, and the last of which stays in charge
    """

    multipliers: Mapping[MachineKey, int] = field(default_factory=dict)
    product: tuple[MachineKey, ...] = ()
    stages: tuple[tuple[MachineKey, ...], ...] = ()
    shares: tuple[Mapping[MachineKey, Sequence[Sequence[int]]], ...] = ()

    @property
    def passes(self) -> int:
        """Over the lattice, by which it is checked."""
        return 2 + len(self.product) + sum(1 + len(stage) for stage in self.stages) + 2 * len(self.shares)

    def to_dict(self) -> dict[str, Any]:
        """As plain values; shares where there are any."""
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
class Split:
    """Two cases that leave nothing out: the row Σ_t [t in tokens and label t in labels] is <= most, or above.

    Above 0 for a single token means none of its other labels, which folds as the first case does.

    Parameters
    ----------
    tokens, labels : the row's ones
    most : the largest value of the first case
    below, above : the proofs of both
    """

    tokens: tuple[int, ...]
    labels: tuple[int, ...]
    most: int
    below: "Leaf | Split" = field(repr=False)
    above: "Leaf | Split" = field(repr=False)

    def to_dict(self) -> dict[str, Any]:
        """As plain values; see `as_plain`."""
        return as_plain(self)


Tree = Leaf | Split


def nodes(tree: Any) -> Iterator[tuple[int, Any]]:
    """Depth and node of all that a tree holds, a node before what is below it; it may hold what is no node.

    Raises
    ------
    TooManyCases
        where a node lies below more than `DEEPEST` splits, or there are more than `MOST_LEAVES` leaves.
    """
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
    """A tree as plain values, those of a split with those of its two cases inside.

    Raises
    ------
    TooManyCases
        as `nodes`: no check accepts such a tree.
    """
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


@dataclass(frozen=True)
class Phases:
    """The proofs of both phases of two-phase inference.

    Parameters
    ----------
    best : no labelling that keeps the hard rules scores more than the best score; it speaks of the hard rules alone,
        numbered among themselves
    witness : label ids (T,) of a labelling that has the best score; empty where no labelling keeps the hard rules
    least : no labelling at or above the floor costs less, nor scores more at the same cost; it speaks of the rules left
        by folding the hard ones, at scores less `weight` for each unit of cost, and its leaves keep account of the
        cost. None where the cost is 0 and the score the best one, so that the first phase proves both
    weight : grid units of score for a unit of cost, which is the greatest common divisor of the penalties
    """

    best: Tree
    witness: tuple[int, ...] = ()
    least: Tree | None = None
    weight: int = 1

    @property
    def trees(self) -> tuple[Tree, ...]:
        """Those of both phases."""
        return (self.best,) if self.least is None else (self.best, self.least)

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        return {
            "best": as_plain(self.best),
            "witness": list(self.witness),
            "least": None if self.least is None else as_plain(self.least),
            "weight": self.weight,
        }


@dataclass(frozen=True)
class Rest:
    """What is left beside the labellings of a list.

    Parameters
    ----------
    bound : no labelling but those excluded and the solution's own is worth more, nats; -inf where there is none
    tree : the proof
    """

    bound: float
    tree: Tree

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        return {"bound": self.bound if math.isfinite(self.bound) else None, "tree": as_plain(self.tree)}


@dataclass(frozen=True)
class Certificate:
    """Why the bound of a solution holds.

    Parameters
    ----------
    kind : "exact" where a tree proves it in integers, "solver" where it is a solver's word, "none" where it is the word
        of the method that `source` names, or nothing
    source : what proved it: the argument, or solver and version
    settings : what the solver was told
    tree : the proof, for kind "exact": no labelling but those excluded passes the solution's bound
    excluded : label ids (T,) of labellings that are as good or better, where several were asked for: the solution is the
        best but for these
    rest : where fewer labellings were found than asked for, the proof that there are no more
    make_digest : digest of trellis, rules and objective, made when it is first read
    """

    kind: str
    source: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)
    tree: Leaf | Split | Phases | None = None
    excluded: tuple[tuple[int, ...], ...] = ()
    rest: Rest | None = None
    make_digest: Callable[[], str] = field(default=str, repr=False, compare=False)

    def __repr__(self) -> str:
        trees = f", {len(self.trees)} tree{'s' * (len(self.trees) > 1)}" if self.trees else ""
        excluded = f", {len(self.excluded)} excluded" if self.excluded else ""
        return f"Certificate({self.kind!r}, {self.source!r}{trees}{excluded})"

    @cached_property
    def digest(self) -> str:
        """Of what the proof speaks about, 64 hexadecimal digits; empty without a proof."""
        return self.make_digest()

    @property
    def trees(self) -> tuple[Tree, ...]:
        """All that a check has to go through."""
        if self.tree is None:
            return ()
        own = self.tree.trees if isinstance(self.tree, Phases) else (self.tree,)
        return own if self.rest is None else (*own, self.rest.tree)

    @property
    def cost(self) -> Cost:
        """What its proof asks of a check; 0 without one.

        Raises
        ------
        TooManyCases
            as `nodes`.
        """
        leaves = [node for tree in self.trees for _, node in nodes(tree) if isinstance(node, Leaf)]
        return Cost(len(leaves), sum(leaf.passes for leaf in leaves))

    def to_dict(self) -> dict[str, Any]:
        """As plain values.

        Raises
        ------
        TooManyCases
            as `nodes`.
        """
        own = {"kind": self.kind, "source": self.source, "settings": dict(self.settings)}
        if self.tree is None:
            return own
        return {
            **own,
            "digest": self.digest,
            "cost": asdict(self.cost),
            "tree": self.tree.to_dict(),
            "excluded": [list(p) for p in self.excluded],
            **({"rest": self.rest.to_dict()} if self.rest else {}),
        }


def proof(
    source: str,
    tree: Leaf | Split | Phases | None,
    excluded: tuple[tuple[int, ...], ...] = (),
    rest: Rest | None = None,
) -> Certificate:
    """A certificate of kind "exact"; without a tree, one of kind "none", so that it is no more than a word."""
    if tree is None:
        return Certificate("none", source)
    return Certificate("exact", source, tree=tree, excluded=excluded, rest=rest)


NONE = Certificate("none")
VITERBI_BOUND = Certificate("exact", "Viterbi score without the rules", tree=Leaf())
FOLDED_BOUND = Certificate("exact", "Viterbi score with local rules folded in", tree=Leaf())
BEAM_BOUND = Certificate("none", "best completion of every hypothesis that the beam left out")
