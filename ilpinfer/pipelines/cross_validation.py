"""Cross-validation: every sequence is labelled by a model that was trained without it, or without its document."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ilpinfer.core.rule_compiler import Rules
from ilpinfer.decoding.decoder import Decoder
from ilpinfer.evaluation.evaluation import Pair
from ilpinfer.models.sequence_model import SequenceModel
from ilpinfer.models.sequences import Labelled


def make_folds(documents: Sequence[Any], number: int, seed: int) -> list[list[int]]:
    """Folds of sequence numbers at random, those of one document together; ValueError for more folds than documents, or fewer than two."""
    names = _shuffle(documents, seed, "make folds")
    if not 2 <= number <= len(names):
        most = f"the {len(names)} sequences or documents"
        raise ValueError(f"folds is {number}; expected 2 at least, and no more than {most}")
    fold_of = {name: place % number for place, name in enumerate(names)}
    return [[i for i, name in enumerate(documents) if fold_of[name] == fold] for fold in range(number)]


def without(fold: Sequence[int], number: int) -> list[int]:
    """The places of `number` sequences that are not in a fold."""
    left_out = set(fold)
    return [place for place in range(number) if place not in left_out]


def held_out_places(documents: Sequence[Any], share: float, seed: int) -> list[int]:
    """Places of the sequences of a random share of the documents, at least one document and not all."""
    names = _shuffle(documents, seed, "keep a share")
    chosen = set(names[: min(max(round(share * len(names)), 1), len(names) - 1)])
    return [i for i, name in enumerate(documents) if name in chosen]


def _shuffle(documents: Sequence[Any], seed: int, what: str) -> list[Any]:
    """The different documents; ValueError for a single one."""
    names = list(dict.fromkeys(documents))
    if len(names) < 2:
        raise ValueError(f"cannot {what} of fewer than 2 sequences or documents")
    return [names[place] for place in np.random.default_rng(seed).permutation(len(names))]


def cross_validate(
    pairs: Sequence[Labelled],
    train: Callable[[Sequence[Labelled]], SequenceModel],
    folds: Sequence[Sequence[int]],
    rules: Rules = (),
) -> Iterator[list[Pair]]:
    """The sequences of each fold, with labels by a model trained on the other folds, under rules."""
    for fold in folds:
        model = train([pairs[place] for place in without(fold, len(pairs))])
        yield predict(model, [pairs[place] for place in fold], rules)


def predict(model: SequenceModel, pairs: Sequence[Labelled], rules: Rules = ()) -> list[Pair]:
    """Gold and predicted labels of sequences, by a model under rules."""
    result = []
    solutions = Decoder(rules, model=model).decode_texts(tokens for tokens, _ in pairs)
    for (tokens, gold), solution in zip(pairs, solutions, strict=True):
        labels = tuple(solution.labels) if solution.has_labelling else None
        result.append(Pair(tuple(tokens), labels, tuple(gold)))
    return result
