"""Refusals of requests: a status of HTTP and one message."""

import math
from typing import Any

TOO_LARGE, INVALID, FAILED, UNAVAILABLE, TOO_SLOW, GONE = 413, 422, 500, 503, 408, 499


class Refusal(Exception):
    """A status of HTTP, one line with value, place and remedy, a word for metrics, and seconds until it may succeed, if ever."""

    def __init__(self, status: int, message: str, reason: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.status, self.message, self.reason, self.retry_after = status, message, reason, retry_after

    @property
    def body(self) -> dict[str, Any]:
        """The body of the answer as plain values."""
        more = {} if self.retry_after is None else {"retry_after": self.retry_after}
        return {"detail": self.message, **more}

    @property
    def headers(self) -> dict[str, str]:
        """`Retry-After` in whole seconds, if the request may succeed later."""
        return {} if self.retry_after is None else {"Retry-After": str(max(1, math.ceil(self.retry_after)))}


def too_large(message: str) -> Refusal:
    """The refusal of a request beyond a limit."""
    return Refusal(TOO_LARGE, message, "too_large")


def invalid(message: str) -> Refusal:
    return Refusal(INVALID, message, "invalid")
