"""F1 of job titles, companies, places and dates in résumés by the reward for the beginnings of spans."""

from collections.abc import Iterable, Mapping, Sequence

from pandas import DataFrame

from benchmarks.data.corpora import read_labelled
from benchmarks.data.evaluations import (
    MEASURES,
    beside_gold,
    evaluation_of,
    gain_over,
    measures,
    rechecked,
    row_of,
    span_measures,
)
from benchmarks.data.line_breaks import BetweenBreaks, trained_between_breaks, with_breaks
from benchmarks.data.models import trained
from benchmarks.data.sets import Labelled
from benchmarks.report import Cells, Report
from benchmarks.study import Cell, Row, SecondDraw, Sources, Study, grid
from formulations import LabelSet, RuleSet
from formulations import constraints as C
from formulations.labels.schemes import OUTSIDE
from ilpinfer.models.sequence_model import SequenceModel
from ilpinfer.pipelines.cross_validation import make_folds

PARAMETERS = {"c1": 0.05, "c2": 0.1, "max_iterations": 50}
FOLDS = 5
REWARDS = (0.0, 1.0, 1.5, 2.0)
"""Nats for the beginning of each span."""
KEPT, TAKEN_OUT = "line breaks kept", "line breaks taken out"
REWARDED = "rewards"


def cells(sources: Sources, part: str) -> Iterable[Cell]:
    """One fold of one shuffle, labelled under all rule sets by a CRF of the other folds."""
    _sections(sources)
    return grid(part, variant=(KEPT, TAKEN_OUT), shuffle=[0], fold=range(sources(smoke=2, sample=FOLDS)))


def measure(sources: Sources, cell: Cell) -> Iterable[Row]:
    pairs = _sections(sources)
    folds = make_folds(range(len(pairs)), sources(smoke=2, sample=FOLDS), sources.seed(cell.shuffle))
    left_out = set(folds[cell.fold])
    training = [pair for place, pair in enumerate(pairs) if place not in left_out]
    model: SequenceModel = (
        trained_between_breaks(training, "resume", **PARAMETERS)
        if cell.variant == TAKEN_OUT
        else trained("crf", training, template="resume", **PARAMETERS)
    )
    for name, own in rules(training).items():
        yield {"rules": name, **outcome(model, pairs, folds[cell.fold], own)}


def rules(training: Sequence[Labelled]) -> Mapping[str, RuleSet]:
    """The scheme, with each reward for the beginning of a run."""
    labels = LabelSet(tuple(sorted({label for _, gold in training for label in gold})))
    fields = tuple(field.name for field in labels.each_field)
    return {
        f"{reward:g}": RuleSet(
            (C.valid_scheme(), *(C.feature(label=f"B-{field}", weight=reward) for field in fields if reward)),
            fields,
        )
        for reward in REWARDS
    }


def outcome(model: SequenceModel, pairs: Sequence[Labelled], places: Sequence[int], rules: RuleSet) -> Row:
    """The sections at some places labelled under rules; line breaks that the model does not see are O."""
    some = [pairs[place] for place in places]
    solutions = rechecked([model.trellis(tokens) for tokens, _ in some], rules)
    labellings = [one.labels for one in solutions]
    if isinstance(model, BetweenBreaks):
        labellings = [
            with_breaks(tokens, labels, OUTSIDE) for (tokens, _), labels in zip(some, labellings, strict=True)
        ]
    return row_of(beside_gold(some, labellings, scheme="bio"), places)


def _sections(sources: Sources) -> list[Labelled]:
    result = read_labelled(sources.folder / "resume" / "experience_train.tsv")
    return result[: sources(smoke=8, sample=len(result))]


def report(frame: DataFrame, report: Report) -> None:
    report.heading("A reward for the beginning of each span")
    by = {"line breaks": "variant", "reward, nats": "rules"}
    none = frame[frame.rules == "0"]
    cells: Cells = {
        MEASURES: lambda x: measures(evaluation_of(x)),
        "F1 of spans, points over no reward": gain_over(lambda x: none[none.variant == x.variant.iloc[0]]),
    }
    report.pivot(frame, by, cells)


STUDY = Study(
    title="Spans in résumés",
    source="Stokman 2011, section 5.3 (rewards as features)",
    corpus=f"221 experience sections of résumés, {FOLDS} folds by section (smoke: 8 made-up sections, 2 folds)",
    model="linear-chain CRF with the template `resume`, trained on the other folds; L-BFGS with c1 = 0.05, c2 = 0.1, 50 iterations. "
    "Line breaks are tokens, or are taken out and put back as O",
    rules=f"labels keep their scheme. Rewards of {', '.join(f'{one:g}' for one in REWARDS)} nats for the beginning of each span, since "
    "annotators have left out much",
    methods="`auto`",
    seeds="shuffle 0; bootstrap 0",
    measures="in per cent: right tokens, precision, recall and F1 of exact spans, whole sections. Gains in points with 95 % intervals of the paired "
    "bootstrap over sections (1999 resamples). Every optimum is rechecked",
    stand_ins="The résumés of the thesis are not public, and theirs have descriptions as a label: these sections take their place",
    parts=(REWARDED,),
    second=SecondDraw(
        "another shuffle of the same sections into folds",
        ("variant", "rules"),
        {"F1 % of spans": lambda x: span_measures(evaluation_of(x).of_all())[2]},
        lambda cell: cell.variant == KEPT,
    ),
)
