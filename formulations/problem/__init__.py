"""Trellises and compiled rules."""
