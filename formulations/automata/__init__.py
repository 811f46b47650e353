"""Finite automata and linear sums that count violations over the steps of a sequence."""
