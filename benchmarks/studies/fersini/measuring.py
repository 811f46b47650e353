"""What is measured of a method on a block of sequences: sums over each half of it."""

import math
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import ilpinfer
from benchmarks import optimum
from benchmarks.data.evaluations import labels_of
from benchmarks.data.sets import Labelled
from benchmarks.study import Disagreement, Row
from formulations import RuleSet, Trellis
from ilpinfer.core.rule_compiler import compiler_of
from ilpinfer.core.solution import Solution
from ilpinfer.evaluation.evaluation import Pair, evaluate
from ilpinfer.models.forward_backward import log_partition
from ilpinfer.models.sequence_model import SequenceModel

SINGLE = {"Viterbi": "viterbi", "constrained Viterbi": "constrained-viterbi", "one phase": "auto"}
TAUS = {
    "relative": (1.0, 0.995, 0.99, 0.98, 0.95, 0.9, 0.8),
    "relative, log P": (1.0, 0.5, 0.0, -3.0, -10.0),
    "odds": (1.0, 0.3, 0.1, 0.03, 0.01, 1e-3, 1e-5),
}
"""Of each form of the floor."""
FRONTIER = "frontier"
WEIGHTS = (0.0, *(round(2 ** (n / 2), 3) for n in range(-10, 7)))
"""On all penalties."""
LIMIT = 1.0
"""Seconds for a sequence and tau; twice as much for a frontier."""
REFUSALS = "too many to check", "allow more with max_steps"
"""What the checker says of a proof that takes more memory or more steps than it allows."""
Labelling = tuple[str, ...]


class Setting(NamedTuple):
    """Sequences with gold that neither model nor rules were made from."""

    trellises: Sequence[Trellis]
    gold: Sequence[Labelling]
    rules: RuleSet


def setting_of(model: SequenceModel, some: Sequence[Labelled], rules: RuleSet) -> Setting:
    return Setting([model.trellis(tokens) for tokens, _ in some], [labels for _, labels in some], rules)


def floor_of(best: float, log_z: float, tau: float, bound: str) -> float:
    """The least score in the second phase, nats: relative to the score or to log P, or by odds (Fersini et al. 2014, eq. 23)."""
    if bound == "odds":
        return best + math.log(tau)
    return best - (1 - tau) * abs(best - (log_z if bound == "relative, log P" else 0.0))


def measured(setting: Setting, method: str) -> Iterator[Row]:
    """Rows of a method: for each of its values, and each half of the sequences."""
    if method in SINGLE:
        yield from _single(setting, method)
    elif method in TAUS:
        yield from _two_phase(setting, method)
    else:
        yield from _frontiers(setting)


def _single(setting: Setting, method: str) -> Iterator[Row]:
    decoder = ilpinfer.Decoder(setting.rules, method=SINGLE[method], time_limit=LIMIT)
    solutions, seconds = _timed(decoder.decode, setting.trellises)
    refused = _recheck(setting, solutions) if SINGLE[method] == "auto" else ()
    yield from _rows(setting, solutions, seconds, refused)


def _two_phase(setting: Setting, bound: str) -> Iterator[Row]:
    compiler, floors = compiler_of(setting.rules), floors_of(setting)
    for tau in TAUS[bound]:
        at = {id(t): floor_of(*one, tau, bound) for t, one in zip(setting.trellises, floors, strict=True)}

        def decode(trellis: Trellis, at: dict[int, float] = at) -> Solution:
            return ilpinfer.decode_two_phase(trellis, compiler, floor=at[id(trellis)], time_limit=LIMIT)

        solutions, seconds = _timed(decode, setting.trellises)
        yield from _rows(setting, solutions, seconds, _recheck(setting, solutions), value=tau)


def floors_of(setting: Setting) -> list[tuple[float, float]]:
    """The best score under the hard rules, and log Z, of each sequence; nats."""
    hard = RuleSet(tuple(rule for rule in setting.rules.rules if rule.hard))
    return [(ilpinfer.decode(t, hard).score, log_partition(t)) for t in setting.trellises]


def _frontiers(setting: Setting) -> Iterator[Row]:
    """Rows by weight."""
    compiler = compiler_of(setting.rules)
    frontiers = [ilpinfer.decode_frontier(one, compiler, time_limit=2 * LIMIT) for one in setting.trellises]
    for weight in WEIGHTS:
        labels = [tuple(f.at_weight(weight).labels) if f.points else None for f in frontiers]
        yield from _rows(setting, labels, value=weight, kind="weight")


def _rows(
    setting: Setting,
    results: Sequence[Solution] | Sequence[Labelling | None],
    seconds: Sequence[float] = (),
    refused: Sequence[bool] = (),
    value: float | None = None,
    kind: str = "method",
) -> Iterator[Row]:
    """Sums over the sequences of each half; a sequence without a labelling counts as wrong."""
    solutions = [one if isinstance(one, Solution) else None for one in results]
    labels = [labels_of(one) if isinstance(one, Solution) else one for one in results]
    soft = RuleSet(tuple(rule for rule in setting.rules.rules if not rule.hard))
    for half in (0, 1):
        places = range(half, len(labels), 2)
        if not places:
            continue
        pairs = [Pair(setting.gold[n], labels[n], setting.gold[n]) for n in places]
        result = evaluate(pairs, scheme=setting.trellises[0].labels.scheme)
        predicted, gold, both = result.of_all().tolist()
        own = [ilpinfer.evaluate_labelling(setting.trellises[n], soft, y) for n in places if (y := labels[n])]
        yield {
            "kind": kind,
            "value": value,
            "half": half,
            "tokens": int(result.tokens.sum()),
            "right": int(result.correct.sum()),
            "predicted": predicted,
            "gold": gold,
            "both": both,
            "whole": int(result.whole.sum()),
            "sequences": len(places),
            "missing": result.missing,
            "cost": math.fsum(one.penalty for one in own),
            "score": math.fsum(one.model_score for one in own),
            "proved": sum(
                one is not None and one.status == "optimal" for n in places for one in [solutions[n]]
            ),
            "unchecked": sum(refused[half::2]),
            "milliseconds": 1000 * math.fsum(seconds[half::2]),
        }


def _recheck(setting: Setting, solutions: Sequence[Solution]) -> list[bool]:
    """Whether the checker refused a proof that is too large for it; any other failure is raised."""
    refused = []
    for trellis, solution in zip(setting.trellises, solutions, strict=True):
        try:
            optimum.recheck(trellis, setting.rules, solution)
        except Disagreement as error:
            if not any(each in str(error) for each in REFUSALS):
                raise
            refused.append(True)
        else:
            refused.append(False)
    return refused


def _timed(call: Callable[[Any], Any], items: Sequence[Any]) -> tuple[list[Any], list[float]]:
    """Results, and seconds of processor time for each."""
    results, seconds = [], []
    for item in items:
        began = time.process_time()
        results.append(call(item))
        seconds.append(time.process_time() - began)
    return results, seconds
