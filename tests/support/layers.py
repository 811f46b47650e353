"""The layers of both packages and the imports between them: `python tests/support/layers.py`.

The layers are the tables of CONTRIBUTING.md.
"""

import ast
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

import matplotlib
import numpy as np
from matplotlib.figure import Figure

ROOT = Path(__file__).parents[2]
PICTURE = ROOT / "docs" / "layers.svg"
PACKAGES = ("formulations", "ilpinfer")
LOOSE = {"formulations": "base", "ilpinfer": "ilpinfer"}
"""The layer of modules that lie in the package itself and have no line of their own."""


def layers() -> dict[str, list[str]]:
    """The layers of each package, lowest first."""
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    tables = re.findall(r"^\| (\w+) \| contents \|\n\|---\|---\|\n((?:\|.*\n)+)", text, re.M)
    return {package: re.findall(r"^\| (\w+) \|", rows, re.M) for package, rows in tables}


def modules() -> dict[str, Path]:
    files = [path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))]
    names = [".".join(path.relative_to(ROOT).with_suffix("").parts) for path in files]
    return {name.removesuffix(".__init__"): path for name, path in zip(names, files, strict=True)}


def imports(name: str, known: Mapping[str, Path]) -> set[str]:
    """The modules that a module imports anywhere in it, under `if TYPE_CHECKING` too."""
    targets = set[str]()
    for node in ast.walk(ast.parse(known[name].read_text("utf-8"))):
        if isinstance(node, ast.Import):
            targets |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{name}: a relative import"
            for alias in node.names:
                full = f"{node.module}.{alias.name}"
                targets.add(full if full in known else str(node.module))
    return {target for target in targets if target in known and target != name}


@cache
def graph() -> dict[str, set[str]]:
    known = modules()
    return {name: imports(name, known) for name in known}


def layer(module: str, table: Mapping[str, list[str]]) -> tuple[str, str]:
    package, _, rest = module.partition(".")
    first = rest.partition(".")[0]
    if first == "__main__":
        return package, table[package][-1]
    if first in table[package] or (not first and package in table[package]):
        return package, first or package
    return package, LOOSE[package]


def height(place: tuple[str, str], table: Mapping[str, list[str]]) -> int:
    package, name = place
    below = len(table["formulations"]) if package == "ilpinfer" else 0
    return below + table[package].index(name)


def upward(arrows: Mapping[str, set[str]], table: Mapping[str, list[str]]) -> Iterator[str]:
    """Imports that lead to a higher layer."""
    for module, targets in arrows.items():
        for target in sorted(targets):
            if height(layer(target, table), table) > height(layer(module, table), table):
                yield f"{module} -> {target}"


def draw(arrows: Mapping[str, set[str]], table: Mapping[str, list[str]]) -> Figure:
    """A matrix: how many imports lead from the layer of a row to that of a column. Those above the diagonal lead upward."""
    places = [(package, name) for package in PACKAGES for name in table[package]]
    counts = np.zeros((len(places), len(places)), int)
    for module, targets in arrows.items():
        for target in targets:
            counts[height(layer(module, table), table), height(layer(target, table), table)] += 1
    files = Counter(layer(module, table) for module in arrows)
    figure = Figure(figsize=(11, 9.5), layout="constrained")
    axes = figure.subplots()
    axes.imshow(np.sqrt(counts), cmap="Blues", vmax=1.5 * np.sqrt(counts.max()))
    for row, column in zip(*np.nonzero(counts), strict=True):
        color = "red" if column > row else "gray" if column == row else "black"
        axes.text(column, row, counts[row, column], ha="center", va="center", color=color, size=8)
    border = len(table["formulations"]) - 0.5
    axes.axhline(border, color="gray", linewidth=0.6)
    axes.axvline(border, color="gray", linewidth=0.6)
    axes.set_xticks(range(len(places)), [name for _, name in places], rotation=90)
    axes.set_yticks(range(len(places)), [f"{name} ({files[package, name]})" for package, name in places])
    axes.set_xlabel("imported layer")
    axes.set_ylabel("layer (modules)")
    total = int(np.triu(counts, 1).sum())
    axes.set_title(f"Imports between layers, the lowest first; {total} lead upward (above the diagonal)")
    return figure


def main() -> None:
    table = layers()
    arrows = graph()
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "ilpinfer"}):
        draw(arrows, table).savefig(PICTURE, metadata={"Date": None})
    between = sum(len(targets) for targets in arrows.values())
    print(f"{len(arrows)} modules, {between} imports, {len(list(upward(arrows, table)))} upward: {PICTURE}")


if __name__ == "__main__":
    main()
