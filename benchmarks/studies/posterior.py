"""Labellings of least expected loss beside the most probable one, with and without rules."""

from collections.abc import Iterable

from pandas import DataFrame

from benchmarks.data.corpora import split
from benchmarks.data.evaluations import measured, mined, setting_of
from benchmarks.data.models import trained
from benchmarks.report import Cells, Report, fixed, groups, number
from benchmarks.study import RESPLIT, Cell, Row, SecondDraw, Sources, Study, grid
from formulations import RuleSet, load_rules
from formulations import constraints as C

METHODS = {
    "Viterbi": "viterbi",
    "constrained Viterbi": "constrained-viterbi",
    "most probable under the rules": "auto",
    "least risk for tokens": "posterior:top_k=20",
    "least risk for spans": "posterior:risk=spans:top_k=20",
}
LIMIT = 1.0
SIZES, MINED = (20, 300), 5
CORA, UMASS = "cora", "umass"


def cells(sources: Sources, part: str) -> Iterable[Cell]:
    """A method on all sequences of one model and one rule set."""
    split(sources, part)
    if part == CORA:
        models = [f"HMM of {size}" for size in SIZES]
        return grid(part, model=models, rules=("none", "citations"), method=METHODS)
    return grid(part, model=["CRF"], rules=("scheme", f"scheme and {MINED} mined rules"), method=METHODS)


def measure(sources: Sources, cell: Cell) -> Iterable[Row]:
    number = sources(smoke=2, sample=60, full=100)
    train, dev = split(sources, cell.part)
    if cell.part == CORA:
        model = trained("hmm", train[: int(cell.model.split()[-1])])
        rules = RuleSet(()) if cell.rules == "none" else load_rules("citations")
    else:
        train = train[: sources(smoke=20, sample=400, full=len(train))]
        model = trained("crf", train, template="citations", max_iterations=60)
        some = mined(train, MINED) if "mined" in cell.rules else ()
        rules = RuleSet((*some, C.valid_scheme()))
    setting = setting_of(cell.model, model, dev[:number], rules)
    yield measured(setting, METHODS[cell.method], LIMIT, recheck=cell.method.startswith("most"))


def report(frame: DataFrame, report: Report) -> None:
    for (part, model, rules), some in groups(frame, "part", "model", "rules"):
        report.heading(f"{part}, {model}, rules: {rules}")
        cells: Cells = {
            ("tokens %", "span F1 %", "whole %"): lambda x: [
                fixed(x[n].iloc[0]) for n in ("tokens", "spans", "whole")
            ],
            "ms a sequence": lambda x: number(x.milliseconds.iloc[0]),
            f"optimal of {some.sequences.iloc[0]}": lambda x: x.optimal.iloc[0],
        }
        report.pivot(some, {"method": "method"}, cells)


STUDY = Study(
    title="Minimum-risk decoding",
    corpus="Cora and UMass references, the first 60 of each development part (all scales: 2, 60, 100)",
    model="HMMs of 20 and 300 Cora references; a CRF of 400 UMass references",
    rules="none and `citations` for Cora; the scheme, and five mined soft rules beside it, for UMass",
    methods="Viterbi, constrained Viterbi, `auto`, and `posterior` for the loss of tokens and of spans. Where sums over "
    "all labellings have too many joint states, the best 20 labellings stand for them",
    limits="1 s a sequence",
    measures="right tokens, F1 of exact spans and whole sequences in per cent; milliseconds a sequence",
    parts=(CORA, UMASS),
    second=SecondDraw(
        RESPLIT,
        ("part", "model", "rules", "method"),
        {"tokens %": lambda x: fixed(x.tokens.iloc[0]), "span F1 %": lambda x: fixed(x.spans.iloc[0])},
    ),
    timed=True,
)
