"""Cross-validation: every sequence is labelled by a model that was trained without its document."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ilpinfer.core.rule_compiler import Rules
from ilpinfer.decoding.decoder import Decoder
from ilpinfer.evaluation.evaluation import Pair
from ilpinfer.models.sequence_model import SequenceModel
from ilpinfer.models.sequences import Labelled


def make_folds(documents: Sequence[Any], number: int, seed: int) -> list[list[int]]:
    """Random folds of sequence numbers; a document is in one fold. ValueError for fewer than two folds, or more folds than documents."""
    names = _shuffle(documents, seed, "make folds")
    if not 2 <= number <= len(names):
        most = f"the {len(names)} sequences or documents"
        raise ValueError(f"folds is {number}; expected 2 at least, and no more than {most}")
    fold_of = {name: place % number for place, name in enumerate(names)}
    return [[i for i, name in enumerate(documents) if fold_of[name] == fold] for fold in range(number)]


def without(fold: Sequence[int], number: int) -> list[int]:
    """The numbers of the sequences outside a fold, of `number` sequences."""
    left_out = set(fold)
    return [place for place in range(number) if place not in left_out]


def held_out_places(documents: Sequence[Any], share: float, seed: int) -> list[int]:
    """Numbers of the sequences of a random share of the documents: at least one document, and not all."""
    names = _shuffle(documents, seed, "keep a share")
    chosen = set(names[: min(max(round(share * len(names)), 1), len(names) - 1)])
    return [i for i, name in enumerate(documents) if name in chosen]


def _shuffle(documents: Sequence[Any], seed: int, what: str) -> list[Any]:
    """The shuffled documents; ValueError for a single document."""
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
    """Label each fold under rules, by a model trained on the other folds."""
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
