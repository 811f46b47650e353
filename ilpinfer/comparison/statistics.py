"""The tables of a comparison: methods, pairs of methods, fields, stages of the engine."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from ilpinfer.comparison.intervals import gap_intervals, gold_intervals
from ilpinfer.comparison.plan import CAP
from ilpinfer.comparison.rows import ERRORS
from ilpinfer.evaluation.counts import f_measure, precision, recall
from ilpinfer.system.checkpoint import Row

if TYPE_CHECKING:
    import pandas as pd

WHOLE_NUMBERS = ["rank", "seeds", "sequences", "infeasible", "optimum_known", "common"]
"""Columns of whole numbers."""
COUNT_COLUMNS = ["failed", "solved", "missed", "violations", "breaking"]
"""Columns that are 0 where nothing is known."""
MEASURES = {"precision": precision, "recall": recall, "f1": f_measure}
COUNTS, BEFORE = ["predicted", "gold", "both"], ["predicted_before", "gold_before", "both_before"]
"""Of a field, with the rules and without."""
NO_COUNTS = (0, 0, 0)


def reference_of(kinds: Mapping[str, str]) -> str | None:
    """The first exact method, which losses are measured against."""
    return next((method for method, kind in kinds.items() if kind == "exact"), None)


def summarise(frame: "pd.DataFrame", kinds: Mapping[str, str], cap: float = CAP) -> "pd.DataFrame":
    """A line for each method, in the order of `kinds`; see `Comparison.summary`."""
    import pandas as pd

    gap = frame.gap.fillna(cap)
    frame = frame.assign(
        failed=frame.error != "",
        proved=frame.status.isin(["optimal", "infeasible"]),
        reaches=frame.gap == 0,
        breaking=frame.violations > 0,
        capped=gap,
        relative=(gap / frame.optimum.abs()).where(gap > 0, 0.0).replace(np.inf, np.nan),
        per_token=gap / frame.tokens,
        ms=1000 * frame.seconds,
        passes=frame.seconds / frame.bare_seconds,
        wrong=frame.gold_tokens - frame.correct_labels,
    )
    possible = frame[~frame.infeasible]
    proved = possible[possible.optimum.notna()]
    known, answered = proved[~proved.failed], frame[~frame.failed]
    asked = proved[proved.method.isin(answered.method)]
    common = set(asked.sequence) - set(asked.sequence[~asked.solved])
    shared, golden = known[known.sequence.isin(common)], answered[answered.gold_tokens.notna()]
    every, feasible, over, together, timed, against = (
        each.groupby("method") for each in (frame, possible, known, shared, answered, golden)
    )
    seeds = every.seed.nunique().clip(lower=1)
    gaps = known.pivot_table(index="sequence", columns="method", values="capped")
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
        **gap_intervals(gaps),
        "gap_spread": known.groupby(["method", "seed"]).capped.mean().groupby("method").std(),
        "cap": pd.Series(cap, seeds.index),
        "solved_gap": over.gap.mean(),
        "common": pd.Series(len(common), seeds.index),
        "common_gap": together.gap.mean(),
        "common_relative_gap": together.relative.mean(),
        "common_gap_per_token": together.per_token.mean(),
        "largest_gap": over.gap.max(),
        "violations": every.violations.sum() / seeds,
        "breaking": every.breaking.sum() / seeds,
        **gold_intervals(golden, reference_of(kinds)),
        "label_accuracy": against.correct_labels.sum() / against.gold_tokens.sum(),
        **{f"{kind}_errors": _sum(golden.differs_by == kind, golden) / seeds for kind in ERRORS},
        **{
            f"{kind}_error_tokens": _sum(golden.wrong.where(golden.differs_by == kind, 0), golden) / seeds
            for kind in ERRORS
        },
        "median_ms": timed.ms.median(),
        "p90_ms": timed.ms.quantile(0.9),
        "bare_passes": timed.passes.median(),
    }
    summary = pd.DataFrame(columns).reindex(list(kinds)).rename_axis("method")
    summary[COUNT_COLUMNS] = summary[COUNT_COLUMNS].fillna(0.0)
    summary.insert(0, "kind", list(kinds.values()))
    merits = list(zip(-summary.solved, summary.mean_gap.round(9).fillna(np.inf), strict=True))
    summary.insert(1, "rank", [1 + sum(other < own for other in merits) for own in merits])
    summary[WHOLE_NUMBERS] = summary[WHOLE_NUMBERS].fillna(0).astype(int)
    return summary.reset_index()


def _sum(values: "pd.Series", lines: "pd.DataFrame") -> "pd.Series":
    return values.groupby(lines.method).sum()


def matches(frame: "pd.DataFrame", methods: Sequence[str]) -> "pd.DataFrame":
    """Every two methods, in the order in which they are given; see `Comparison.matches`."""
    import pandas as pd
    from scipy import stats

    possible = frame[~frame.infeasible].assign(failed=frame.error != "")
    each = possible.groupby(["method", "sequence"]).agg(
        solved=("solved", "mean"), score=("score", "mean"), failed=("failed", "any")
    )
    tables = {name: each.loc[name] for name in methods if name in each.index.get_level_values(0)}
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
    return result.assign(holm=holm(result.p.tolist()))


def holm(values: Sequence[float]) -> list[float]:
    """P values corrected for their number, so that the chance of any false one is bounded (Holm 1979)."""
    order = np.argsort(values, kind="stable")
    scaled = np.array(values, float)[order] * np.arange(len(values), 0, -1)
    result = np.empty(len(values))
    result[order] = np.minimum(np.maximum.accumulate(scaled), 1.0) if len(values) else scaled
    return result.tolist()


def field_gains(rows: Iterable[Row], methods: Iterable[str]) -> "pd.DataFrame":
    """Every method and field; with several seeds, sums over them. See `Comparison.field_gains`."""
    import pandas as pd

    lines, failed, seeds = [], dict[str, int](), dict[str, set[int | None]]()
    for row in rows:
        method = row["method"]
        failed[method] = failed.get(method, 0) + bool(row.get("error"))
        seeds.setdefault(method, set()).add(row["seed"])
        if row["gold"] is not None:
            own, before = row["gold"]["fields"], row["gold"]["without_rules"]
            for name in {**own, **before}:
                counts = *own.get(name, NO_COUNTS), *before.get(name, NO_COUNTS)
                lines.append((method, name, row["sequence"], name in own, *counts))
    frame = pd.DataFrame(lines, columns=["method", "field", "sequence", "counted", *COUNTS, *BEFORE])
    keys = ["method", "field"]
    groups = frame.groupby(keys)
    sums = groups[[*COUNTS, *BEFORE]].sum()[groups.counted.any()].reindex(list(methods), level="method")
    result = sums.index.to_frame(index=False)
    result["gold"] = (
        frame.drop_duplicates([*keys, "sequence"]).groupby(keys).gold.sum()[sums.index].to_numpy()
    )
    values = {name: measure(sums[COUNTS].to_numpy()) for name, measure in MEASURES.items()}
    gains = {
        f"{name}_gain": values[name] - measure(sums[BEFORE].to_numpy()) for name, measure in MEASURES.items()
    }
    share = [failed[method] / len(seeds[method]) for method in result.method]
    return result.assign(**values, **gains, failed=np.array(share, float))


def f1_without_rules(rows: Iterable[Row]) -> float | None:
    """F1 of Viterbi without rules on the sequences with gold; None without any."""
    counted = {row["sequence"]: row["gold"]["without_rules"] for row in rows if row["gold"] is not None}
    counts = [three for fields in counted.values() for three in fields.values()]
    return float(f_measure(np.sum(counts, axis=0))) if counts else None


def stage_costs(rows: Iterable[Row]) -> "pd.DataFrame":
    """The stages of each method that has some, in the order in which they first appear; see `Comparison.stages`."""
    import pandas as pd

    taken = ((row["method"], row.get("stages") or ()) for row in rows)
    lines = [
        (method, stage, seconds, place == len(stages))
        for method, stages in taken
        for place, (stage, seconds) in enumerate(stages, 1)
    ]
    frame = pd.DataFrame(lines, columns=["method", "stage", "seconds", "ended"])
    costs = frame.groupby(["method", "stage"], sort=False).agg(
        ran=("seconds", "size"), ended=("ended", "sum"), seconds=("seconds", "sum")
    )
    share = costs.seconds / costs.groupby("method").seconds.transform("sum")
    return costs.assign(share=share.fillna(0.0)).reset_index()


def rules_broken(rows: Iterable[Row]) -> "pd.DataFrame":
    """The rules that labellings of each method break, most violations first; see `Comparison.rules_broken`."""
    import pandas as pd

    lines = [
        (row["method"], rule, count) for row in rows for rule, count in row["violations"].items() if count
    ]
    frame = pd.DataFrame(lines, columns=["method", "rule", "violations"])
    broken = frame.groupby(["method", "rule"], sort=False).violations.agg(sequences="size", violations="sum")
    order = {name: place for place, name in enumerate(dict.fromkeys(frame.method))}
    result = broken.reset_index().sort_values("violations", ascending=False, kind="stable")
    return result.sort_values("method", key=lambda names: names.map(order), kind="stable", ignore_index=True)
