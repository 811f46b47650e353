"""What studies of decoding under mined rules share: models, rules, and measures in per cent."""

from collections.abc import Sequence
from dataclasses import dataclass

from pandas import DataFrame

import ilpinfer
from benchmarks import optimum
from benchmarks.data.corpora import soft_rules
from benchmarks.data.sets import Labelled
from benchmarks.study import Row
from formulations import LabelSet, RuleSet, Trellis
from ilpinfer.core.solution import Solution
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


def measured(setting: Setting, method: str, limit: float | None = None, *, recheck: bool = False) -> Row:
    """Measures of a method on all sequences, compared with gold; what is missing counts as wrong."""
    ilpinfer.Decoder(setting.rules, method=method, time_limit=limit).decode(setting.trellises[0])  # compiles
    compared = ilpinfer.compare(
        setting.trellises, setting.rules, [method], gold=setting.gold, time_limit=limit
    ).to_pandas()
    if recheck:
        for trellis in setting.trellises:
            optimum.optimum(trellis, setting.rules, limit or optimum.LIMIT)
    shares = Measures.of_sums(account(compared).sum().to_numpy(), len(compared))
    return {
        **dict(zip(("tokens", "spans", "whole"), (100 * share for share in shares), strict=True)),
        "milliseconds": 1000 * float(compared.seconds.mean()),
        "optimal": int((compared.status == "optimal").sum()),
        "sequences": len(compared),
    }


def account(compared: DataFrame) -> DataFrame:
    """Of each line of a comparison: tokens, right ones, fields predicted, gold and both, and whether all are right."""
    result = compared[["gold_tokens", "correct", "predicted_fields", "gold_fields", "matching_fields"]]
    return result.assign(whole=compared.solved & (result.iloc[:, 2:].nunique(axis=1) == 1))


def labels_of(solution: Solution) -> tuple[str, ...] | None:
    return tuple(solution.labels) if solution.has_labelling else None
