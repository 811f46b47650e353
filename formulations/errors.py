"""The base of all errors that both packages define."""


class InferenceError(Exception):
    """Something that users can mend: bad input, a limit, a solver that fails.

    Each error is of a built-in type too, mostly ValueError. Arguments of a wrong type or value raise ValueError or TypeError itself.
    """
