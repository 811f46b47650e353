"""What the thesis left untried: learning from few labels, other estimates, and cutoffs."""

from collections.abc import Sequence

import numpy as np

from benchmarks.report import Report, number, percent, signed
from benchmarks.studies.stokman import published as P
from benchmarks.studies.stokman.corpora import GENERATED, PREDICTED
from benchmarks.studies.stokman.decoding import OPTIMUM
from benchmarks.studies.stokman.learning import START
from benchmarks.studies.stokman.totals import (
    ALL,
    Documents,
    Settings,
    baseline,
    by_setting,
    change,
    documents_of,
)
from benchmarks.study import Row


def learning(rows: Sequence[Row], settings: Settings, report: Report) -> None:
    weights = {row["algorithm"]: row for row in rows if "weights" in row}
    if not weights:
        return
    report.heading("Learnt weights (section 7.1)")
    first = next(iter(weights.values()))
    report.text(
        f"Penalties and feature weights of `{START}` in nats, learnt from {first['sequences']} training items that are scored by "
        "models of other folds. The perceptron moves towards gold, the conservative one towards the best "
        "labelling within reach, as the thesis suggests; each starts at 0 or at twice the penalties given. Changes of F against Viterbi in points, "
        "characters, at the optimum, on the generated items with predicted segmentation."
    )
    names = list(first["given"])
    report.table(
        ("rule or feature", "given", *weights),
        (
            (name, number(first["given"][name]), *(number(row["weights"][name]) for row in weights.values()))
            for name in names
        ),
    )
    base = baseline(settings, GENERATED, PREDICTED)
    if not base:
        return
    learnt: dict[str, Documents] = {key.rules: documents for key, documents in by_setting(rows).items()}
    learnt = {"given": documents_of(settings, GENERATED, PREDICTED, START, OPTIMUM), **learnt}
    table = []
    for name, documents in learnt.items():
        each = [change(documents, base, tag) for tag in (*P.TAGS, ALL)]
        interval = f"{signed(each[-1].low, 2)} to {signed(each[-1].high, 2)}"
        spans = signed(change(documents, base, ALL, "spans").f, 2)
        table.append((name, *(signed(one.f, 2) for one in each), interval, spans))
    report.table(("weights", *P.TAGS, ALL, "95 % of all", "spans, all"), table)
    gains = ", ".join(
        f"{signed(change(documents, base, ALL).f)} ({name})"
        for name, documents in learnt.items()
        if documents
    )
    report.text(f"F of all tags changes by {gains} points.")


def losses(rows: Sequence[Row]) -> tuple[str, str, str]:
    """Share that differs in per cent, mean and largest loss in nats, of those with a labelling; dashes if none has one."""
    some = [row for row in rows if row["loss"] is not None]
    if not some:
        return "–", "–", "–"
    nats = [row["loss"] for row in some]
    differs = percent(float(np.mean([row["differs"] for row in some])), 0)
    return differs, f"{np.mean(nats):.3f}", f"{max(nats):.2f}"


def estimates(rows: Sequence[Row], report: Report) -> None:
    if not rows:
        return
    report.heading("The estimate of a second-order model (eq. 45-48)")
    keys = list(dict.fromkeys((row["reading"], row["around"], row["rules"]) for row in rows))
    groups = {
        key: [row for row in rows if (row["reading"], row["around"], row["rules"]) == key] for key in keys
    }
    report.text(
        f"{len(groups[keys[0]])} references of Cora against the exact second-order optimum. `printed` is eq. 48 as it stands, a score by token; "
        "`first-order` keeps the step to the token before."
    )
    report.table(
        ("reading", "around the best of", "rules", "labelling differs, %", "mean loss, nats", "largest"),
        ((*key, *losses(some)) for key, some in groups.items()),
        3,
    )


def cutoffs(rows: Sequence[Row], report: Report) -> None:
    if not rows:
        return
    report.heading("The cutoff of improbable labels (sections 3.1.2 and 6)")
    keys = list(dict.fromkeys((row["size"], row["delta"]) for row in rows))
    groups = {key: [row for row in rows if (row["size"], row["delta"]) == key] for key in keys}
    report.text(
        "References of Cora under `citations`. Labels and steps whose posterior probability is below δ are forbidden, as the tagger of the thesis "
        "did; losses are those under soft rules."
    )
    report.table(
        (
            *("training references", "δ", "no labelling, %", "no labelling, rules hard, %"),
            *("labelling differs, %", "mean loss, nats", "largest"),
        ),
        (
            (
                *(size, f"{delta:g}", percent(float(np.mean([row["loss"] is None for row in some])), 0)),
                *(percent(float(np.mean([row["none, hard"] for row in some])), 0), *losses(some)),
            )
            for (size, delta), some in groups.items()
        ),
        2,
    )
