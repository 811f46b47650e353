"""The report: tables and sentences from rows alone."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby

import numpy as np

from benchmarks.agreement import NATS
from benchmarks.methods import PLAIN
from benchmarks.report import Report, number
from benchmarks.studies.peers.decoding import PEERS
from benchmarks.studies.peers.instances import INSTANCES
from benchmarks.studies.peers.layer import LAYER
from benchmarks.study import Row

NAMES = {
    "toulbar2": "toulbar2",
    "conin": "conin, integer program",
    "conin a-star": "conin, A*",
    "cpmpy": "CPMpy",
    "pulp": "PuLP, rule by rule",
}
TITLES = {
    "cora 20": "Cora references, citation rules",
    "cora 20 once": "Cora references, each field once, hard",
    "cora 20 implications": "Cora references, ten implications more",
    "resume soft": "résumé sections, soft rules",
    "resume hard": "résumé sections, hard rules",
    "umass": "UMass references, 240 mined rules",
}
DONE = ("optimal", "infeasible")


def write(rows: Sequence[Row], report: Report) -> None:
    decoded = [row for row in rows if row["part"] in PEERS]
    if decoded:
        _times(decoded, report)
        _cannot(decoded, report)
    layer = [row for row in rows if row["part"] == LAYER]
    if layer:
        _layer(layer, report)
    instances = [row for row in rows if row["part"] == INSTANCES]
    if instances:
        _instances(instances, report)


def title(name: str) -> str:
    if name.startswith("generator "):
        T, K = name.split()[1:]
        return f"documents, T = {T}, K = {K}"
    return TITLES[name]


def groups(rows: Sequence[Row]) -> Iterator[tuple[str, str, list[Row], list[Row]]]:
    """Data set, method, its rows, and those of the same cells."""
    for (_, name), some in groupby(rows, lambda row: (row["part"], row["data"])):
        cell = list(some)
        for method in dict.fromkeys(row["method"] for row in cell if row["method"] in NAMES):
            yield name, method, [row for row in cell if row["method"] == method], cell


def _times(rows: Sequence[Row], report: Report) -> None:
    report.heading("The same instances")
    lines, total, same = [], 0, 0
    for name, method, own, cell in groups(rows):
        ran = {row["item"]: row["seconds"] for row in own if "seconds" in row}
        if not ran:
            continue
        done = sum(row["status"] in DONE for row in own)
        total, same = total + len(ran), same + done
        unit = {
            other: {row["item"]: row["seconds"] for row in cell if row["method"] == other}
            for other in ("auto", PLAIN)
        }
        multiples = (sum(ran.values()) / sum(unit[other][item] for item in ran) for other in ("auto", PLAIN))
        median = 1000 * float(np.median(list(ran.values())))
        lines.append(
            (NAMES[method], title(name), f"{done} of {len(ran)}", number(median), *map(number, multiples))
        )
    columns = ("optimal", "median ms", "time / `auto`", "bare Viterbi passes")
    report.table(("program", "instances", *columns), lines, left=2)
    auto = [row for row in rows if row["method"] == "auto"]
    report.text(
        f"The other programs end with an optimum on {same} of the {total} instances that they can state, and each equals "
        f"that of `auto`, which proves {sum(row['proved'] for row in auto)} of {len(auto)}; proofs of `auto` are rechecked. "
        "Times include building the model, and are multiples of totals on the same instances in the same run, of `auto` and of "
        "bare compiled Viterbi passes over the same scores without rules. "
        "Where fewer are optimal than were tried, multiples are lower bounds."
    )


def _cannot(rows: Sequence[Row], report: Report) -> None:
    lines = []
    for name, method, own, _ in groups(rows):
        without = [row for row in own if row["status"] in ("cannot state", "failed")]
        alike = {(row["status"], re.sub(r"\d+", "", row["note"])): row for row in reversed(without)}
        for key, row in alike.items():
            count = sum((one["status"], re.sub(r"\d+", "", one["note"])) == key for one in without)
            reason = f"{row['status']}: {row['note']}"
            lines.append((NAMES[method], title(name), reason, f"{count} of {len(own)}"))
    if lines:
        report.heading("What they cannot state")
        report.table(("program", "instances", "reason", "sequences"), lines, left=3)


def _layer(rows: Sequence[Row], report: Report) -> None:
    report.heading("The decoder of a CRF layer")
    lines = []
    for (T, K), some in groupby(rows, lambda row: (row["T"], row["K"])):
        own = list(some)
        unit = next(row["seconds"] for row in own if row["method"] == "auto")
        for row in own:
            batch = f"PyTorch, batches of {row['batch']}"
            name = {"auto": "`auto`", "auto without rules": "`auto`, without rules"}.get(row["method"], batch)
            lines.append((T, K, name, number(1e6 * row["seconds"]), number(row["seconds"] / unit)))
    report.table(("T", "K", "decoder", "µs a sequence", "time / `auto` with rules"), lines, left=0)
    sequences, lost = rows[0]["sequences"], max(row["lost"] for row in rows)
    report.text(
        f"Viterbi of {sequences} generated documents on one thread; the layer is a batched Viterbi in single precision, which is "
        "given no rules and proves nothing. `auto` decodes the same documents one by one in one call, without rules and with those "
        f"of the documents. In single precision the layer's labels are at most {number(lost, 2)} nats from the optimum without rules."
    )


def _instances(rows: Sequence[Row], report: Report) -> None:
    report.heading("Instances in other formats")
    files = [row for row in rows if "file" in row]
    report.table(
        ("file", "T", "K", "KiB", "read by", "optimum, nats"),
        (
            (
                row["file"],
                row["T"],
                row["K"],
                row["bytes"] // 1024,
                row["method"],
                f"{row['score']:.4f}".replace("-", "−"),
            )
            for row in files
        ),
    )
    best = {(row["data"], row["item"]): row["score"] for row in rows if "file" not in row}
    same = Counter(
        row["method"] for row in files if abs(row["score"] - best[row["data"], row["item"]]) <= NATS
    )
    programs = Counter(row["method"] for row in files)
    counts = " and ".join(f"{name} in {same[name]} of {number} files" for name, number in programs.items())
    report.text(
        "`python -m benchmarks run peers --parts instances` writes these files to `benchmarks/rows/peers-instances`, each with "
        "the least objective in a JSON file beside it. The reader finds the optimum that is certified and rechecked: "
        f"{counts}."
    )
