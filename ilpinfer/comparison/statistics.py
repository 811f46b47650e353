"""The tables of a comparison: methods, pairs of methods, fields, stages of the engine, and rules."""

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from ilpinfer.comparison.frame import kinds_of, reference_of
from ilpinfer.comparison.intervals import gap_intervals, gold_intervals
from ilpinfer.comparison.plan import BARE, CAP
from ilpinfer.comparison.rows import COUNTS, ERRORS
from ilpinfer.evaluation.counts import f_measure, precision, recall

if TYPE_CHECKING:
    import pandas as pd

WHOLE_NUMBERS = ["seeds", "sequences", "infeasible", "optimum_known", "common"]
"""Columns of whole numbers."""
COUNT_COLUMNS = ["failed", "solved", "missed", "violations", "breaking"]
"""Columns with 0 for unknown values."""
MEASURES = {"precision": precision, "recall": recall, "f1": f_measure}
OWN, BEFORE = ["predicted", "gold", "both"], ["predicted_before", "gold_before", "both_before"]
"""Counts of a field with rules, and without."""
NO_COUNTS = (0, 0, 0)


def bare_lines(frame: "pd.DataFrame") -> "pd.DataFrame":
    """The bare Viterbi pass as a method: a line for each sequence, with its time and counts against gold."""
    import pandas as pd

    each = frame.drop_duplicates("sequence")
    counts = pd.DataFrame([found or dict.fromkeys(COUNTS) for found in each.without_rules], each.index)
    own = {name: counts[name].astype(float) for name in COUNTS}
    return each.assign(method=BARE, kind="bare", seconds=each.bare_seconds, error="", **own)


def summarise(frame: "pd.DataFrame", cap: float = CAP) -> "pd.DataFrame":
    """A line for each method, in the given order, and for the bare pass; see `Comparison.summary`."""
    import pandas as pd

    kinds = kinds_of(frame)
    gap = frame.gap.fillna(cap)
    frame = frame.assign(
        failed=frame.error != "",
        proved=frame.status.isin(["optimal", "infeasible"]),
        reaches=frame.gap == 0,
        breaking=frame.violated > 0,
        capped=gap,
        relative=(gap / frame.optimum.abs()).where(gap > 0, 0.0).replace(np.inf, np.nan),
        per_token=gap / frame.tokens,
    )
    possible = frame[~frame.infeasible]
    proved = possible[possible.optimum.notna()]
    known, answered = proved[~proved.failed], frame[~frame.failed]
    asked = proved[proved.method.isin(answered.method)]
    common = set(asked.sequence) - set(asked.sequence[~asked.solved])
    shared = known[known.sequence.isin(common)]
    wrong = answered.gold_tokens - answered.correct_labels
    measured = pd.concat([answered, bare_lines(frame)])
    measured = measured.assign(ms=1000 * measured.seconds, passes=measured.seconds / measured.bare_seconds)
    golden = measured[measured.gold_tokens.notna()]
    every, feasible, over, together, timed, against = (
        each.groupby("method") for each in (frame, possible, known, shared, measured, golden)
    )
    seeds = every.seed.nunique().clip(lower=1)
    columns = {
        "seeds": seeds,
        "sequences": feasible.sequence.nunique(),
        "infeasible": every.sequence.nunique().sub(feasible.sequence.nunique(), fill_value=0),
        "solved": feasible.solved.mean(),
        "failed": every.failed.sum() / seeds,
        "proved": every.proved.mean(),
        "optimum_known": over.sequence.nunique(),
        "reaches": over.reaches.mean(),
        "missed": (over.size() - over.reaches.sum()) / seeds,
        "mean_gap": over.capped.mean(),
        "relative_gap": over.relative.mean(),
        "gap_per_token": over.per_token.mean(),
        **gap_intervals(known),
        "gap_spread": known.groupby(["method", "seed"]).capped.mean().groupby("method").std(),
        "cap": pd.Series(cap, seeds.index),
        "solved_gap": over.gap.mean(),
        "common": pd.Series(len(common), seeds.index),
        "common_gap": together.gap.mean(),
        "common_relative_gap": together.relative.mean(),
        "common_gap_per_token": together.per_token.mean(),
        "largest_gap": over.gap.max(),
        "violations": every.violated.sum() / seeds,
        "breaking": every.breaking.sum() / seeds,
        **gold_intervals(golden, reference_of(kinds)),
        "label_accuracy": against.correct_labels.sum() / against.gold_tokens.sum(),
        **{f"{kind}_errors": _sum(answered.differs_by == kind, answered) / seeds for kind in ERRORS},
        **{
            f"{kind}_error_tokens": _sum(wrong.where(answered.differs_by == kind, 0), answered) / seeds
            for kind in ERRORS
        },
        "median_ms": timed.ms.median(),
        "p90_ms": timed.ms.quantile(0.9),
        "bare_passes": timed.passes.median(),
    }
    summary = pd.DataFrame(columns).reindex([*kinds, BARE]).rename_axis("method")
    summary.loc[list(kinds), COUNT_COLUMNS] = summary.loc[list(kinds), COUNT_COLUMNS].fillna(0.0)
    summary.insert(0, "kind", [*kinds.values(), "bare"])
    summary[WHOLE_NUMBERS] = summary[WHOLE_NUMBERS].fillna(0).astype(int)
    return summary.reset_index()


