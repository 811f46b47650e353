"""One table of all contenders, limits and sequences, and figures of parts of it."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from pandas import DataFrame, Series, concat

from benchmarks.studies.searches.contenders import CONTENDERS, OPTIMUM
from benchmarks.studies.searches.measuring import NATS
from ilpinfer.learning.measures import Measures

CAP = 50.0
"""Nats that a gap counts at most where gaps are averaged over all sequences, those without a labelling included."""
GRACE = 0.02
"""Seconds that a contender without limits of its own may take beyond one, and still have kept it."""
SHORTEST = 1e-6
"""Seconds; no time is taken to be shorter in ratios."""
COUNTS = ["right labels", "tokens", "right", "predicted", "gold spans", "both", "whole"]


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
    return _judged(frame)


def optima(rows: DataFrame) -> DataFrame:
    """The proved optima of sequences that have gold labels, as a table like `outcomes`."""
    frame = rows[(rows.method == OPTIMUM) & (rows.status == "optimal") & rows.gold.astype(bool)]
    return _judged(frame.assign(late=False)) if len(frame) else frame


def _judged(frame: DataFrame) -> DataFrame:
    kept = ~frame.late
    gap = frame.gap.astype(float).where(kept)
    gold = frame.gold_score.astype(float) if "gold_score" in frame else np.nan
    frame = frame.assign(
        key=[*zip(frame.data, frame.item, strict=True)],
        gap=gap,
        capped=gap.clip(upper=CAP).fillna(CAP),
        relative=gap / frame.optimum.abs().where(frame.optimum != 0),
        optimal=gap <= NATS,
        violations=frame.violations.where(kept).fillna(0).astype(int),
        model_error=~(gold >= frame.optimum - NATS),
        below_gold=(gold > -np.inf) & (gap.isna() | (gold > frame.score.astype(float) + NATS)),
    )
    counts = [
        [0] * 7 if not gold else [right, *own] if not missing else [0, own[0], 0, 0, own[3], 0, 0]
        for gold, right, own, missing in zip(
            frame.gold, _column(frame, "right_labels"), _column(frame, "counts"), gap.isna(), strict=True
        )
    ]
    frame[COUNTS] = np.array(counts)
    return frame


def _column(frame: DataFrame, name: str) -> Iterable[Any]:
    return frame[name] if name in frame else [None] * len(frame)


def longest(frame: DataFrame) -> DataFrame:
    """Every contender at its longest limit."""
    return frame[frame.limit == frame.groupby("method").limit.transform("max")] if len(frame) else frame


def of(frame: DataFrame, name: str) -> DataFrame:
    return frame[frame.method == name]


def accuracy(frame: DataFrame) -> tuple[float, float, float] | None:
    """Right labels, right fields of tokens, and F1 of spans, in per cent; None without gold."""
    own = frame[frame.gold.astype(bool)] if len(frame) else frame
    if not len(own):
        return None
    total = own[COUNTS].sum().to_numpy()
    measures = Measures.of_sums(total[1:], len(own))
    return float(100 * total[0] / total[1]), 100 * measures.accuracy, 100 * measures.f1


def losses(frame: DataFrame, best: DataFrame) -> tuple[float, float, float] | None:
    """Points of accuracy below the optimum's on the same sequences, in the order of `accuracy`."""
    own, other = accuracy(frame), accuracy(best[best.key.isin(frame.key)] if len(best) else best)
    if own is None or other is None:
        return None
    labels, tokens, spans = (b - a for a, b in zip(own, other, strict=True))
    return labels, tokens, spans


def paired(one: DataFrame, other: DataFrame) -> tuple[DataFrame, DataFrame]:
    """Two contenders on the sequences that both have."""
    both = one.key.isin(other.key)
    return one[both].reset_index(), other.set_index("key").loc[one.key[both]].reset_index()


def borders(short: DataFrame, long: DataFrame) -> dict[int, float]:
    """Mean capped gap of a hybrid for each border: the first contender up to so many tokens, the second beyond."""
    a, b = paired(short, long)
    return {
        border: float(a.capped.where(a["T"] <= border, b.capped).mean())
        for border in (0, *sorted(set(short["T"])))
    }


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
