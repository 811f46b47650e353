"""Helper labels in labelled sequences, such as `[PAD]` or `X`: a token with one has no label of its own, and is left out."""

import warnings
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from formulations.arguments import names, texts
from formulations.errors import stack_level
from formulations.labels.schemes import OUTSIDE, OUTSIDES
from formulations.messages import brief, counted
from ilpinfer.corpus.column_names import NO_LABEL
from ilpinfer.corpus.examples import InputNotice, Notify

UNKNOWN_LABELS = (NO_LABEL, "?")
"""Labels that mark tokens without a known label in files."""
NOT_PARTLY = "only hidden Markov models, CODL and the learning of weights take labels of some tokens; give all labels, or leave the sequence out"


def check_labelled(labels: Any, where: str, error: type[ValueError] = ValueError) -> None:
    """Raise an error for a token whose label is None."""
    if isinstance(labels, list | tuple) and any(label is None for label in labels):
        at = next(t for t, label in enumerate(labels) if label is None)
        raise error(f"{where}: token {at} has no label; {NOT_PARTLY}")


def without_helpers(
    pairs: Iterable[tuple[Sequence[Any], Sequence[str]]],
    never: Iterable[str],
    notify: Notify | None = None,
    *,
    absent: bool = False,
) -> list[tuple[Sequence[Any], Sequence[str]]]:
    """Labelled sequences without the tokens that have a helper label.

    The remaining tokens are joined: `B-name X I-name` becomes `B-name I-name`. A notice counts the tokens that are left out.

    Parameters
    ----------
    pairs : iterable of tuple of (sequence, sequence of str)
        Tokens and labels of each sequence.
    never : iterable of str
        Helper labels. A notice lists helper labels that no token has.
    notify : Notify, optional
        Function that is called with each notice; by default, notices are `InputNotice` warnings.
    absent : bool, default False
        Whether helper labels that no token has are ignored.

    Returns
    -------
    list of tuple of (sequence, sequence of str)
        Remaining tokens and labels of each sequence.

    Raises
    ------
    ValueError
        For a sequence with different numbers of labels and tokens, and for labels that are not texts.

    Examples
    --------
    >>> import warnings
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     without_helpers([(["Love", "##lace", "1843"], ["B-name", "X", "B-year"])], never=["X"])
    [(['Love', '1843'], ['B-name', 'B-year'])]
    """
    sequences, helpers = list(pairs), names(never, "never")
    if not helpers:
        return sequences
    for number, (tokens, labels) in enumerate(sequences):
        texts([name for name in labels if name is not None], f"sequence {number}: labels")
        if len(tokens) != len(labels):
            raise ValueError(
                f"sequence {number} has {counted(len(labels), 'label')} for {counted(len(tokens), 'token')}; expected one label "
                "for each token"
            )
    labellings = [labels for _, labels in sequences]
    tell_helpers(labellings, helpers, notify, absent=absent)
    places = places_with_labels(labellings, helpers)
    return [
        ([tokens[t] for t in kept], [labels[t] for t in kept])
        for (tokens, labels), kept in zip(sequences, places, strict=True)
    ]


def places_with_labels(labellings: Sequence[Sequence[str]], never: Iterable[str]) -> list[list[int]]:
    """The positions of the tokens of each sequence whose label is no helper label."""
    helpers = names(never, "never")
    return [[t for t, name in enumerate(labels) if name not in helpers] for labels in labellings]


def tell_helpers(
    labellings: Iterable[Sequence[str]],
    never: Iterable[str],
    notify: Notify | None = None,
    *,
    absent: bool = False,
    what: str = "left out",
) -> None:
    """Notices that count the tokens with helper labels, and list the helper labels that no token has."""
    helpers = names(never, "never")
    counts = [Counter(str(name) for name in labels if name in helpers) for labels in labellings]
    found, say = sorted(set().union(*counts)), notify or _warn
    if found:
        tokens = counted(sum(each.total() for each in counts), "token")
        where = counted(sum(map(bool, counts)), "sequence")
        say(f"{what}: {tokens} in {where}, with the helper {_listed(found)}")
    if (unknown := sorted(helpers.difference(found))) and not absent:
        say(f"never: no token has the {_listed(unknown)}")


def at_places(sequences: Sequence[Sequence[Any] | None], places: Sequence[Sequence[int]]) -> list[Any]:
    """The items of each sequence at its positions, as tuples; None stays None."""
    return [
        None if each is None else tuple(each[t] for t in kept)
        for each, kept in zip(sequences, places, strict=True)
    ]


def read_as_outside(
    labellings: Sequence[Sequence[str] | None], never: Iterable[str], outside: str = OUTSIDE
) -> list[tuple[str, ...] | None]:
    """Predicted labellings with `O` in place of helper labels."""
    helpers = names(never, "never")
    return [
        None if labels is None else tuple(outside if name in helpers else name for name in labels)
        for labels in labellings
    ]


def counted_labels(
    golden: Sequence[Sequence[str]], sides: Iterable[Sequence[Sequence[str] | None]], never: Iterable[str]
) -> tuple[list[list[int]], list[tuple[str, ...]], list[list[tuple[str, ...] | None]]]:
    """The counted positions, and the gold and predicted labellings there; predicted helper labels are `O`."""
    helpers = names(never, "never")
    places = places_with_labels(golden, helpers)
    gold = at_places(golden, places)
    outside = outside_of(gold)
    return places, gold, [read_as_outside(at_places(side, places), helpers, outside) for side in sides]


def outside_of(labellings: Sequence[Sequence[str]]) -> str:
    """`O`, or `o` if labellings use it."""
    return next((name for labels in labellings for name in labels if name in OUTSIDES), OUTSIDE)


def _listed(labels: Sequence[str]) -> str:
    more = f" and {len(labels) - 3} more" if len(labels) > 3 else ""
    return f"label{'s' if len(labels) > 1 else ''} {', '.join(map(brief, labels[:3]))}{more}"


def _warn(text: str) -> None:
    warnings.warn(text, InputNotice, stacklevel=stack_level())
