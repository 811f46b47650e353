"""Comparison of pairs of methods: wins, ties and losses, with a sign test."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Match:
    """Two methods on the sequences that both were given.

    A labelling that keeps the hard rules is better than none; of two the higher score is better. With several seeds, the share
    solved is compared, then the mean score. Sequences on which one of the two failed are counted by `failed` only. `holm` is p,
    corrected for the number of pairs (Holm 1979).
    """

    method: str
    other: str
    wins: int
    ties: int
    losses: int
    failed: int
    p: float
    holm: float


def matches(frame: "pd.DataFrame", methods: Sequence[str]) -> list[Match]:
    """Every two methods, in the order in which they are given."""
    from scipy import stats

    possible = frame[~frame.infeasible].assign(failed=frame.error != "")
    each = possible.groupby(["method", "sequence"]).agg(
        solved=("solved", "mean"), score=("score", "mean"), failed=("failed", "any")
    )
    tables = {name: each.loc[name] for name in methods if name in each.index.get_level_values(0)}
    result = []
    for one, other in combinations(tables, 2):
        a, b = tables[one].align(tables[other], join="inner")
        failed = a.failed | b.failed
        a, b = a[~failed], b[~failed]
        by_score = np.sign((a.score - b.score).fillna(0.0))
        sign = np.sign(a.solved - b.solved).where(a.solved != b.solved, by_score)
        wins, losses = int((sign > 0).sum()), int((sign < 0).sum())
        p = float(stats.binomtest(wins, wins + losses).pvalue) if wins + losses else 1.0
        result.append(Match(one, other, wins, len(sign) - wins - losses, losses, int(failed.sum()), p, p))
    return [replace(match, holm=p) for match, p in zip(result, holm([m.p for m in result]), strict=True)]


def holm(values: Sequence[float]) -> list[float]:
    """P values corrected for their number, so that the chance of any false one is bounded (Holm 1979)."""
    order = np.argsort(values, kind="stable")
    scaled = np.array(values, float)[order] * np.arange(len(values), 0, -1)
    result = np.empty(len(values))
    result[order] = np.minimum(np.maximum.accumulate(scaled), 1.0) if len(values) else scaled
    return result.tolist()
