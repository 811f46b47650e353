"""Known labels of some tokens."""

from collections.abc import Mapping

from formulations.arguments import whole
from formulations.labels.label_set import LabelSet
from formulations.messages import brief

Given = Mapping[int, str] | Mapping[int, int] | Mapping[int, str | int]
"""Known labels, names or ids, of some tokens by position, from 0."""


def known_ids(
    given: Given | None, labels: LabelSet, tokens: int, before: Mapping[int, str]
) -> dict[int, int]:
    """Label ids by position; ValueError where they do not fit T tokens, the labels, or the labels known before."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        example = f"{{0: {labels.names[0]!r}}}"
        raise ValueError(
            f"given is {brief(given)}; expected a dictionary of positions and labels, such as {example}"
        )
    known = dict[int, int]()
    for position, label in given.items():
        t = whole(position, "given: a position", 0, tokens - 1)
        try:
            known[t] = labels._id(label, t)
        except ValueError as error:
            raise ValueError(f"given: {error}") from None
        name = labels.names[known[t]]
        if name in labels.never:
            raise ValueError(
                f"given: token {t} has the label {brief(name)}, which is never predicted; leave one of both out"
            )
        if before.get(t, name) != name:
            raise ValueError(f"given: token {t} has the label {brief(before[t])} already, not {brief(name)}")
    return known
