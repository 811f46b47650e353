"""What `ilpinfer learn` takes by itself, beside each way that it tries, on folds and on other sequences."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from pandas import DataFrame

from benchmarks.data import umass
from benchmarks.data.corpora import drawn, read_labelled, resume_rules, train_and_dev
from benchmarks.data.evaluations import beside_gold, in_percent, labels_of
from benchmarks.data.sets import Labelled
from benchmarks.report import Report, fixed, groups
from benchmarks.study import Cell, Row, Sources, Study
from formulations import RuleSet, load_rules
from ilpinfer import Decoder
from ilpinfer.learning import WeightLearner
from ilpinfer.learning.ways import GIVEN, MINED, NONE, PENALTIES, TOGETHER
from ilpinfer.learning.weights import candidates, prepared, selection
from ilpinfer.models.training import train


@dataclass(frozen=True)
class Setting:
    """Sequences to learn from and to measure on, a model, and rules."""

    parts: Callable[[Sources], tuple[list[Labelled], list[Labelled]]]
    kind: str
    rules: Callable[[], RuleSet] = lambda: RuleSet(())
    options: Mapping[str, Any] = field(default_factory=dict)
    sizes: Sequence[int] = (0,)
    draws: int = 1


def _resumes(sources: Sources) -> tuple[list[Labelled], list[Labelled]]:
    documents = read_labelled(sources.folder / "resume" / "experience_train.tsv")
    return documents[::2], documents[1::2]


def _of(corpus: str, sources: Sources) -> tuple[list[Labelled], list[Labelled]]:
    return train_and_dev(sources.folder, corpus)


SETTINGS: Mapping[str, Setting] = {
    "Cora, HMM": Setting(
        partial(_of, "cora"), "hmm", partial(load_rules, "citations"), sizes=(20, 60, 300), draws=2
    ),
    "Spanish names, HMM": Setting(partial(_of, "names"), "hmm", sizes=(500,), draws=2),
    "UMass, HMM": Setting(partial(_of, "umass"), "hmm"),
    "UMass, CRF": Setting(partial(_of, "umass"), "crf", options=umass.PARAMETERS, sizes=(400,)),
    "résumés, HMM": Setting(_resumes, "hmm", partial(resume_rules, hard=False)),
}
TEST = 400
"""Most sequences to measure on, evenly spaced."""
LIMIT = 1.0
MEASURES = {"tokens": "token accuracy", "spans": "span F1", "whole": "whole sequences"}
BY_HAND: Mapping[str, str] = {
    "": NONE,
    GIVEN: "given",
    PENALTIES: "penalties learnt",
    MINED: "mined",
    TOGETHER: "all weights",
}
"""Ways that people choose themselves; of each kind the one that is best on folds."""


def cells(sources: Sources, part: str) -> Iterator[Cell]:
    """The first draw of all settings, then the next one of those that have several."""
    settings = {name: setting for name, setting in SETTINGS.items() if setting.parts(sources)}
    for draw in range(max(setting.draws for setting in settings.values())):
        for name, setting in settings.items():
            for size in sources(smoke=(6,), sample=setting.sizes):
                if draw < sources(smoke=1, sample=setting.draws):
                    yield Cell(part=part, setting=name, size=size, draw=draw)


def measure(sources: Sources, cell: Cell) -> Iterator[Row]:
    setting = SETTINGS[cell.setting]
    training, test = setting.parts(sources)
    training = drawn(training, cell.draw)[: cell.size or len(training)]
    number = min(sources(smoke=4, sample=TEST), len(test))
    test = [test[place * len(test) // number] for place in range(number)]
    learner, options = WeightLearner(seed=cell.draw), dict(setting.options)
    make: Any = partial(train, setting.kind, **options)
    began = time.process_time()
    fitting = prepared(learner, training, make, setting.rules())
    models = time.process_time() - began
    trials, ways = selection(learner, fitting).trials, candidates(learner, fitting.given, fitting.corrects)
    model = make(training)
    for name, trial in trials.items():
        began = time.process_time()
        made = fitting.fit(ways[name], [])
        fitted = time.process_time() - began
        rules = made.rules or made.data.with_weights(made.weights.weights)
        decoder = Decoder(rules, model=made.model or model, time_limit=LIMIT)
        solutions = decoder.decode_texts(tokens for tokens, _ in test)
        yield {
            "way": name,
            "group": ways[name].group,
            "rules": len(rules),
            "models": models,
            "trial": trial.seconds,
            "fit": fitted,
            "stopped": trial.stopped,
            "places": np.asarray(trial.places).tolist(),
            "counts": trial.scores.tolist(),
            **in_percent(beside_gold(test, map(labels_of, solutions))),
        }


def report(frame: DataFrame, report: Report) -> None:
    frame = frame.assign(worth=[sum(each) for each in frame.on_folds])
    for measure, title in MEASURES.items():
        report.heading(f"{title[0].upper()}{title[1:]}, %")
        report.table(
            ("model, labelled", "draws", *BY_HAND.values(), "taken by itself", "seconds"),
            (_line(some, names, measure) for names, some in groups(frame, "setting", "size")),
        )
    report.heading("Each way")
    for (setting, size), some in groups(frame, "setting", "size"):
        report.heading(f"{setting}, {size or 'all'}", 3)
        report.pivot(
            some,
            {"way": "way"},
            {
                "on folds, tokens / spans / whole %": lambda x: _means(DataFrame(x.on_folds.tolist())),
                "folds": lambda x: fixed(x.folds.mean()),
                "on others, tokens / spans / whole %": lambda x: _means(x[[*MEASURES]]),
                "rules": lambda x: fixed(x["rules"].mean(), 0),
                "seconds": lambda x: fixed(x.seconds.mean()),
                "taken": lambda x: f"{x.taken.sum()} of {len(x)}",
            },
        )


def _line(some: DataFrame, names: tuple[Any, ...], measure: str) -> list[str]:
    by_hand = []
    for group in BY_HAND:
        own = some[some.group == group]
        best = own.loc[own.groupby("draw").worth.idxmax()]
        by_hand.append(fixed(best[measure].mean()) if len(best) else "–")
    taken = some[some.taken]
    setting, size = names
    cells = fixed(taken[measure].mean()), fixed(taken.all_seconds.mean(), 0)
    return [f"{setting}, {size or 'all'}", str(len(taken)), *by_hand, *cells]


def _means(some: DataFrame) -> str:
    return " / ".join(fixed(value) for value in some.mean()) or "–"


STUDY = Study(
    title="What is taken by itself",
    source="Stokman 2011, section 7.1; Fersini et al. 2014, section 3.1, for mined rules; Smith and Eisner 2006 for the risk",
    corpus="Cora references: 20, 60 or 300 of the training part at random, and the development part to measure on. UMass references: all or 400 of the training part, and the development part. "
    f"Spanish names: 500 sentences at random. Résumés: every other section. At most {TEST} sequences to measure on, evenly spaced",
    model="HMMs as `ilpinfer train` makes them; for 400 UMass references a CRF with the template `citations`, c1 = 0.05, c2 = 0.3, 120 iterations",
    rules="`citations` for Cora, and six soft rules of the study `resumes` for résumés; none for UMass and names, where only mined rules are tried",
    methods="`WeightLearner` as `ilpinfer learn` calls it: everything is learnt on folds of the sequences alone. By hand: of the ways of each kind "
    "the one that is best on folds",
    limits=f"60 s for each way on all folds; {LIMIT:g} s to decode a sequence",
    seeds="the number of the draw, for sequences, folds and learner",
    measures="right tokens, F1 of exact spans and whole sequences in per cent, on sequences that were not learnt from. Seconds of one process, with the training of "
    "models",
    parts=("learn",),
)
