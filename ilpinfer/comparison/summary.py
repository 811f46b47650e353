"""Summary of each method: solved sequences, loss against the proved optimum, and time."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from formulations.dtypes import Floats, Integers
from ilpinfer.comparison.rows import ERRORS
from ilpinfer.evaluation.counts import shares

if TYPE_CHECKING:
    import pandas as pd

CAP = 50.0
"""Gap in nats that stands for a missing labelling in means over all sequences."""
RESAMPLES, SEED = 9999, 0
"""Of the bootstrap."""
BATCH = 500
"""Resamples that are drawn at once."""
GOLD = ("gold_tokens", "correct", "predicted_fields", "gold_fields", "matching_fields")
"""Counts of which accuracy and F1 are made."""


@dataclass(frozen=True)
class Summary:
    """One line of the comparison. Shares and means are over sequences, and over seeds where there are several.

    Sequences on which the method failed are counted by `failed`. They are neither solved nor proved; all other figures leave
    them out. Figures are None where nothing is known. Sequences that are proved to have no labelling are counted by
    `infeasible`, and not by `sequences`. `accuracy`, `label_accuracy` and `f1` count missing labellings as wrong; the first and the last have
    95 % intervals by the bootstrap over sequences, with the same draws for methods on the same sequences. Methods that solve
    the same share with the same mean gap have one rank.
    """

    method: str
    kind: str
    rank: int
    seeds: int
    sequences: int
    infeasible: int
    solved: float
    failed: float
    proved: float
    optimum_known: int
    reaches: float | None
    missed: float
    mean_gap: float | None
    relative_gap: float | None
    gap_per_token: float | None
    gap_low: float | None
    gap_high: float | None
    gap_spread: float | None
    cap: float
    solved_gap: float | None
    common: int
    common_gap: float | None
    common_relative_gap: float | None
    common_gap_per_token: float | None
    largest_gap: float | None
    violations: float
    breaking: float
    accuracy: float | None
    accuracy_low: float | None
    accuracy_high: float | None
    label_accuracy: float | None
    f1: float | None
    f1_low: float | None
    f1_high: float | None
    search_errors: float | None
    model_errors: float | None
    rule_errors: float | None
    ties: float | None
    search_error_tokens: float | None
    model_error_tokens: float | None
    rule_error_tokens: float | None
    tie_tokens: float | None
    median_ms: float | None
    p90_ms: float | None
    bare_passes: float | None


def summarise(
    frame: "pd.DataFrame", kinds: Mapping[str, str], viterbi: Floats | None = None, cap: float = CAP
) -> list[Summary]:
    """A line for each method, in the order of `kinds`."""
    frame = frame.assign(capped=frame.gap.fillna(cap))
    possible = frame[~frame.infeasible]
    known = possible[possible.optimum.notna()]
    asked = known[known.method.isin(frame.method[frame.error == ""])]
    common = set(asked.sequence) - set(asked.sequence[~asked.solved])
    known = known[known.error == ""]
    lines = []
    for name, kind in kinds.items():
        every, own, gaps = (each[each.method == name] for each in (frame, possible, known))
        lines.append(_line(name, kind, every, own, gaps, common, viterbi, cap))
    merits = [_merit(line) for line in lines]
    return [
        replace(line, rank=1 + sum(other < own for other in merits))
        for line, own in zip(lines, merits, strict=True)
    ]


def _merit(line: Summary) -> tuple[float, float]:
    return -line.solved, np.inf if line.mean_gap is None else round(line.mean_gap, 9)


def _line(
    name: str,
    kind: str,
    every: "pd.DataFrame",
    possible: "pd.DataFrame",
    known: "pd.DataFrame",
    common: set[int],
    viterbi: Floats | None,
    cap: float,
) -> Summary:
    seeds = max(every.seed.nunique(), 1)
    answered = every[every.error == ""]
    shared = known[known.sequence.isin(common)]
    low, high = _interval(known.groupby("sequence").capped.mean().to_numpy())
    by_seed = known.groupby("seed").capped.mean()
    milliseconds = 1000 * answered.seconds.dropna()
    unit = None if viterbi is None else answered.seconds / viterbi[answered.sequence]
    return Summary(
        method=name,
        kind=kind,
        rank=0,
        seeds=seeds,
        sequences=possible.sequence.nunique(),
        infeasible=every.sequence.nunique() - possible.sequence.nunique(),
        solved=_mean(possible.solved) or 0.0,
        failed=(len(every) - len(answered)) / seeds,
        proved=float(every.status.isin(["optimal", "infeasible"]).mean()),
        optimum_known=known.sequence.nunique(),
        reaches=_mean(known.gap == 0),
        missed=float((known.gap != 0).sum() / seeds),
        mean_gap=_mean(known.capped),
        relative_gap=_mean(_relative(known.capped, known)),
        gap_per_token=_mean(known.capped / known.tokens),
        gap_low=low,
        gap_high=high,
        gap_spread=float(by_seed.std()) if len(by_seed) > 1 else None,
        cap=cap,
        solved_gap=_mean(known.gap),
        common=len(common),
        common_gap=_mean(shared.gap),
        common_relative_gap=_mean(_relative(shared.gap, shared)),
        common_gap_per_token=_mean(shared.gap / shared.tokens),
        largest_gap=float(known.gap.max()) if known.gap.notna().any() else None,
        violations=float(every.violations.sum() / seeds),
        breaking=float((every.violations > 0).sum() / seeds),
        **_against_gold(answered[answered.gold_tokens.notna()], seeds),
        median_ms=float(milliseconds.median()) if len(milliseconds) else None,
        p90_ms=float(milliseconds.quantile(0.9)) if len(milliseconds) else None,
        bare_passes=None if unit is None or unit.isna().all() else float(unit.median()),
    )


def _mean(values: "pd.Series") -> float | None:
    return float(values.mean()) if len(values.dropna()) else None


def _relative(gap: "pd.Series", lines: "pd.DataFrame") -> "pd.Series":
    """``gap / |optimum|``, 0 for no gap; NaN, which means leave out, where the optimum alone is 0."""
    return (gap / lines.optimum.abs()).where(gap > 0, 0.0).replace(np.inf, np.nan)


def _against_gold(lines: "pd.DataFrame", seeds: int) -> dict[str, float | None]:
    names = [f"{error}_errors" for error in ERRORS[:-1]] + ["ties"]
    tokens = [f"{error}_error_tokens" for error in ERRORS[:-1]] + ["tie_tokens"]
    intervals = ["accuracy_low", "accuracy_high", "f1_low", "f1_high"]
    if not len(lines):
        return dict.fromkeys(["accuracy", "label_accuracy", "f1", *intervals, *names, *tokens])
    wrong = lines.gold_tokens - lines.correct_labels
    counts = lines.groupby("sequence")[list(GOLD)].sum().to_numpy(np.int64)
    accuracy, f1 = _shares(counts.sum(axis=0))
    parts = [lines.differs_by == error for error in ERRORS]
    return {
        "accuracy": float(accuracy),
        "label_accuracy": float(lines.correct_labels.sum() / lines.gold_tokens.sum()),
        "f1": float(f1),
        **dict(zip(intervals, _gold_intervals(counts), strict=True)),
        **{name: float(part.sum() / seeds) for name, part in zip(names, parts, strict=True)},
        **{name: float(wrong[part].sum() / seeds) for name, part in zip(tokens, parts, strict=True)},
    }


def _shares(totals: Integers) -> tuple[Floats, Floats]:
    """Token accuracy and F1 of sums (..., 5) of the counts of `GOLD`."""
    unknown = np.zeros_like(totals[..., :1])  # whole sequences
    each = shares(np.concatenate([totals, unknown], axis=-1))
    return each[..., 0], each[..., 1]


def _gold_intervals(counts: Integers) -> list[float]:
    """Ends of the 95 % intervals of accuracy and F1, of counts (N, 5) of N sequences."""
    N, rng, draws = len(counts), np.random.default_rng(SEED), list[tuple[Floats, Floats]]()
    for begin in range(0, RESAMPLES, BATCH):
        times = rng.multinomial(N, np.full(N, 1 / N), min(BATCH, RESAMPLES - begin))
        draws.append(_shares(times @ counts))
    ends = (np.quantile(np.concatenate(each), (0.025, 0.975)) for each in zip(*draws, strict=True))
    return [float(end) for pair in ends for end in pair]


def _interval(gaps: Floats) -> tuple[float | None, float | None]:
    """95 % interval of the mean by the percentile bootstrap (Efron and Tibshirani 1993)."""
    if not len(gaps):
        return None, None
    if np.ptp(gaps) == 0:
        return float(gaps[0]), float(gaps[0])
    from scipy import stats

    result = stats.bootstrap(
        (gaps,),
        np.mean,
        n_resamples=RESAMPLES,
        batch=200,
        method="percentile",
        rng=np.random.default_rng(SEED),
    )
    return float(result.confidence_interval.low), float(result.confidence_interval.high)
