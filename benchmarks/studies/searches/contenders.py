"""Methods with their options, and which of them each part runs."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

LIMITS = (0.01, 0.05, 0.2, 0.8)
"""Seconds a sequence; Stokman (2011) gave 0.8."""
SHORT = 0.05
"""Seconds a sequence where rules and penalties are varied."""
SEED = 0
EXACT = "exact engine"
OPTIMUM = "optimum"
"""In place of a method: the proved optimum, with all the time that it takes."""


@dataclass(frozen=True)
class Contender:
    """A method with its options; one that a limit does not change (`timed`) runs once, at the longest limit."""

    method: str
    options: Mapping[str, Any] = field(default_factory=dict)
    timed: bool = True
    seeded: bool = False

    @property
    def arguments(self) -> dict[str, Any]:
        return {"method": self.method, **self.options, **({"seed": SEED} if self.seeded else {})}


PRINTED = {"variant": "published", "zero": "score"}
PUBLISHED = {"variant": "published", "zero": "best"}
CONTENDERS = {
    "Viterbi": Contender("viterbi", timed=False),
    "post-correction": Contender("post-correction", timed=False),
    "constrained Viterbi": Contender("constrained-viterbi", timed=False),
    "beam 10": Contender("beam", {"width": 10}, timed=False),
    "beam 50": Contender("beam", {"width": 50}, timed=False),
    "beam 200": Contender("beam", {"width": 200}, timed=False),
    "lds, printed": Contender("lds", PRINTED),
    "lds": Contender("lds", PUBLISHED),
    "lds, going on": Contender("lds", {**PUBLISHED, "keep_going": True}),
    "lds, admissible": Contender("lds", {"variant": "admissible", "keep_going": True}),
    "lds, textbook": Contender("lds", {"variant": "textbook", "keep_going": True}),
    "evolutionary": Contender("evolutionary", {"variant": "published"}, seeded=True),
    "evolutionary, varied": Contender("evolutionary", {"variant": "varied"}, seeded=True),
    "hybrid, printed": Contender("hybrid", PRINTED, seeded=True),
    "hybrid": Contender("hybrid", PUBLISHED, seeded=True),
    "hybrid, strong": Contender("hybrid", {"variant": "strong"}, seeded=True),
    EXACT: Contender("auto"),
}
BEAMS = ("beam 10", "beam 50", "beam 200")
DEPTH_FIRST = ("lds, printed", "lds", "lds, going on", "lds, admissible", "lds, textbook")
ANYWHERE = ("Viterbi", "constrained Viterbi", "beam 10", "beam 50", EXACT)
QUICK = (*ANYWHERE, "post-correction")
"""For many sequences: all that come to an end by themselves."""
STRONG = (*ANYWHERE, "lds, admissible", "hybrid, strong")
"""Where rules and penalties are varied: the usual methods, and the best heuristic of each family."""


def runs(part: str, limits: tuple[float, ...] = LIMITS) -> Iterator[tuple[str, Contender, float]]:
    """Names of contenders, and limits in seconds, for each sequence of a part."""
    names: tuple[str, ...] = tuple(CONTENDERS)
    most = limits[-1]
    if part == "sizes":
        names, limits = QUICK, limits[-1:]
    elif part in ("rules", "hardness"):
        names, limits = STRONG, (min(SHORT, most),)
    for name, one in CONTENDERS.items():
        if name in names:
            yield from ((name, one, limit) for limit in (limits if one.timed else (most,)))
