"""Parameters of the evolutionary algorithm, tuned by Optuna on training parts only (Stokman 2011, section 7.3), and what that gains."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

import ilpinfer
from benchmarks.data import corpora, generated
from benchmarks.data.sets import DataSet, Item, Scale, spread
from benchmarks.journal import Journal, Row
from benchmarks.searches.summary import CAP
from benchmarks.study import Study, Work
from formulations import load_rules
from ilpinfer.cli.progress import progress
from ilpinfer.models.hmm import HMM
from ilpinfer.search.evolution import Evolution

NUMBER, LIMIT = 80, 0.05
"""Of trials, and seconds that each gives a sequence."""
LIMITS = (0.05, 0.8)
TUNED, USUAL, TRIALS = "tuned", "usual", "trials"
WIDTH = 130


@dataclass(frozen=True)
class SolvedItem:
    """A sequence with its proved optimum."""

    data: DataSet
    item: Item
    best: float


def training(folder: Path, scale: Scale) -> Iterator[DataSet]:
    """References of the training part beyond those that the model has seen, and planted documents of seeds of their own."""
    for T in (60, 240) if not scale.smoke else (12,):
        data = generated.planted(T, 13 if not scale.smoke else 5, Scale())
        yield DataSet(data.name, "training", data.items[8 : 8 + scale(8, 4, 2)], data.rules)
    path = folder / "cora" / "train.tsv"
    if path.exists():
        train = corpora.read_labelled(path)
        hmm = HMM.train(train[:20])
        items = corpora.items_of(hmm, train[20:], "train", 20)
        chosen = spread(tuple(items), scale(16, 4, 2))
        yield DataSet("cora train", "training", chosen, load_rules("citations"))


def held_out(folder: Path, scale: Scale) -> Iterator[DataSet]:
    """Sequences that tuning has not seen."""
    from benchmarks.searches import GRID

    for part in ("generator", "cora", "resume"):
        try:
            for data in GRID.sets[part](folder, scale):
                yield DataSet(data.name, "held out", spread(data.items, scale(20, 4, 2)), data.rules)
        except corpora.Missing:
            continue


def run(work: Work) -> None:
    """Trials, then usual and tuned parameters on what is held out."""
    ilpinfer.warm_up()
    solved = list(_solve(training(work.data, work.scale)))
    best = tune(solved, work.scale(NUMBER, 12, 3), work.journal)
    solved = list(_solve(held_out(work.data, work.scale)))
    with progress("held out", 2 * len(solved)) as advance:
        for name, options in ((USUAL, {"variant": "published"}), (TUNED, best)):
            for one in solved:
                for limit in LIMITS:
                    if not work.journal.has(one.data.name, one.item.key, name, limit):
                        row = {"data": one.data.name, "item": one.item.key, "method": name, "limit": limit}
                        work.journal.add(row | {"gap": gap(one, limit, 0, options)})
                advance()


def _solve(sets: Iterator[DataSet]) -> Iterator[SolvedItem]:
    for data in sets:
        for item in data.items:
            solution = ilpinfer.decode(item.make(), data.rules, time_limit=60)
            if solution.status == "optimal":
                yield SolvedItem(data, item, solution.score)


def gap(solved: SolvedItem, limit: float, seed: int, options: Mapping[str, Any]) -> float:
    """Nats below the optimum, at most CAP, which also stands for no labelling."""
    solution = ilpinfer.decode(
        solved.item.make(), solved.data.rules, method="evolutionary", time_limit=limit, seed=seed, **options
    )
    return min(CAP, solved.best - solution.score)


def distributions() -> dict[str, Any]:
    """What is tuned, and from where to where."""
    from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

    return {
        "population": IntDistribution(2, 200, log=True),
        "offspring": IntDistribution(2, 200, log=True),
        "mutation_rate": FloatDistribution(0.05, 1.0),
        "shift_rate": FloatDistribution(0.0, 1.0),
        "selection_pressure": FloatDistribution(1.0, 2.0),
        "start_mutations": IntDistribution(0, 10),
        "parents": CategoricalDistribution(["uniform", "ranked"]),
        "shift": CategoricalDistribution(["backwards", "both"]),
        "start": CategoricalDistribution(["best-first", "viterbi"]),
    }


def tune(solved: Sequence[SolvedItem], number: int, journal: Journal) -> dict[str, Any]:
    """The parameters of the best trial; those that the journal has are not run again."""
    space, usual = distributions(), Evolution("published")
    done = _trials(journal)
    study = study_of(done)
    if not done:
        study.enqueue_trial({name: getattr(usual, name) for name in space})
    with progress("trials", number) as advance:
        for n in range(number):
            if n >= len(done):
                trial = study.ask(space)
                mean = float(np.mean([gap(one, LIMIT, 1 + n, trial.params) for one in solved]))
                study.tell(trial, mean)
                row = {"data": TRIALS, "item": str(n), "method": TUNED, "options": trial.params, "gap": mean}
                journal.add(row)
            advance()
    return dict(study.best_params)


def study_of(trials: Sequence[Row]) -> Any:
    """Optuna's study, with trials that were run before."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=len(trials)))
    for row in trials:
        trial = optuna.trial.create_trial(
            params=row["options"], distributions=distributions(), value=row["gap"]
        )
        study.add_trial(trial)
    return study


