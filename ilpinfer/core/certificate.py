"""Certificates: proofs of bounds, and other sources of bounds."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from types import MappingProxyType
from typing import Any, ClassVar

from formulations.messages import brief
from formulations.plain_values import PlainRecord, choice, items, of_type, table, text
from ilpinfer.core.trees import Leaf, Split, Tree, nodes, tree_of

KINDS = ("exact", "solver", "none")


@dataclass(frozen=True)
class Phases(PlainRecord):
    """The proofs of both phases of two-phase inference, by trees about the hard rules and about the soft ones."""

    best: Tree  # no labelling scores more under the hard rules alone, numbered among themselves
    witness: tuple[int, ...] = ()  # label ids (T,) that have the best score; empty where no labelling is left
    least: Tree | None = None  # none is better by cost, then score; None where `best` shows that, at cost 0
    weight: int = 1  # grid units that `least` subtracts for a unit of cost, the gcd of the penalties
    TITLE: ClassVar = "phases"

    @property
    def trees(self) -> tuple[Tree, ...]:
        return (self.best,) if self.least is None else (self.best, self.least)


@dataclass(frozen=True)
class Rest(PlainRecord):
    """The proof that a list of labellings is complete: no other than the excluded and the last is worth more."""

    bound: float  # nats; -inf where there is no other labelling
    tree: Tree
    TITLE: ClassVar = "rest"
    NULL: ClassVar = MappingProxyType({"bound": -math.inf})


@dataclass(frozen=True)
class Certificate:
    """The proof, or the source, of the bound of a solution."""

    kind: str  # "exact": a tree proves the bound; "solver": a solver claims it; "none": a method claims it
    source: str = ""  # the argument of the proof, or the solver with its version
    settings: Mapping[str, Any] = field(default_factory=dict)  # of the solver
    tree: Leaf | Split | Phases | None = None
    excluded: tuple[tuple[int, ...], ...] = ()  # label ids (T,) of the labellings before it in a list
    rest: Rest | None = None  # where a list has fewer labellings than wanted
    make_digest: Callable[[], str] = field(default=str, repr=False, compare=False)
    listed: tuple[
        tuple[int, ...], ...
    ] = ()  # further labellings that the tree leaves out, none above the bound

    def __repr__(self) -> str:
        tree = "" if self.tree is None else f", {type(self.tree).__name__}(…)"
        excluded = f", {len(self.excluded)} excluded" if self.excluded else ""
        listed = f", {len(self.listed)} listed" if self.listed else ""
        return f"Certificate({self.kind!r}, {self.source!r}{tree}{excluded}{listed})"

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "make_digest": partial(str, self.digest)}

    @cached_property
    def digest(self) -> str:
        """Digest of trellis and rules, 64 hexadecimal digits, made when it is first read; empty without a proof."""
        return self.make_digest()

    @property
    def trees(self) -> tuple[Tree, ...]:
        if self.tree is None:
            return ()
        own = self.tree.trees if isinstance(self.tree, Phases) else (self.tree,)
        return own if self.rest is None else (*own, self.rest.tree)

    @property
    def cost(self) -> dict[str, int]:
        """The bounds to recompute and the passes over the lattice that a check takes; 0 without a proof. TooManyCases as `nodes`."""
        leaves = [node for tree in self.trees for _, node in nodes(tree) if isinstance(node, Leaf)]
        return {"leaves": len(leaves), "passes": sum(leaf.passes for leaf in leaves)}

    def to_dict(self) -> dict[str, Any]:
        own = {"kind": self.kind, "source": self.source, "settings": dict(self.settings)}
        if self.tree is None:
            return own
        return {
            **own,
            "digest": self.digest,
            "cost": self.cost,
            "tree": self.tree.to_dict(),
            "excluded": [list(p) for p in self.excluded],
            **({"rest": self.rest.to_dict()} if self.rest else {}),
            **({"listed": [list(p) for p in self.listed]} if self.listed else {}),
        }

    @classmethod
    def from_dict(cls, values: Any) -> "Certificate":
        """The certificate that `to_dict` has made these values of; ValueError for others."""
        what, proof = "certificate", ("digest", "cost", "tree", "excluded")
        proved = isinstance(values, dict) and "tree" in values
        own = ("kind", "source", "settings", *(proof if proved else ()))
        given = table(values, own, what, ("rest", "listed") if proved else ())
        settings = given["settings"]
        result = cls(
            choice(given["kind"], f"{what}: kind", KINDS),
            text(given["source"], f"{what}: source"),
            dict(table(settings, (), f"{what}: settings", settings if isinstance(settings, dict) else ())),
        )
        if not proved:
            return result
        tree = given["tree"]
        excluded, listed = (items(given.get(key, []), f"{what}: {key}") for key in ("excluded", "listed"))
        phases = isinstance(tree, dict) and "best" in tree
        result = replace(
            result,
            tree=Phases.from_dict(tree) if phases else tree_of(tree, f"{what}: tree"),
            excluded=of_type(tuple[tuple[int, ...], ...], excluded, f"{what}: excluded"),
            rest=Rest.from_dict(given["rest"]) if "rest" in given else None,
            listed=of_type(tuple[tuple[int, ...], ...], listed, f"{what}: listed"),
            make_digest=partial(str, text(given["digest"], f"{what}: digest")),
        )
        if given["cost"] != result.cost:
            raise ValueError(f"{what}: cost is {brief(given['cost'])}, and that of its tree {result.cost}")
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
