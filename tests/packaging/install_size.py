"""Packages and megabytes of a core install and of each extra: `python tests/packaging/install_size.py WHEEL`.

The size is that of the files of all packages, without pip and without byte code.
"""

import argparse
import json
import subprocess
import tempfile
from pathlib import Path

from environments import environment

COUNT = """
import json
from importlib.metadata import distributions
rows = {}
for each in distributions():
    if each.name not in ("pip", "setuptools"):
        paths = [file.locate() for file in each.files or () if file.suffix != ".pyc"]
        rows[each.name] = sum(path.stat().st_size for path in paths if path.exists())
print(json.dumps(rows))
"""


def sizes(python: Path) -> dict[str, int]:
    """Bytes of each package."""
    done = subprocess.run([python, "-c", COUNT], check=True, capture_output=True, text=True)
    rows: dict[str, int] = json.loads(done.stdout)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("wheel")
    parser.add_argument(
        "--extras", default="compare", help="with commas between; each is installed on its own"
    )
    options = parser.parse_args()
    for extra in ["", *options.extras.split(",")]:
        with tempfile.TemporaryDirectory() as folder:
            rows = sizes(environment(folder, options.wheel, extra))
        largest = sorted(rows, key=rows.__getitem__, reverse=True)[:5]
        names = ", ".join(f"{name} {rows[name] / 1e6:.0f}" for name in largest)
        title = f"ilpinfer[{extra}]" if extra else "ilpinfer"
        print(
            f"{title}: {len(rows)} packages, {sum(rows.values()) / 1e6:.0f} MB; largest: {names}", flush=True
        )


if __name__ == "__main__":
    main()
