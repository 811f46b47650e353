"""The report of the engine's study."""

from collections.abc import Mapping
from typing import Any

from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator
from pandas import Categorical, DataFrame

from benchmarks.data.sets import RIVALS_LENGTH, RIVALS_SIZE, SOLVERS
from benchmarks.methods import AGAIN, DEFAULTS, PLAIN
from benchmarks.report import COLORS, Cells, Report, fixed, number, percent
from benchmarks.studies.engine.decoding import GENERATED

METHODS: Mapping[str, str] = {
    "auto": "`auto`",
    AGAIN: "`auto`, words met before",
    PLAIN: "bare Viterbi pass",
    "viterbi": "Viterbi",
    "beam 10": "beam of 10",
    "beam 50": "beam of 50",
    "beam 200": "beam of 200",
    **(names := {"cbc": "CBC", "cp-sat": "CP-SAT", "highs": "HiGHS", "scip": "SCIP"}),
    **{f"{name}, defaults": f"{title}, defaults" for name, title in names.items()},
}
RIVALS = (*SOLVERS, *DEFAULTS)
TITLES: Mapping[str, str] = {
    "cora 5": "Cora references, HMM of 5",
    "cora 20": "Cora references, HMM of 20",
    "cora 300": "Cora references, HMM of 300",
    "cora 5 implications": "HMM of 5, ten implications more",
    "cora 20 implications": "HMM of 20, ten implications more",
    "cora 300 implications": "HMM of 300, ten implications more",
    "umass": "UMass references, 240 mined rules, 0.8 s each",
    "resume soft": "résumé sections, soft rules",
    "resume hard": "résumé sections, hard rules",
}
DOCUMENTS = "generated documents of all lengths and sizes"
IN_PASSES = ("auto", AGAIN, "viterbi", "beam 10", "beam 50")
BY = {"sequences": "title", "method": "label"}


def decoding(rows: DataFrame, report: Report) -> None:
    some = decoded(rows)
    _main_table(some, report)
    _exact_rivals(some, report)
    _losses(some, report)
    documents = some[some.part == GENERATED]
    if len(documents):
        _cost(documents, report)


def decoded(rows: DataFrame) -> DataFrame:
    """Rows of methods in the order of tables, beside `auto` and the bare pass on the same sequence in the same cell."""
    frame = rows.assign(proved=rows.proved.eq(True), breaks=rows.breaks.eq(True))
    place = ["data", "methods", "item"]
    for method, prefix in (("auto", "auto_"), (PLAIN, "bare_")):
        own = frame[frame.method == method].set_index(place)[["seconds", "score", "proved"]]
        frame = frame.join(own.add_prefix(prefix), on=place)
    frame = frame[(frame.method != "auto") | (frame.methods == frame.methods.iloc[0])]
    titles = frame.data.map(TITLES).fillna(frame.data).where(frame.part != GENERATED, DOCUMENTS)
    labels = Categorical(frame.method.map(METHODS), list(METHODS.values()), ordered=True)
    frame = frame.assign(title=Categorical(titles, titles.unique(), ordered=True), label=labels)
    return frame.sort_values(["title", "label"], kind="stable")


def of(frame: DataFrame, *methods: str) -> DataFrame:
    return frame[frame.method.isin(methods)]


def multiple(frame: DataFrame) -> float | None:
    return float(frame.seconds.sum() / frame.auto_seconds.sum()) if len(frame) else None


def passes(frame: DataFrame) -> float:
    """The median over sequences of the time in bare passes of the same cell."""
    return float((frame.seconds / frame.bare_seconds).median())


def share(true: int, frame: DataFrame) -> str:
    return f"{true} of {len(frame)}"


def _main_table(frame: DataFrame, report: Report) -> None:
    report.heading("How fast is it?")
    cells: Cells = {
        "`auto` proves, proof rechecked": lambda x: share(of(x, "auto").proved.sum(), of(x, "auto")),
        tuple(METHODS[name] for name in IN_PASSES): lambda x: [
            number(passes(of(x, name))) for name in IN_PASSES
        ],
        "optima that the beam of 50 proves": lambda x: f"{percent(of(x, 'beam 50').proved.mean(), 0)} %",
    }
    report.pivot(frame, {"sequences": "title"}, cells)
    auto, again, viterbi, _, beam = (of(frame, name) for name in IN_PASSES)
    report.text(
        "Times are in bare Viterbi passes: the median over sequences of the time of a call as a multiple of a bare compiled "
        "Viterbi pass over the same scores without rules, in the same run. The method `viterbi` ignores the rules in its search "
        "and counts what its labelling breaks. The rules are compiled, "
        "but the words of each 25 sequences are new to them; a second call on the same "
        f"words takes {fixed(multiple(again), 2)} times what the first one takes.\n\n"
        f"The engine proves {auto.proved.sum()} of {len(auto)} optima, and every proof is rechecked. The Viterbi labelling breaks a "
        f"rule in {viterbi.breaks.sum()} of {len(viterbi)} sequences. In all, the beam of 50 takes "
        f"{fixed(multiple(beam), 2)} times as long as the engine and proves {beam.proved.sum()} of {len(beam)} optima; "
        f"`auto` takes {number(passes(auto))} bare Viterbi passes in the median, `viterbi` {number(passes(viterbi))}, "
        f"and `auto` on words that it has met before {number(passes(again))}."
    )


