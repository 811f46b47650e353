"""The base class of all errors, and warnings that refer to a line of the user's program."""

import sys


class InferenceError(Exception):
    """Base class of errors that users can fix.

    Examples are invalid input, an exceeded limit and a failed solver. Each subclass also has a built-in base class, mostly
    ValueError. Invalid arguments raise plain ValueError or TypeError.

    Examples
    --------
    >>> from ilpinfer import InferenceError, load_rules
    >>> try:
    ...     load_rules("citatoins")
    ... except InferenceError as error:
    ...     print(error)
    citatoins: no such rule file, and no catalogue entry of that name; did you mean "citations"?
    """


class RuleNotice(UserWarning):
    """A warning about rules, such as a declared field that the model lacks, or a scheme inferred from unusual names."""


class ScoreNotice(UserWarning):
    """A warning about scores: large negative scores count as -inf."""


def stack_level() -> int:
    """The `stacklevel` of `warnings.warn` for the first caller outside the packages."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").split(".")[0] in (
        "formulations",
        "ilpinfer",
    ):
        level, frame = level + 1, frame.f_back
    return level
