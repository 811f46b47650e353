"""How many nodes, labellings or prefixes a second the searches get through, on 60 tokens and 9 labels."""

import re
import statistics
from typing import Any

import numpy as np

import ilpinfer
from benchmarks.data.sets import Scale
from benchmarks.journal import Journal
from formulations import Trellis
from formulations import constraints as C

TOKENS, LABELS = 60, 9
WIDTHS = (10, 50, 200)
SEARCHES: dict[str, tuple[str, dict[str, Any]]] = {
    "lds": ("lds", {"variant": "published", "zero": "best", "keep_going": True}),
    "lds, admissible": ("lds", {"variant": "admissible", "keep_going": True}),
    "lds, textbook": ("lds", {"variant": "textbook", "keep_going": True}),
    "evolutionary": ("evolutionary", {"variant": "published"}),
    "annealing": ("annealing", {}),
    "tabu": ("tabu", {}),
}


def problem(rules: int) -> tuple[Trellis, list[C.Rule]]:
    """Random scores under 1 rule, or under 19: counts, implications and an exclusion."""
    rng = np.random.default_rng(3)
    labels = [f"L{k}" for k in range(LABELS)]
    emissions, transitions = rng.normal(size=(TOKENS, LABELS)), rng.normal(size=(LABELS, LABELS))
    trellis = Trellis.from_emissions(emissions, transitions, labels=labels)
    counts = [C.at_most_runs(label, 2, penalty=1.0) for label in labels]
    after = [*labels[1:], labels[0]]
    needs = [C.requires_present(a, b, penalty=0.5) for a, b in zip(labels, after, strict=True)]
    return trellis, [*counts, *needs, C.never_together(*labels[:2], penalty=1.0)][:rules]


def rates(journal: Journal, scale: Scale) -> None:
    """Rows of data set `rates`, of 1 s of each search; None where it came to its end before half of it."""
    for rules in (1, 19):
        trellis, chosen = problem(rules)
        for name, (method, options) in SEARCHES.items():
            if not journal.has("rates", str(rules), name):
                limit = scale(1.0, 0.2, 0.05)
                ilpinfer.decode(trellis, chosen, method=method, time_limit=0.05, **options)
                solution = ilpinfer.decode(trellis, chosen, method=method, time_limit=limit, **options)
                ended = solution.seconds < limit / 2
                rate = None if ended else _count(solution.method) / solution.seconds
                _add(journal, rules, name, rate)
        for width in WIDTHS:
            if not journal.has("rates", str(rules), f"beam {width}"):
                runs = scale(20, 5, 2)
                seconds = [
                    ilpinfer.decode(trellis, chosen, method="beam", width=width).seconds for _ in range(runs)
                ]
                _add(journal, rules, f"beam {width}", width * TOKENS / statistics.median(seconds))


def _add(journal: Journal, rules: int, name: str, rate: float | None) -> None:
    journal.add({"data": "rates", "item": str(rules), "method": name, "rate": rate})


def _count(method: str) -> int:
    """The last number in what a method says of itself: nodes, labellings or steps."""
    return int(re.findall(r"\d+", method)[-1])
