"""Sequences: reading, writing and generating them."""

NEWLINE = "@newline@"
"""The token that stands for a line break."""
