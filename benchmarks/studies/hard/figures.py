"""A performance profile, and seconds to proof by family."""

from collections.abc import Sequence

import numpy as np

from benchmarks.report import COLORS, Report
from benchmarks.studies.hard.methods import METHODS
from benchmarks.study import Row


def draw(entries: Sequence[tuple[Row, list[Row]]], report: Report) -> None:
    """Both pictures."""
    limit = next(row["limit"] for _, answers in entries for row in answers)
    _profile(entries, limit, report)
    _by_family(entries, limit, report)


def _proofs(entries: Sequence[tuple[Row, list[Row]]], method: str) -> list[tuple[Row, float]]:
    return [
        (one, row["seconds"])
        for one, answers in entries
        for row in answers
        if row["method"] == method and row["status"] in ("optimal", "infeasible")
    ]


def _profile(entries: Sequence[tuple[Row, list[Row]]], limit: float, report: Report) -> None:
    entries = [entry for entry in entries if len(entry[1]) > 1]
    caption = "Share of instances proved, by seconds and in bare Viterbi passes"
    with report.picture("profile", caption, ncols=2, sharey=True) as axes:
        for method, color in zip(METHODS, COLORS, strict=False):
            proofs = _proofs(entries, method)
            for one, values in zip(
                axes, ([s for _, s in proofs], [s / e["viterbi"] for e, s in proofs]), strict=True
            ):
                x = [*sorted(values)[:1], *sorted(values)]
                one.step(x, np.arange(len(x)) / len(entries), where="post", label=method, color=color)
        for one, text in zip(axes, ("seconds", "bare Viterbi passes"), strict=True):
            one.set(xscale="log", xlabel=text, ylim=(0, 1))
        axes[0].axvline(limit, color="0.7", linewidth=0.8)
        axes[0].set_ylabel("share of instances proved")
        axes[1].legend(frameon=False, fontsize=8)


def _by_family(entries: Sequence[tuple[Row, list[Row]]], limit: float, report: Report) -> None:
    families = list(dict.fromkeys(one["part"] for one, _ in entries))
    caption = "Seconds to proof by family; above the line: not proved within the limit, drawn at its height and above"
    with report.picture("families", caption, size=(8.0, 4.6)) as axes:
        for place, (method, color) in enumerate(zip(METHODS, COLORS, strict=False)):
            offset = (place - (len(METHODS) - 1) / 2) * 0.12
            given = [one for one, answers in entries if any(row["method"] == method for row in answers)]
            proved = {id(one): seconds for one, seconds in _proofs(entries, method)}
            for solved in (True, False):
                some = [one for one in given if (id(one) in proved) == solved]
                axes.scatter(
                    [families.index(one["part"]) + offset for one in some],
                    [proved.get(id(one), 1.6 * limit) for one in some],
                    s=16,
                    color=color,
                    facecolors=color if solved else "none",
                    label=method if solved else None,
                    linewidths=0.8,
                )
        axes.axhline(1.2 * limit, color="0.7", linewidth=0.8)
        axes.set(yscale="log", ylabel="seconds")
        axes.set_xticks(range(len(families)), families, rotation=25, ha="right")
        axes.legend(frameon=False, fontsize=8, ncols=6, loc="lower center", bbox_to_anchor=(0.5, 1.0))
