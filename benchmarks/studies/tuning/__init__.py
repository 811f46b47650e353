"""Parameters of the evolutionary algorithm, tuned by Optuna on training parts only, and what that gains on held-out sequences."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
from pandas import DataFrame, concat

from benchmarks.report import Report, groups, number, percent
from benchmarks.studies.tuning import trials
from benchmarks.study import Cell, Row, Sources, Study, require

TRIALS, HELD_OUT = "trials", "held out"
LIMITS = (0.05, 0.8)
EQUAL = 1e-6
"""Nats: a gap below is none."""
TUNED = "tuned"
CONTENDERS: Mapping[str, Mapping[str, Any]] = {
    "published": {"variant": "published"},
    "published, from Viterbi": {"variant": "published", "start": "viterbi"},
    "varied": {"variant": "varied"},
}


def cells(sources: Sources, part: str) -> Iterator[Cell]:
    """The trials of one seed, or some held-out sequences of a data set with one contender."""
    require("optuna")
    seeds, chunks = sources(smoke=(1, 1), sample=(1, 1), full=(5, trials.CHUNKS))
    some, contenders = [("", 0)], [("", seed) for seed in range(seeds)]
    if part == HELD_OUT:
        some = [(data, chunk) for data in trials.held_out_names(sources) for chunk in range(chunks)]
        contenders = [*((name, 0) for name in CONTENDERS), *((TUNED, seed) for seed in range(seeds))]
    for data, chunk in some:
        for name, seed in contenders:
            yield Cell(part=part, seed=seed, data=data, chunk=chunk, contender=name)


def measure(sources: Sources, cell: Cell) -> Iterable[Row]:
    if cell.part == TRIALS:
        yield from trials.trials_of(sources, cell.seed)
        return
    options = CONTENDERS.get(cell.contender) or trials.best(trials.trials_of(sources, cell.seed))["options"]
    problems = trials.held_out(sources, cell.data, cell.chunk)
    trials.gap(problems[0], LIMITS[0], 0, options)  # not counted: it imports what the search needs
    for limit in (0.01,) if sources.scale == "smoke" else LIMITS:
        for place, problem in enumerate(problems):
            yield {"place": place, "limit": limit, "gap": trials.gap(problem, limit, 0, options)}


def _trials(frame: DataFrame, report: Report) -> None:
    def shown(value: Any) -> str:
        return number(value) if isinstance(value, float) else str(value)

    report.heading("Trials")
    for (seed,), some in groups(frame.sort_values("seed", kind="stable"), "seed"):
        own = some.to_dict("records")
        usual, tuned = own[0], trials.best(own)
        report.text(
            f"Seed {seed}, {len(own)} trials of {1000 * trials.LIMIT:g} ms a sequence: mean gap {number(usual['gap'])} nats with the published parameters, "
            f"{number(tuned['gap'])} with the best (trial {tuned['trial']})."
        )
        report.table(
            ("parameter", "published", "best", "share of the variance of gaps %"),
            (
                (name, shown(usual["options"][name]), shown(tuned["options"][name]), percent(share, 0))
                for name, share in trials.importances(own).items()
            ),
        )


def _held_out(frame: DataFrame, report: Report) -> None:
    contenders = tuple(frame.contender.unique())

    def means(some: DataFrame) -> list[str]:
        gaps = [some.gap[some.contender == name] for name in contenders]
        return [
            f"{number(own.mean())}, {percent((own <= EQUAL).mean(), 0)}" if len(own) else "–" for own in gaps
        ]

    report.heading("Held-out sequences")
    sequences = {"sequences": lambda x: len(x[["set", "chunk", "place"]].drop_duplicates())}
    limits = sorted(frame.limit.unique())
    for limit in limits:
        own = frame[frame.limit == limit].assign(set=frame.data)
        report.text(f"Mean gap in nats with {1000 * limit:g} ms, and the share of optima in per cent:")
        report.pivot(
            concat([own, own.assign(data="all")]), {"data": "data"}, {**sequences, contenders: means}
        )
    last = frame[frame.limit == limits[-1]].pivot_table("gap", "data", "contender", sort=False)
    with report.picture("gaps", f"Mean gap of each contender with {1000 * limits[-1]:g} ms") as axes:
        width = 0.8 / len(contenders)
        for n, name in enumerate(contenders):
            axes.bar(np.arange(len(last)) + n * width, last[name], width, label=name)
        names = [data.replace(", ", "\n") for data in last.index]
        axes.set_xticks(np.arange(len(last)) + 0.4 - width / 2, names)
        axes.set_ylabel("mean gap, nats")
        axes.legend(frameon=False)


STUDY = Study(
    title="Tuning the evolutionary algorithm",
    source="Stokman 2011, section 7.3 (tuning as future work), Tables 5 and 6 (the published parameters)",
    corpus="training: planted documents of 60 and 240 tokens and 13 labels, and references of the training part of Cora, 4 of each. Held out: other planted "
    f"documents of 60, 240 and 480 tokens, references of the development part of Cora, every other résumé section; {trials.LARGEST_CHUNK} of each (full: "
    f"{trials.LARGEST_CHUNK * trials.CHUNKS}). Smoke: documents of 12 tokens",
    model="HMMs of 20 references and of the other half of the résumé sections; planted scores",
    rules="those of the planted documents; for Cora `citations`, and at most one run of each field as hard rules; for résumés ten rules on documents, soft and hard",
    methods="`evolutionary`: as published; as published from Viterbi's labelling; the variant `varied`; the parameters of the best of "
    f"{trials.NUMBER} trials of Optuna's TPE sampler, of which the first is the published algorithm (smoke: 3 trials)",
    limits=f"{1000 * trials.LIMIT:g} ms a sequence in a trial; {' and '.join(f'{1000 * limit:g}' for limit in LIMITS)} ms on held-out sequences",
    seeds="sampler: 0 (full: 0 to 4); search: the number of the trial plus 1 in trials, 0 on held-out sequences",
    measures=f"nats below the proved optimum, at most {trials.CAP:g}, which also stands for no labelling; share of optima. "
    "Every optimum is rechecked; sequences without one are left out. Shares of the variance that a parameter explains by itself (fANOVA)",
    stand_ins="The thesis tunes nothing, and its résumés are not public: those of the corpus take their place",
    parts=(TRIALS, HELD_OUT),
    report={TRIALS: _trials, HELD_OUT: _held_out},
    timed=True,
)
