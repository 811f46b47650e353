"""Finite automata and linear sums over the steps of a sequence, which count violations."""
