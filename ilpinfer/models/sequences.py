"""Checks of labelled sequences for training, and label ids."""

from collections.abc import Iterable, Sequence

import numpy as np

from formulations import LabelSet
from formulations.arguments import texts as check_list
from formulations.dtypes import Integers
from formulations.labels import schemes
from formulations.labels.notation import never_advice
from formulations.labels.schemes import OUTSIDE
from formulations.messages import counted, suggestion
from ilpinfer.corpus.conversion import convert_all, shown_scheme
from ilpinfer.corpus.helper_labels import check_labelled
from ilpinfer.models.labelled_sequences import partly_labelled, tokens_and_labels, without_empty

Labelled = tuple[Sequence[str], Sequence[str]]
"""Tokens and labels of a sequence."""
PartlyLabelled = tuple[Sequence[str], Sequence[str | None]]
"""Tokens of a sequence, and their labels; None if unknown."""
UNKNOWN = -1
"""The id of an unknown label."""


def encode(
    sequences: Iterable[PartlyLabelled],
    scheme: str = "",
    names: Sequence[str] | None = None,
    *,
    partly: bool = False,
) -> tuple[LabelSet, list[tuple[str, ...]], list[Integers]]:
    """Labels, tokens and label ids of labelled sequences; with `partly`, labels may be unknown (`UNKNOWN`)."""
    pairs = []
    gaps = list[frozenset[int]]()
    for number, (tokens, given) in enumerate(tokens_and_labels(sequences)):
        if not partly:
            check_labelled(given, f"sequence {number}")
        labels, unknown = partly_labelled(given, f"sequence {number}: labels")
        pairs.append((check_list(tokens, f"sequence {number}: tokens"), labels))
        if labels:
            gaps.append(unknown)
    for number, (tokens, labels) in enumerate(pairs):
        if len(tokens) != len(labels):
            raise ValueError(
                f"sequence {number} has {counted(len(labels), 'label')} for {counted(len(tokens), 'token')}"
            )
    pairs = without_empty(pairs, "sequence")
    texts = check_texts(tokens for tokens, _ in pairs)
    stretches = [_known(labels, unknown) for (_, labels), unknown in zip(pairs, gaps, strict=True)]
    occurring = sorted({label for labels in stretches for label in labels})
    if not occurring:
        raise ValueError("no token has a label; label some tokens of each kind")
    known = occurring if names is None else list(names)
    for label in occurring:
        if label not in known:
            raise ValueError(f"label {label!r} is not among the labels given{suggestion(label, known)}")
    if not scheme and (mixture := mixed_scheme(known)):
        raise ValueError(
            f"mixed label schemes: {mixture[0]!r} has a prefix and {mixture[1]!r} has none; {way_out_of_mixture(known)}"
        )
    label_set = LabelSet(tuple(known), scheme)
    check_scheme([labels for labels, unknown in zip(stretches, gaps, strict=True) if not unknown], scheme)
    index = {name: k for k, name in enumerate(label_set.names)}
    ids = [np.array([index.get(label, UNKNOWN) for label in labels], np.int64) for _, labels in pairs]
    for y, unknown in zip(ids, gaps, strict=True):
        y[list(unknown)] = UNKNOWN
    return label_set, texts, ids


def _known(labels: Sequence[str], unknown: frozenset[int]) -> Sequence[str]:
    return [label for t, label in enumerate(labels) if t not in unknown] if unknown else labels


def check_texts(texts: Iterable[Sequence[str]]) -> list[tuple[str, ...]]:
    """Remove empty token sequences; ValueError if none is left."""
    given = [(check_list(text, f"sequence {number}"), ()) for number, text in enumerate(texts)]
    result = [text for text, _ in without_empty(given, "sequence")]
    if not result:
        raise ValueError("no sequences to train on")
    return result


def check_scheme(labellings: Sequence[Sequence[str]], scheme: str) -> None:
    """Raise ValueError if the names fit a scheme, as names of BIO fit IOBES, but the labellings break it."""
    scheme = schemes.scheme_name(scheme)
    if schemes.scheme_of(scheme) not in ("iob1", *schemes.CLOSED):
        return
    shown = shown_scheme(labellings)
    own = [tuple(labels) for labels in labellings]
    if shown == "paths" or convert_all(own, scheme) != own:
        way = (
            'give scheme="paths"'
            if shown == "paths"
            else f'ilpinfer.models.training.train(…, scheme="{scheme}") and `ilpinfer train --scheme {scheme}` convert them'
        )
        raise ValueError(f"labels are {shown}, not {scheme}: {way}")


def way_out_of_mixture(names: Sequence[str]) -> str:
    """Advice for labels of which some have a prefix and others have none."""
    plain = 'keep all labels as they are with scheme="plain"'
    found, mixture = schemes.helpers(names), mixed_scheme(names)
    helpers = found[1] if found else mixture[1:] if mixture else ()
    if not helpers:
        return f"correct the labels, or {plain}"
    return (
        f"correct the labels, leave out tokens with helper labels by {never_advice(helpers)} or by "
        f"ilpinfer.corpus.helper_labels.without_helpers, or {plain}"
    )


def mixed_scheme(names: Iterable[str]) -> tuple[str, str] | None:
    """A label with a BIO prefix and a label without, if there are both: probably a mistake, which would make all labels plain."""
    scheme_of = {name: schemes.infer([name]) for name in names if name != OUTSIDE}
    marked = next((name for name, scheme in scheme_of.items() if scheme in ("io", "bio")), None)
    bare = next((name for name, scheme in scheme_of.items() if scheme == "plain"), None)
    return None if marked is None or bare is None else (marked, bare)
