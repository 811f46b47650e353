"""What studies of decoding under mined rules share: models, rules, and measures in per cent."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from benchmarks import optimum
from benchmarks.data.corpora import soft_rules
from benchmarks.data.sets import Labelled
from benchmarks.study import Row
from formulations import LabelSet, RuleSet, Trellis
from ilpinfer.core.solution import Solution
from ilpinfer.evaluation.evaluation import Pair, evaluate
from ilpinfer.learning.measures import Measures
from ilpinfer.models.sequence_model import SequenceModel


@dataclass(frozen=True)
class Setting:
    """A model, rules, and sequences with gold that neither was made from."""

    name: str
    trellises: tuple[Trellis, ...]
    gold: tuple[tuple[str, ...], ...]
    rules: RuleSet


def mined(train: Sequence[Labelled], most: int | None = None) -> RuleSet:
    """The strongest rules that labelled sequences suggest, all soft."""
    labels = LabelSet(tuple(sorted({label for _, gold in train for label in gold})))
    return RuleSet(tuple(soft_rules(train, most)), tuple(labels.fields), "mined")


def setting_of(name: str, model: SequenceModel, some: Sequence[Labelled], rules: RuleSet) -> Setting:
    trellises = tuple(model.trellis(tokens) for tokens, _ in some)
    return Setting(name, trellises, tuple(labels for _, labels in some), rules)


def measured(setting: Setting, decode: Callable[[Trellis], Solution], *, recheck: bool = False) -> Row:
    """Measures of a method on all sequences of a setting; what is missing counts as wrong."""
    decode(setting.trellises[0])
    began = time.process_time()
    solutions = [decode(trellis) for trellis in setting.trellises]
    spent = 1000 * (time.process_time() - began) / len(solutions)
    if recheck:
        for trellis, solution in zip(setting.trellises, solutions, strict=True):
            optimum.recheck(trellis, setting.rules, solution)
    shares = percentages(setting, [labels_of(solution) for solution in solutions])
    return {
        **dict(zip(("tokens", "spans", "whole"), shares, strict=True)),
        "milliseconds": spent,
        "optimal": sum(solution.status == "optimal" for solution in solutions),
        "sequences": len(solutions),
    }


def labels_of(solution: Solution) -> tuple[str, ...] | None:
    return tuple(solution.labels) if solution.has_labelling else None


def percentages(setting: Setting, labellings: Sequence[tuple[str, ...] | None]) -> tuple[float, float, float]:
    pairs = [Pair(gold, labels, gold) for labels, gold in zip(labellings, setting.gold, strict=True)]
    shares = Measures.of(evaluate(pairs, scheme=setting.trellises[0].labels.scheme))._asdict()
    return 100 * shares["accuracy"], 100 * shares["f1"], 100 * shares["whole"]
