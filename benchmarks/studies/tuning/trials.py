"""Optuna's trials of parameters, and the best of them, kept beside the rows."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

import ilpinfer
from benchmarks.data import models
from benchmarks.journal import code_digest
from benchmarks.studies.tuning.problems import Problem, training
from benchmarks.study import Missing, Row, Sources
from ilpinfer.search.evolution import Evolution

CAP = 50.0
"""Nats that a gap counts at most; no labelling counts as much."""
NUMBER, LIMIT = 60, 0.05
"""Of trials, and seconds that each gives a sequence."""
FEWEST = 20
"""Trials that tell which parameters matter."""


def require_optuna() -> None:
    """Missing where the library is not there."""
    try:
        import optuna  # noqa: F401
    except ImportError as error:
        raise Missing("optuna is not installed") from error


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
    about = json.dumps([code_digest(), sources.scale, str(sources.folder.resolve()), seed])
    path = models.FOLDER / f"tuning-{hashlib.sha256(about.encode()).hexdigest()[:16]}.json"
    if not path.exists():
        result = _run(training(sources), sources(smoke=3, sample=NUMBER, full=NUMBER), seed)
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_suffix(".tmp")
        temporary.write_text(json.dumps(result), "utf-8")
        temporary.replace(path)
    rows: list[Row] = json.loads(path.read_text("utf-8"))
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
