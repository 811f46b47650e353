"""Certificates: proofs of bounds, and other sources of bounds."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

from formulations.messages import brief
from formulations.plain_values import choice, items, number, of_type, table, text
from ilpinfer.core.trees import DEEPEST as DEEPEST
from ilpinfer.core.trees import MOST_LEAVES as MOST_LEAVES
from ilpinfer.core.trees import Leaf as Leaf
from ilpinfer.core.trees import MachineKey as MachineKey
from ilpinfer.core.trees import Split as Split
from ilpinfer.core.trees import TooManyCases as TooManyCases
from ilpinfer.core.trees import Tree as Tree
from ilpinfer.core.trees import as_plain as as_plain
from ilpinfer.core.trees import nodes as nodes
from ilpinfer.core.trees import tree_of

KINDS = ("exact", "solver", "none")


@dataclass(frozen=True)
class Cost:
    """The work of a check, from the form of a proof alone.

    Parameters
    ----------
    leaves : int
        Number of bounds that are recomputed.
    passes : int
        Over the lattice: two for each leaf, one for each of its stages, and one for each machine.
    """

    leaves: int
    passes: int


@dataclass(frozen=True)
class Phases:
    """The proofs of both phases of two-phase inference.

    Parameters
    ----------
    best : Tree
        No labelling that keeps the hard rules scores more than the best score; it speaks of the hard rules
        alone, numbered among themselves.
    witness : tuple of int, optional
        Label ids (T,) of a labelling that has the best score; empty where no labelling keeps the hard rules.
    least : Tree, optional
        No labelling at or above the floor costs less, nor scores more at the same cost; it speaks of the
        rules left by folding the hard ones, at scores less `weight` for each unit of cost, and its leaves
        keep account of the cost. None where the cost is 0 and the score the best one, so that the first phase
        proves both.
    weight : int, default 1
        Grid units of score for a unit of cost, which is the greatest common divisor of the penalties.
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

    @classmethod
    def from_dict(cls, values: Any) -> "Phases":
        """The proofs that `to_dict` has made these values of; ValueError for others."""
        given = table(values, ("best", "witness", "least", "weight"), "phases")
        return cls(
            tree_of(given["best"], "phases: best"),
            of_type(tuple[int, ...], given["witness"], "phases: witness"),
            None if given["least"] is None else tree_of(given["least"], "phases: least"),
            of_type(int, given["weight"], "phases: weight"),
        )


@dataclass(frozen=True)
class Rest:
    """The proof that a list of labellings is complete.

    Parameters
    ----------
    bound : float
        No labelling but those excluded and the solution's own is worth more, nats; -inf where there is none.
    tree : Tree
        The proof.
    """

    bound: float
    tree: Tree

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        return {"bound": self.bound if math.isfinite(self.bound) else None, "tree": as_plain(self.tree)}

    @classmethod
    def from_dict(cls, values: Any) -> "Rest":
        """The proof that `to_dict` has made these values of; ValueError for others."""
        given = table(values, ("bound", "tree"), "rest")
        return cls(number(given["bound"], "rest: bound", -math.inf), tree_of(given["tree"], "rest: tree"))


@dataclass(frozen=True)
class Certificate:
    """The proof, or the source, of the bound of a solution.

    Parameters
    ----------
    kind : str
        "exact" for a tree that proves the bound in integers, "solver" for the word of a solver, "none" for
        the word of the method that `source` names, or for nothing.
    source : str, optional
        Argument of the proof, or solver with version.
    settings : mapping of str to object, optional
        Parameters of the solver.
    tree : Leaf, Split or Phases, optional
        The proof, for kind "exact": no labelling but those excluded passes the solution's bound.
    excluded : tuple of tuple of int, optional
        Label ids (T,) of labellings that are as good or better, in a list of several: the solution is the
        best without these.
    rest : Rest, optional
        The proof that there are no more labellings, where a list has fewer than wanted.
    make_digest : callable, optional
        Digest of trellis, rules and objective, made when it is first read.
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

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "make_digest": partial(str, self.digest)}

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
            As `nodes`.
        """
        leaves = [node for tree in self.trees for _, node in nodes(tree) if isinstance(node, Leaf)]
        return Cost(len(leaves), sum(leaf.passes for leaf in leaves))

    def to_dict(self) -> dict[str, Any]:
        """As plain values.

        Raises
        ------
        TooManyCases
            As `nodes`.
        """
        own = {"kind": self.kind, "source": self.source, "settings": dict(self.settings)}
        if self.tree is None:
            return own
        return {
            **own,
            "digest": self.digest,
            "cost": vars(self.cost).copy(),
            "tree": self.tree.to_dict(),
            "excluded": [list(p) for p in self.excluded],
            **({"rest": self.rest.to_dict()} if self.rest else {}),
        }

    @classmethod
    def from_dict(cls, values: Any) -> "Certificate":
        """The certificate that `to_dict` has made these values of.

        Raises
        ------
        ValueError
            For keys that are missing or unknown, values of another type, an unknown kind, a cost that is not
            that of the tree, and a tree as large as `TooManyCases` says.
        """
        what, proof = "certificate", ("digest", "cost", "tree", "excluded")
        proved = isinstance(values, dict) and "tree" in values
        own = ("kind", "source", "settings", *(proof if proved else ()))
        given = table(values, own, what, ("rest",) if proved else ())
        settings = given["settings"]
        result = cls(
            choice(given["kind"], f"{what}: kind", KINDS),
            text(given["source"], f"{what}: source"),
            dict(table(settings, (), f"{what}: settings", settings if isinstance(settings, dict) else ())),
        )
        if not proved:
            return result
        tree, excluded = given["tree"], items(given["excluded"], f"{what}: excluded")
        phases = isinstance(tree, dict) and "best" in tree
        result = replace(
            result,
            tree=Phases.from_dict(tree) if phases else tree_of(tree, f"{what}: tree"),
            excluded=of_type(tuple[tuple[int, ...], ...], excluded, f"{what}: excluded"),
            rest=Rest.from_dict(given["rest"]) if "rest" in given else None,
            make_digest=partial(str, text(given["digest"], f"{what}: digest")),
        )
        if given["cost"] != vars(result.cost):
            raise ValueError(
                f"{what}: cost is {brief(given['cost'])}, and that of its tree {vars(result.cost)}"
            )
        return result


def proof(
    source: str,
    tree: Leaf | Split | Phases | None,
    excluded: tuple[tuple[int, ...], ...] = (),
    rest: Rest | None = None,
) -> Certificate:
    """A certificate of kind "exact", or of kind "none" without a tree."""
    if tree is None:
        return Certificate("none", source)
    return Certificate("exact", source, tree=tree, excluded=excluded, rest=rest)


NONE = Certificate("none")
VITERBI_BOUND = Certificate("exact", "Viterbi score without the rules", tree=Leaf())
FOLDED_BOUND = Certificate("exact", "Viterbi score with local rules folded in", tree=Leaf())
BEAM_BOUND = Certificate("none", "best completion of every hypothesis that the beam left out")
