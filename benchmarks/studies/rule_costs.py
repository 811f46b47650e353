"""Rows, columns and coefficients that rules add to the integer program, and milliseconds to compile, write and decode."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
from pandas import DataFrame

import ilpinfer
from benchmarks import optimum
from benchmarks.report import Cells, Report, groups, number
from benchmarks.study import Cell, Row, Sources, Study, grid
from benchmarks.timing import least, one_core, viterbi_calls
from formulations import LabelSet, RuleSet, Trellis, catalogue, load_rules
from formulations import constraints as C
from formulations.problem.compiled_rules import compile_problem
from formulations.programs.formulation import formulate

LENGTHS, LABELS, REPEATS = (25, 50, 100, 200, 400), 30, 3
SHOWN = 200
"""Tokens of the large table."""
LIMIT = 1.0
"""Seconds to decode a sequence."""
WORDS = ("Smith", ",", "1999", "pp", "the", ".", "of", "Journal", "Inc", "2.")
NOISE, LEAD = 1.0, 3.0

KINDS = {
    "local: changes only after": C.changes_only_after(penalty=1.0),
    "local: a word's field": C.tag_at("f1", words=["pp"], penalty=1.0),
    "sum: each field at most once": C.at_most_runs(C.EACH_FIELD, 1, penalty=1.0),
    "sum: at most 3 in a window of 10": C.at_most_in_window("f1", 3, width=10, penalty=1.0),
    "linear": C.linear("runs(f1) - 2*runs(f2) + tokens(f3) <= 9", penalty=1.0),
    "machine: one before another": C.requires_before("f1", "f2", penalty=1.0),
    "machine: one after another": C.precedence("f1", "f2", penalty=1.0),
    "machine: at least 3 tokens, each field": C.min_run_length(C.EACH_FIELD, 3, penalty=1.0),
    "machine: regular expression": C.matches("f1* (f2 | f3)* O*", penalty=1.0),
    "formula: one token": C.logic("forall t: token(t) is year -> f1(t)", penalty=1.0),
    "formula: for all, for some": C.logic("forall t: f1(t) -> exists s < t: f2(s)", penalty=1.0),
    "formula: for all pairs": C.logic("forall s, t > s: f1(s) -> not f2(t)", penalty=1.0),
    "formula: same label": C.logic(
        "forall t > 0: token(t) = token(t-1) -> label(t) = label(t-1)", penalty=1.0
    ),
    "hamming: one run": C.at_most_runs("f1", 1, penalty=1.0, distance="hamming"),
}
CATALOGUE, RULES = "catalogue", "kinds"


def cells(sources: Sources, part: str) -> Iterable[Cell]:
    """An entry of the catalogue, or one rule of a kind, on a sequence of so many tokens."""
    names = list(catalogue() if part == CATALOGUE else KINDS)
    lengths = sources(smoke=LENGTHS[:1], sample=LENGTHS, full=(*LENGTHS, 2 * LENGTHS[-1]))
    return grid(part, rules=sources(smoke=names[:3], sample=names), length=lengths)


def measure(sources: Sources, cell: Cell) -> Iterable[Row]:
    rules = load_rules(cell.rules) if cell.part == CATALOGUE else RuleSet((KINDS[cell.rules],))
    trellis = sequence(cell.length, tuple(field for field in rules.fields or () if field != "O"))
    yield measured(trellis, rules)


def measured(trellis: Trellis, rules: RuleSet) -> Row:
    """What the rules add, and what compiling, writing the program and decoding take."""
    problem = compile_problem(trellis, rules)
    path, program = formulate(replace(problem, rules=())).program, formulate(problem).program
    plain = RuleSet(())
    with one_core():
        times = {
            "compile": least(lambda: compile_problem(trellis, rules), REPEATS),
            "program": least(lambda: formulate(compile_problem(trellis, rules)), REPEATS),
            "path": least(lambda: formulate(compile_problem(trellis, plain)), REPEATS),
            "bare": least(viterbi_calls([trellis], plain)[0], 10 * REPEATS),
        }
        decoder = ilpinfer.Decoder(rules, trellis.labels, time_limit=LIMIT)
        solution = decoder.decode(trellis)
        times["decode"] = least(lambda: decoder.decode(trellis), 1)
    optimum.recheck(trellis, rules, solution)
    return {
        "rows": program.n_rows - path.n_rows,
        "columns": program.n_columns - path.n_columns,
        "entries": len(program.data) - len(path.data),
        "proved": solution.status in ("optimal", "infeasible"),
        **{name: 1000 * seconds for name, seconds in times.items()},
    }


def sequence(length: int, fields: Sequence[str]) -> Trellis:
    """Fields in runs of random lengths under noise, over BIO labels: the fields given, and others up to 30 labels."""
    names = [*fields, *(f"f{i}" for i in range(1, LABELS))][: LABELS // 2]
    labels = LabelSet((*[f"{p}-{name}" for name in names for p in "BI"][: LABELS - 1], "O"), "bio")
    random = np.random.default_rng(length)
    emissions = NOISE * random.normal(size=(length, LABELS))
    begin = 0
    while begin < length:
        field, end = random.integers(LABELS // 2 - 1), begin + int(random.integers(2, 10))
        emissions[begin:end, 2 * field + 1] += LEAD
        emissions[begin, 2 * field : 2 * field + 2] += LEAD, -LEAD
        begin = end
    transitions = random.normal(size=(LABELS, LABELS))
    tokens = [WORDS[i] for i in random.integers(len(WORDS), size=length)]
    return Trellis.from_emissions(emissions, transitions, labels=labels, tokens=tokens)


def growth(lengths: Sequence[int], values: Sequence[float]) -> float | None:
    """The exponent of the length with which a value grows between the last two lengths; None where it is 0."""
    if len(values) < 2 or min(values[-2:]) <= 0:
        return None
    return math.log(values[-1] / values[-2]) / math.log(lengths[-1] / lengths[-2])


def report(frame: DataFrame, report: Report) -> None:
    """A table at one length, how rows and milliseconds grow with it, and what stands out."""
    shown = SHOWN if SHOWN in set(frame.length) else frame.length.max()
    at = frame[frame.length == shown]
    report.heading(f"Sequences of {shown} tokens")
    report.text(
        "Rows, columns and coefficients are those beside the path's own. The exponent is that of the length with which rows grow "
        f"at the end: 1 where twice the tokens make twice the rows. Decoding stops after {LIMIT:g} s."
    )

    def exponent(some: DataFrame) -> str:
        same = frame[(frame.part == some.part.iloc[0]) & (frame.rules == some.rules.iloc[0])]
        return number(growth(same.length.tolist(), same.rows.tolist()), 2)

    titles = at.rules.where(at.part != CATALOGUE, "catalogue: " + at.rules)
    cells: Cells = {
        ("rows", "columns", "coefficients"): lambda x: [
            number(x[name].iloc[0], 6) for name in ("rows", "columns", "entries")
        ],
        "exponent": exponent,
        ("compile, ms", "program, ms"): lambda x: map(number, x[["compile", "program"]].iloc[0]),
        "program × the path's alone": lambda x: number((x.program / x.path).iloc[0]),
        "decode × bare pass": lambda x: (
            number((x.decode / x.bare).iloc[0]) + ", not proved" * (not x.proved.iloc[0])
        ),
    }
    report.pivot(at.assign(title=titles), {"rules": "title"}, cells)
    entries = at[at.part == CATALOGUE]
    if len(entries):
        report.text(
            f"At {shown} tokens, compiling an entry of the catalogue takes at most {100 * (entries['compile'] / entries.program).max():.0f} % of the time to write its program."
        )
    report.text(
        f"The program of the path alone takes {number(at.path.median())} ms, and a bare pass {number(at.bare.median())} ms (medians)."
    )
    left = [f"{row.rules} ({row.length} tokens)" for row in frame[~frame.proved].itertuples()]
    text = f"{len(frame) - len(left)} of {len(frame)} sequences are decoded with a proof"
    report.text(f"{text}; not so in {LIMIT:g} s: {', '.join(left)}." if left else f"{text}.")
    kinds = frame[frame.part == RULES]
    if not len(kinds):
        return
    caption = "Milliseconds to compile one rule, by the length of the sequence"
    with report.picture("growth", caption, (8, 5)) as axes:
        for n, ((name,), some) in enumerate(groups(kinds, "rules")):
            axes.plot(some.length, some["compile"], "-" if n < 8 else "--", marker=".", label=name)
        axes.set(xscale="log", yscale="log", xlabel="tokens", ylabel="milliseconds to compile")
        axes.set_xticks(LENGTHS, map(str, LENGTHS))
        axes.minorticks_off()
        axes.legend(frameon=False, fontsize=7, loc="center left", bbox_to_anchor=(1, 0.5))


STUDY = Study(
    title="What each kind of rule costs",
    corpus=f"one generated sequence of {', '.join(map(str, LENGTHS))} tokens for each rule set (smoke 25 alone, full 800 too), with "
    f"fields in runs of 2 to 9 tokens whose labels score {LEAD:g} nats more, under Gaussian noise of {NOISE:g} nats",
    model=f"{LABELS} BIO labels with random transitions",
    rules=f"every entry of the catalogue, and one rule of each of {len(KINDS)} kinds at 1 nat (smoke: three of each)",
    methods="`compile_problem`, `formulate` and `auto` with rules that are compiled before; a bare Viterbi pass without rules",
    limits=f"{LIMIT:g} s to decode; optima are rechecked",
    seeds="the number of tokens",
    measures=f"milliseconds of processor time on one core, the least of {REPEATS} runs after one that is not timed; decoding one run "
    "after one; multiples of the program of the path alone, and of a bare pass of the same sequence",
    parts=(CATALOGUE, RULES),
    timed=True,
)
