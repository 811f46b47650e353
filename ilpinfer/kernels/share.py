"""The places of a share, the counters of a call in which several threads take part."""

NEXT, DONE, ENTERED = range(3)
"""Pieces of work that were taken, those that are done, and calls that have begun."""
