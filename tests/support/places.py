"""Places of the project."""

from pathlib import Path

ROOT = Path(__file__).parents[2]
GOLDEN = ROOT / "tests" / "golden"
CORPORA = ROOT.parent / "shared" / "data"
"""Folder of the corpora, if they exist."""
