"""Sequences: reading, writing and generating them."""

NEWLINE = "@newline@"
"""The token of a line break."""
