"""Certificates: proofs of bounds, as trees of splits and leaves."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any

from formulations.errors import InferenceError

MachineKey = tuple[int, int]
"""A rule by its place among the compiled rules, and a component or machine of it by its own.

A split above a leaf adds a rule after the last one, so that those of nested splits are numbered from the root.
"""

DEEPEST, MOST_LEAVES = 200, 10_000
"""Splits one below the other that a tree may have, and leaves."""


class TooManyCases(InferenceError, ValueError):
    """A tree of more than `DEEPEST` splits one below the other, or of more than `MOST_LEAVES` leaves."""


@dataclass(frozen=True)
class Cost:
    """The work of a check, from the form of a proof alone.

    Parameters
    ----------
    leaves : how many bounds are recomputed
    passes : over the lattice: two for each leaf, one for each of its stages, and one for each machine
    """

    leaves: int
    passes: int


@dataclass(frozen=True)
class Leaf:
    """A bound that passes over the folded lattice recompute. Rules without a name in it are relaxed.

    Parameters
    ----------
    multipliers : (rule, component) of a `Sum` whose violations count singly, and its multiplier for each unit of weight: an
        integer in units of 2^-30 nats, from -penalty to penalty
    product : (rule, machine) that the lattice is multiplied with for the first backward pass
    stages : (rule, machine) of further machines by stage, none of them empty. The machines of a stage read what the stage
        before has left. A forward pass prunes prefixes that cannot pass the bound, and a backward pass the steps
    shares : (rule, component) of an `Agreement` whose violations count singly, and the scores (n, F), grid units, that its
        tokens give to the lattice for each kind; by stage. Each stage prunes states that cannot pass the bound, and the
        shares of the last one stay in the lattice
    """

    multipliers: Mapping[MachineKey, int] = field(default_factory=dict)
    product: tuple[MachineKey, ...] = ()
    stages: tuple[tuple[MachineKey, ...], ...] = ()
    shares: tuple[Mapping[MachineKey, Sequence[Sequence[int]]], ...] = ()

    @property
    def passes(self) -> int:
        """The number of passes over the lattice that check it."""
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
    """Two cases that cover all labellings: the row Σ_t [t in tokens and label t in labels] is <= most, or above.

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
    """Depth and node of each node of a tree, parents first. The tree may hold objects that are no nodes.

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
        """The trees of both phases."""
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
    """The proof that a list of labellings is complete.

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
    """The proof, or the source, of the bound of a solution.

    Parameters
    ----------
    kind : "exact" for a tree that proves the bound in integers, "solver" for the word of a solver, "none" for the word of
        the method that `source` names, or for nothing
    source : what proved it: the argument, or solver and version
    settings : what the solver was told
    tree : the proof, for kind "exact": no labelling but those excluded passes the solution's bound
    excluded : label ids (T,) of labellings that are as good or better, in a list of several: the solution is the best
        without these
    rest : the proof that there are no more labellings, where a list has fewer than wanted
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
        tree = "" if self.tree is None else f", {type(self.tree).__name__}(…)"
        excluded = f", {len(self.excluded)} excluded" if self.excluded else ""
        return f"Certificate({self.kind!r}, {self.source!r}{tree}{excluded})"

    @cached_property
    def digest(self) -> str:
        """Digest of trellis and rules, 64 hexadecimal digits; empty without a proof."""
        return self.make_digest()

    @property
    def trees(self) -> tuple[Tree, ...]:
        """All trees of the proof."""
        if self.tree is None:
            return ()
        own = self.tree.trees if isinstance(self.tree, Phases) else (self.tree,)
        return own if self.rest is None else (*own, self.rest.tree)

    @property
    def cost(self) -> Cost:
        """The work of checking its proof; 0 without one.

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
