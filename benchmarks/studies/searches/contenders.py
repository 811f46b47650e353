"""Methods with their options."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

LIMITS = (0.01, 0.05, 0.2, 0.8)
"""Seconds a sequence; Stokman (2011) gave 0.8."""
EXACT = "exact engine"
OPTIMUM = "optimum"
"""In place of a method: the proved optimum, with all the time that it takes."""


@dataclass(frozen=True)
class Contender:
    """A method with its options; one that a limit does not change (`timed`) runs once, at the longest limit."""

    method: str
    options: Mapping[str, Any] = field(default_factory=dict)
    timed: bool = True

    @property
    def arguments(self) -> dict[str, Any]:
        return {"method": self.method, **self.options}


PRINTED = {"variant": "published", "zero": "score"}
PUBLISHED = {"variant": "published", "zero": "best"}
SEEDED = {"seed": 0}
CONTENDERS = {
    "Viterbi": Contender("viterbi", timed=False),
    "post-correction": Contender("post-correction", timed=False),
    "constrained Viterbi": Contender("constrained-viterbi", timed=False),
    **{f"beam {width}": Contender("beam", {"width": width}, timed=False) for width in (10, 50, 200)},
    "lds, printed": Contender("lds", PRINTED),
    "lds": Contender("lds", PUBLISHED),
    "lds, going on": Contender("lds", {**PUBLISHED, "keep_going": True}),
    "lds, admissible": Contender("lds", {"variant": "admissible", "keep_going": True}),
    "lds, textbook": Contender("lds", {"variant": "textbook", "keep_going": True}),
    "evolutionary": Contender("evolutionary", {"variant": "published", **SEEDED}),
    "evolutionary, varied": Contender("evolutionary", {"variant": "varied", **SEEDED}),
    "hybrid, printed": Contender("hybrid", {**PRINTED, **SEEDED}),
    "hybrid": Contender("hybrid", {**PUBLISHED, **SEEDED}),
    "hybrid, strong": Contender("hybrid", {"variant": "strong", **SEEDED}),
    EXACT: Contender("auto"),
}
BEAMS = tuple(name for name in CONTENDERS if name.startswith("beam"))
DEPTH_FIRST = tuple(name for name in CONTENDERS if name.startswith("lds"))


def runs(limits: tuple[float, ...] = LIMITS) -> Iterator[tuple[str, Contender, float]]:
    """Names of contenders, and limits in seconds, for each sequence."""
    for name, one in CONTENDERS.items():
        yield from ((name, one, limit) for limit in (limits if one.timed else limits[-1:]))
