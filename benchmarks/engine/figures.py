"""The study's pictures, as PNG files."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.font_manager import FontProperties
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from benchmarks.engine.methods import BASIC
from benchmarks.engine.running import EVERY
from benchmarks.engine.summary import PROVED
from benchmarks.data.generated import RIVALS_LENGTH, RIVALS_SIZE
from benchmarks.journal import Row

CORA = ("cora 5", "cora 20", "cora 300")
Rows = Sequence[Row]
Summary = Mapping[str, Any]

# Okabe and Ito's colours, which people with any colour vision tell apart.
STYLES: Mapping[str, tuple[str, str, str]] = {
    "auto": ("#000000", "-", "o"),
    "viterbi": ("#0072B2", "-", "s"),
    "beam 10": ("#E69F00", ":", "v"),
    "beam 50": ("#E69F00", "--", "^"),
    "beam 200": ("#E69F00", "-", "D"),
    "toulbar2": ("#009E73", "-", "P"),
    "cp-sat": ("#D55E00", "-", "X"),
    "cbc": ("#CC79A7", "-", "<"),
    "highs": ("#CC79A7", "--", ">"),
    "scip": ("#CC79A7", ":", "p"),
    "pulp": ("#56B4E9", "-", "*"),
}
NAMES = {
    "auto": "exact engine",
    "pulp": "PuLP, term by term",
    "cbc": "CBC",
    "cp-sat": "CP-SAT",
    "highs": "HiGHS",
}
NAMES |= {"scip": "SCIP", "viterbi": "Viterbi, rules ignored"}


def draw(rows: Rows, summary: Summary, folder: Path) -> list[str]:
    """Write each picture that there are rows for; their file names."""
    pictures: dict[str, Callable[[], Any]] = {
        "cost.png": lambda: cost(rows),
        "cora.png": lambda: cora(rows),
        "bounds.png": lambda: bounds(summary["extra"].get("bounds", {}).get("traces", [])),
    }
    names = []
    for name, make in pictures.items():
        figure = make()
        if figure is not None:
            figure.savefig(folder / name, dpi=160)
            plt.close(figure)
            names.append(name)
    return names


def cost(rows: Rows) -> Any:
    """Mean time against T at a fixed K, and against K at a fixed T."""
    done = [r for r in rows if r["data"].startswith("generator ") and r["item"] != EVERY]
    sizes, lengths = {row["K"] for row in done}, {row["T"] for row in done}
    if len(lengths) < 2:
        return None
    K = RIVALS_SIZE if RIVALS_SIZE in sizes else max(sizes)
    T = RIVALS_LENGTH if RIVALS_LENGTH in lengths else min(lengths)
    figure, axes = plt.subplots(1, 2, figsize=(11, 4.8), sharey=True, layout="constrained")
    for axis, varied, fixed, value in zip(axes, "TK", "KT", (K, T), strict=True):
        _lines(axis, [row for row in done if row[fixed] == value], varied)
        word = {"T": "tokens T", "K": "labels K"}
        axis.set(xlabel=word[varied], title=f"{word[fixed][:-2]} {fixed} = {value}")
    axes[0].set_ylabel("mean milliseconds a sequence")
    lines = [line for axis in axes for line in axis.get_lines() if line.get_label() != "_hollow"]
    handles = {line.get_label(): line for line in lines}
    order = sorted(handles.values(), key=lambda line: -float(np.max(line.get_ydata())))
    legend = figure.legend(handles=order, loc="outside right upper", frameon=False)
    legend.set_title("hollow: not all proved in time", FontProperties(size="small"))
    return figure


def _lines(axis: Axes, rows: Rows, varied: str) -> None:
    """A line for each method; hollow markers where an exact one did not prove every optimum in time."""
    for method, (colour, line, marker) in STYLES.items():
        own = [row for row in rows if row["method"] == method]
        at = sorted({row[varied] for row in own})
        mean = {x: 1000 * np.mean([row["seconds"] for row in own if row[varied] == x]) for x in at}
        look: dict[str, Any] = {"color": colour, "linestyle": line, "marker": marker, "markersize": 5}
        if at:
            width = 2.4 if method == "auto" else 1.3
            axis.plot(at, list(mean.values()), label=NAMES.get(method, method), linewidth=width, **look)
        late = (
            sorted({row[varied] for row in own if row["status"] not in PROVED})
            if method not in BASIC[1:]
            else []
        )
        look |= {"linestyle": "", "markerfacecolor": "white", "zorder": 3}
        axis.plot(late, [mean[x] for x in late], label="_hollow", **look)
    axis.set(xscale="log", yscale="log")
    axis.xaxis.set_major_locator(FixedLocator(sorted({row[varied] for row in rows})))
    axis.xaxis.set_minor_locator(NullLocator())
    axis.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}"))
    axis.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{y:g}"))
    _plain(axis)


def cora(rows: Rows) -> Any:
    """The share of references that are done within so many milliseconds, for each size of training data."""
    sets = {name: [r for r in rows if r["data"] == name and r["item"] != EVERY] for name in CORA}
    sets = {name: own for name, own in sets.items() if own}
    if not sets:
        return None
    look: dict[str, Any] = {"sharex": True, "sharey": True, "layout": "constrained", "squeeze": False}
    figure, axes = plt.subplots(1, len(sets), figsize=(1.8 + 3.6 * len(sets), 4), **look)
    for axis, (name, own) in zip(axes[0], sets.items(), strict=True):
        for method in BASIC:
            _share(axis, [1000 * row["seconds"] for row in own if row["method"] == method], method)
        number = len({row["item"] for row in own})
        axis.set(xscale="log", xlabel="milliseconds", title=f"model of {name[5:]}, {number} decoded")
        axis.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}"))
        _plain(axis)
    axes[0][0].set(ylabel="% of references done within", ylim=(0, 101))
    handles, labels = axes[0][-1].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside right upper", frameon=False)
    return figure


def _share(axis: Axes, milliseconds: Sequence[float], method: str) -> None:
    """The distribution as steps from 0 to 100 %."""
    times = np.sort(milliseconds)
    share = 100 * np.arange(1, len(times) + 1) / max(1, len(times))
    colour, line, _ = STYLES[method]
    look: dict[str, Any] = {"color": colour, "linestyle": line, "linewidth": 2.4 if method == "auto" else 1.3}
    axis.step(times, share, where="post", label=NAMES.get(method, method), **look)


def bounds(traces: Sequence[Sequence[Sequence[float | None]]]) -> Any:
    """Proved bound and incumbent over time, as nats from the last incumbent."""
    if not traces:
        return None
    figure, axes = plt.subplots(
        1, len(traces), figsize=(4.4 * len(traces), 4), layout="constrained", squeeze=False
    )
    for number, (axis, trace) in enumerate(zip(axes[0], traces, strict=True)):
        best = trace[-1][1] or 0.0
        for column, colour, label in ((2, "#D55E00", "proved bound"), (1, "#000000", "incumbent")):
            result = [(1000 * point[0], point[column] - best) for point in trace if point[column] is not None]  # type: ignore[operator]
            if result:
                axis.step(*zip(*result, strict=True), where="post", color=colour, label=label, marker=".")
        axis.set(xlabel="milliseconds", title=f"document {number + 1}")
        axis.set_yscale("symlog", linthresh=0.1)
        axis.set_xlim(left=0)
        _plain(axis)
    axes[0][0].set_ylabel("nats from the labelling returned")
    axes[0][-1].legend(loc="best", frameon=False)
    return figure


def _plain(axis: Axes) -> None:
    axis.spines[["top", "right"]].set_visible(False)
    axis.grid(which="major", color="#dddddd", linewidth=0.6)
    axis.set_axisbelow(True)
