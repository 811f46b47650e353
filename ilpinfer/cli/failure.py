"""A result that is a failure: one line, and an exit code."""


class Failure(Exception):
    """What went wrong, for standard error.

    Parameters
    ----------
    message : one line
    code : 1 where the work found a failure, 2 for bad input
    """

    def __init__(self, message: str, code: int) -> None:
        super().__init__(" ".join(message.split()))
        self.code = code
