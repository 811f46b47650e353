"""Two-phase inference on mined rules, and the cost of Pareto frontiers: `python -m benchmarks.two_phase DATA [CRF.json] [--picture SVG]`.

Fersini et al. 2014, section 3: rules from labelled sequences, soft, the least violation near the best score. Accuracy against tau,
with tau chosen on the other half of the sequences (2 folds), beside Viterbi, constrained Viterbi and one phase with the same
penalties. Rules are mined from the training part, models and sequences are those of `benchmarks.held_out`.
"""

import argparse
import statistics
import time
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import ilpinfer
from benchmarks.data.held_out import HEAD, Line, Setting, cora, line_of, umass
from benchmarks.machine import header
from formulations.problem.problem import RuleNotice
from ilpinfer.core.rule_compiler import compiler_of
from ilpinfer.decoding.frontier import Frontier, decode_frontier
from ilpinfer.decoding.two_phase import Floor
from ilpinfer.evaluation.pictures import silent_figures, svg
from ilpinfer.exact.viterbi import viterbi
from ilpinfer.learning.tau import TauChoice, TauSearch
from ilpinfer.learning.trade_off import CorpusFrontier, sum_frontiers

SINGLE = {"Viterbi": "viterbi", "constrained Viterbi": "constrained-viterbi", "one phase, soft": "auto"}
TAUS: dict[Floor, tuple[float, ...]] = {
    "relative": (1.0, 0.995, 0.99, 0.98, 0.97, 0.95, 0.9, 0.8),
    "odds": (1.0, 0.5, 0.2, 0.1, 0.03, 0.01, 0.001, 1e-5),
}
UMASS_RULES = 60
"""The strongest ones, and the hard rule that labels keep their scheme."""
LIMIT = 1.0
"""Seconds for each sequence and tau."""
HEAVIEST = 8.0
"""The greatest weight on all penalties."""


def two_phase(setting: Setting) -> Iterator[Line | TauChoice]:
    """Lines of the single methods, then the choices of tau."""
    for name, method in SINGLE.items():
        yield line_of(name, setting, ilpinfer.Decoder(setting.rules, method=method, time_limit=LIMIT).decode)
    for bound, taus in TAUS.items():
        yield TauSearch(taus, bound, time_limit=LIMIT).fit(setting.trellises, setting.gold, setting.rules)


def lines_of_tau(choice: TauChoice) -> Iterator[str]:
    """A line for each tau, and one for those that are chosen on other sequences."""
    for row in choice.table:
        shares = [100 * share for share in (row.accuracy, row.f1, row.whole)]
        mark = " *" if row.tau == choice.tau else ""
        figures = " ".join(f"{share:8.2f}" for share in shares)
        yield f"  {f'two-phase, {choice.bound} {row.tau:g}{mark}':34} {figures} {'':10} {row.proved:7}"
    figures = " ".join(f"{100 * choice.held_out[name]:8.2f}" for name in ("accuracy", "f1", "whole"))
    taus = ", ".join(f"{tau:g}" for tau in choice.folds)
    yield f"  {f'two-phase, {choice.bound}, 2 folds':34} {figures}   tau {taus}"


def frontiers(setting: Setting, *, hull: bool) -> tuple[list[Frontier], str]:
    """Those of all sequences, and what they took in multiples of a bare Viterbi pass over the same folded scores."""
    compiler, result, multiples = compiler_of(setting.rules), [], []
    for trellis in setting.trellises:
        lattice = compiler.problem(trellis).fold().lattice
        bare = min(_seconds(lambda lattice=lattice: viterbi(lattice)) for _ in range(5))
        options: dict[str, Any] = {"hull": hull, "heaviest": HEAVIEST, "time_limit": 2 * LIMIT}
        spent = _seconds(lambda t=trellis, o=options: result.append(decode_frontier(t, compiler, **o)))
        multiples.append(spent / bare / max(1, len(result[-1].points)))
    points = [point for frontier in result for point in frontier.points]
    ordered, count = sorted(multiples), len(result)
    text = (
        f"  {'hull' if hull else 'whole frontier'}, weights up to {HEAVIEST:g}: {len(points)} points of {count} sequences "
        f"(at most {max(len(f.points) for f in result)}), {sum(not p.supported for p in points)} unsupported; "
        f"{sum(f.complete for f in result)} complete within {2 * LIMIT:g} s; a point takes "
        f"{statistics.median(ordered):.0f} Viterbi passes in the median, {ordered[int(0.9 * count)]:.0f} at the 90th percentile; "
        f"{sum(f.seconds for f in result):.1f} s in all"
    )
    return result, text


