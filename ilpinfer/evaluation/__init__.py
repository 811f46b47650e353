"""Measures, comparisons and reports."""
