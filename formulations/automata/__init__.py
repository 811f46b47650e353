"""Finite automata and linear sums over the steps of a sequence: how violations are counted."""
