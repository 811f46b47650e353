"""Comparison of methods by loss and time."""
