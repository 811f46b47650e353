"""Heuristic searches."""
