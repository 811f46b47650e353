"""Decoding of one or many sequences, and in two phases."""
