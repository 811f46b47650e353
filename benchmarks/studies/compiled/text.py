"""Tables, sentences and the picture."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmarks.report import Report, number, percent
from benchmarks.studies.compiled.calls import (
    COMPILED,
    ENGINE,
    LABELS,
    NOTHING,
    TEXTS,
    TOKENS,
    TRELLIS,
    TRELLISES,
    WHOLE,
)
from benchmarks.studies.compiled.starting import NUMBA
from benchmarks.study import Row

TITLES = {"cora": "Cora", "umass": "UMass", "long": "documents"}
TICKS = (1, 2, 5, 10, 100, 1000, 10_000)
SINGLE = (TOKENS, LABELS, TRELLIS, WHOLE)


def report(rows: Sequence[Row], report: Report) -> None:
    """What there is of single calls, batches, threads and first calls."""
    timed = [row for row in rows if "bare" in row]
    single = _groups([row for row in timed if row["way"] in SINGLE])
    if single:
        _single(single, report)
        _routes(single, report)
        _documents([row for row in timed if row["part"] == "long"], report)
    tokens = {data: rows for (data, way), rows in single.items() if way == TOKENS}
    if tokens:
        _picture(tokens, report)
    _beam([row for row in rows if row.get("way") == "beam"], report)
    _batches(_groups([row for row in timed if row["way"] in (TEXTS, TRELLISES)]), report)
    _threads([row for row in rows if row.get("way") == "threads"], report)
    _files([row for row in rows if row.get("way") == "files"], report)
    _starting([row for row in rows if row["part"] == "starting"], report)


def multiples(bare: Sequence[float], decoded: Sequence[float]) -> dict[str, float]:
    """Median, 90th percentile and most of each sequence's multiple of its bare pass, and the multiple of the sum."""
    one, other = np.array(bare), np.array(decoded)
    each = other / one
    return {
        "median": float(np.median(each)),
        "p90": float(np.percentile(each, 90)),
        "most": float(each.max()),
        "mean": float(other.sum() / one.sum()),
    }


def _groups(rows: Sequence[Row]) -> dict[tuple[str, str], list[Row]]:
    """Rows of the same sequences and way; blocks and documents of a kind together."""
    result: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        result.setdefault((f"{TITLES[row['part']]}, {row['data']}", row["way"]), []).append(row)
    return result


def _joined(rows: Sequence[Row], key: str) -> list[float]:
    return [value for row in rows for value in row[key]]


def _single(groups: dict[tuple[str, str], list[Row]], report: Report) -> None:
    report.heading("Single calls")
    report.text(
        "The unit is the bare pass of the same sequence. The mean is the multiple of all passes together, "
        "which the slowest sequences rule."
    )
    table: list[list[Any]] = []
    for (data, way), rows in groups.items():
        if rows[0]["part"] == "long":
            continue
        bare, decoded = _joined(rows, "bare"), _joined(rows, "decoded")
        figures = (number(value, 3 if value >= 10 else 2) for value in multiples(bare, decoded).values())
        count, tokens = len(bare), sum(row["tokens"] for row in rows) / len(bare)
        times = (number(float(np.median(values))) for values in (bare, decoded))
        table.append(
            [data, way, count, f"{tokens:.0f}", rows[0]["labels"], rows[0]["rules"], *times, *figures]
        )
    columns = (
        *("sequences", "from, to", "number", "tokens", "labels", "rules"),
        *("bare pass, µs", "decoded, µs", "× median", "× 90th percentile", "× at most", "× mean"),
    )
    report.table(columns, table, left=2)
    for part, title in TITLES.items():
        medians = [
            multiples(_joined(rows, "bare"), _joined(rows, "decoded"))["median"]
            for (_, way), rows in groups.items()
            if way == TOKENS and rows[0]["part"] == part
        ]
        if medians:
            span = " to ".join(dict.fromkeys(number(value, 2) for value in (min(medians), max(medians))))
            report.text(f"{title}, from token texts to a proved labelling: {span} bare passes in the median.")


def _routes(groups: dict[tuple[str, str], list[Row]], report: Report) -> None:
    """Of sequences, not of ways: their first way is taken."""
    first: dict[str, list[Row]] = {}
    for (data, _), rows in groups.items():
        first.setdefault(data, rows)
    report.heading("What proofs take", 3)
    table = []
    proved = total = 0
    for data, rows in first.items():
        routes = Counter[str]()
        for row in rows:
            routes.update(row["routes"])
        count = routes.total()
        proved, total = proved + sum(row["proved"] for row in rows), total + count
        shares = (percent(routes[name] / count, 0) for name in (NOTHING, COMPILED, ENGINE))
        table.append([data, count, *shares, sum(row["proved"] for row in rows)])
    names = (f"{name} %" for name in (NOTHING, COMPILED, ENGINE))
    report.table(("sequences", "number", *names, "proved"), table)
    report.text(f"{proved} of {total} labellings are proved.")


