"""Cross-validation: every sequence is labelled by a model that was trained without it, or without its document."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from formulations.constraints.rule_set import RuleSet
from ilpinfer.decoding.single import decode
from ilpinfer.evaluation.evaluation import Pair
from ilpinfer.models.files import Model

Labelled = tuple[tuple[str, ...], tuple[str, ...]]


def folds(documents: Sequence[Any], parts: int, seed: int) -> list[list[int]]:
    """Places of sequences in so many parts, shuffled; the sequences of one document stay together.

    Parameters
    ----------
    documents : for each sequence, what tells its document apart
    parts : from 2 to the number of documents

    Raises
    ------
    ValueError
        for more parts than documents, or fewer than two.
    """
    names = _shuffled(documents, seed, "make folds")
    if not 2 <= parts <= len(names):
        raise ValueError(f"cannot make {parts} folds of {len(names)} documents; expected 2 to {len(names)}")
    part = {name: number % parts for number, name in enumerate(names)}
    return [[i for i, name in enumerate(documents) if part[name] == fold] for fold in range(parts)]


def kept_apart(documents: Sequence[Any], share: float, seed: int) -> list[int]:
    """Places of the sequences of a share of the documents, shuffled; some are kept, and some left.

    Raises
    ------
    ValueError
        for a single document.
    """
    names = _shuffled(documents, seed, "keep a share")
    kept = set(names[: min(max(round(share * len(names)), 1), len(names) - 1)])
    return [i for i, name in enumerate(documents) if name in kept]


def _shuffled(documents: Sequence[Any], seed: int, what: str) -> list[Any]:
    """The different documents; ValueError for a single one."""
    names = list(dict.fromkeys(documents))
    if len(names) < 2:
        raise ValueError(
            f"cannot {what} of {len(names)} document{'s' * (len(names) != 1)}; expected 2 or more"
        )
    return [names[place] for place in np.random.default_rng(seed).permutation(len(names))]


def cross_validate(
    pairs: Sequence[Labelled],
    train: Callable[[Sequence[Labelled]], Model],
    parts: Sequence[Sequence[int]],
    rules: RuleSet | Sequence[Any] = (),
) -> Iterator[list[Pair]]:
    """For each part, its sequences as labelled under rules by a model trained on the others.

    Parameters
    ----------
    pairs : tokens and labels
    train : makes a model of labelled sequences
    parts : places of the sequences of each part
    rules : under which they are decoded, exactly
    """
    for part in parts:
        left = set(part)
        model = train([pair for place, pair in enumerate(pairs) if place not in left])
        yield labelled_by(model, [pairs[place] for place in part], rules)


def labelled_by(model: Model, pairs: Sequence[Labelled], rules: RuleSet | Sequence[Any] = ()) -> list[Pair]:
    """Sequences as a model labels them under rules."""
    result = []
    for tokens, gold in pairs:
        solution = decode(model.trellis(tokens), rules)
        result.append(Pair(tokens, tuple(solution.labels) if solution.has_labelling else None, gold))
    return result
