"""The base class of all errors of both packages."""


class InferenceError(Exception):
    """Base class of the errors that both packages raise for problems that users can fix.

    Examples are bad input, an exceeded limit and a solver that fails. Each error is also of a built-in type, mostly
    ValueError. Arguments of a wrong type or value raise ValueError or TypeError itself.

    Examples
    --------
    >>> from formulations import InferenceError, load_rules
    >>> try:
    ...     load_rules("citatoins")
    ... except InferenceError as error:
    ...     print(error)
    citatoins: no such rule file, and no catalogue entry of that name; did you mean "citations"?
    """


class RuleNotice(UserWarning):
    """Something about rules that is no error: a declared field that the model lacks, a scheme that was read from odd names."""
