"""Decoding of one sequence, of many, and in two phases."""
