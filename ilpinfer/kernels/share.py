"""Indices into a share: the counters of a call in which several threads take part."""

NEXT, DONE, ENTERED = range(3)
"""Number of pieces of work that were taken, number of those that are done, and number of calls that have begun."""
