"""The report: families, the list of instances, times to proof, and what leaves instances open."""

import statistics
from collections import Counter
from collections.abc import Iterator, Sequence

from benchmarks.data.hard import FAMILIES
from benchmarks.report import Report, number
from benchmarks.studies.hard import figures, known
from benchmarks.studies.hard.explaining import Entry, explain_open, is_proof
from benchmarks.studies.hard.methods import ENGINE, METHODS
from benchmarks.study import Row

EASY = 1.0
"""Seconds."""


def report(rows: Sequence[Row], report: Report) -> None:
    """Everything, and `best.json` beside it."""
    entries = [(one, answers, known.best_of(one, answers)) for one, answers in known.by_instance(rows)]
    if not entries:
        report.text("No instance was measured.")
        return
    _families(entries, report)
    _times(entries, report)
    figures.draw([(one, answers) for one, answers, _ in entries], report)
    explain_open(entries, report)
    _list(entries, report)
    best = {one["name"]: record for one, _, record in entries}
    report.folder.mkdir(parents=True, exist_ok=True)
    (report.folder / "best.json").write_text(known.text(known.everything(best)), "utf-8")


def status_of(answers: Sequence[Row], best: Row) -> str:
    """Easy, hard or open."""
    seconds = [row["seconds"] for row in answers if row["method"] == ENGINE and row["status"] == "optimal"]
    if seconds and seconds[0] <= EASY:
        return "easy"
    return "hard" if known.is_proved(best) else "open"


def _families(entries: Sequence[Entry], report: Report) -> None:
    counts = Counter(status_of(answers, best) for _, answers, best in entries)
    report.heading("Families")
    report.text(
        f"Of {len(entries)} instances, {counts['easy']} are easy, {counts['hard']} hard and {counts['open']} open. "
        "The last columns count them."
    )
    lines = []
    for name in dict.fromkeys(one["part"] for one, _, _ in entries):
        own = Counter(status_of(answers, best) for one, answers, best in entries if one["part"] == name)
        family = FAMILIES[name]
        levels = ", ".join(
            f"{level.T}·{level.K}" + (f" ({level.knob:g})" if level.knob else "") for level in family.levels
        )
        lines.append((name, family.about, family.knob, levels, own["easy"], own["hard"], own["open"]))
    report.table(
        ("family", "rules", "knob", "T·K (knob) of the levels", "easy", "hard", "open"), lines, left=4
    )


def _times(entries: Sequence[Entry], report: Report) -> None:
    limit = next(row["limit"] for _, answers, _ in entries for row in answers)
    compared = [entry for entry in entries if len(entry[1]) > 1]
    viterbi = statistics.median(one["viterbi"] for one, _, _ in compared)
    report.heading("Times to proof")
    report.text(
        f"Limit {number(limit)} s for an instance, on the {len(compared)} instances that every program is given. A median "
        "counts instances without a proof as infinite, and is a dash where it is one of these. Multiples of a bare compiled Viterbi "
        f"pass over the same scores without rules are taken instance by instance; its median is {number(1000 * viterbi)} ms."
    )
    lines = []
    for method in METHODS:
        own = [
            (one, row, best) for one, answers, best in compared for row in answers if row["method"] == method
        ]
        if not own:
            continue
        ran = [
            (one, row, best)
            for one, row, best in own
            if row["status"] not in ("not run", "no form", "failed")
        ]
        seconds = [_seconds(row) for _, row, _ in own]
        ratios = [_seconds(row) / one["viterbi"] for one, row, _ in own]
        lines.append(
            (
                method,
                f"{sum(map(is_proof, (row for _, row, _ in own)))} of {len(own)}",
                number(_finite(statistics.median_low(seconds))),
                number(_finite(statistics.median_low(ratios))),
                sum(row.get("score") is None for _, row, _ in ran),
                sum(row.get("score") is not None and row["score"] == best["score"] for _, row, best in ran),
                len(own) - len(ran),
            )
        )
    report.table(
        (
            "method",
            "proved",
            "median, s",
            "median, bare Viterbi passes",
            "no labelling",
            "best incumbent",
            "not stated or failed",
        ),
        lines,
    )
    report.text(" ".join(_sentences(entries, compared, limit)))
    notes = sorted(
        {
            row["note"]
            for _, answers, _ in entries
            for row in answers
            if row["status"] in ("not run", "failed")
        }
    )
    if notes:
        report.text("Not run, or failed: " + "; ".join(notes) + ".")
    report.text(
        "Instances of each family that are proved within the limit; the engine on all, then all on the same ones:"
    )
    present = [
        method
        for method in METHODS
        if any(row["method"] == method for _, rows, _ in compared for row in rows)
    ]
    report.table(
        ("family", "instances", "engine", "given to all", *present), _by_family(entries, compared, present)
    )


