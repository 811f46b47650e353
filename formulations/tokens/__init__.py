"""Predicates on tokens."""
