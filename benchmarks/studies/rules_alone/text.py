"""The report: a table for each corpus and model."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from benchmarks.report import Report, number, signed
from benchmarks.study import Row

ALL = "all rules"
COLUMNS = (
    *(
        "rule",
        "tokens",
        "span F1",
        "95 % of F1",
        "whole",
        "bare Viterbi passes",
        "not proved",
        "gold breaks",
        "Viterbi breaks",
    ),
    *("without it: tokens", "span F1", "95 % of F1", "whole", "bare Viterbi passes"),
)
Tables = Mapping[tuple[str, str], Mapping[str, Mapping[bool, Row]]]
"""Rows by corpus and model, rule, and whether it is left out."""


def report(rows: Sequence[Row], report: Report) -> None:
    tables = by_model(rows)
    report.text(
        "Differences in points: alone, against no rule; without it, against all rules. A rule that helps has positive "
        "numbers alone and negative ones where it is left out."
    )
    for (part, model), rules in tables.items():
        some = next(iter(rules.values()))[False]
        report.heading(f"{part.capitalize()}, {model}")
        report.text(
            f"{some['sequences']} sequences; the unit, a bare Viterbi pass without rules, takes {number(some['unit'])} µs a sequence."
        )
        report.table(COLUMNS, (_line(name, own, some["unit"]) for name, own in rules.items()))
        report.text("\n".join(f"- {text}" for text in sentences(rules)))
    _picture(tables, report)


def by_model(rows: Sequence[Row]) -> Tables:
    """The rows of each corpus and model, in the order of the rules."""
    result: dict[tuple[str, str], dict[str, dict[bool, Row]]] = {}
    for row in rows:
        rules = result.setdefault((row["part"], row["model"]), {})
        rules.setdefault(row["rule"], {})[row["without"]] = row
    return {key: {name: own for name, own in rules.items() if False in own} for key, rules in result.items()}


def _line(name: str, own: Mapping[bool, Row], unit: float) -> Sequence[Any]:
    alone = own[False]
    broken = (alone[who] if alone.get(who) is not None else "–" for who in ("gold", "viterbi"))
    without = _points(own[True], unit) if True in own else ["–"] * 5
    return (name, *_points(alone, unit), alone["open"], *broken, *without)


def _points(row: Row, unit: float) -> Iterator[str]:
    yield signed(row["tokens"][1], 2)
    yield signed(row["spans"][1], 2)
    yield f"{signed(row['spans'][2], 2)} to {signed(row['spans'][3], 2)}"
    yield signed(row["whole"][1], 2)
    yield number(row["microseconds"] / unit)


def sentences(rules: Mapping[str, Mapping[bool, Row]]) -> Iterator[str]:
    """The rules that help and harm most, and those that help only together with others, or only alone."""
    alone = {name: own[False] for name, own in rules.items() if name != ALL}
    if ALL in rules:
        together = rules[ALL][False]
        yield (
            f"All {len(alone)} rules and features: {signed(together['tokens'][1])} points of tokens, {signed(together['spans'][1])} of "
            f"span F1, {signed(together['whole'][1])} of whole sequences, at {number(together['microseconds'] / together['unit'])} "
            f"times bare Viterbi; {together['open']} of {together['sequences']} not proved."
        )
    best = max(alone, key=lambda name: alone[name]["spans"][1], default=None)
    if best is not None and alone[best]["spans"][1] > 0:
        yield f"Alone, “{best}” gains most: {signed(alone[best]['spans'][1])} points of span F1."
    harmful = [name for name, row in alone.items() if row["spans"][3] < 0]
    if harmful:
        yield f"Harmful alone, with an interval below 0: {_listed(harmful)}."
    better = [name for name, own in rules.items() if True in own and own[True]["spans"][2] > 0]
    if better:
        yield f"Better left out, with an interval above 0: {_listed(better)}."
    idle = [
        name for name, own in rules.items() if True in own and not any(_gains(own[False]) + _gains(own[True]))
    ]
    if idle:
        yield f"Without any effect, alone or left out: {_listed(idle)}."


def _gains(row: Row) -> list[float]:
    return [row[name][1] for name in ("tokens", "spans", "whole")]


def _listed(names: Sequence[str]) -> str:
    return ", ".join(f"“{name}”" for name in names)


def _picture(tables: Tables, report: Report) -> None:
    part = next(iter(tables), ("",))[0]
    chosen = {model: rules for (own, model), rules in tables.items() if own == part}
    if not chosen:
        return
    names = [name for name in next(iter(chosen.values())) if name != ALL]
    with report.picture(
        "alone",
        f"{part.capitalize()}: span F1 gained by each rule alone, and lost without it",
        (9.0, 0.8 + 0.28 * len(names)),
        ncols=len(chosen),
        sharey=True,
        squeeze=False,
    ) as axes:
        for place, (model, rules) in zip(axes[0], chosen.items(), strict=True):
            for shift, without, label in ((-0.2, False, "gained alone"), (0.2, True, "lost without it")):
                sign = -1 if without else 1
                values = [
                    sign * rules[name][without]["spans"][1] if without in rules.get(name, {}) else 0.0
                    for name in names
                ]
                place.barh([n + shift for n in range(len(names))], values, 0.4, label=label)
            place.set_yticks(range(len(names)), names)
            place.set_title(model, fontsize=9)
            place.set_xlabel("points of span F1")
            place.axvline(0, color="black", linewidth=0.6)
        axes[0][0].invert_yaxis()
        axes[0][0].legend(frameon=False, fontsize=8)
