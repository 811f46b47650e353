"""What `ilpinfer learn` chooses by default, beside each way that it tries, on folds and on other sequences."""

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from pandas import DataFrame, Series, concat

from benchmarks.data import umass
from benchmarks.data.corpora import drawn, read_labelled, resume_rules, train_and_dev
from benchmarks.data.evaluations import beside_gold, in_percent, labels_of
from benchmarks.data.sets import Labelled
from benchmarks.report import Cells, Report, fixed, groups
from benchmarks.study import Cell, Row, Sources, Study
from formulations import RuleSet, load_rules
from ilpinfer import Decoder
from ilpinfer.learning import WeightLearner
from ilpinfer.learning.choice import choose
from ilpinfer.learning.measures import Measures
from ilpinfer.learning.selection import CandidateTrial
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
    draws: Mapping[int, int] = field(default_factory=lambda: {0: 1})
    """How many, by the number of sequences to learn from, 0 for all."""


def _of(corpus: str, sources: Sources) -> tuple[list[Labelled], list[Labelled]]:
    return train_and_dev(sources.folder, corpus)


def _resumes(sources: Sources) -> tuple[list[Labelled], list[Labelled]]:
    documents = read_labelled(sources.folder / "resume" / "experience_train.tsv")
    return documents[::2], documents[1::2]


SETTINGS: Mapping[str, Setting] = {
    "Cora, HMM": Setting(
        partial(_of, "cora"), "hmm", partial(load_rules, "citations"), draws={20: 4, 60: 2, 300: 2}
    ),
    "Spanish names, HMM": Setting(partial(_of, "names"), "hmm", draws={500: 1}),
    "UMass, HMM": Setting(partial(_of, "umass"), "hmm"),
    "UMass, CRF": Setting(partial(_of, "umass"), "crf", options=umass.PARAMETERS, draws={400: 1, 0: 1}),
    "Résumés, HMM": Setting(_resumes, "hmm", partial(resume_rules, hard=False)),
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
    most = max(number for setting in settings.values() for number in setting.draws.values())
    for draw in range(sources(smoke=1, sample=most)):
        for name, setting in settings.items():
            for size, draws in sources(smoke={6: 1}, sample=setting.draws).items():
                if draw < draws:
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
    ways = candidates(learner, fitting.given, fitting.corrects)
    trials = selection(learner, fitting, ways).trials
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
    frame = _judged(frame)
    for measure, title in MEASURES.items():
        report.heading(f"{title[0].upper()}{title[1:]}, %")
        lines = []
        for (setting, size), some in groups(frame, "setting", "size"):
            by_hand = (some[some.best & (some.group == group)] for group in BY_HAND)
            line = [fixed(own[measure].mean()) if len(own) else "–" for own in by_hand]
            chosen = some[some.chosen]
            line += [fixed(chosen[measure].mean()), fixed(chosen.all_seconds.mean(), 0)]
            lines.append([f"{setting}, {size or 'all'}", str(len(chosen)), *line])
        columns = ("model, labelled", "draws", *BY_HAND.values(), "chosen by default", "seconds")
        report.table(columns, lines)
    report.heading("Each way")
    for (setting, size), some in groups(frame, "setting", "size"):
        report.heading(f"{setting}, {size or 'all'}", 3)
        cells: Cells = {
            "on folds, tokens / spans / whole %": lambda x: _means(DataFrame(x.on_folds.tolist())),
            "on others, tokens / spans / whole %": lambda x: _means(x[[*MEASURES]]),
            "rules": lambda x: fixed(x["rules"].mean(), 0),
            "seconds on folds": lambda x: fixed(x.trial.mean()),
            "stopped after": lambda x: "; ".join(filter(None, x.stopped)) or "–",
            "chosen": lambda x: f"{x.chosen.sum()} of {len(x)}",
        }
        report.pivot(some, {"way": "way"}, cells)


def _judged(frame: DataFrame) -> DataFrame:
    """With measures on folds, which ways are the best of their kind there, which is chosen, and the seconds of the whole choice."""
    parts = []
    for _, some in groups(frame, "setting", "size", "draw"):
        trials: dict[str, CandidateTrial[None]] = {
            row.way: CandidateTrial(
                (), np.reshape(row.counts, (-1, 6)), row.trial, np.array(row.places), row.stopped
            )
            for row in some.itertuples()
        }
        on_folds = [
            [100 * share for share in Measures.of_counts(trial.scores)] if len(trial.scores) else [np.nan] * 3
            for trial in trials.values()
        ]
        worth = Series([sum(each) for each in on_folds], some.index)
        best = worth.dropna().groupby(some.group).idxmax()
        seconds = some.models + some.trial.sum() + some["fit"]
        parts.append(
            some.assign(
                on_folds=on_folds,
                best=some.index.isin(best),
                chosen=some.way == choose(trials, "all"),
                all_seconds=seconds,
            )
        )
    return concat(parts)


def _means(some: DataFrame) -> str:
    return " / ".join(fixed(value) for value in some.mean())


STUDY = Study(
    title="The default of learning",
    source="Stokman 2011, section 7.1; Fersini et al. 2014, section 3.1, for mined rules; Smith and Eisner 2006 for the risk",
    corpus="Cora references: 20, 60 or 300 of the training part at random, and the development part to measure on. UMass references: all or 400 of the training part, and the development part. "
    f"Spanish names: 500 sentences at random. Résumés: every other section to learn from, the others to measure on. At most {TEST} sequences to measure on, evenly spaced",
    model="HMMs as `ilpinfer train` makes them; for all or 400 UMass references a CRF with the template `citations`, c1 = 0.05, c2 = 0.3, 120 iterations",
    rules="`citations` for Cora; for résumés the soft rules of the study `engine`; none for UMass and names, where only mined rules are tried",
    methods="`WeightLearner` as `ilpinfer learn` calls it: everything is learnt on folds of the sequences alone. By hand: of the ways of each kind "
    "the one that is best on folds",
    limits=f"60 s for each way on all folds, and what earlier ways have left; {LIMIT:g} s to decode a sequence",
    seeds="the number of the draw, for sequences, folds and learner",
    measures="right tokens, F1 of exact spans and whole sequences in per cent, on sequences that were not learnt from. Seconds of processor time: models, "
    "trials of all ways and the chosen one; without those of CRFsuite, which trains CRFs in a process of its own",
    stand_ins="how the trials decide, and up to which number of sequences near twice the given penalties are preferred, was chosen after draws 0 and 1 of "
    "Cora had been seen; draws 2 and 3 of 20 had not",
    parts=("learn",),
)
