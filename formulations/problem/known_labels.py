"""Known labels of some tokens, or sets of allowed labels."""

from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Any

from formulations.arguments import whole
from formulations.labels.label_set import LabelSet
from formulations.messages import brief
from formulations.plain_values import positions, strings, text

Given = Mapping[int, str | int | Set[str | int] | Sequence[str | int]]
"""Known labels by position, from 0: a name or id, or a set or sequence of allowed ones."""

Known = str | tuple[str, ...]
"""The name of a known label, or the names of allowed labels in the order of the label set."""


def allowed_ids(
    given: Given | None, labels: LabelSet, tokens: int, before: Mapping[int, Sequence[int]]
) -> dict[int, tuple[int, ...]]:
    """Allowed label ids by position; ValueError if they do not fit T tokens, the labels, or earlier known labels."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        example = f"{{0: {labels.names[0]!r}}}"
        raise ValueError(
            f"given is {brief(given)}; expected a dictionary of positions and labels, such as {example}"
        )
    allowed = dict[int, tuple[int, ...]]()
    for position, value in given.items():
        t = whole(position, "given: a position", 0, tokens - 1)
        several = (
            value if isinstance(value, Set | Sequence) and not isinstance(value, str | bytes) else (value,)
        )
        if not several:
            raise ValueError(f"given: token {t} has an empty set of labels; add a label, or remove the token")
        try:
            ids = {labels._id(label, t) for label in several}
        except ValueError as error:
            raise ValueError(f"given: {error}") from None
        own = without_never(t, sorted(ids), labels)
        both = tuple(k for k in own if k in before.get(t, own))
        if not both:
            has, other = _shown(before[t], labels), _shown(own, labels)
            raise ValueError(f"given: token {t} has the label {has} already, not {other}; remove one of them")
        allowed[t] = both
    return allowed


def without_never(t: int, ids: Iterable[int], labels: LabelSet) -> tuple[int, ...]:
    """Remove labels that are never predicted from the allowed label ids of a token; ValueError if none is left."""
    left = tuple(k for k in ids if labels.names[k] not in labels.never)
    if not left:
        raise ValueError(
            f"given: token {t} has the label {_shown(ids, labels)}, which is never predicted; remove it from given or from never"
        )
    return left


def known_names(allowed: Iterable[tuple[int, Sequence[int]]], labels: LabelSet) -> dict[int, Known]:
    """Names of allowed label ids by position."""
    named = ((t, tuple(labels.names[k] for k in ids)) for t, ids in allowed)
    return {t: names[0] if len(names) == 1 else names for t, names in named}


def plain_given(given: Mapping[int, Known]) -> dict[str, str | list[str]]:
    """Known labels for JSON: a text or a list of texts, by position."""
    return {str(t): known if isinstance(known, str) else list(known) for t, known in given.items()}


def read_given(value: Any) -> dict[int, Known]:
    """Known labels from JSON; null is an unknown label. ValueError for other values."""
    given = positions(value, "given")
    return {t: _read(known, f'given["{t}"]') for t, known in given.items() if known is not None}


def _read(value: Any, what: str) -> Known:
    if not isinstance(value, list | tuple):
        return text(value, what)
    names = strings(value, what)
    return names[0] if len(names) == 1 else names


def _shown(ids: Iterable[int], labels: LabelSet) -> str:
    names = [brief(labels.names[k]) for k in ids]
    return " or ".join(names if len(names) <= 6 else [*names[:3], f"{len(names) - 3} more"])