def _exact_rivals(frame: DataFrame, report: Report) -> None:
    report.heading("Solvers, and a wide beam")
    cells: Cells = {
        "optimal": lambda x: share(x.status.isin(["optimal", "infeasible"]).sum(), x),
        "time / `auto`": lambda x: number(multiple(x)),
    }
    report.pivot(of(frame, "beam 200", *RIVALS), BY, cells)
    report.text(
        "Solvers run with the settings of the toolkit, and with their defaults, as the protocol says. Total times as multiples of `auto`'s on the same sequences in the same run. Solvers get the whole program; where "
        "they prove fewer optima than sequences, the ratio is a lower bound. What a solver calls optimal is its word; its score "
        "equals the rechecked optimum."
    )


def losses(frame: DataFrame) -> tuple[int, int, int, float, float]:
    """Known optima, those missed, those without a labelling, mean and largest loss in nats."""
    known = frame[frame.auto_proved & frame.auto_score.notna()]
    gaps = (known.auto_score - known.score).dropna()
    missed = len(known) - (gaps <= 0).sum()
    return len(known), missed, len(known) - len(gaps), gaps.mean(), gaps.max()


def _losses(frame: DataFrame, report: Report) -> None:
    report.heading("What heuristics lose")

    def speed(some: DataFrame) -> str:
        kind, _, width = some.method.iloc[0].partition(" ")
        return number(int(width) * some["T"].sum() / some.seconds.sum() / 1e6, 2) if kind == "beam" else "–"

    titles = "optima known", "missed", "no labelling", "mean loss, nats", "largest loss, nats"
    cells: Cells = {
        titles: lambda x: (*losses(x)[:3], *map(number, losses(x)[3:])),
        "million prefixes a second": speed,
    }
    report.pivot(of(frame, "viterbi", "beam 10", "beam 50", "beam 200"), BY, cells)


def memory(frame: DataFrame, report: Report) -> None:
    report.heading("Memory")
    for row in frame.itertuples():
        report.text(
            f"A fresh process that decodes a document of {row.T:.0f} tokens and {row.K:.0f} labels holds "
            f"{row.peak_mib:.0f} MiB at its peak, {row.before_mib:.0f} MiB before decoding ({row.status})."
        )


BLUE, ORANGE, GREEN, PINK, YELLOW, SKY, BLACK, _ = COLORS
STYLES: Mapping[str, tuple[str, str, str]] = {
    "auto": (BLACK, "-", "o"),
    AGAIN: (BLACK, ":", "."),
    PLAIN: (BLUE, ":", "s"),
    "viterbi": (BLUE, "-", "s"),
    "beam 10": (YELLOW, ":", "v"),
    "beam 50": (YELLOW, "--", "^"),
    "beam 200": (YELLOW, "-", "D"),
    "cp-sat": (ORANGE, "-", "X"),
    "cbc": (PINK, "-", "<"),
    "highs": (PINK, "--", ">"),
    "scip": (PINK, ":", "p"),
}


def _cost(frame: DataFrame, report: Report) -> None:
    """Mean time against T at a fixed K, and against K at a fixed T."""
    sizes, lengths = set(frame["K"]), set(frame["T"])
    fixed = {
        "K": RIVALS_SIZE if RIVALS_SIZE in sizes else max(sizes),
        "T": RIVALS_LENGTH if RIVALS_LENGTH in lengths else min(lengths),
    }
    caption = "Time of the engine, beams and solvers against tokens and labels; hollow where not every call ended with an optimum"
    with report.picture("cost", caption, (9.5, 4.2), ncols=2, sharey=True) as axes:
        for axis, varied, other in zip(axes, "TK", "KT", strict=True):
            _lines(axis, frame[frame[other] == fixed[other]], varied)
            axis.set(xlabel={"T": "tokens T", "K": "labels K"}[varied], title=f"{other} = {fixed[other]}")
        axes[0].set_ylabel("mean milliseconds a sequence")
        handles, labels = axes[0].get_legend_handles_labels()
        axes[0].figure.legend(handles, labels, loc="outside right upper", frameon=False)


def _lines(axis: Axes, frame: DataFrame, varied: str) -> None:
    """A line for each method; hollow markers where an exact one did not end with an optimum in time."""
    for method, (colour, line, marker) in STYLES.items():
        own = frame[frame.method == method].sort_index()
        mean = 1000 * own.groupby(varied).seconds.mean()
        look: dict[str, Any] = {"color": colour, "linestyle": line, "marker": marker, "markersize": 4}
        if len(own):
            width = 2.2 if method == "auto" else 1.2
            axis.plot(mean.index, mean, label=METHODS[method].replace("`", ""), linewidth=width, **look)
        if method in ("auto", AGAIN, *SOLVERS):
            late = mean[sorted(set(own[varied][own.status != "optimal"]))]
            look |= {"linestyle": "", "markerfacecolor": "white", "zorder": 3}
            axis.plot(late.index, late, **look)
    axis.set(xscale="log", yscale="log")
    axis.xaxis.set_major_locator(FixedLocator(sorted(set(frame[varied]))))
    axis.xaxis.set_minor_locator(NullLocator())
    for side in (axis.xaxis, axis.yaxis):
        side.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
