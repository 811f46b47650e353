"""Sequence models that score trellises."""