def _sum(values: "pd.Series", lines: "pd.DataFrame") -> "pd.Series":
    """Sums by method; NaN without gold."""
    return values.where(lines.gold_tokens.notna()).groupby(lines.method).sum(min_count=1)


def matches(frame: "pd.DataFrame") -> "pd.DataFrame":
    """All pairs of methods, in the given order; see `Comparison.matches`."""
    import pandas as pd
    from scipy import stats

    possible = frame.assign(failed=frame.error != "")[~frame.infeasible]
    each = possible.groupby(["method", "sequence"]).agg(
        solved=("solved", "mean"), score=("score", "mean"), failed=("failed", "any")
    )
    tables = {name: each.loc[name] for name in dict.fromkeys(possible.method)}
    lines = []
    for one, other in combinations(tables, 2):
        a, b = tables[one].align(tables[other], join="inner")
        failed = a.failed | b.failed
        a, b = a[~failed], b[~failed]
        by_score = np.sign((a.score - b.score).fillna(0.0))
        sign = np.sign(a.solved - b.solved).where(a.solved != b.solved, by_score)
        wins, losses = int((sign > 0).sum()), int((sign < 0).sum())
        p = float(stats.binomtest(wins, wins + losses).pvalue) if wins + losses else 1.0
        lines.append((one, other, wins, len(sign) - wins - losses, losses, int(failed.sum()), p))
    names = ["method", "other", "wins", "ties", "losses", "failed", "p"]
    result = pd.DataFrame(lines, columns=names)
    return result.assign(holm=holm(result.p))


def holm(p: "pd.Series") -> "pd.Series":
    """P values corrected for multiple comparisons (Holm 1979)."""
    ordered = p.astype(float).sort_values(kind="stable")
    return (ordered * np.arange(len(p), 0, -1)).cummax().clip(upper=1.0).sort_index()


def field_gains(frame: "pd.DataFrame") -> "pd.DataFrame":
    """All methods and fields, summed over seeds; see `Comparison.field_gains`."""
    import pandas as pd

    lines = []
    for row in frame[frame.fields.notna()].itertuples():
        own, before = row.fields, row.without_rules["fields"]
        for name in {**own, **before}:
            counts = *own.get(name, NO_COUNTS), *before.get(name, NO_COUNTS)
            lines.append((row.method, name, row.sequence, name in own, *counts))
    counted = pd.DataFrame(lines, columns=["method", "field", "sequence", "counted", *OWN, *BEFORE])
    keys, methods = ["method", "field"], dict.fromkeys(frame.method)
    groups = counted.groupby(keys)
    sums = groups[[*OWN, *BEFORE]].sum()[groups.counted.any()].reindex(list(methods), level="method")
    result = sums.index.to_frame(index=False)
    gold = counted.drop_duplicates([*keys, "sequence"]).groupby(keys).gold.sum()
    result["gold"] = gold[sums.index].to_numpy()
    for name, measure in MEASURES.items():
        result[name] = measure(sums[OWN].to_numpy())
        result[f"{name}_gain"] = result[name] - measure(sums[BEFORE].to_numpy())
    every = frame.groupby("method")
    failed = (frame.error != "").groupby(frame.method).sum() / every.seed.nunique().clip(lower=1)
    return result.assign(failed=result.method.map(failed).astype(float))


def stage_costs(frame: "pd.DataFrame") -> "pd.DataFrame":
    """The stages of the engine, in order of first appearance; see `Comparison.stages`."""
    import pandas as pd

    lines = [
        (method, stage, seconds, place == len(stages))
        for method, stages in zip(frame.method, frame.stages, strict=True)
        for place, (stage, seconds) in enumerate(stages or (), 1)
    ]
    ran = pd.DataFrame(lines, columns=["method", "stage", "seconds", "ended"])
    costs = ran.groupby(["method", "stage"], sort=False).agg(
        ran=("seconds", "size"), ended=("ended", "sum"), seconds=("seconds", "sum")
    )
    share = costs.seconds / costs.groupby("method").seconds.transform("sum")
    return costs.assign(share=share.fillna(0.0)).reset_index()


def rules_broken(frame: "pd.DataFrame") -> "pd.DataFrame":
    """The broken rules of each method, most violations first; see `Comparison.rules_broken`."""
    counts = frame[["method"]].assign(rule=[list(each) for each in frame.violations])
    counts = counts.assign(violations=[list(each.values()) for each in frame.violations])
    counts = counts.explode(["rule", "violations"]).dropna().astype({"violations": "int64"})
    broken = counts[counts.violations > 0].groupby(["method", "rule"], sort=False).violations
    result = broken.agg(sequences="size", violations="sum").reset_index()
    order = {name: place for place, name in enumerate(dict.fromkeys(frame.method))}
    result = result.sort_values("violations", ascending=False, kind="stable")
    return result.sort_values("method", key=lambda names: names.map(order), kind="stable", ignore_index=True)
