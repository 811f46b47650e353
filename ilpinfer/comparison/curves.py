"""Data of the pictures: shares by gap, mean gaps by time, profiles of times, times by length."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from formulations.dtypes import Floats
from ilpinfer.system.checkpoint import Row

if TYPE_CHECKING:
    import pandas as pd

POINTS = 120
"""Points of a curve; of more, evenly spread ones with both ends."""
SHORTEST = 1e-6
"""Least number of seconds on logarithmic axes."""


@dataclass(frozen=True)
class Curve:
    """The curve of a method: n points, x ascending."""

    method: str
    x: Floats
    y: Floats


def thin(x: Floats, y: Floats, most: int = POINTS) -> tuple[Floats, Floats]:
    """The points; of more than `most` points, that number evenly spread, the first and the last among them."""
    if len(x) <= most:
        return x, y
    kept = np.unique(np.linspace(0, len(x) - 1, most).round().astype(int))
    return x[kept], y[kept]


def gap_shares(frame: "pd.DataFrame", methods: Iterable[str]) -> list[Curve]:
    """The share of sequences and seeds whose gap is at most x nats; those without a labelling have none, and failures are left out."""
    known = frame[frame.optimum.notna() & ~frame.infeasible & (frame.error == "")]
    return _shares(known.gap, known.method, methods)


def time_profiles(frame: "pd.DataFrame", methods: Iterable[str]) -> list[Curve]:
    """Performance profiles (Dolan and Moré 2002, section 2): the share solved to the optimum within x times the best time of any method."""
    known = frame[frame.optimum.notna() & ~frame.infeasible & frame.seconds.notna() & (frame.error == "")]
    seconds = known.seconds.clip(lower=SHORTEST).where(known.gap == 0)
    ratio = seconds / known.sequence.map(seconds.groupby(known.sequence).min())
    return _shares(ratio, known.method, methods)


def _shares(values: "pd.Series", owners: "pd.Series", methods: Iterable[str]) -> list[Curve]:
    curves = []
    for method in methods:
        own = values[owners == method].to_numpy(float)
        x = np.sort(own[~np.isnan(own)])
        y = np.arange(1, len(x) + 1) / max(len(own), 1)
        last = np.append(x[1:] != x[:-1], True)[: len(x)]  # of equal values the highest share
        if len(own):
            curves.append(Curve(method, *thin(x[last], y[last])))
    return curves


def anytime(
    rows: Iterable[Row], optima: Mapping[int, float], cap: float, methods: Iterable[str]
) -> list[Curve]:
    """The mean gap after x seconds where the optimum is known; `cap` stands for a missing labelling, and failures are left out."""
    events: dict[str, list[tuple[float, float]]] = {method: [] for method in methods}
    counts = dict.fromkeys(events, 0)
    for row in rows:
        optimum = optima.get(row["sequence"])
        if optimum is None or row["seconds"] is None or row["method"] not in events or row.get("error"):
            continue
        counts[row["method"]] += 1
        best: float | None = None
        for seconds, score in [*row["incumbents"], (row["seconds"], row["score"])]:
            if score is not None and (best is None or optimum - score < best):
                before, best = cap if best is None else best, optimum - score
                events[row["method"]].append((max(seconds, SHORTEST), best - before))
        events[row["method"]].append((max(row["seconds"], SHORTEST), 0.0))
    return [_mean_gap(method, own, counts[method], cap) for method, own in events.items() if own]


def _mean_gap(method: str, events: list[tuple[float, float]], count: int, cap: float) -> Curve:
    seconds, changes = np.array(sorted(events)).T
    means = cap + np.cumsum(changes) / count
    x = np.unique(np.geomspace(seconds[0], seconds[-1], POINTS))
    x[-1] = seconds[-1]
    last = np.searchsorted(seconds, x, side="right") - 1
    return Curve(method, x, np.where(last < 0, cap, means[last]).clip(min=0.0))


def times_by_length(frame: "pd.DataFrame", methods: Iterable[str], bins: int = 8) -> list[Curve]:
    """Median seconds against median tokens, in bins with about as many sequences each; failures are left out."""
    import pandas as pd

    timed = frame[frame.seconds.notna() & (frame.tokens > 0) & (frame.error == "")]
    if not len(timed):
        return []
    lengths = timed.groupby("sequence").tokens.first()
    ranks = pd.qcut(lengths, min(bins, lengths.nunique()), labels=False, duplicates="drop")
    timed = timed.assign(bin=timed.sequence.map(ranks))
    curves = []
    for method in methods:
        medians = timed[timed.method == method].groupby("bin")[["tokens", "seconds"]].median()
        if len(medians):
            curves.append(
                Curve(
                    method,
                    medians.tokens.to_numpy(float),
                    medians.seconds.clip(lower=SHORTEST).to_numpy(float),
                )
            )
    return curves
