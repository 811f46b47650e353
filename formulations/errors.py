"""The base class of all errors of both packages, and notices that refer to a line of the user's program."""

import sys


class InferenceError(Exception):
    """Base class of the errors that both packages raise for problems that users can fix.

    Examples are bad input, an exceeded limit and a solver that fails. Each error is also of a built-in type, mostly
    ValueError. Arguments of a wrong type or value raise ValueError or TypeError itself.

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
    """Something about rules that is no error: a declared field that the model lacks, a scheme that was read from odd names."""


class ScoreNotice(UserWarning):
    """Something about scores that is no error: large negative ones, which forbid."""


def stack_level() -> int:
    """The `stacklevel` with which `warnings.warn`, called by the same function, names the first caller outside the packages."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").split(".")[0] in (
        "formulations",
        "ilpinfer",
    ):
        level, frame = level + 1, frame.f_back
    return level
