"""Trellises, and rules compiled for a label set."""
