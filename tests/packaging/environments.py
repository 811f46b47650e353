"""Environments made for one script, with a wheel or a source archive and nothing else of the project."""

import subprocess
import sys
from pathlib import Path

CONSTRAINTS = Path(__file__).parents[2] / "constraints.txt"


def environment(folder: str | Path, archive: str, extra: str = "", python: str = sys.executable) -> Path:
    """The interpreter of a new environment into which a wheel or a source archive is installed, with an extra."""
    subprocess.run([python, "-m", "venv", str(folder)], check=True)
    made = Path(folder, "bin", "python")
    what = f"{archive}[{extra}]" if extra else archive
    pip = [str(made), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    done = subprocess.run(
        [*pip, "--constraint", str(CONSTRAINTS), what], check=False, capture_output=True, text=True
    )
    if done.returncode:
        raise SystemExit(f"{what} could not be installed:\n{done.stderr}")
    return made
