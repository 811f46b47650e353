"""Conditional random fields trained on all folds but one and evaluated on that one, in turn."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import ilpinfer
from formulations import Feature, Rule
from ilpinfer.evaluation import evaluation
from ilpinfer.evaluation.counts import Counts, f_measure, precision, recall
from ilpinfer.models.crf import CRF
from ilpinfer.models.crf.features import Template
from ilpinfer.models.crf.templates import load_template
from ilpinfer.pipelines.cross_validation import make_folds

Pair = tuple[tuple[str, ...], tuple[str, ...]]


def held_out_labellings(
    pairs: Sequence[Pair],
    template: str | Template,
    parameters: Mapping[str, Any],
    rule_sets: Mapping[str, Sequence[Rule | Feature]],
    *,
    folds: int = 5,
    seed: int = 0,
    line_break: str = "",
) -> Iterator[tuple[str, Sequence[str], Sequence[str]]]:
    """(rule set, gold, predicted) of every sequence, the model trained on the other folds."""
    result = template if isinstance(template, Template) else load_template(template)
    for fold in make_folds(range(len(pairs)), folds, seed):
        left = set(fold)
        training = [pair for place, pair in enumerate(pairs) if place not in left]
        model = CRF.train(training, result, parameters=parameters, without_line_breaks=bool(line_break))
        for place in fold:
            tokens, gold = pairs[place]
            trellis = model.trellis(tokens)
            for name, rules in rule_sets.items():
                labels = ilpinfer.decode(trellis, rules).labels
                yield name, gold, model.restore(tokens, labels, line_break)


def evaluate(labellings: Iterable[tuple[Sequence[str], Sequence[str]]], scheme: str) -> evaluation.Evaluation:
    """(gold, predicted) labellings compared."""
    pairs = (evaluation.Pair(tuple(gold), tuple(p), tuple(gold)) for gold, p in labellings)
    return evaluation.evaluate(pairs, scheme=scheme)


def percentages(counts: Counts) -> str:
    """Precision, recall and F1 of counts (3,) in per cent, as columns of a table."""
    return " ".join(f"{100 * float(measure(counts)):6.2f}" for measure in (precision, recall, f_measure))
