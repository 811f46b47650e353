"""The report of the engine's study."""

from collections.abc import Mapping
from functools import partial

from pandas import Categorical, DataFrame

from benchmarks.data.sets import SOLVERS
from benchmarks.methods import AGAIN, DEFAULTS, PLAIN
from benchmarks.report import Cells, Report, fixed, groups, number, percent
from benchmarks.studies.engine import figures
from benchmarks.studies.engine.anytime import BOUNDS, MEMORY, OVERSHOOT
from benchmarks.studies.engine.decoding import GENERATED
from benchmarks.studies.engine.fits import exponents, fit, fitted
from benchmarks.studies.engine.programs import OBJECTS

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
    _milliseconds(some, report)
    _losses(some, report)
    figures.within(some, report)
    documents = some[some.part == GENERATED]
    if len(documents):
        _documents(documents, report)
        _exponents(documents, report)
        figures.cost(documents, report)


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
    report.heading("What it beats, and by how much")
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
        "but meet the words of each 25 sequences anew; a second call on the same "
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


def _milliseconds(frame: DataFrame, report: Report) -> None:
    report.heading("Milliseconds a sequence")
    cells: Cells = {
        "number": len,
        "median": lambda x: number(1000 * x.seconds.median()),
        "90th percentile": lambda x: number(1000 * x.seconds.quantile(0.9)),
        "largest": lambda x: number(1000 * x.seconds.max()),
    }
    report.pivot(frame[~frame.method.isin(RIVALS)], BY, cells)


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


def _documents(frame: DataFrame, report: Report) -> None:
    report.heading("Generated documents")
    methods = [name for name in METHODS if name not in ("auto", PLAIN) and len(of(frame, name))]
    cells: Cells = {
        "`auto` proves": lambda x: share(of(x, "auto").proved.sum(), of(x, "auto")),
        "Viterbi breaks a rule, %": lambda x: percent(of(x, "viterbi").breaks.mean(), 0),
        "`auto`, median ms": lambda x: number(1000 * of(x, "auto").seconds.median()),
        "`auto`, bare passes": lambda x: number(passes(of(x, "auto"))),
        tuple(f"{METHODS[name]} / `auto`" for name in methods): lambda x: [
            number(multiple(of(x, name))) for name in methods
        ],
    }
    report.pivot(frame.sort_index(), {"T": "T", "K": "K"}, cells, left=0)


def _exponents(frame: DataFrame, report: Report) -> None:
    report.heading("Exponents of cost")
    lines, quoted = [], ""
    for (label,), own in groups(frame, "label"):
        if result := fit(own, exact=own.method.iloc[0] in ("auto", *RIVALS)):
            done, left_out, (of_length, of_size) = result
            spans = (f"{done[name].min()} to {done[name].max()}" for name in "TK")
            lines.append((label, *spans, len(done), left_out, of_length.text(), of_size.text()))
            if label == METHODS["auto"]:
                quoted = (
                    f"The engine's time grows as T^{of_length.text()} · K^{of_size.text()} (95 % intervals). "
                )
    columns = ("method", "T", "K", "documents", "not optimal in time", "exponent of T", "exponent of K")
    report.table(columns, lines, left=3)
    report.text(
        f"{quoted}Least squares on the logarithms of T, K and seconds together, from 120 tokens on where at least three "
        "such lengths are there; with intervals of 95 %. Exponents below 1 are those of a range where fixed costs still count."
    )
    table = {
        (label, K): line[0].text()
        for (label, K), own in groups(of(frame, "auto", PLAIN, "beam 50"), "label", "K")
        if (line := exponents(fitted(own)[["T"]], fitted(own).seconds))
    }
    if sizes := sorted({K for _, K in table}):
        report.table(
            ("exponent of T", *(f"K = {K}" for K in sizes)),
            (
                (METHODS[name], *(table.get((METHODS[name], K), "–") for K in sizes))
                for name in ("auto", PLAIN, "beam 50")
            ),
        )


def anytime(frame: DataFrame, report: Report) -> None:
    report.heading("Time limits, bounds and memory")
    own = {name: frame[frame.data == name] for name in (OVERSHOOT, BOUNDS, MEMORY)}
    late = own[OVERSHOOT]
    if len(late):
        report.text(
            f"Time limits of 5 to 100 ms on documents of 500 tokens and 30 labels, {len(late)} calls, "
            f"{(late.status == 'optimal').sum()} of them optimal: the 99th percentile of the overshoot is "
            f"{number(late.late.quantile(0.99), 2)} ms, the largest {number(late.late.max(), 2)} ms."
        )
    for row in own[MEMORY].itertuples():
        report.text(
            f"A fresh process that decodes a document of {row.T:.0f} tokens and {row.K:.0f} labels holds "
            f"{row.peak_mib:.0f} MiB at its peak, {row.before_mib:.0f} MiB before decoding ({row.status})."
        )
    if len(own[BOUNDS]):
        figures.bounds(own[BOUNDS].trace.tolist(), report)


def programs(frame: DataFrame, report: Report) -> None:
    solved, objects = (frame[(frame.method == OBJECTS) == which] for which in (False, True))
    if len(solved):
        report.heading("Building a program and handing it over")
        cells: Cells = {
            ("build, ms", "hand over, ms", "solve, ms"): lambda x: [
                f"{1000 * x[name].iloc[0]:.0f}" for name in ("build", "hand over", "solve")
            ],
            "build and hand over / solve": lambda x: (
                f"{percent(((x.build + x['hand over']) / x.solve).iloc[0])} %"
            ),
            "status": lambda x: x.status.iloc[0],
        }
        report.pivot(solved.assign(solver=solved.method.map(METHODS)), {"solver": "solver"}, cells)
        T, K, columns, rows = (int(solved[name].iloc[0]) for name in ("T", "K", "columns", "rows"))
        report.text(f"The whole program of T = {T} and K = {K}: {columns} columns, {rows} rows.")
    for row in objects.itertuples():
        report.text(
            f"PuLP's expression objects take {number(row.objects / row.text)} times as long to hand over as the MPS text."
        )


def folded(frame: DataFrame, report: Report) -> None:
    report.heading("Whole and folded programs")

    def spent(some: DataFrame, form: str) -> list[str]:
        own = 1000 * some.seconds[some.form == form]
        return [fixed(own.median(), 0), fixed(own.max(), 0)]

    forms = [form for form in ("whole", "folded") if (frame.form == form).any()]
    cells: Cells = {
        **{(f"{form}, median ms", "largest"): partial(spent, form=form) for form in forms},
        "optimal": lambda x: share((x.status == "optimal").sum(), x),
    }
    solvers = of(frame, *SOLVERS)
    report.pivot(solvers.assign(solver=solvers.method.map(METHODS)), {"solver": "solver"}, cells)
    report.text(
        f"{frame.item.nunique()} Cora references whose Viterbi labelling breaks a rule even after rules on single tokens and steps are "
        "folded into the scores; every optimum equals the rechecked one."
    )
