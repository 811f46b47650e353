"""How many nodes, labellings or prefixes a second the searches get through, on 60 tokens and 9 labels."""

import re
import statistics
from collections.abc import Iterator

import numpy as np
from pandas import DataFrame

import ilpinfer
from benchmarks.report import Report, number
from benchmarks.studies.searches.contenders import BEAMS, CONTENDERS
from benchmarks.study import Row, Sources
from formulations import Trellis
from formulations import constraints as C

TOKENS, LABELS, RULES = 60, 9, (1, 19)
SEARCHES = ("lds, going on", "lds, admissible", "lds, textbook", "evolutionary", *BEAMS)


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


def rate(sources: Sources, name: str, rules: int) -> Iterator[Row]:
    """What a search gets through in a second; None where it came to its end before half of its time."""
    trellis, chosen = problem(rules)
    arguments = CONTENDERS[name].arguments
    limit = sources(smoke=0.01, sample=0.5)
    ilpinfer.decode(trellis, chosen, time_limit=limit / 10, **arguments)
    if name in BEAMS:
        runs = range(sources(smoke=1, sample=5, full=20))
        seconds = [ilpinfer.decode(trellis, chosen, **arguments).seconds for _ in runs]
        yield {"rate": arguments["width"] * TOKENS / statistics.median(seconds)}
        return
    solution = ilpinfer.decode(trellis, chosen, time_limit=limit, **arguments)
    counts = re.findall(r"\d+", solution.method)
    ended = solution.seconds < limit / 2 or not counts
    yield {"rate": None if ended else int(counts[-1]) / solution.seconds}


def show(frame: DataFrame, report: Report) -> None:
    report.heading("Speed of the searches")
    report.text(
        f"Millions a second with {TOKENS} tokens and {LABELS} labels: nodes (lds), labellings (evolutionary), "
        "prefixes kept (beam). A dash: the search came to its end before half of its time."
    )
    rates = frame.assign(rate=frame.rate.astype(float) / 1e6).set_index(["data", "item"]).rate
    counts = sorted(set(frame.item), key=int)
    columns = ("search", *(f"{n} rule{'s' * (n != '1')}" for n in counts))
    lines = ((name, *(number(rates.get((name, n)), 2) for n in counts)) for name in SEARCHES)
    report.table(columns, lines)
