"""Penalties as published, as counted from gold labels and as learnt, beside no rules, with few and many labels."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from pandas import DataFrame, Series

from benchmarks.data.corpora import drawn, train_and_dev
from benchmarks.data.evaluations import beside_gold, in_percent, labels_of, rechecked
from benchmarks.data.models import trained
from benchmarks.data.sets import Labelled
from benchmarks.report import Report, draws_of, fixed, gain
from benchmarks.study import Cell, Row, Sources, Study
from formulations import RuleSet, load_rules
from formulations import constraints as C
from ilpinfer import learning
from ilpinfer.learning.all_features import AllFeatures
from ilpinfer.learning.training_set import TrainingSet
from ilpinfer.learning.updates import Update
from ilpinfer.learning.ways import STEPS_TOGETHER as STEPS
from ilpinfer.models.sequence_model import SequenceModel
from ilpinfer.models.training import rewrite

MODELS: Mapping[str, tuple[str, str, Mapping[str, Any]]] = {
    "usual HMM": ("hmm", "bio", {}),
    "best HMM": ("hmm", "iobes", {"alike": True}),
    "CRF": ("crf", "bio", {"template": "citations", "c1": 0.05, "c2": 0.3, "max_iterations": 100}),
}
"""Kind, scheme and options of each model."""
Groups = Mapping[tuple[str, int], DataFrame]
"""The rows of each model and number of labelled references."""
PENALTIES = ("no rules", "published", "as `check` suggests", "learnt", "learnt, with `citations-order`")
BEST, HELD_OUT, OWN = "all weights, chosen on folds", "all weights", "all weights, own scores"
TOGETHER = (*PENALTIES[:2], PENALTIES[3], BEST, HELD_OUT, OWN)
MEASURES = {"tokens": "token accuracy", "spans": "span F1", "whole": "whole references"}
SIZES, TEST = (5, 20, 300), 100
MOST_CHOSEN = 20
"""References up to which all weights are also chosen on folds, at all but the full scale."""
MOST_FOLDS = 20
"""With at most so many references, each is left out in turn; otherwise there are five folds."""


def cells(sources: Sources, part: str) -> Iterator[Cell]:
    """Every kind of penalties for a model of one draw of references."""
    references(sources.folder)
    sizes, models = sources(smoke=(SIZES[:1], ["usual HMM"]), sample=(SIZES, list(MODELS)))
    for draw in range(sources(smoke=1, sample=3, full=20)):
        yield from (Cell(part=part, model=model, size=size, draw=draw) for size in sizes for model in models)


def references(folder: Path) -> list[Labelled]:
    train, dev = train_and_dev(folder, "cora")
    return [*train, *dev]


def measure(sources: Sources, cell: Cell) -> Iterator[Row]:
    kind, scheme, options = MODELS[cell.model]
    known, tested = references(sources.folder), sources(smoke=10, sample=TEST)
    known = drawn(known, cell.draw)
    training, test = (
        [(tuple(tokens), tuple(gold)) for tokens, gold in rewrite(some, scheme)]
        for some in (known[: cell.size], known[cell.size : cell.size + tested])
    )

    make: Any = partial(trained, kind, scheme=scheme, **options)
    folds = MOST_FOLDS if cell.size <= MOST_FOLDS else 5
    scorers = learning.held_out_models(training, make, folds=folds, seed=cell.draw)
    examples = [
        learning.ScoredExample(scorer.trellis(x), y) for scorer, (x, y) in zip(scorers, training, strict=True)
    ]
    model = make(training)
    given = load_rules("citations")
    given = replace(given, items=(*given, C.valid_scheme()))
    with_order = replace(given, items=(*given, *load_rules("citations-order")))
    counted = TrainingSet(examples, given)
    learner = learning.WeightLearner(seed=cell.draw, ways=["penalties"])
    learnt, ordered = learner.fit(examples, given), learner.fit(examples, with_order)
    rule_sets = (
        counted.with_weights(0 * counted.given),
        given,
        counted.with_weights(counted.counted(range(cell.size))),
        learnt.rules,
        ordered.rules,
    )
    results = dict.fromkeys(PENALTIES[3:4], learnt) | dict.fromkeys(PENALTIES[4:], ordered)
    for name, rules in zip(PENALTIES, rule_sets, strict=True):
        row = measured(model, test, rules)
        row["penalties"] = name
        if name in results:
            verdicts = results[name].verdicts
            left_out = sum(not verdict.learnt for verdict in verdicts)
            row |= {"algorithm": results[name].chosen, "left_out": left_out, "rules": len(verdicts)}
        yield row
    update = Update("margin", **STEPS, seed=cell.draw)
    for name, own in ((HELD_OUT, scorers), (OWN, ())):
        task = AllFeatures(training, model, given, own)
        weights = update.fit(task, task.places).weights
        row = measured(task.corrected(weights), test, task.rules(weights))
        unscored = len(training) - len(task.places)
        yield row | {"penalties": name, "algorithm": update.name, "left_out": unscored}
    if cell.size <= sources(smoke=MOST_CHOSEN, sample=MOST_CHOSEN, full=SIZES[-1]):
        best = replace(learner, ways=["given", "all weights"]).fit_model(training, make, given)
        row = measured(best.model or model, test, best.rules)
        yield row | {"penalties": BEST, "algorithm": best.chosen, "left_out": best.unscored}


def measured(model: SequenceModel, test: Sequence[Labelled], rules: RuleSet) -> Row:
    solutions = rechecked([model.trellis(tokens) for tokens, _ in test], rules)
    return in_percent(beside_gold(test, map(labels_of, solutions)))


def _draws(own: DataFrame, name: str, measure: str = "tokens") -> Series:
    return draws_of(own, measure, penalties=name)


def _levels(some: Groups, names: Sequence[str], report: Report) -> None:
    def means(own: DataFrame, name: str) -> str:
        return " / ".join(fixed(_draws(own, name, one).mean()) for one in MEASURES)

    report.table(
        ("model, labelled", "draws", *names),
        (
            (f"{model}, {size}", len(_draws(own, names[0])), *(means(own, name) for name in names))
            for (model, size), own in some.items()
        ),
    )


def _gains(some: Groups, names: Sequence[str], base: str, report: Report) -> None:
    report.text("Points, mean over draws ± standard error of the paired difference.")
    report.table(
        ("model, labelled", "measure", *names),
        (
            (f"{model}, {size}", text, *(gain(_draws(own, n, one), _draws(own, base, one)) for n in names))
            for (model, size), own in some.items()
            for one, text in MEASURES.items()
        ),
        left=2,
    )


def _choices(own: DataFrame) -> str:
    """What all weights were on folds, and sequences without a scorer that knows their labels."""
    names = _algorithms(own[own.penalties == BEST])
    unscored = own[own.penalties == HELD_OUT].left_out.mean()
    return f"All weights: {names or 'not chosen'}; {unscored:.1f} references have no scorer that knows their labels."


def _algorithms(some: DataFrame) -> str:
    return ", ".join(f"{each} in {n}" for each, n in some.algorithm.value_counts(sort=False).items())


def report(frame: DataFrame, report: Report) -> None:
    some = {
        (model, size): own
        for model in MODELS
        for size in SIZES
        if len(own := frame[(frame.model == model) & (frame["size"] == size)])
    }

    report.heading("Token accuracy / span F1 / whole references, %")
    _levels(some, PENALTIES, report)
    report.heading("Gains over no rules")
    _gains(some, PENALTIES[1:], PENALTIES[0], report)
    report.heading("All weights learnt together, %")
    report.text(
        "`published` is learning first and inference after, `learnt` are penalties alone, and `no rules` of the CRF is what its likelihood alone has "
        f"learnt. `{BEST}` is the model as it is, or with the corrections that are best on folds; at the usual scale with up to "
        f"{MOST_CHOSEN} references. `{HELD_OUT}` is the "
        f"margin without that choice, on scores of models of the other folds; `{OWN}` the same on scores of the model itself."
    )
    _levels(some, TOGETHER, report)
    report.heading("All weights: gains over learning first, inference after")
    _gains(some, TOGETHER[2:], TOGETHER[1], report)
    report.heading("What was learnt")
    lines = []
    for (model, size), own in some.items():
        learnt = own[own.penalties == PENALTIES[3]]
        lines.append(
            f"- {model}, {size} labelled: {_algorithms(learnt)} of {len(learnt)} draws; "
            f"{learnt.left_out.mean():.1f} of {learnt['rules'].iloc[0]:.0f} rules left out in the mean. {_choices(own)}"
        )
    report.text("\n".join(lines))


STUDY = Study(
    title="Penalties of rules",
    source="Chang, Ratinov, Roth 2007, section 6, for the published penalties (9.21 nats for every rule); "
    "Stokman 2011, section 7.1, for learning them",
    corpus="Cora references; each draw takes 5, 20 or 300 of the 400 at random to train on, and 100 others to decode",
    model="an HMM of begin and inside (usual), one that has ends, too, and reads numbers, initials and months alike (best), "
    "and a CRF",
    rules="`citations`, and `citations-order` beside it in the last column; labels keep their scheme in every column",
    methods="exact decoding; `check` has the penalties that `ilpinfer check --write` suggests from gold labels; learnt are "
    "those of `WeightLearner` on the training references alone, each scored by a model that was trained without its part. All weights: "
    "corrections of the model's scores and penalties together, from proved optima, by `WeightLearner.fit_model`, and by its margin alone",
    limits="none; every labelling is proved to be the best one, and the proof is rechecked",
    seeds="the number of the draw, for the references, the folds and the learner; 1, 3, 20 draws at the three scales "
    "(smoke: the usual HMM of 5 references, 10 references decoded)",
    measures="right tokens, F1 of exact spans and whole references in per cent; paired standard errors of differences",
    stand_ins="the penalties that the factor of two for few labels starts from, and `citations-order`, were chosen after some of "
    "the draws had been seen",
    parts=("cora",),
)
