"""Optuna's trials of parameters, and the best of them, kept beside the rows."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

import ilpinfer
from benchmarks.data.corpora import each_once, read_labelled, resume_rules, train_and_dev
from benchmarks.data.models import kept, trained
from benchmarks.data.sets import Labelled, noisy_document
from benchmarks.data.synthetic import document_rules, labels_of_size
from benchmarks.journal import code_digest
from benchmarks.optimum import optimum
from benchmarks.study import Row, Sources
from formulations import RuleSet, Trellis, load_rules
from ilpinfer.search.evolution import Evolution

FIRST_TRAINED, LARGEST_CHUNK = 20, 3
CHUNKS = 6
"""Of held-out sequences; the scale decides how many of them are taken."""
TRAINING = "training"


@dataclass(frozen=True)
class Problem:
    """A sequence under rules, made afresh for each decoding, with its proved optimum."""

    make: Callable[[], Trellis]
    rules: RuleSet
    best: float


def held_out_names(sources: Sources) -> list[str]:
    """Data sets that tuning has not seen; those of missing corpora are left out."""
    folders = {"cora": "cora/dev.tsv", "resume": "resume/experience_train.tsv"}
    corpora = ("cora, soft", "cora, hard", "resume, soft", "resume, hard")
    lengths, labels = sources(smoke=((12,), 5), sample=((60, 240, 480), 13))
    there = [name for name in corpora if (sources.folder / folders[name.partition(",")[0]]).exists()]
    return [*(f"generator, {T} tokens, {labels} labels" for T in lengths), *there]


@cache
def training(sources: Sources) -> tuple[Problem, ...]:
    """Planted documents of seeds of their own, and references of the training part that the model has not seen."""
    lengths, K, number = sources(smoke=((12,), 5, 1), sample=((60, 240), 13, 4))
    makes = [partial(noisy_document, T, K, 100 + n) for T in lengths for n in range(number)]
    result = _solved(makes, document_rules(labels_of_size(K)))
    if (sources.folder / "cora" / "train.tsv").exists():
        train = read_labelled(sources.folder / "cora" / "train.tsv")
        rest = train[FIRST_TRAINED:]
        some = [rest[n * len(rest) // number] for n in range(number)]
        result += _solved(_references(train, some), load_rules("citations"))
    return tuple(result)


@cache
def held_out(sources: Sources, name: str, chunk: int) -> tuple[Problem, ...]:
    """Some sequences of a data set; chunks are spread over all of it, and are disjoint."""
    kind, _, rest = name.partition(", ")
    if kind == "generator":
        T, K = (int(word) for word in rest.split() if word.isdigit())
        makes = [partial(noisy_document, T, K, seed) for seed in _chosen(CHUNKS * LARGEST_CHUNK, chunk)]
        return tuple(_solved(makes, document_rules(labels_of_size(K))))
    if kind == "cora":
        train, dev = train_and_dev(sources.folder, "cora")
        rules = load_rules("citations") if rest == "soft" else each_once()
    else:
        every = read_labelled(sources.folder / "resume" / "experience_train.tsv")
        train, dev = every[::2], every[1::2]
        rules = resume_rules(hard=rest == "hard")
    some = [dev[place] for place in _chosen(len(dev), chunk)]
    return tuple(_solved(_references(train, some, every=kind == "resume"), rules))


def _chosen(number: int, chunk: int) -> Sequence[int]:
    total = CHUNKS * LARGEST_CHUNK
    return [(n * CHUNKS + chunk) * number // total for n in range(LARGEST_CHUNK)]


def _references(
    train: Sequence[Labelled], some: Sequence[Labelled], *, every: bool = False
) -> list[Callable[[], Trellis]]:
    hmm = trained("hmm", train if every else train[:FIRST_TRAINED])
    return [partial(hmm.trellis, tokens) for tokens, _ in some]


def _solved(makes: Sequence[Callable[[], Trellis]], rules: RuleSet) -> list[Problem]:
    """Those whose optimum is proved."""
    solutions = [(make, optimum(make(), rules)) for make in makes]
    return [Problem(make, rules, one.score) for make, one in solutions if one.status == "optimal"]


CAP = 50.0
"""Nats that a gap counts at most; no labelling counts as much."""
NUMBER, LIMIT = 60, 0.05
"""Of trials, and seconds that each gives a sequence."""
FEWEST = 20
"""Trials that tell which parameters matter."""


def gap(problem: Problem, limit: float, seed: int, options: Mapping[str, Any]) -> float:
    """Nats below the optimum, at most CAP."""
    solution = ilpinfer.decode(
        problem.make(), problem.rules, method="evolutionary", time_limit=limit, seed=seed, **options
    )
    return float(min(CAP, problem.best - solution.score))


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


def trials_of(sources: Sources, seed: int) -> list[Row]:
    """Options and mean gap of every trial; a kept file of the same code is read instead."""

    def write(path: Path) -> None:
        result = _run(training(sources), sources(smoke=3, sample=NUMBER), seed)
        path.write_text(json.dumps(result), "utf-8")

    about = [code_digest(), sources.scale, str(sources.folder.resolve()), seed]
    rows: list[Row] = json.loads(kept("tuning", about, "json", write).read_text("utf-8"))
    return rows


def best(rows: Sequence[Row]) -> Row:
    """The trial of the smallest gap, the first among equals."""
    return min(rows, key=lambda row: float(row["gap"]))


def _run(problems: Sequence[Problem], number: int, seed: int) -> list[Row]:
    """The usual parameters are the first trial."""
    space, usual = distributions(), Evolution("published")
    study = _study((), seed)
    study.enqueue_trial({name: getattr(usual, name) for name in space})
    result = []
    for n in range(number):
        trial = study.ask(space)
        mean = float(np.mean([gap(one, LIMIT, 1 + n, trial.params) for one in problems]))
        study.tell(trial, mean)
        result.append({"trial": n, "options": trial.params, "gap": mean})
    return result


def importances(rows: Sequence[Row]) -> dict[str, float | None]:
    """How much of the variance of gaps each parameter explains by itself (fANOVA); None for too few trials."""
    import optuna

    if len(rows) < FEWEST:
        return dict.fromkeys(rows[0]["options"])
    evaluator = optuna.importance.FanovaImportanceEvaluator(seed=0)
    return dict(optuna.importance.get_param_importances(_study(rows, 0), evaluator=evaluator))


def _study(rows: Sequence[Row], seed: int) -> Any:
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=seed))
    for row in rows:
        trial = optuna.trial.create_trial(
            params=row["options"], distributions=distributions(), value=row["gap"]
        )
        study.add_trial(trial)
    return study
