"""Time limits for solvers that look at the clock too seldom."""

import time


def told(deadline: float, late: float) -> float:
    """Seconds to tell a solver that stops up to `late` seconds after its limit; at least 7/10 of the rest."""
    remaining = deadline - time.monotonic()
    return max(remaining - min(late, 0.3 * remaining), 0.01)
