"""Conditional random fields trained on all folds but one and tried on that one, in turn."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

import ilpinfer
from formulations import constraints as C
from ilpinfer.models.crf import CRF
from ilpinfer.models.features import Template

Pair = tuple[tuple[str, ...], tuple[str, ...]]


def folds(number: int, parts: int, seed: int) -> list[list[int]]:
    """Shuffled places 0 … number - 1, split into parts of equal size or one more."""
    order = np.random.default_rng(seed).permutation(number).tolist()
    return [order[part::parts] for part in range(parts)]


def held_out_labellings(
    pairs: Sequence[Pair],
    template: str | Template,
    parameters: Mapping[str, Any],
    *,
    parts: int = 5,
    seed: int = 0,
    line_break: str = "",
) -> Iterator[tuple[Sequence[str], Sequence[str]]]:
    """(gold, predicted) of every sequence, the model trained on the other folds.

    With a label for `line_break`, line breaks are taken out of the sequences and get that label.
    """
    for fold in folds(len(pairs), parts, seed):
        left = set(fold)
        training = [pair for place, pair in enumerate(pairs) if place not in left]
        model = CRF.train(training, template, parameters=parameters, without_line_breaks=bool(line_break))
        for place in fold:
            tokens, gold = pairs[place]
            yield gold, labels_of(model, tokens, line_break)


def labels_of(model: CRF, tokens: Sequence[str], line_break: str = "") -> Sequence[str]:
    """The best labelling that the labels' scheme allows, of all tokens."""
    found = ilpinfer.decode(model.trellis(tokens), [C.valid_scheme()]).labels
    return model.restore(tokens, found, line_break)
