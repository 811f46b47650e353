"""Time limits for solvers that check the clock rarely."""

import time


def solver_seconds(deadline: float, late: float) -> float:
    """The time limit to set, in seconds, for a solver that stops up to `late` seconds after its limit.

    At least 7/10 of the time that is left before the deadline.
    """
    remaining = deadline - time.monotonic()
    return max(remaining - min(late, 0.3 * remaining), 0.01)
