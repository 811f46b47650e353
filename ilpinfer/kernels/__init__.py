"""Compiled kernels, and the flat tables that they read."""
