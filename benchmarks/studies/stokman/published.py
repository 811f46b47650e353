"""Figures of Stokman 2011, Tables 7-14: changes of precision, recall and F, in absolute points."""

Changes = dict[str, tuple[float, float, float]]

TAGS = ("description", "job title", "date", "organization")


def _table(*rows: tuple[float, float, float]) -> Changes:
    return dict(zip(TAGS, rows, strict=True))


TABLE_7 = _table((1.78, 0.44, 1.46), (0.16, 0.13, 0.14), (0.05, 0.00, 0.03), (0.01, 0.10, 0.04))
TABLE_9 = _table((1.38, 0.32, 1.11), (0.14, 0.20, 0.17), (0.07, 0.02, 0.04), (0.50, 0.07, 0.32))
TABLE_10 = _table((0.40, 0.20, 0.36), (0.03, 0.07, 0.05), (0.05, 0.0, 0.03), (0.02, 0.03, 0.02))
TABLE_11 = _table((0.35, 0.12, 0.30), (-0.03, 0.01, -0.01), (0.0, 0.0, 0.0), (0.02, 0.03, 0.02))
TABLE_12 = _table((4.84, 7.72, 5.95), (-3.37, -7.62, -5.36), (2.54, -2.86, 0.11), (-0.32, -3.81, -1.71))
TABLE_13 = _table((1.68, 0.62, 1.45), (0.30, 0.12, 0.22), (0.005, 0.000, 0.003), (1.31, -0.14, 0.76))
TABLE_14 = _table((0.06, 0.03, 0.05), (-0.12, 0.23, 0.04), (0.08, 0.09, 0.08), (-0.06, 0.00, -0.04))
UNSOLVED, ITEMS = 9, 312
"""Items without a labelling under the hard rule."""
