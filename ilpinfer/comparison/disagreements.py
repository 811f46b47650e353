"""Sequences on which two methods differ: both labellings, their scores, and their paths through the trellis."""

import math
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from string import ascii_lowercase
from typing import TYPE_CHECKING, Any

import numpy as np

from formulations import Trellis
from formulations.errors import RuleNotice
from formulations.grid import nats
from ilpinfer.comparison.columns import readable
from ilpinfer.comparison.plan import ComparisonData
from ilpinfer.comparison.plots import COLOURS, picture
from ilpinfer.core.rule_compiler import RuleCompiler, compiler_of
from ilpinfer.core.solution import Solution
from ilpinfer.decoding.evaluation import evaluate_labelling
from ilpinfer.pipelines.trellises import ScoredExample

if TYPE_CHECKING:
    import pandas as pd

MOST = 5
"""Largest number of pictures."""
WIDTH = 26
"""Largest number of tokens in a picture."""
TOKEN = 16  # characters of a token
LABEL = 40  # characters of a label
BEST: Mapping[str, Any] = {"color": COLOURS[0], "linestyle": "-", "marker": "o"}
OTHER: Mapping[str, Any] = {"color": COLOURS[1], "linestyle": (0, (5, 2)), "marker": "s"}
SHIFT = 0.09
"""Distance between the two paths where they agree, in rows."""


@dataclass(frozen=True)
class RuleCost:
    """A rule that a labelling breaks: how often, at what cost in nats (inf for a hard rule), and at which tokens."""

    rule: str
    violations: int
    nats: float
    tokens: tuple[int, ...]


@dataclass(frozen=True)
class Path:
    """One of two labellings, its score, and its broken rules by decreasing cost."""

    method: str
    seed: int | None
    status: str
    labels: tuple[str, ...]
    worth: Solution
    costs: tuple[RuleCost, ...]


@dataclass(frozen=True)
class PathPair:
    """A sequence on which two methods differ: both labellings, the differing tokens, and the drawn tokens."""

    sequence: int
    where: str
    trellis: Trellis
    best: Path
    other: Path
    differing: tuple[int, ...]
    drawn: range

    @property
    def paths(self) -> tuple[Path, Path]:
        return self.best, self.other

    @property
    def letters(self) -> dict[str, str]:
        """A letter for each rule that one of the two labellings breaks; a number if there are too many."""
        names = dict.fromkeys(cost.rule for path in self.paths for cost in path.costs)
        return {name: ascii_lowercase[i] if i < 26 else str(i + 1) for i, name in enumerate(names)}


def disagreements(results: ComparisonData, most: int = MOST) -> list[PathPair]:
    """For each method the sequence on which it is furthest below the best one, beginning with the largest gap."""
    if results.rules is None:
        return []
    rules = compiler_of(results.rules)
    return [
        _pair(results.cases[best.sequence], rules, best, other)
        for best, other in furthest(results.frame, results.cap)[:most]
    ]


def furthest(frame: "pd.DataFrame", cap: float) -> list[tuple[Any, Any]]:
    """For each method, the line furthest below the best line of its sequence, and that best line; a missing labelling counts as the cap."""
    labelled = frame[frame.labels.notna()].assign(proved=frame.status == "optimal")
    best = labelled.dropna(subset="score").sort_values(["score", "proved"], ascending=False, kind="stable")
    best = best.drop_duplicates("sequence").set_index("sequence", drop=False)
    rest = labelled[labelled.sequence.isin(best.index)]
    below = (rest.sequence.map(best.score) - rest.score).fillna(cap)
    rest = rest.assign(below=below)[below > 0].sort_values("below", ascending=False, kind="stable")
    chosen = rest.drop_duplicates("method")
    return [(best.loc[other.sequence], other) for other in chosen.itertuples()]


def _pair(case: ScoredExample, rules: RuleCompiler, first: Any, second: Any) -> PathPair:
    assert case.trellis is not None
    own = rules.of(case.example.notes)
    best, other = (_path(case.trellis, own, row) for row in (first, second))
    pairs = zip(best.labels, other.labels, strict=True)
    differing = tuple(t for t, (one, two) in enumerate(pairs) if one != two)
    marked = {t for path in (best, other) for cost in path.costs for t in cost.tokens}
    drawn = range(*window(differing, len(case.trellis), marked))
    return PathPair(second.sequence, case.where, case.trellis, best, other, differing, drawn)


