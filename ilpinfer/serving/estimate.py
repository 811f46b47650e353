"""Estimates of the time of jobs, from recent jobs."""

from dataclasses import dataclass

WEIGHT = 0.1
"""Weight of the latest job in the averages."""


@dataclass(frozen=True)
class Estimate:
    """Exponential averages over finished jobs.

    Parameters
    ----------
    seconds : float, default 0.0
        Seconds of a job.
    tokens : float, default 0.0
        Tokens of a job; 0 before the first one is done.
    """

    seconds: float = 0.0
    tokens: float = 0.0

    def after(self, seconds: float, tokens: int) -> "Estimate":
        """The averages with one more job; the first one counts in full."""
        weight = WEIGHT if self.tokens else 1.0
        return Estimate(
            self.seconds + weight * (seconds - self.seconds), self.tokens + weight * (tokens - self.tokens)
        )

    @property
    def seconds_per_token(self) -> float:
        """Seconds for each token; 0 before the first job is done."""
        return self.seconds / self.tokens if self.tokens else 0.0

    def of(self, tokens: int) -> float:
        """Estimated seconds of a job with this number of tokens."""
        return tokens * self.seconds_per_token
