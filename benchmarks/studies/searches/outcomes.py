"""One table of all contenders, limits and sequences, and figures of parts of it."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from pandas import DataFrame, Series, concat

from benchmarks.studies.searches.contenders import CONTENDERS, OPTIMUM
from benchmarks.studies.searches.measuring import NATS

CAP = 50.0
"""Nats that a gap counts at most where gaps are averaged over all sequences, those without a labelling included."""
GRACE = 0.02
"""Seconds that a contender without limits of its own may take beyond one, and still have kept it."""
SHORTEST = 1e-6
"""Seconds; no time is taken to be shorter in ratios."""


def outcomes(rows: DataFrame) -> DataFrame:
    """A line for each contender, limit and sequence; what ran once counts at every limit, without a labelling where it is late."""
    frame = rows[rows.method != OPTIMUM]
    if not len(frame):
        return frame
    timed = frame.method.map(lambda name: CONTENDERS[name].timed)
    limits = sorted(frame.limit.unique())
    once = frame[~timed].drop(columns="limit").merge(Series(limits, name="limit"), how="cross")
    frame = concat([frame[timed].assign(late=False), once.assign(late=once.seconds > once.limit + GRACE)])
    order = {name: place for place, name in enumerate(rows.method.unique())}
    frame = frame.sort_values(["method", "limit"], key=lambda x: x.map(order) if x.name == "method" else x)
    gap = frame.gap.astype(float).where(~frame.late)
    return frame.assign(
        key=[*zip(frame.data, frame.item, strict=True)],
        gap=gap,
        capped=gap.clip(upper=CAP).fillna(CAP),
        relative=gap / frame.optimum.abs().where(frame.optimum != 0),
        optimal=gap <= NATS,
        violations=frame.violations.where(~frame.late).fillna(0).astype(int),
    )


def longest(frame: DataFrame) -> DataFrame:
    """Every contender at its longest limit."""
    return frame[frame.limit == frame.groupby("method").limit.transform("max")] if len(frame) else frame


def of(frame: DataFrame, name: str) -> DataFrame:
    return frame[frame.method == name]


def paired(one: DataFrame, other: DataFrame) -> tuple[DataFrame, DataFrame]:
    """Two contenders on the sequences that both have."""
    both = one.key.isin(other.key)
    return one[both].reset_index(), other.set_index("key").loc[one.key[both]].reset_index()


def gap_at(frame: DataFrame, seconds: float, *, bound: bool = False) -> float:
    """Mean capped gap of the incumbent, or of the bound, to the optimum at a moment."""
    return float(np.mean([_then(trace, seconds, 2 if bound else 1) for trace in frame.trace]))


def _then(trace: Sequence[Sequence[Any]], seconds: float, place: int) -> float:
    known = [event[place] for event in trace if event[0] <= seconds and event[place] is not None]
    return min(known[-1], CAP) if known else CAP


def profiles(frame: DataFrame) -> Iterator[tuple[str, Series, int]]:
    """Each contender, ascending seconds to the optimum divided by the fastest contender's, and its number of sequences."""
    seconds = frame.reached.astype(float).clip(lower=SHORTEST).where(frame.optimal)
    ratios = seconds / seconds.groupby(frame.key).transform("min")
    for name in frame.method.unique():
        own = ratios[frame.method == name]
        yield name, own.dropna().sort_values(), len(own)
