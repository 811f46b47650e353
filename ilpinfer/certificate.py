"""What stands behind a bound."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

Part = tuple[int, int]
"""A rule by its place among the compiled rules, and a part or machine of it by its own.

A split above a leaf adds a rule after the last one, so that those of nested splits are numbered from the root.
"""


@dataclass(frozen=True)
class Leaf:
    """A bound that one pass over the folded lattice recomputes; a rule that is not named is relaxed, at no cost.

    Parameters
    ----------
    multipliers : (rule, part) of a `Sum` whose violations count singly, and its price for each unit of weight: an
        integer in units of 2^-30 nats, from -penalty to penalty; charged for each unit, and given back at the sides
    inside : (rule, machine) followed by the backward pass too: the lattice is multiplied with these machines
    followed : (rule, machine) of further machines, in stages: those of a stage follow what the one before has left, by a
        forward pass which drops a prefix as soon as it cannot pass the bound, and a backward pass, which drops the
        steps that cannot; empty where the first backward pass alone proves it
    """

    multipliers: Mapping[Part, int] = field(default_factory=dict)
    inside: tuple[Part, ...] = ()
    followed: tuple[tuple[Part, ...], ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        return {
            "multipliers": [[*part, value] for part, value in self.multipliers.items()],
            "inside": [list(part) for part in self.inside],
            "followed": [[list(part) for part in stage] for stage in self.followed],
        }


@dataclass(frozen=True)
class Split:
    """Two cases that leave nothing out: the row Σ_t [t in tokens and label t in labels] is <= most, or above.

    Parameters
    ----------
    tokens, labels : the row's ones
    most : the largest value of the first case
    below, above : the proofs of both
    """

    tokens: tuple[int, ...]
    labels: tuple[int, ...]
    most: int
    below: "Leaf | Split"
    above: "Leaf | Split"

    def to_dict(self) -> dict[str, Any]:
        """As plain values; deep trees need no deep stack."""
        made: dict[str, Any] = {}
        waiting: list[tuple[Leaf | Split, dict[str, Any]]] = [(self, made)]
        while waiting:
            node, own = waiting.pop()
            if isinstance(node, Leaf):
                own |= node.to_dict()
                continue
            below, above = dict[str, Any](), dict[str, Any]()
            row = {"tokens": list(node.tokens), "labels": list(node.labels), "most": node.most}
            own |= {**row, "below": below, "above": above}
            waiting += [(node.below, below), (node.above, above)]
        return made


@dataclass(frozen=True)
class Certificate:
    """Why the bound of a solution holds.

    Parameters
    ----------
    kind : "exact" where a tree proves it in integers, "solver" where it is a solver's word, "none"
    source : what proved it: the argument, or solver and version
    settings : what the solver was told
    tree : the proof, for kind "exact": no labelling but those excluded passes the solution's bound
    excluded : label ids (T,) of the better labellings, where several were asked for
    stamp : digest of trellis, rules and objective, made when it is first read
    """

    kind: str
    source: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)
    tree: Leaf | Split | None = None
    excluded: tuple[tuple[int, ...], ...] = ()
    stamp: Callable[[], str] = field(default=str, repr=False, compare=False)

    @property
    def digest(self) -> str:
        """Of what the proof speaks about, 64 hexadecimal digits; empty without a proof."""
        return self.stamp()

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        own = {"kind": self.kind, "source": self.source, "settings": dict(self.settings)}
        if self.tree is None:
            return own
        return {
            **own,
            "digest": self.digest,
            "tree": self.tree.to_dict(),
            "excluded": [list(p) for p in self.excluded],
        }


NONE = Certificate("none")
VITERBI_BOUND = Certificate("exact", "Viterbi score without the rules", tree=Leaf())
FOLDED_BOUND = Certificate("exact", "Viterbi score with local rules folded in", tree=Leaf())
BEAM_BOUND = Certificate("exact", "best completion of every hypothesis left out")
