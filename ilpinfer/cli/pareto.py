"""`ilpinfer pareto`."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from formulations import RuleSet
from formulations.messages import counted
from ilpinfer import __version__
from ilpinfer.cli import arguments
from ilpinfer.cli.arguments import OPTIONS, Group, output_file, output_rows
from ilpinfer.cli.command import command
from ilpinfer.cli.failure import Findings
from ilpinfer.cli.inputs import ProgramInput, on_error, prepare
from ilpinfer.cli.outputs import Outputs, resumable
from ilpinfer.cli.progress import progress
from ilpinfer.cli.screen import add_row, table
from ilpinfer.cli.streams import notice
from ilpinfer.core.request import deadline_for
from ilpinfer.core.rule_compiler import compiler_of
from ilpinfer.corpus.examples import InputError
from ilpinfer.decoding.reporting import attempt
from ilpinfer.errors import describe
from ilpinfer.pipelines.trellises import ScoredSequence
from ilpinfer.system.checkpoint import Row, RowCheckpoint, RowPosition
from ilpinfer.system.extras import require
from ilpinfer.system.files import digest, write_atomically
from ilpinfer.system.output_paths import OutputError, output_path

if TYPE_CHECKING:
    from rich.console import Console

    from ilpinfer.decoding.frontier import Frontier
    from ilpinfer.learning.tau import TauChoice, TauSearch
    from ilpinfer.learning.trade_off import CorpusFrontier, TradeOff

WEIGHTS = (0.0, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
"""Weights on all penalties in the table."""


TAU = Group("Choice of tau")


@dataclass(frozen=True)
class ParetoOptions:
    input: ProgramInput
    output: Annotated[str, output_rows("File for the frontiers, JSON lines, one sequence a line.")]
    picture: Annotated[
        str, output_file("File for a picture, SVG: the frontier of one sequence, or the sum over several")
    ] = ""
    summary: Annotated[str, output_file("File for the trade-off over all sequences, JSON")] = ""
    first: arguments.First = None
    time_limit: arguments.Limit = None
    hull: bool = OPTIONS.option(
        False,
        "Find only points that are the single optimum for some weight on all penalties; takes less time.",
    )
    heaviest: float | None = OPTIONS.option(
        None, "NUMBER: Leave out points that need a larger weight on all penalties."
    )
    most: int | None = OPTIONS.option(
        None, "NUMBER: Largest number of points of a sequence: those with the best scores.", min=1
    )
    choose_tau: bool = TAU.option(False, "Also choose tau of two-phase inference, by the gold labels.")
    bound: str = TAU.option("relative", "KIND: How tau sets the least score: relative or odds.")
    measure: str = TAU.option("accuracy", "NAME: Measure to maximize: accuracy, f1 or whole.")
    folds: int = TAU.option(
        2, "NUMBER: Folds; tau is evaluated on each fold, after it is chosen on the others."
    )
    seed: int = TAU.option(0, "NUMBER: Seed of the folds.", min=0)
    as_json: arguments.AsJson = False

    def job(self, content: str) -> str:
        """Digest of everything that rows depend on; `content` is the digest of the input."""
        return digest(__version__, content, self.time_limit, self.hull, self.heaviest, self.most)

    @property
    def search(self) -> "TauSearch | None":
        """The search for tau; ValueError for invalid options."""
        from ilpinfer.learning.tau import TauSearch

        bound: Any = self.bound
        search = TauSearch((), bound, self.measure, self.folds, self.seed, self.time_limit)
        return search if self.choose_tau else None


@command(
    "ilpinfer pareto test.tsv --model hmm.json --rules citations --output frontiers.jsonl --picture curve.svg"
)
def pareto(options: ParetoOptions) -> None:
    """Compute all trade-offs between score and violation cost (the Pareto frontier), for each sequence and in total.

    A sequence without a feasible labelling or without a frontier has a row, and is reported at the end.
    """
    from ilpinfer.decoding.frontier_search import checked_weight

    inputs, search = options.input.files, options.search
    place = output_path(options.output, inputs)
    if place.direct:
        raise OutputError(f"{place.name}: the rows are read back, so the output must be a file; name one")
    others = {"picture": options.picture or None, "summary": options.summary or None}
    outputs = Outputs(options.as_json, [*inputs, options.output], **others)
    if options.picture:
        require(f"--picture {options.picture}", "plots", "matplotlib")
    deadline_for(options.time_limit)
    if options.heaviest is not None:
        checked_weight(options.heaviest)
    scored, rules, content = prepare(options.input, options.first)
    if not scored:
        raise InputError(f"{options.input.source}: no sequences")
    if search is not None and any(item.gold is None for item in scored):
        where = next(item.example.where for item in scored if item.gold is None)
        raise InputError(
            f"{where}: --choose-tau needs gold labels for every sequence; give them, or leave it out"
        )
    if search is not None and len(scored) < search.folds:
        raise InputError(
            f"--folds {search.folds}: more than the {counted(len(scored), 'sequence')}; give fewer folds"
        )
    findings = Findings()
    with (
        outputs.reserved(),
        resumable(RowCheckpoint(place.name, options.job(content), _position, inputs)) as checkpoint,
    ):
        frontiers = _fill(checkpoint, scored, rules, options, findings)
        kept = [n for n, frontier in enumerate(frontiers) if frontier.points]
        curve = _curve(scored, frontiers, kept, options)
        choice = None if search is None else _choose(search, scored, rules, kept)
        _write(options, scored, rules, frontiers, curve, choice)

    def curve_table(screen: "Console") -> None:
        if curve is not None:
            _show_curve(curve, screen)

    outputs.show(_record(scored, frontiers, curve, choice), curve_table)
    if curve is not None:
        _tell(curve, options.most, len(scored) - len(kept))
    if choice is not None and not options.as_json:
        _show_taus(choice, outputs.screen)
    findings.check()


def _position(row: Row) -> RowPosition:
    from ilpinfer.decoding.frontier import Frontier

    if type(row["sequence"]) is not int or not isinstance(row["status"], str):
        raise TypeError("a number and a text are expected")
    Frontier.from_dict(row)
    return RowPosition(row["sequence"])


def _fill(
    checkpoint: RowCheckpoint,
    scored: Sequence[ScoredSequence],
    rules: RuleSet,
    options: ParetoOptions,
    findings: Findings,
) -> "list[Frontier]":
    """The frontiers of all sequences; missing ones are computed and added to the checkpoint."""
    from ilpinfer.decoding.frontier import Frontier
    from ilpinfer.decoding.frontier_search import decode_frontier

    rows = list(checkpoint.rows()) if checkpoint.groups else []
    compiler = compiler_of(rules)
    with progress("following", len(scored), checkpoint.groups) as advance:
        for number in range(checkpoint.groups, len(scored)):
            item = scored[number]

            def values(item: ScoredSequence = item) -> Row:
                if item.error is not None or item.trellis is None:
                    raise item.error or ValueError("no scores")
                frontier = decode_frontier(
                    item.trellis,
                    compiler,
                    hull=options.hull,
                    heaviest=options.heaviest,
                    most=options.most,
                    time_limit=options.time_limit,
                )
                return {"status": _status(frontier), **frontier.to_dict()}

            def failed(error: Exception, seconds: float, item: ScoredSequence = item) -> Row:
                nothing = Frontier((), False, seconds, f"{item.example.where}: {describe(error)}")
                return {"status": "unknown", **nothing.to_dict(), "error": type(error).__name__}

            row = {"sequence": number, "tokens": list(item.tokens), **attempt(values, on_error(), failed)}
            checkpoint.write([row])
            rows.append(row)
            advance()
    for row, item in zip(rows, scored, strict=True):
        findings.add(row, item.example.where)
    return [Frontier.from_dict(row) for row in rows]


def _status(frontier: "Frontier") -> str:
    if frontier.points:
        return "complete" if frontier.complete else "incomplete"
    return "infeasible" if frontier.complete else "unknown"


def _curve(
    scored: Sequence[ScoredSequence],
    frontiers: "Sequence[Frontier]",
    kept: Sequence[int],
    options: ParetoOptions,
) -> "CorpusFrontier | None":
    from ilpinfer.learning.trade_off import sum_frontiers

    if not kept:
        return None
    golden = [gold for n in kept if (gold := scored[n].gold) is not None]
    labels = [trellis.labels for n in kept if (trellis := scored[n].trellis) is not None]
    every = golden if len(golden) == len(kept) else None
    return sum_frontiers([frontiers[n] for n in kept], labels, every, options.heaviest)


def _choose(
    search: "TauSearch", scored: Sequence[ScoredSequence], rules: RuleSet, kept: Sequence[int]
) -> "TauChoice":
    chosen = [scored[n] for n in kept]
    trellises = [item.trellis for item in chosen if item.trellis is not None]
    return search.fit(trellises, [item.gold for item in chosen if item.gold is not None], rules)


def _write(
    options: ParetoOptions,
    scored: Sequence[ScoredSequence],
    rules: RuleSet,
    frontiers: "Sequence[Frontier]",
    curve: "CorpusFrontier | None",
    choice: "TauChoice | None",
) -> None:
    from ilpinfer.learning.frontier_pictures import corpus_picture, sequence_picture

    if options.summary:
        record = _record(scored, frontiers, curve, choice)
        write_atomically(options.summary, json.dumps(record, indent=2, allow_nan=False) + "\n")
    if not options.picture:
        return
    if curve is None:
        notice(f"{options.picture}: not written, because no sequence has a frontier")
        return
    if len(scored) == 1:
        text = sequence_picture(
            frontiers[0], counted(len(scored[0].tokens), "token"), _gold(scored[0], rules)
        )
    else:
        text = corpus_picture(
            curve, f"{counted(len(curve.frontiers), 'sequence')}, {len(curve.points)} choices of a weight"
        )
    write_atomically(options.picture, text)


def _record(
    scored: Sequence[ScoredSequence],
    frontiers: "Sequence[Frontier]",
    curve: "CorpusFrontier | None",
    choice: "TauChoice | None",
) -> Row:
    """The trade-off over all sequences, and the choice of tau, as plain values."""
    return {
        "version": __version__,
        "sequences": len(scored),
        "complete": sum(frontier.complete for frontier in frontiers),
        "points": sum(len(frontier.points) for frontier in frontiers),
        "curve": [] if curve is None else [point.to_dict() for point in curve.points],
        **({} if choice is None else {"tau": choice.to_dict()}),
    }


def _gold(item: ScoredSequence, rules: RuleSet) -> tuple[float, float] | None:
    """Score and cost of the gold labelling; None if the model lacks one of its labels, or it breaks a hard rule."""
    from ilpinfer.decoding.evaluation import evaluate_labelling

    if item.gold is None or item.trellis is None or not {*item.gold} <= {*item.trellis.labels.names}:
        return None
    value = evaluate_labelling(item.trellis, rules, list(item.gold))
    if value.score == float("-inf"):
        notice("the gold labelling breaks a hard rule or has no finite score, and is not in the picture")
        return None
    return value.model_score + value.feature_score, value.penalty


def _tell(curve: "CorpusFrontier", most: int | None, left_out: int) -> None:
    if not curve.complete:
        limit = "" if most is None else f" without --most {most},"
        notice(
            f"some frontiers are not complete, so that other labellings may be better than those of the table;{limit} a "
            "longer --time-limit or a --heaviest weight may complete them"
        )
    if left_out:
        notice(f"left out of the trade-off: {counted(left_out, 'sequence')} without a frontier")


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


def _show_taus(choice: "TauChoice", screen: "Console") -> None:
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