def _proofs(entries: Sequence[Entry]) -> list[dict[str, Row]]:
    """The rows of proofs of each instance, by method."""
    return [{row["method"]: row for row in answers if is_proof(row)} for _, answers, _ in entries]


def _sentences(entries: Sequence[Entry], compared: Sequence[Entry], limit: float) -> Iterator[str]:
    every = [each[ENGINE] for each in _proofs(entries) if ENGINE in each]
    yield f"The engine proves {len(every)} of {len(entries)} instances within {number(limit)} s."
    proofs = _proofs(compared)
    engine = sum(ENGINE in each for each in proofs)
    alone = sum(ENGINE in each and len(each) == 1 for each in proofs)
    others = sum(bool(each) and ENGINE not in each for each in proofs)
    yield (
        f"Of the {len(compared)} that all programs are given, it proves {engine}, {alone} of them as the only program; "
        f"{others} are proved by another program and not by the engine."
    )
    shared = [each for each in proofs if ENGINE in each and len(each) > 1]
    if shared:
        ratios = [
            min(row["seconds"] for name, row in each.items() if name != ENGINE) / each[ENGINE]["seconds"]
            for each in shared
        ]
        slower = sum(ratio < 1 for ratio in ratios)
        yield (
            f"On the {len(shared)} that both the engine and a rival prove, the fastest rival takes "
            f"{number(statistics.median(ratios))} times the engine's seconds in the median; on {slower} it is faster."
        )
    words = sum(row["certificate"] == "solver" for row in every)
    certified = sum(row["certified"] for row in every)
    yield f"{certified} of the engine's {len(every)} proofs have a certificate that is rechecked; {words} are a solver's word."


def _by_family(
    entries: Sequence[Entry], compared: Sequence[Entry], methods: Sequence[str]
) -> Iterator[Sequence[object]]:
    for family in dict.fromkeys(one["part"] for one, _, _ in entries):
        own, given = (
            _proofs([entry for entry in some if entry[0]["part"] == family]) for some in (entries, compared)
        )
        engine = sum(ENGINE in each for each in own)
        yield (family, len(own), engine, len(given), *(sum(m in each for each in given) for m in methods))


def _list(entries: Sequence[Entry], report: Report) -> None:
    report.heading("The list")
    report.text(
        "`python -m benchmarks run hard` writes each instance to `benchmarks/rows/hard-instances/`: NAME.json and NAME.toml, "
        "which `ilpinfer decode NAME.json --rules NAME.toml` reads; NAME.mps.gz, the integer program, where it is small "
        "(`ilpinfer export --format mps` writes the others); and NAME.solution.json.gz, the engine's solution with its "
        "certificate, for `ilpinfer.verify`. The digest is that of scores and rules. Scores are in nats, times in seconds. "
        "Best incumbents, with their labels, and best bounds are in `best.json`, and later runs know them. Viterbi and the "
        "engine's seconds belong to this run."
    )
    columns = (
        "instance",
        "status",
        "digest",
        "T",
        "K",
        "rules",
        "columns",
        "rows",
        "bare Viterbi pass, ms",
        "engine, s",
    )
    more = (
        "best incumbent",
        "best bound",
        "gap",
        "incumbent by",
        "proof or bound by",
        "proved in this run by",
    )
    report.table((*columns, *more), (_line(*entry) for entry in entries), left=3)


def _line(one: Row, answers: Sequence[Row], best: Row) -> Sequence[object]:
    proofs = sorted((row["seconds"], _prover(row)) for row in answers if is_proof(row))
    engine = [row["seconds"] for row in answers if row["method"] == ENGINE and is_proof(row)]
    both = best["score"] is not None and best["bound"] is not None
    return (
        one["name"],
        status_of(answers, best),
        one["digest"],
        *(one[key] for key in ("T", "K", "rules")),
        *(one[key] or "–" for key in ("columns", "rows")),
        number(1000 * one["viterbi"]),
        number(engine[0]) if engine else "–",
        _score(best["score"]),
        _score(best["bound"]),
        _score(best["bound"] - best["score"]) if both else "–",
        _program(best["score_by"]),
        _program(best["bound_by"]),
        ", ".join(method for _, method in proofs) or "–",
    )


def _prover(row: Row) -> str:
    return f"{row['method']} (a solver's word)" if row.get("certificate") == "solver" else str(row["method"])


def _program(by: str | None) -> str:
    """The method without its version."""
    return by.partition(" (")[0] if by else "–"


def _score(value: float | None) -> str:
    return "–" if value is None else f"{value:.6f}".replace("-", "−")


def _seconds(row: Row) -> float:
    return float(row["seconds"]) if is_proof(row) else float("inf")


def _finite(value: float) -> float | None:
    return None if value == float("inf") else value
