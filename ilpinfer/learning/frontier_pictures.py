"""Pictures of Pareto frontiers: of one sequence, and of a corpus by the common weight."""

import math
from typing import Any

from ilpinfer.decoding.frontier import Frontier
from ilpinfer.evaluation.pictures import image
from ilpinfer.learning.trade_off import CorpusFrontier

INK, CURVE, MARK, GOLD = "#4d4d4d", "#0072b2", "#d55e00", "#b8860b"
MEASURES = {"accuracy": "right tokens", "f1": "F1 of spans", "whole": "whole sequences"}
NAMED_WEIGHTS = (0.25, 0.5, 1.0, 2.0, 4.0)
"""Weights that are written beside the curve of a corpus."""


def sequence_picture(frontier: Frontier, title: str, gold: tuple[float, float] | None = None) -> str:

    def draw(figure: Any) -> None:
        axes = figure.subplots()
        cost, score = ([getattr(point, name) for point in frontier.points] for name in ("cost", "score"))
        far = max([*cost, gold[1] if gold else 0.0]) * 1.08 + 0.1
        axes.step([*cost, far], [*score, score[-1]], where="post", color=INK, linewidth=0.9)
        axes.plot(cost, score, "o", color=CURVE, markersize=6)
        if gold is not None:
            axes.plot([gold[1]], [gold[0]], "*", color=GOLD, markersize=13, label="gold")
            axes.legend(loc="lower right", frameon=False)
        _finish(axes, "violation cost, nats", "model and feature score, nats", title)

    return image(draw, (6.4, 4.2)).decode()


def corpus_picture(curve: CorpusFrontier, title: str) -> str:
    """The frontier of a corpus as SVG text; with gold, right tokens, F1 and whole sequences by weight beside it."""
    measured = curve.points[0].measures is not None

    def draw(figure: Any) -> None:
        panels = figure.subplots(1, 2) if measured else [figure.subplots()]
        _draw_curve(panels[0], curve)
        if measured:
            _draw_measures(panels[1], curve)
        figure.suptitle(title, fontsize=11)

    return image(draw, (11.5 if measured else 6.4, 4.4)).decode()


def _draw_curve(axes: Any, curve: CorpusFrontier) -> None:
    number, best = len(curve.frontiers), curve.points[0].score
    cost = [point.cost / number for point in curve.points]
    loss = [(best - point.score) / number for point in curve.points]
    axes.plot(cost, loss, "o-", color=CURVE, markersize=3, linewidth=1.2)
    marked: dict[tuple[float, float], list[str]] = {}
    for weight in (weight for weight in NAMED_WEIGHTS if weight <= curve.points[-1].high):
        point = curve.at(weight)
        marked.setdefault((point.cost / number, (best - point.score) / number), []).append(f"{weight:g}")
    for at, weights in marked.items():
        text = f"× {', '.join(weights)}"
        axes.plot(*at, "o", color=MARK, markersize=6)
        axes.annotate(text, at, (6, 5), textcoords="offset points", color=MARK)
    _finish(axes, "mean violation cost, nats a sequence", "mean loss of score, nats a sequence", "")


def _draw_measures(axes: Any, curve: CorpusFrontier) -> None:
    lightest = min((p.high for p in curve.points if p.high > 0), default=1.0)
    breaks = [p.high for p in curve.points if math.isfinite(p.high)]
    left, right = min(lightest, 0.1), max([*breaks, 1.0]) * 1.5
    edges = [left, *[p.high for p in curve.points[:-1]], right]
    dashes = zip(MEASURES.items(), ("-", "--", ":"), (CURVE, MARK, INK), strict=True)
    for (name, label), dash, colour in dashes:
        values = [100 * getattr(point.measures, name) for point in curve.points]
        axes.stairs(values, edges, baseline=None, label=label, linestyle=dash, color=colour, linewidth=1.5)
    axes.set_xscale("log")
    axes.axvline(1.0, color=INK, linewidth=0.6)
    _finish(axes, "weight on all penalties (left end: 0)", "per cent", "")
    axes.legend(loc="best", frameon=False)


def _finish(axes: Any, x: str, y: str, title: str) -> None:
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.set_title(title, fontsize=11)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(alpha=0.25, linewidth=0.6)
