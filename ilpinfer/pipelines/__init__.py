"""Combinations of models, rules and decoding."""
