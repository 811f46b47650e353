"""Sequences without their line breaks, and labels with them put back (Trompper 2016, third condition).

A chain looks one label back, so that a line break hides the label before it: that of a number above a title, say.
"""

from collections.abc import Sequence
from itertools import pairwise

from formulations.constraints.tokens import in_class


def is_line_break(token: str) -> bool:
    """Whether a token stands for the end of a line."""
    return in_class(token, "newline")


def kept(tokens: Sequence[str]) -> list[int]:
    """Positions of the tokens that are no line breaks."""
    return [t for t, token in enumerate(tokens) if not is_line_break(token)]


def restore(tokens: Sequence[str], labels: Sequence[str], line_break: str) -> list[str]:
    """Labels of all T tokens.

    A line break gets the label `line_break`, except inside a run: between labels such as `B-x` and `I-x` it continues
    the run.

    Parameters
    ----------
    tokens : T texts
    labels : of the tokens that `kept` names
    line_break : the label of line breaks

    Raises
    ------
    ValueError
        where there are not as many labels as tokens kept.
    """
    positions = kept(tokens)
    if len(positions) != len(labels):
        raise ValueError(f"{len(labels)} labels for {len(positions)} tokens that are no line breaks")
    found = [line_break] * len(tokens)
    for t, label in zip(positions, labels, strict=True):
        found[t] = label
    for before, after in pairwise(positions):
        label = found[after]
        if label.startswith("I-") and found[before][:2] in ("B-", "I-") and found[before][2:] == label[2:]:
            found[before:after] = [found[before], *[label] * (after - before - 1)]
    return found
