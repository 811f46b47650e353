"""The result of `ilpinfer pareto`: its record, its picture and its tables."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from formulations import RuleSet
from formulations.messages import counted
from ilpinfer import __version__
from ilpinfer.cli.screen import add_row, table
from ilpinfer.cli.streams import notice
from ilpinfer.decoding.evaluation import evaluate_labelling
from ilpinfer.learning.frontier_pictures import corpus_picture, sequence_picture
from ilpinfer.learning.trade_off import sum_frontiers
from ilpinfer.pipelines.trellises import ScoredSequence
from ilpinfer.system.checkpoint import Row

if TYPE_CHECKING:
    from rich.console import Console

    from ilpinfer.decoding.frontier import Frontier
    from ilpinfer.learning.tau import TauChoice, TauSearch
    from ilpinfer.learning.trade_off import CorpusFrontier, TradeOff

WEIGHTS = (0.0, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
"""Weights on all penalties in the table."""


@dataclass(frozen=True)
class ParetoResult:
    """The frontier of each sequence, and the trade-off over all of them."""

    scored: Sequence[ScoredSequence]
    rules: RuleSet
    frontiers: "Sequence[Frontier]"
    heaviest: float | None
    search: "TauSearch | None"

    @cached_property
    def kept(self) -> list[tuple[ScoredSequence, "Frontier"]]:
        """The sequences that have a frontier."""
        pairs = zip(self.scored, self.frontiers, strict=True)
        return [(item, frontier) for item, frontier in pairs if frontier.points]

    @cached_property
    def curve(self) -> "CorpusFrontier | None":
        """The trade-off over all sequences; None if none has a frontier."""
        if not self.kept:
            return None
        golden = [item.gold for item, _ in self.kept if item.gold is not None]
        labels = [item.trellis.labels for item, _ in self.kept if item.trellis is not None]
        every = golden if len(golden) == len(self.kept) else None
        return sum_frontiers([frontier for _, frontier in self.kept], labels, every, self.heaviest)

    @cached_property
    def choice(self) -> "TauChoice | None":
        """The choice of tau, if there is to be one."""
        if self.search is None:
            return None
        trellises = [item.trellis for item, _ in self.kept if item.trellis is not None]
        golden = [item.gold for item, _ in self.kept if item.gold is not None]
        return self.search.fit(trellises, golden, self.rules)

    def record(self) -> Row:
        """The trade-off over all sequences, and the choice of tau, as plain values."""
        return {
            "version": __version__,
            "sequences": len(self.scored),
            "complete": sum(frontier.complete for frontier in self.frontiers),
            "points": sum(len(frontier.points) for frontier in self.frontiers),
            "curve": [] if self.curve is None else [point.to_dict() for point in self.curve.points],
            **({} if self.choice is None else {"tau": self.choice.to_dict()}),
        }

    def picture(self) -> str | None:
        """The frontier of one sequence, or the sum over several, as SVG; None if no sequence has a frontier."""
        if self.curve is None:
            return None
        if len(self.scored) == 1:
            [item], [frontier] = self.scored, self.frontiers
            return sequence_picture(frontier, counted(len(item.tokens), "token"), _gold(item, self.rules))
        number = counted(len(self.curve.frontiers), "sequence")
        return corpus_picture(self.curve, f"{number}, {len(self.curve.points)} choices of a weight")

    def show(self, screen: "Console") -> None:
        if self.curve is not None:
            _show_curve(self.curve, screen)

    def tell(self, most: int | None) -> None:
        """Notices about frontiers that are not complete, and sequences that are left out."""
        if self.curve is None:
            return
        if not self.curve.complete:
            limit = "" if most is None else f" without --most {most},"
            notice(
                f"some frontiers are not complete, so that other labellings may be better than those of the table;{limit} a "
                "longer --time-limit or a --heaviest weight may complete them"
            )
        left_out = len(self.scored) - len(self.kept)
        if left_out:
            notice(f"left out of the trade-off: {counted(left_out, 'sequence')} without a frontier")


def _gold(item: ScoredSequence, rules: RuleSet) -> tuple[float, float] | None:
    """Score and cost of the gold labelling; None if the model lacks one of its labels, or it breaks a hard rule."""
    if item.gold is None or item.trellis is None or not {*item.gold} <= {*item.trellis.labels.names}:
        return None
    value = evaluate_labelling(item.trellis, rules, list(item.gold))
    if value.score == float("-inf"):
        notice("the gold labelling breaks a hard rule or has no finite score, and is not in the picture")
        return None
    return value.model_score + value.feature_score, value.penalty


def _show_curve(curve: "CorpusFrontier", screen: "Console") -> None:
    measured = curve.points[0].measures is not None
    names = ["right tokens", "F1 of spans", "whole"] if measured else []
    shown = table("weight", numbers=("loss of score", "cost", *names))
    last = curve.points[-1]
    weights = [weight for weight in WEIGHTS if weight <= last.high]
    lines = [(f"{weight:g}", curve.at(weight)) for weight in weights]
    for name, point in [*lines, (f"{last.low:g} and more", last)]:
        add_row(shown, name, *_figures(curve, point))
    screen.print(shown)
    if measured:
        best = max(curve.points, key=lambda point: point.measures.accuracy if point.measures else 0.0)
        screen.print(
            f"most right tokens: {_figures(curve, best)[2]} with weights from {best.low:.4g} to {best.high:.4g}",
            highlight=False,
        )


def _figures(curve: "CorpusFrontier", point: "TradeOff") -> list[str]:
    number, best = len(curve.frontiers), curve.points[0].score
    result = [f"{(best - point.score) / number:.3f}", f"{point.cost / number:.3f}"]
    if point.measures is not None:
        m = point.measures
        result += [f"{m.accuracy:.2%}", f"{m.f1:.2%}", f"{m.whole:.2%}"]
    return result


def show_taus(choice: "TauChoice", screen: "Console") -> None:
    shown = table("tau", numbers=("right tokens", "F1 of spans", "whole", "cost", "proved"))
    for row in choice.table:
        mark = f"{row.tau:g}{' *' * (row.tau == choice.tau)}"
        figures = f"{row.accuracy:.2%}", f"{row.f1:.2%}", f"{row.whole:.2%}"
        add_row(shown, mark, *figures, f"{row.cost:.3f}", str(row.proved))
    held = choice.held_out
    screen.print(shown)
    screen.print(
        f"tau {choice.tau:g} ({choice.bound}); chosen on other parts: {held['accuracy']:.2%} right tokens, "
        f"F1 {held['f1']:.2%}, {held['whole']:.2%} whole sequences",
        highlight=False,
    )
