"""Tables beside the published figures, and pictures of accuracy against labelled references."""

from collections.abc import Iterable, Sequence
from io import StringIO
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.journal import Journal, Row

PUBLISHED = {
    5: ("55.1", "66.6", "60.9", "69.0", "63.6", "72.5", "70.6", "76.0", "71.0", "77.8"),
    10: ("64.6", "78.1", "66.8", "78.1", "69.8", "81.0", "76.5", "83.4", "76.7", "83.8"),
    15: ("68.7", "81.3", "70.6", "81.9", "73.7", "84.1", "78.6", "85.5", "79.4", "86.2"),
    20: ("70.1", "81.1", "72.4", "82.4", "75.0", "84.0", "79.6", "86.1", "79.4", "86.1"),
    25: ("72.7", "84.3", "73.2", "84.2", "77.0", "86.2", "81.6", "87.4", "82.0", "87.6"),
    300: ("86.1", "92.5", "80.7", "89.6", "87.1", "93.4", "88.2", "93.6", "88.2", "93.5"),
}
"""Chang, Ratinov, Roth 2007, Table 2 (a): sup, H, H&W, H&W&C of top 1 and of top 50, each without and with rules (I)."""
ORDER = (
    "sup",
    "H",
    "H&W",
    "H&W&C",
    "H&W 0.1",
    "H&W&C 0.1",
    "H&W&C counts",
    "soft EM",
    "posterior",
    "posterior, softer",
    "beam 10",
    "top 10",
    "beam 50",
    "top 50",
    "self-training",
    "high confidence",
)
MEASURES = {
    "tokens": "tokens with the right field",
    "fields": "F1 of fields",
    "references": "references without a wrong token",
}
WIDTH = 160


def report(journal: Journal, folder: Path) -> str:
    """Tables of each pool and kind of HMM, and pictures."""
    console = Console(file=StringIO(), width=WIDTH, highlight=False, markup=False)
    console.print(journal.about)
    console.print(
        "\nHMMs of N labelled references and a pool, measured on 100 other references; percent, mean ± standard deviation "
        "of the draws, without | with rules in the end (no I | I), and in brackets the number of draws that time allowed. Rules and penalties: the catalogue's citation rules, 9.21 nats. "
        "Column names are those of Chang et al. 2007: H hard EM, W weighted with the supervised model (γ = 0.9 on it, probabilities "
        "mixed; 0.1 where named), C constraints in the E-step, K = 1, 5 cycles. counts, soft EM and posterior mix counts, 0.6 of them "
        "from labelled references, chosen on draws that are not reported; posterior has the rules in its E-step, soft EM has not; softer: 3 nats for changes without "
        "punctuation in the E-step, and 0.4 of the counts, chosen likewise. The plain HMM "
        "has a state for each field and words in lower case; the best one begins and ends fields, and reads numbers, initials and months alike."
    )
    _published(console)
    rows = list(journal.rows.values())
    groups = sorted({tuple(row["data"].split(", ")[:2]) for row in rows})
    for pool, kind in groups:
        own = [row for row in rows if row["data"].startswith(f"{pool}, {kind}, ")]
        _picture(own, folder / f"{pool.replace(' ', '-')}-{kind}.svg", f"{pool}, {kind} HMM")
        for measure in MEASURES:
            _table(console, own, pool, kind, measure)
    _difference(console, rows)
    _ways(console, rows)
    _time(console, rows)
    return console.file.getvalue()  # type: ignore[attr-defined,no-any-return]


def _published(console: Console) -> None:
    table = Table("published, tokens", *ORDER[:4], "top 50", box=None)
    for size, cells in PUBLISHED.items():
        table.add_row(str(size), *(f"{cells[i]} | {cells[i + 1]}" for i in range(0, 10, 2)))
    console.print(table)


def _table(console: Console, rows: Sequence[Row], pool: str, kind: str, measure: str) -> None:
    columns = [name for name in ORDER if any(row["method"] == name for row in rows)]
    console.print(f"\npool {pool}, {kind} HMM: {MEASURES[measure]}")
    for start in range(0, len(columns), 5):
        some = columns[start : start + 5]
        table = Table("N", *some, box=None)
        for size in _sizes(rows):
            cells = [_cell(_of(rows, size, name), measure) for name in some]
            table.add_row(str(size), *cells)
        console.print(table)


