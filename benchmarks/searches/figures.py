"""The searches' pictures, as SVG files: gap by time limit, over time, and against length."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from benchmarks.journal import Journal
from benchmarks.searches.summary import CAP, GRACE, Outcomes, by_length, families, gap_at, line

# Okabe and Ito's colours, which people with any colour vision tell apart.
STYLES: Mapping[str, tuple[str, str, str]] = {
    "exact engine": ("#000000", "-", "o"),
    "beam 10": ("#E69F00", ":", "v"),
    "beam 200": ("#E69F00", "-", "D"),
    "greedy": ("#999999", "-", "s"),
    "relaxation-guided": ("#F0E442", "-", "P"),
    "lds": ("#56B4E9", "--", "^"),
    "lds, admissible": ("#0072B2", "-", "<"),
    "evolutionary": ("#D55E00", "--", "X"),
    "evolutionary, varied": ("#D55E00", "-", "x"),
    "hybrid": ("#D55E00", ":", "*"),
    "annealing": ("#009E73", "-", "p"),
    "tabu": ("#CC79A7", "-", "h"),
}
GAP = f"mean gap, nats (none: {CAP:g})"
LENGTHS = (12, 24, 30, 60, 120, 240, 480, 960)
MOMENTS = np.geomspace(0.0005, 0.8, 60)


def draw(journal: Journal, folder: Path) -> None:
    """Write each picture that there are rows for."""
    result = families(journal)
    pictures: dict[str, Callable[[], Any]] = {
        "gaps.svg": lambda: _panels(result, _by_limit, "time limit, milliseconds"),
        "anytime.svg": lambda: _panels(result, _over_time, "milliseconds"),
        "length.svg": lambda: _length(result),
    }
    for name, make in pictures.items():
        figure = make() if result else None
        if figure is not None:
            with plt.rc_context({"svg.hashsalt": name, "svg.fonttype": "none"}):
                figure.savefig(folder / name, metadata={"Date": None})
            plt.close(figure)


def _panels(result: Mapping[str, Outcomes], put: Callable[[Any, str, Any], None], horizontal: str) -> Any:
    """A panel for each family of data sets."""
    columns = min(3, len(result))
    rows = -(-len(result) // columns)
    size = 2.2 + 3.5 * columns, 0.6 + 2.9 * rows
    figure, axes = plt.subplots(rows, columns, figsize=size, layout="constrained", squeeze=False, sharey=True)
    for axis in axes.flat[len(result) :]:
        axis.set_visible(False)
    for axis, (name, outcomes) in zip(axes.flat, result.items(), strict=False):
        axis.set(title=f"{name} ({len(next(iter(next(iter(outcomes.values())).values())))})", xscale="log")
        for contender in STYLES:
            if contender in outcomes:
                put(axis, contender, outcomes[contender])
        axis.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}"))
        _vertical(axis)
    for axis in axes[:, 0]:
        axis.set_ylabel(GAP)
    for axis in axes[-1]:
        axis.set_xlabel(horizontal)
    handles = {
        label: line
        for axis in axes.flat
        for line, label in zip(*axis.get_legend_handles_labels(), strict=True)
    }
    figure.legend(handles.values(), handles.keys(), loc="outside right upper", frameon=False)
    return figure


def _look(contender: str) -> dict[str, Any]:
    colour, dashes, _ = STYLES[contender]
    return {
        "color": colour,
        "linestyle": dashes,
        "linewidth": 2.2 if contender == "exact engine" else 1.3,
        "label": contender,
    }


def _by_limit(axis: Any, contender: str, own: Any) -> None:
    limits = sorted(own)
    gaps = [line(own[limit]).capped_gap for limit in limits]
    axis.plot(
        [1000 * limit for limit in limits],
        gaps,
        marker=STYLES[contender][2],
        markersize=4,
        **_look(contender),
    )
    axis.xaxis.set_major_locator(FixedLocator([1000 * limit for limit in limits]))
    axis.xaxis.set_minor_locator(NullLocator())


def _over_time(axis: Any, contender: str, own: Any) -> None:
    outcomes = own[max(own)]
    moments = [moment for moment in MOMENTS if moment <= max(own) + GRACE]
    axis.plot([1000 * m for m in moments], [gap_at(outcomes, m) for m in moments], **_look(contender))


def _length(result: Mapping[str, Outcomes]) -> Any:
    """Against tokens, on the generator."""
    if "generator" not in result:
        return None
    figure, axis = plt.subplots(figsize=(7, 4.2), layout="constrained")
    axis.set(xscale="log", xlabel="tokens", ylabel=GAP, title="planted documents, at the longest limit")
    for contender in STYLES:
        own = result["generator"].get(contender)
        if own:
            means = by_length(own[max(own)], LENGTHS)
            axis.plot(
                list(means),
                list(means.values()),
                marker=STYLES[contender][2],
                markersize=4,
                **_look(contender),
            )
            axis.xaxis.set_major_locator(FixedLocator(list(means)))
    axis.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}"))
    axis.xaxis.set_minor_locator(NullLocator())
    _vertical(axis)
    figure.legend(loc="outside right upper", frameon=False)
    return figure


def _vertical(axis: Any) -> None:
    axis.set_yscale("symlog", linthresh=0.1)
    axis.set_ylim(-0.02, 1.3 * CAP)
    axis.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{y:g}"))
    for side in ("top", "right"):
        axis.spines[side].set_visible(False)
    axis.grid(visible=True, linewidth=0.3)
