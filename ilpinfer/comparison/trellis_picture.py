"""A trellis with two labellings as paths through it."""

from collections.abc import Mapping
from string import ascii_lowercase
from typing import Any

from ilpinfer.comparison.columns import readable
from ilpinfer.comparison.disagreements import Path, PathPair
from ilpinfer.comparison.plots import COLOURS, picture

TOKEN, LABEL = 16, 40
"""Characters of a token and of a label that are drawn."""
BEST: Mapping[str, Any] = {"color": COLOURS[0], "linestyle": "-", "marker": "o"}
OTHER: Mapping[str, Any] = {"color": COLOURS[1], "linestyle": (0, (5, 2)), "marker": "s"}
SHIFT = 0.09
"""Rows by which the two paths are moved apart, so that both are seen where they agree."""


def letters(disagreement: PathPair) -> dict[str, str]:
    """A letter for each rule that one of the two labellings breaks; a number where there are too many."""
    names = dict.fromkeys(
        cost.rule for path in (disagreement.best, disagreement.other) for cost in path.costs
    )
    return {name: ascii_lowercase[i] if i < 26 else str(i + 1) for i, name in enumerate(names)}


def short(label: str) -> str:
    """A label with its beginning and its end, which tell the labels of a hierarchy apart."""
    text = readable(label, max(len(label), 1))
    return text if len(text) <= LABEL else f"{text[: LABEL // 3]}…{text[-(2 * LABEL // 3) :]}"


def trellis_picture(disagreement: PathPair) -> str:
    """An image of tokens as columns, labels that the two use there as rows in the order of their use, both paths, and letters where they break rules."""
    start, end = disagreement.start, disagreement.end
    names = list(dict.fromkeys(disagreement.best.labels[start:end] + disagreement.other.labels[start:end]))
    rows = {name: row for row, name in enumerate(names)}
    tokens = [readable(token, TOKEN) for token in disagreement.trellis.tokens[start:end]]
    marks = letters(disagreement)

    def draw(axes: Any) -> None:
        axes.grid(visible=False)
        for t in disagreement.differing:
            if start <= t < end:
                axes.axvspan(t - 0.5, t + 0.5, color="black", alpha=0.07, linewidth=0)
        columns = range(start, end)
        for row in rows.values():
            axes.plot(columns, [row] * len(columns), ".", color="black", alpha=0.3, markersize=3)
        for path, style, side in ((disagreement.best, BEST, -1), (disagreement.other, OTHER, 1)):
            y = [rows[label] + side * SHIFT for label in path.labels[start:end]]
            axes.plot(columns, y, linewidth=1.8, markersize=5, label=_described(path), **style)
            _mark(axes, path, disagreement, rows, marks, style["color"], side)
        axes.set_yticks(range(len(names)), [short(name) for name in names], parse_math=False)
        axes.set_xticks(columns, tokens, rotation=50, ha="right", rotation_mode="anchor", parse_math=False)
        axes.set_ylim(len(names) - 0.4, -0.6)
        axes.set_xlim(start - 0.6, end - 0.4)
        numbers = axes.secondary_xaxis("top")
        numbers.set_xticks(columns, [str(t) for t in columns], fontsize=7)
        for each in (axes, numbers):
            each.tick_params(length=0)
            each.spines[:].set_visible(False)

    longest = max((len(short(name)) for name in names), default=1)
    size = (0.38 * (end - start) + 0.085 * longest + 1.0, 0.36 * len(names) + 1.9)
    return picture(draw, size)


def _described(path: Path) -> str:
    seed = "" if path.seed is None else f", seed {path.seed}"
    return f"{readable(path.method)}{seed}{', proved optimal' if path.status == 'optimal' else ''}"


def _mark(
    axes: Any,
    path: Path,
    disagreement: PathPair,
    rows: Mapping[str, int],
    marks: Mapping[str, str],
    colour: str,
    side: int,
) -> None:
    """Letters of the rules that a path breaks at each token, above or below it."""
    at: dict[int, str] = {}
    for cost in path.costs:
        for t in cost.tokens:
            if disagreement.start <= t < disagreement.end:
                at[t] = at.get(t, "") + marks[cost.rule]
    for t, text in at.items():
        axes.annotate(
            text,
            (t, rows[path.labels[t]] + side * SHIFT),
            (0, -10 * side),
            textcoords="offset points",
            ha="center",
            va="center",
            fontsize=11,
            fontweight="bold",
            color=colour,
        )
