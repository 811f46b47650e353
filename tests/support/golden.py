"""Golden texts of what is said."""

import os
import re
from pathlib import Path


def check_said(path: Path, asked: str, said: str, found: str) -> None:
    """Compare with a golden text below what was asked; … stands for any text there. UPDATE_GOLDEN=1 writes it anew."""
    if re.fullmatch(".*".join(map(re.escape, said.split("…"))), found, re.S):
        return
    if os.environ.get("UPDATE_GOLDEN"):
        text = path.read_text("utf-8")
        path.write_text(text.replace(f"{asked}\n{said}", f"{asked}\n{found}"), "utf-8")
    assert found == said
