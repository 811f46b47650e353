"""The texts in which rules are written: formulas, inequalities, regular expressions over labels, files."""
