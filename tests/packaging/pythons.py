"""The source archive with each Python that may use it: `python tests/packaging/pythons.py ARCHIVE`.

Where an interpreter is installed, the archive is built and installed in a new environment of it, and the embedded example and the references that
come with the package are run. For the others the script asks pip whether binary wheels of all dependencies exist.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

from environments import environment

VERSIONS = ("3.11", "3.12", "3.13", "3.14")
PLATFORM = "manylinux_2_28_x86_64"
PROJECT = Path(__file__).parents[2] / "pyproject.toml"
CHECK = """
import ilpinfer
from formulations import parse_rules
from ilpinfer.references import ShippedReferences, verify
for reference in ShippedReferences().kind("plain"):
    assert ilpinfer.decode(reference.trellis, parse_rules(reference.rules)).status == "optimal"
    assert verify(reference)
"""


def interpreter(version: str) -> str | None:
    """A program of that version that starts, of the system, of uv or of pyenv; None where there is none."""
    found = [shutil.which(f"python{version}")]
    if uv := shutil.which("uv"):
        asked = [uv, "python", "find", "--no-python-downloads", version]
        found.append(subprocess.run(asked, capture_output=True, text=True, check=False).stdout.strip())
    root = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    found += map(str, sorted(root.glob(f"versions/{version}.*/bin/python"), reverse=True))
    return next(filter(_starts, found), None)


def _starts(python: str | None) -> bool:
    """Whether there is such a program, and it runs; a shim of pyenv may not."""
    return (
        bool(python) and subprocess.run([python, "-c", ""], capture_output=True, check=False).returncode == 0
    )


def tried(archive: str, version: str, python: str) -> str:
    """The result of the example and of the references in a new environment."""
    with tempfile.TemporaryDirectory() as folder:
        made = environment(folder, archive, python=python)
        for arguments in (["-m", "ilpinfer", "demo", "--items", "5"], ["-c", CHECK]):
            done = subprocess.run([made, *arguments], capture_output=True, text=True, check=False, cwd=folder)
            if done.returncode:
                return f"{version}: failed: {' '.join(arguments[:3])}\n{done.stderr}"
    return f"{version}: installed from the archive, and its example and references decoded"


def resolved(version: str) -> str:
    """Whether pip finds binary wheels of all dependencies."""
    needed = tomllib.loads(PROJECT.read_text("utf-8"))["project"]["dependencies"]
    with tempfile.TemporaryDirectory() as folder:
        pip = [sys.executable, "-m", "pip", "install", "--dry-run", "--quiet", "--target", folder]
        chosen = ["--only-binary", ":all:", "--python-version", version, "--platform", PLATFORM]
        done = subprocess.run([*pip, *chosen, *needed], capture_output=True, text=True, check=False)
    if done.returncode:
        return f"{version}: not installed here; no binary wheels: {done.stderr.strip().splitlines()[-1]}"
    return f"{version}: not installed here; binary wheels of all dependencies exist"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("archive")
    archive, lines = str(Path(parser.parse_args().archive).resolve()), []
    for version in VERSIONS:
        python = interpreter(version)
        lines.append(tried(archive, version, python) if python else resolved(version))
        print(lines[-1], flush=True)
    if any("failed" in line for line in lines):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