def _seconds(call: Any) -> float:
    began = time.perf_counter()
    call()
    return time.perf_counter() - began


def picture(panels: Sequence[tuple[Setting, list[Line], list[TauChoice], CorpusFrontier]]) -> str:
    """Right tokens against the mean cost of violations: two phases by tau, one phase by weight, and the single methods."""
    with silent_figures() as figures:
        import matplotlib

        with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "ilpinfer"}):
            figure = figures(figsize=(4.6 * len(panels), 4.2), layout="constrained")
            for axes, (setting, lines, choices, curve) in zip(
                figure.subplots(1, len(panels), squeeze=False)[0], panels, strict=True
            ):
                number = len(setting.trellises)
                x = [point.cost / number for point in curve.points]
                y = [100 * point.measures.accuracy for point in curve.points if point.measures]
                axes.plot(x, y, "-", color="#4d4d4d", linewidth=1, label="one phase, by weight")
                for choice, colour, marker in zip(choices, ("#0072b2", "#d55e00"), "oD", strict=True):
                    x = [row.cost for row in choice.table]
                    y = [100 * row.accuracy for row in choice.table]
                    label = f"two phases, {choice.bound}"
                    axes.plot(x, y, marker + "--", color=colour, markersize=4, linewidth=0.9, label=label)
                for line, dash in zip(lines, (":", "-.", (0, (8, 2))), strict=True):
                    axes.axhline(
                        line.accuracy, color="#009e73", linestyle=dash, linewidth=1, label=line.method
                    )
                axes.set(
                    title=setting.name, xlabel="mean violation cost, nats", ylabel="right tokens, per cent"
                )
                axes.grid(alpha=0.25)
            figure.axes[0].legend(frameon=False, fontsize=8)
            return svg(figure, alone=True)


def report(setting: Setting) -> tuple[Setting, list[Line], list[TauChoice], CorpusFrontier]:
    """Print the tables of a setting."""
    print(f"\n{setting.name}: {len(setting.trellises)} sequences, {len(setting.rules)} rules")
    print(HEAD)
    lines, choices = list[Line](), list[TauChoice]()
    for result in two_phase(setting):
        if isinstance(result, Line):
            print(result, flush=True)
            lines.append(result)
        else:
            print("\n".join(lines_of_tau(result)), flush=True)
            choices.append(result)
    for hull in (False, True):
        found, text = frontiers(setting, hull=hull)
        print(text, flush=True)
    curve = sum_frontiers(found, [t.labels for t in setting.trellises], setting.gold, HEAVIEST)
    best = max(curve.points, key=lambda p: p.measures.accuracy if p.measures else 0.0)
    if best.measures:
        print(
            f"  one phase, best common weight: {100 * best.measures.accuracy:.2f} right tokens from {best.low:.3g} to "
            f"{best.high:.3g} (chosen on the same sequences; {len(curve.points)} choices)"
        )
    return setting, lines, choices, curve


def main(arguments: list[str] | None = None) -> None:
    """Print tables, and write them and a picture."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("crf", nargs="?")
    parser.add_argument("--picture", type=Path)
    parser.add_argument("--cora", type=int, default=100, help="sequences of Cora")
    parser.add_argument("--umass", type=int, default=60, help="sequences of UMass, where a CRF is given")
    options = parser.parse_args(arguments)
    warnings.simplefilter("ignore", RuleNotice)
    print(header())
    settings = list(cora(options.data, (5, 20, 300), options.cora)) if options.cora else []
    if options.crf and options.umass:
        settings += umass(options.data, options.crf, options.umass, UMASS_RULES)
    panels = [report(setting) for setting in settings]
    if options.picture:
        options.picture.write_text(picture(panels), "utf-8")


if __name__ == "__main__":
    main()
