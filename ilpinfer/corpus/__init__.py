"""Sequences: reading, writing and generating them."""
