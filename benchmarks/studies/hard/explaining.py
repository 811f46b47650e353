"""What leaves instances open, from the engine's last step and the certificate of its bound."""

import re
import statistics
from collections import Counter
from collections.abc import Sequence

from benchmarks.report import Report, number, percent
from benchmarks.studies.hard.methods import ENGINE
from benchmarks.study import Row

Entry = tuple[Row, list[Row], Row]
"""The row of an instance, the answers of all methods, and its best incumbent and bound."""


def is_proof(row: Row) -> bool:
    """Whether a method claims a proof."""
    return row["status"] in ("optimal", "infeasible")


def explain_open(entries: Sequence[Entry], report: Report) -> None:
    """A sentence for each family."""
    report.heading("What leaves the engine without a proof")
    report.text(
        "The step is the last one of the engine, as it names it. The certificate of its bound prices violations of some "
        "rules, follows the machines of others exactly, and leaves the rest out; its leaves are cases. If the bound closes "
        "little of the way to the best known score, relaxation is what is weak; if the labelling is below the best "
        "known one, the search is."
    )
    lines = []
    for family in dict.fromkeys(one["part"] for one, _, _ in entries):
        own = [(one, answers, best) for one, answers, best in entries if one["part"] == family]
        some = [
            (one, row, best)
            for one, answers, best in own
            for row in answers
            if row["method"] == ENGINE and not is_proof(row)
        ]
        lines.append(f"- **{family}**: {explanation(some, len(own))}")
    report.text("\n".join(lines))


def explanation(some: Sequence[tuple[Row, Row, Row]], number_of_all: int) -> str:
    """Of the instances that are left open, each with its row, the engine's row and its best incumbent and bound."""
    if not some:
        return f"none of {number_of_all} is left open."
    steps = Counter(re.sub(r"\d+", "n", str(row.get("route", row.get("note", "")))) for _, row, _ in some)
    parts = [
        f"{len(some)} of {number_of_all} left open",
        "last step " + ", ".join(f"“{step}” ({count})" for step, count in steps.most_common(2)),
    ]
    bounds = [row for _, row, _ in some if "leaves" in row]
    if bounds:
        priced, followed, machines, leaves = (
            _range([row[key] for row in bounds]) for key in ("priced", "followed", "machines", "leaves")
        )
        parts.append(
            f"a certificate of the bound prices {priced} and follows {followed} of {machines} machines, in {leaves} "
            f"leaves"
        )
    without = sum(row.get("score") is None for _, row, _ in some)
    if without:
        parts.append(f"without a labelling: {without}")
    closed = [
        (one["viterbi_score"] - row["bound"]) / (one["viterbi_score"] - best["score"])
        for one, row, best in some
        if row.get("bound") is not None and best["score"] is not None and one["viterbi_score"] > best["score"]
    ]
    if closed:
        parts.append(
            f"the bound closes {percent(statistics.median(closed), 0)} % of the way from bare Viterbi to the best known "
            "score in the median"
        )
    below = [
        best["score"] - row["score"]
        for _, row, best in some
        if row.get("score") is not None and best["score"] is not None
    ]
    if below:
        parts.append(
            f"its own labelling is the best known one on {sum(each == 0 for each in below)} of {len(below)}, and at most "
            f"{number(max(below))} nats below it"
        )
    return "; ".join(parts) + "."


def _range(values: Sequence[int]) -> str:
    return str(values[0]) if min(values) == max(values) else f"{min(values)} to {max(values)}"