def _trials(journal: Journal) -> list[Row]:
    return [row for row in journal.rows.values() if row["data"] == TRIALS]


def report(journal: Journal, folder: Path) -> str:
    """Best and usual parameters, which of them mattered, and gaps on what is held out."""
    console = Console(file=StringIO(), width=WIDTH, highlight=False, markup=False)
    console.print(journal.about)
    trials = _trials(journal)
    if trials:
        matters = _matters(trials)
        best = min(trials, key=lambda row: float(row["gap"]))
        console.print(
            f"\nThe evolutionary algorithm with {1000 * LIMIT:g} ms a sequence, {len(trials)} trials on training parts. Mean gap "
            f"in nats, one of {CAP:g} counted where there is no labelling: usual parameters {trials[0]['gap']:.3g}, best {best['gap']:.3g}."
        )
        table = Table("parameter", "usual", "best", "share of what matters", box=None)
        for name, share in matters.items():
            shown = (trials[0]["options"][name], best["options"][name])
            texts = (f"{x:.3g}" if isinstance(x, float) else str(x) for x in shown)
            table.add_row(name, *texts, "-" if share is None else f"{share:.0%}")
        console.print(table)
    console.print(_gains(journal))
    return console.file.getvalue()  # type: ignore[attr-defined,no-any-return]


def _matters(trials: Sequence[Row]) -> dict[str, float | None]:
    """How much of the variance of gaps each parameter explains by itself (fANOVA); None for too few trials."""
    import optuna

    if len(trials) < 20:
        return dict.fromkeys(distributions())
    evaluator = optuna.importance.FanovaImportanceEvaluator(seed=0)
    return dict(optuna.importance.get_param_importances(study_of(trials), evaluator=evaluator))


def _gains(journal: Journal) -> Table:
    rows = [row for row in journal.rows.values() if row["data"] != TRIALS]
    table = Table("held out", "sequences", box=None)
    for limit in LIMITS:
        for name in (USUAL, TUNED):
            table.add_column(f"{name},\n{1000 * limit:g} ms", justify="right")
    for data in dict.fromkeys(row["data"] for row in rows):
        own = [row for row in rows if row["data"] == data]
        means = [
            np.mean([r["gap"] for r in own if (r["method"], r["limit"]) == (name, limit)])
            for limit in LIMITS
            for name in (USUAL, TUNED)
        ]
        table.add_row(data, str(len({row["item"] for row in own})), *(f"{mean:.3g}" for mean in means))
    return table


STUDY = Study(
    "tuning", "the evolutionary algorithm's parameters, tuned, and what that gains", ("all",), run, report
)
