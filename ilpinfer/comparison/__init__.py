"""Comparison of methods on the same sequences by loss and time."""
