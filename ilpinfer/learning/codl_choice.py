"""Settings of constraint-driven learning, chosen on folds of the labelled sequences."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from itertools import count

import numpy as np

from ilpinfer.evaluation.evaluation import Pair, evaluate
from ilpinfer.learning.codl_records import GAMMA, Progress, Row, Settings, TriedSettings
from ilpinfer.learning.codl_run import CODLState, Data
from ilpinfer.learning.measures import Measures
from ilpinfer.pipelines.cross_validation import make_folds

GRID = (("probabilities", 0.5), ("probabilities", 0.1), ("counts", 0.6), ("counts", 0.3))
"""Mixings and γ that are tried beside the default."""
SOFTER = ("counts", 0.4, 1 / 3)
"""Mixing, γ and weight on the penalties that are tried too where the posterior is that under rules."""
FOLDS, CYCLES, POOL = 5, 2, 100
"""Folds, and the most cycles and sequences of the pool in a trial."""
LEAST = 10
"""The fewest labelled sequences on which settings are chosen."""


def choose(
    given: Settings,
    data: Data,
    known: Sequence[Row],
    keep: Callable[[Row], None],
    progress: Progress | None,
) -> tuple[Settings, tuple[TriedSettings, ...], str]:
    """The given settings, or the best of the grid; all that were tried, and the reason; those whose rows are known are not tried again."""
    default, number = given.complete, len(data.texts)
    if not given.is_open:
        return default, (), "given"
    if number < LEAST:
        few = f"{number} labelled sequences are too few for folds; {LEAST} are needed"
        return default, (), f"default: {few}"
    grid = candidates(default, bool(data.rules.rules.items))
    tried = [TriedSettings.of_row(row) for row in known]
    folds = make_folds(range(number), FOLDS, default.seed)
    done = count(len(tried) * FOLDS + 1)

    def advance() -> None:
        if progress is not None:
            progress(0, next(done), len(grid) * FOLDS)

    for mixing, gamma, weight in grid[len(tried) :]:
        settings = replace(default, mixing=mixing, gamma=gamma, penalty_weight=weight)
        try:
            measures = _try(settings, data, folds, advance)
        except ValueError as error:
            return default, tuple(tried), f"default: folds cannot be learnt from: {error}"
        tried.append(TriedSettings(gamma, mixing, weight, measures))
        keep({"tried": asdict(tried[-1])})
    best = max(tried, key=lambda each: each.value)
    why = f"the best of {len(tried)} on {FOLDS} folds of {number} labelled sequences"
    return replace(default, **best.settings), tuple(tried), why


def candidates(default: Settings, has_rules: bool) -> list[tuple[str, float, float]]:
    """Mixing, γ and weight on penalties: the default, then the grid; a mixing that the learner lacks stands for its first one."""
    mixings = default.own_learner.mixings
    result = [(mixings[0], GAMMA, 1.0)]
    result += [(mixing if mixing in mixings else mixings[0], gamma, 1.0) for mixing, gamma in GRID]
    if default.e_step == "posterior" and default.constrained and has_rules:
        result.append(SOFTER)
    return list(dict.fromkeys(result))


def _try(
    settings: Settings, data: Data, folds: Sequence[Sequence[int]], advance: Callable[[], None]
) -> dict[str, Measures]:
    """Measures of models of the folds, each on what it has not seen."""
    chosen = np.random.default_rng(settings.seed).permutation(len(data.pool))[:POOL]
    pool = [data.pool[place] for place in sorted(chosen.tolist())]
    pairs = dict[str, list[Pair]]()
    for fold in folds:
        left = [place for place in range(len(data.texts)) if place not in set(fold)]
        texts, ids = [data.texts[place] for place in left], [data.ids[place] for place in left]
        held_out = [(data.texts[place], [data.labels.names[k] for k in data.ids[place]]) for place in fold]
        run = CODLState(settings, data._replace(texts=texts, ids=ids, pool=pool), (), None)
        for _ in range(min(settings.cycles, CYCLES)):
            run.cycle()
        for name, predicted in run.predictions(held_out).items():
            pairs.setdefault(name, []).extend(predicted)
        advance()
    return {name: Measures.of(evaluate(each)) for name, each in pairs.items()}
