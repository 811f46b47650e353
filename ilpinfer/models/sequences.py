"""Labelled sequences, checked, and as label ids, for models that count."""

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from formulations import LabelSet
from formulations.labels import schemes
from formulations.labels.label_set import OUTSIDE, suggestion

Text = tuple[str, ...]
Ids = NDArray[np.int64]


def encode(
    sequences: Iterable[tuple[Sequence[str], Sequence[str]]],
    scheme: str = "",
    names: Sequence[str] | None = None,
) -> tuple[LabelSet, list[Text], list[Ids]]:
    """Labels, tokens and label ids of labelled sequences.

    Parameters
    ----------
    sequences : tokens and as many labels
    scheme : of the labels; inferred where it is empty
    names : all labels, in order; those that occur, sorted, where not given

    Raises
    ------
    ValueError
        where there is no sequence, an empty one, one with more tokens than labels or fewer, a label that `names` lacks,
        and where some labels have a prefix and others have none, unless a scheme is named.
    """
    pairs = [(tuple(tokens), tuple(labels)) for tokens, labels in sequences]
    if not pairs:
        raise ValueError("no sequences to train on")
    for number, (tokens, labels) in enumerate(pairs):
        if not tokens:
            raise ValueError(f"sequence {number} is empty: leave it out")
        if len(tokens) != len(labels):
            raise ValueError(f"sequence {number} has {len(labels)} labels for {len(tokens)} tokens")
    result = sorted({label for _, labels in pairs for label in labels})
    known = result if names is None else list(names)
    _check(result, known)
    if not scheme:
        _check_mixture(known)
    label_set = LabelSet(tuple(known), scheme)
    index = {name: k for k, name in enumerate(label_set.names)}
    ids = [np.array([index[label] for label in labels], np.int64) for _, labels in pairs]
    return label_set, [tokens for tokens, _ in pairs], ids


def check_texts(texts: Iterable[Sequence[str]]) -> list[Text]:
    """Token sequences, none of them empty; ValueError where there is none."""
    checked = [tuple(text) for text in texts]
    if not checked:
        raise ValueError("no sequences to train on")
    for number, text in enumerate(checked):
        if not text:
            raise ValueError(f"sequence {number} is empty: leave it out")
    return checked


def _check(result: Sequence[str], known: Sequence[str]) -> None:
    for label in result:
        if label not in known:
            raise ValueError(f"label {label!r} is not among the labels given{suggestion(label, known)}")


def _check_mixture(names: Sequence[str]) -> None:
    """Refuse labels of which some are BIO and others have no prefix: a slip, which would make every one plain."""
    bare = [name for name in names if name != OUTSIDE and schemes.infer([name]) == "plain"]
    marked = [name for name in names if schemes.infer([name]) == "bio"]
    if bare and marked:
        raise ValueError(
            f"mixed label schemes: {marked[0]!r} has a prefix and {bare[0]!r} has none; mend the labels, or name the "
            'scheme "plain" to take them as they are'
        )