def _documents(rows: Sequence[Row], report: Report) -> None:
    if not rows:
        return
    report.heading("Long documents", 3)
    table = []
    for data in dict.fromkeys(row["data"] for row in rows):
        some = [row for row in rows if row["data"] == data]
        bare, decoded = (float(np.median(_joined(some, key))) / 1000 for key in ("bare", "decoded"))
        broken = sum(row["broken"] for row in some) / len(some)
        multiple = multiples(_joined(some, "bare"), _joined(some, "decoded"))["median"]
        table.append([data, len(some), f"{broken:.0f}", *map(number, (bare, decoded)), number(multiple)])
    columns = ("documents", "number", "labels with too many runs", "bare pass, ms", "decoded, ms", "× median")
    report.table(columns, table)


def _picture(groups: dict[str, list[Row]], report: Report) -> None:
    title = "Share of sequences that are proved within a multiple of the bare pass, from token texts"
    with report.picture("multiples", title) as axes:
        for data, rows in groups.items():
            each = np.sort(np.array(_joined(rows, "decoded")) / np.array(_joined(rows, "bare")))
            axes.step(each, 100 * np.arange(1, len(each) + 1) / len(each), where="post", label=data)
        axes.set_xscale("log")
        axes.set_xticks(TICKS, map(str, TICKS))
        axes.set_xlabel("time of a proved labelling in multiples of the sequence's bare Viterbi pass")
        axes.set_ylabel("sequences, %")
        axes.legend(frameon=False)


def _beam(rows: Sequence[Row], report: Report) -> None:
    if not rows:
        return
    count, optimal = (sum(row[key] for row in rows) for key in ("sequences", "optimal"))
    ours, beam = (sum(row[key] for row in rows) for key in ("milliseconds", "beam_milliseconds"))
    report.heading("A beam of 10", 3)
    report.text(
        f"On {count} UMass references proved labellings took {number(ours)} ms in all, a beam of 10 {number(beam)} ms: "
        f"{number(beam / ours)} times as long. The beam reached {optimal} of the {count} optima."
    )


def _batches(groups: dict[tuple[str, str], list[Row]], report: Report) -> None:
    if not groups:
        return
    report.heading("Batches")
    report.text(
        "Many sequences in one call and one thread; the unit is as many bare passes, one after the other."
    )
    table = []
    for (data, way), rows in groups.items():
        bare, decoded = (float(np.median(_joined(rows, key))) for key in ("bare", "decoded"))
        table.append([data, way, number(bare), number(decoded), number(decoded / bare)])
    report.table(("sequences", "way", "bare pass, µs", "a sequence, µs", "×"), table, left=2)


def _threads(rows: Sequence[Row], report: Report) -> None:
    if not rows:
        return
    one, two = (max(row[name] for row in rows) for name in ("1", "2"))
    report.heading("Two threads")
    report.text(
        f"Batches of Cora references, {rows[0]['data']}: one thread decodes {one:.0f} sequences a second, two threads "
        f"{two:.0f}, {number(two / one)} times as many."
    )


def _files(rows: Sequence[Row], report: Report) -> None:
    if not rows:
        return
    report.heading("Commands on files")
    report.text(
        f"{rows[0]['sequences']} references as columns, rows with certificates. The unit is a program that is warm and writes labels alone: it "
        "reads the lines, decodes them, and makes JSON. Commands begin with the start of Python."
    )
    table = [[row["command"], number(row["processor"]), number(row["over_least"])] for row in rows]
    report.table(("", "seconds of the processor", "×"), table)


def _starting(rows: Sequence[Row], report: Report) -> None:
    if not rows:
        return
    report.heading("First calls")
    numba = [row for row in rows if row["data"] == NUMBA]
    if numba:
        report.text(f"The import of numba alone takes {number(numba[0]['seconds'], 2)} s.")
    table = [
        [
            row["data"],
            row["cache"],
            *(number(row[key], 2) for key in ("seconds", "processor")),
            number(row.get("over_numba"), 2),
            row["method"].removeprefix("auto: "),
        ]
        for row in rows
        if row["data"] != NUMBA
    ]
    columns = ("rules", "cache", "seconds", "of the processor", "seconds over numba's import", "how")
    report.table(columns, table, left=2)