def window(
    differing: Sequence[int], tokens: int, marked: Iterable[int] = (), width: int = WIDTH
) -> tuple[int, int]:
    """The stretch of at most `width` tokens with the most differing tokens; of several, that with the most marked tokens, then the middle one."""
    if tokens <= width:
        return 0, tokens
    worth = np.zeros(tokens, np.int64)
    worth[list(differing)] += tokens + 1
    worth[list(set(marked))] += 1
    inside = np.convolve(worth, np.ones(width, np.int64), "valid")
    best = np.flatnonzero(inside == inside.max())
    start = int(best[(len(best) - 1) // 2])
    return start, start + width


def _path(trellis: Trellis, rules: RuleCompiler, row: Any) -> Path:
    labels = tuple(row.labels)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuleNotice)  # notices were given when the sequence was decoded
        worth = evaluate_labelling(trellis, rules, labels)
    seed = None if math.isnan(row.seed) else int(row.seed)
    return Path(row.method, seed, row.status, labels, worth, _costs(worth, labels))


def _costs(worth: Solution, labels: Sequence[str]) -> tuple[RuleCost, ...]:
    context = worth.context
    assert context is not None
    named = context.named()
    costs = []
    for name, count in worth.violations.items():
        if count:
            rule = named[name]
            price = math.inf if rule.hard else nats(rule.units * count)
            costs.append(RuleCost(name, count, price, context.places(name, labels)))
    return tuple(sorted(costs, key=lambda cost: -cost.nats))


def short(label: str) -> str:
    """Shorten a label in the middle: beginning and end distinguish labels of a hierarchy."""
    text = readable(label, max(len(label), 1))
    return text if len(text) <= LABEL else f"{text[: LABEL // 3]}…{text[-(2 * LABEL // 3) :]}"


def trellis_picture(pair: PathPair) -> str:
    """An image of both paths: columns are tokens, rows are the labels of both paths in order of first use; letters mark broken rules."""
    columns, letters = pair.drawn, pair.letters
    names = list(dict.fromkeys(path.labels[t] for path in pair.paths for t in columns))
    rows = {name: row for row, name in enumerate(names)}
    tokens = [readable(pair.trellis.tokens[t], TOKEN) for t in columns]

    def draw(axes: Any) -> None:
        axes.grid(visible=False)
        for t in pair.differing:
            if t in columns:
                axes.axvspan(t - 0.5, t + 0.5, color="black", alpha=0.07, linewidth=0)
        for row in rows.values():
            axes.plot(columns, [row] * len(columns), ".", color="black", alpha=0.3, markersize=3)
        for path, style, side in zip(pair.paths, (BEST, OTHER), (-1, 1), strict=True):
            y = {t: rows[path.labels[t]] + side * SHIFT for t in columns}
            axes.plot(columns, list(y.values()), linewidth=1.8, markersize=5, label=_name(path), **style)
            _mark(axes, path, letters, y, side, style["color"])
        axes.set_yticks(range(len(names)), [short(name) for name in names], parse_math=False)
        axes.set_xticks(columns, tokens, rotation=50, ha="right", rotation_mode="anchor", parse_math=False)
        axes.set_ylim(len(names) - 0.4, -0.6)
        axes.set_xlim(columns.start - 0.6, columns.stop - 0.4)
        numbers = axes.secondary_xaxis("top")
        numbers.set_xticks(columns, [str(t) for t in columns], fontsize=7)
        for each in (axes, numbers):
            each.tick_params(length=0)
            each.spines[:].set_visible(False)

    longest = max((len(short(name)) for name in names), default=1)
    size = (0.38 * len(columns) + 0.085 * longest + 1.0, 0.36 * len(names) + 1.9)
    return picture(draw, size)


def _name(path: Path) -> str:
    seed = "" if path.seed is None else f", seed {path.seed}"
    return f"{readable(path.method)}{seed}{', proved optimal' if path.status == 'optimal' else ''}"


def _mark(
    axes: Any, path: Path, letters: Mapping[str, str], y: Mapping[int, float], side: int, colour: str
) -> None:
    """Write the letters of broken rules above or below a path."""
    for t, height in y.items():
        text = "".join(letters[cost.rule] for cost in path.costs for at in cost.tokens if at == t)
        if text:
            axes.annotate(
                text,
                (t, height),
                (0, -10 * side),
                textcoords="offset points",
                ha="center",
                va="center",
                fontsize=11,
                fontweight="bold",
                color=colour,
            )
