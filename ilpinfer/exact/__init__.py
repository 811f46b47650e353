"""Exact decoding."""