def _cell(rows: Sequence[Row], measure: str) -> str:
    if not rows:
        return "-"
    texts = []
    for name in ("no I", "I"):
        values = np.array([row[name][measure] for row in rows])
        texts.append(f"{values.mean():.1f} ± {values.std():.1f}")
    return f"{' | '.join(texts)} ({len(rows)})"


def _sizes(rows: Iterable[Row]) -> list[int]:
    return sorted({int(row["data"].rpartition(", ")[2]) for row in rows})


def _of(rows: Iterable[Row], size: int, name: str) -> list[Row]:
    return [row for row in rows if row["data"].endswith(f", {size}") and row["method"] == name]


def _difference(console: Console, rows: Sequence[Row]) -> None:
    """Each E-step against another on the same draws: mean difference, its standard error, and draws won."""
    pairs = (
        ("top 10", "beam 10"),
        ("beam 10", "H&W&C"),
        ("top 10", "H&W&C"),
        ("top 50", "beam 50"),
        ("beam 50", "H&W&C"),
        ("top 50", "H&W&C"),
        ("H&W&C", "H&W"),
        ("H&W&C 0.1", "H&W&C"),
        ("H&W&C counts", "H&W&C"),
        ("posterior", "H&W&C 0.1"),
        ("posterior", "H&W&C counts"),
        ("posterior", "soft EM"),
        ("posterior, softer", "posterior"),
    )
    table = Table("pool, HMM, N", "compared", "draws", "no I", "I", box=None)
    for data in sorted({row["data"] for row in rows}, key=_order):
        own = {(row["method"], row["item"]): row for row in rows if row["data"] == data}
        for one, other in pairs:
            items = [item for name, item in own if name == one and (other, item) in own]
            if items:
                cells = []
                for name in ("no I", "I"):
                    gains = np.array(
                        [own[one, i][name]["tokens"] - own[other, i][name]["tokens"] for i in items]
                    )
                    error = gains.std(ddof=1) / len(gains) ** 0.5 if len(gains) > 1 else float("nan")
                    cells.append(f"{gains.mean():+.2f} ± {error:.2f}")
                table.add_row(data, f"{one} - {other}", str(len(items)), *cells)
    console.print("\nDifferences in points of token accuracy on the same draws, mean ± standard error")
    console.print(table)


def _order(data: str) -> tuple[str, int]:
    """Pool and HMM, then the number of labelled references."""
    name, _, size = data.rpartition(", ")
    return name, int(size)


def _ways(console: Console, rows: Sequence[Row]) -> None:
    """How many sequences had exact probabilities under the rules."""
    counts: dict[tuple[str, str], int] = {}
    for row in rows:
        for ways in row.get("ways", []):
            for way, number in ways.items():
                counts[row["method"], way] = counts.get((row["method"], way), 0) + number
    shown = [f"{name}: {number} {way}" for (name, way), number in counts.items() if name == "posterior"]
    if shown:
        console.print(f"\nE-steps of sequences, all cycles: {'; '.join(shown)}")


def _time(console: Console, rows: Sequence[Row]) -> None:
    texts = []
    for name in ORDER:
        seconds = [row["seconds"] for row in rows if row["method"] == name]
        if seconds:
            texts.append(f"{name} {np.median(seconds):.2g}")
    console.print(f"\nProcessor seconds of a fit, median: {', '.join(texts)}")


def _picture(rows: Sequence[Row], path: Path, title: str) -> None:
    """Accuracy against labelled references, a line for each column."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    matplotlib.rcParams["svg.hashsalt"] = "codl"
    figure, axes = plt.subplots(1, 2, figsize=(11, 4.5), sharey=True)
    sizes = _sizes(rows)
    for side, (axis, name) in enumerate(zip(axes, ("no I", "I"), strict=True)):
        for column in ORDER:
            points = [(size, _of(rows, size, column)) for size in sizes]
            shown = [(size, np.mean([r[name]["tokens"] for r in found])) for size, found in points if found]
            if shown:
                axis.plot(*zip(*shown, strict=True), marker="o", markersize=3, label=column)
        published = [(size, float(PUBLISHED[size][6 + side])) for size in sizes if size in PUBLISHED]
        if published:
            axis.plot(*zip(*published, strict=True), "k--", label="H&W&C, published")
        axis.set_xscale("log")
        axis.set_xticks(sizes, [str(size) for size in sizes])
        axis.minorticks_off()
        axis.set_xlabel("labelled references")
        axis.set_title("without rules in the end" if name == "no I" else "with rules in the end")
    axes[0].set_ylabel("tokens with the right field, percent")
    axes[1].legend(fontsize=7)
    figure.suptitle(title)
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)
