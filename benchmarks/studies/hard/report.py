"""The report: families, times to proof, and the list of instances."""

from collections import Counter
from collections.abc import Sequence

import numpy as np
from pandas import Categorical, DataFrame, Series

from benchmarks.data.hard import FAMILIES
from benchmarks.report import Cells, Report, fixed, groups, number
from benchmarks.studies.hard import known
from benchmarks.studies.hard.methods import ENGINE, METHODS
from benchmarks.study import Row

PROVED = ("optimal", "infeasible")
EASY = 1.0
"""Seconds."""


def report(rows: Sequence[Row], report: Report) -> None:
    instances, answers = tables(rows)
    if not len(instances):
        report.text("No instance was measured.")
        return
    _families(instances, report)
    _times(instances, answers, report)
    _list(instances, answers, report)
    best = dict(zip(instances.name, instances.best, strict=True))
    report.folder.mkdir(parents=True, exist_ok=True)
    (report.folder / "best.json").write_text(known.text(known.everything(best)), "utf-8")


def tables(rows: Sequence[Row]) -> tuple[DataFrame, DataFrame]:
    """Instances with what is known of them, and the answers of methods beside their instances."""
    entries = [(one, own, known.best_of(one, own)) for one, own in known.by_instance(rows)]
    instances = DataFrame(
        {**one, "best": best, "level": status_of(own, best), "given": len(own) > 1}
        for one, own, best in entries
    )
    usual = dict.fromkeys(("score", "bound", "note", "certificate"))
    answers = DataFrame(
        {**usual, **row, "of": one, "best": best["score"], "given": len(own) > 1}
        for one, own, best in entries
        for row in own
        if row["method"] in METHODS
    )
    if len(answers):
        answers = answers.astype({"score": float, "bound": float, "best": float})
        answers["proved"] = answers.status.isin(PROVED)
        answers["method"] = Categorical(answers.method, METHODS, ordered=True)
        answers["viterbi"] = [one["viterbi"] for one in answers.of]
        answers["time"] = answers.seconds.where(answers.proved, np.inf)
    return instances, answers


def status_of(answers: Sequence[Row], best: Row) -> str:
    seconds = [row["seconds"] for row in answers if row["method"] == ENGINE and row["status"] == "optimal"]
    if seconds and seconds[0] <= EASY:
        return "easy"
    return "hard" if known.is_proved(best) else "open"


def _families(instances: DataFrame, report: Report) -> None:
    counts = Counter(instances.level)
    report.heading("Families")
    report.text(
        f"Of {len(instances)} instances, {counts['easy']} are easy, {counts['hard']} hard and {counts['open']} open. "
        "The last columns count them."
    )

    def about(some: DataFrame) -> tuple[str, ...]:
        family = FAMILIES[some.part.iloc[0]]
        levels = (f"{one.T}·{one.K}" + (f" ({one.knob:g})" if one.knob else "") for one in family.levels)
        return family.about, family.knob, ", ".join(levels)

    cells: Cells = {
        ("rules", "knob", "T·K (knob) of the levels"): about,
        ("easy", "hard", "open"): lambda x: [Counter(x.level)[name] for name in ("easy", "hard", "open")],
    }
    report.pivot(instances, {"family": "part"}, cells, left=4)
    if later := [name for name in FAMILIES if name not in set(instances.part)]:
        report.text(f"Families that have not been run yet: {', '.join(later)}.")


def _times(instances: DataFrame, answers: DataFrame, report: Report) -> None:
    limit, given = number(answers.limit.iloc[0]), answers[answers.given]
    compared = instances[instances.given]
    report.heading("Times to proof")
    report.text(
        f"Limit {limit} s for an instance, on the {len(compared)} instances that every program is given. A median "
        "counts instances without a proof as infinite, and is a dash where it is one of these. Multiples of a bare compiled Viterbi "
        f"pass over the same scores without rules are taken instance by instance; its median is {number(1000 * compared.viterbi.median())} ms."
    )
    given = given.sort_values("method", kind="stable")
    ran = ~given.status.isin(["not run", "no form", "failed"])
    cells: Cells = {
        "proved": lambda x: f"{x.proved.sum()} of {len(x)}",
        "median, s": lambda x: _low_median(x.time),
        "median, bare Viterbi passes": lambda x: _low_median(x.time / x.viterbi),
        "no labelling": lambda x: x.score[x.ran].isna().sum(),
        "best incumbent": lambda x: (x.score == x.best).sum(),
        "not stated or failed": lambda x: (~x.ran).sum(),
    }
    report.pivot(given.assign(ran=ran), {"method": "method"}, cells)
    engine = answers[answers.method == ENGINE]
    every = engine[engine.proved]
    report.text(
        f"The engine proves {len(every)} of {len(engine)} instances within {limit} s. "
        f"{every.certified.sum()} of its proofs have a certificate that is rechecked; "
        f"{(every.certificate == 'solver').sum()} are a solver's word."
    )
    report.text(
        "Solvers run with the settings of the toolkit, and with their defaults, as the protocol says."
    )
    if notes := sorted(set(answers.note[answers.status.isin(["not run", "failed"])])):
        report.text("Not run, or failed: " + "; ".join(notes) + ".")


def _low_median(values: Series) -> str:
    middle = float(values.quantile(0.5, interpolation="lower"))
    return number(None if np.isinf(middle) else middle)


def _list(instances: DataFrame, answers: DataFrame, report: Report) -> None:
    report.heading("The list")
    report.text(
        "`python -m benchmarks instances FOLDER` writes each instance as NAME.jsonl and NAME.toml, "
        "which `ilpinfer decode NAME.jsonl --rules NAME.toml` reads, and `ilpinfer export --format mps` its integer program; its columns "
        "and rows are told where it is small. The digest is that of scores and rules. Scores are in nats, times in seconds. "
        "Best incumbents, with their labels, and best bounds are in `best.json`, and later runs know them. Viterbi and the "
        "engine's seconds belong to this run."
    )
    proofs = {name: own for (name,), own in groups(answers[answers.proved].sort_values("seconds"), "name")}
    lines = []
    for one in instances.to_dict("records"):
        own, best = proofs.get(one["name"], answers[:0]), one["best"]
        gap = best["bound"] - best["score"] if None not in (best["bound"], best["score"]) else None
        provers = (
            f"{m} (a solver's word)" if c == "solver" else m
            for m, c in zip(own.method, own.certificate, strict=True)
        )
        sizes = (number(one[name], 9).replace(" ", "") for name in ("columns", "rows"))
        lines.append(
            (
                *(one[name] for name in ("name", "level", "digest", "T", "K", "rules")),
                *sizes,
                number(1000 * one["viterbi"]),
                number(own.seconds[own.method == ENGINE].max()),
                *(fixed(value, 6) for value in (best["score"], best["bound"], gap)),
                *((best[by] or "–").partition(" (")[0] for by in ("score_by", "bound_by")),
                ", ".join(provers) or "–",
            )
        )
    columns = ("instance", "status", "digest", "T", "K", "rules", "columns", "rows", "bare Viterbi pass, ms")
    more = ("engine, s", "best incumbent", "best bound", "gap", "incumbent by", "proof or bound by")
    report.table((*columns, *more, "proved in this run by"), lines, left=3)
