"""Sequences without their line breaks, which hide the label before them from a chain (Trompper 2016, third condition)."""

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise

from formulations.labels import schemes
from formulations.labels.notation import write
from formulations.labels.schemes import OUTSIDE
from formulations.messages import counted
from formulations.tokens.token_pattern import in_class


def is_line_break(token: str) -> bool:
    return in_class(token, "newline")


def token_positions(tokens: Sequence[str]) -> list[int]:
    return [t for t, token in enumerate(tokens) if not is_line_break(token)]


def restore(tokens: Sequence[str], labels: Sequence[str], line_break: str, scheme: str) -> list[str]:
    """Labels of all T tokens; a line break within a run, as between `B-x` and `I-x`, continues it."""
    positions = token_positions(tokens)
    if len(positions) != len(labels):
        raise ValueError(
            f"{counted(len(labels), 'label')} for {counted(len(positions), 'token')} other than line breaks"
        )
    result = [line_break] * len(tokens)
    for t, label in zip(positions, labels, strict=True):
        result[t] = label
    for before, after in pairwise(positions):
        inner = _inner(result[before], result[after], scheme)
        if inner:
            result[before + 1 : after] = [inner] * (after - before - 1)
    return result


def usual_label(sequences: Iterable[tuple[Sequence[str], Sequence[str]]], scheme: str) -> str:
    """The most frequent label of line breaks that `restore` does not take for part of a run; `O` where there are none."""
    counts = Counter[str]()
    for tokens, labels in sequences:
        positions = token_positions(tokens)
        restored = restore(tokens, [labels[t] for t in positions], "", scheme)
        counts.update(label for label, inside in zip(labels, restored, strict=True) if not inside)
    return min(counts, key=lambda label: (-counts[label], label), default=OUTSIDE)


def _inner(before: str, after: str, scheme: str) -> str:
    """The label between two labels of one run; empty if they belong to different runs."""
    if scheme == "plain" or {before, after} & {*schemes.OUTSIDES}:
        return ""
    opened, goes_on = schemes.levels(before, scheme), schemes.levels(after, scheme)
    same = [field for field, _ in opened] == [field for field, _ in goes_on]
    if not same or opened[-1][1] not in ("B", "I") or any(role not in ("I", "E") for _, role in goes_on):
        return ""
    letters = {role: letter for letter, role in schemes.MARKS[schemes.scheme_of(scheme)].items()}
    inner = write(letters["I"], goes_on[-1][0], schemes.form_of(scheme))
    return after if goes_on[-1][1] == "I" else inner
