"""Lines, modules and records of each package, and commands and options of the program: `python tests/packaging/growth.py`."""

import ast
from pathlib import Path

from ilpinfer.cli.app import GROUPS, load
from ilpinfer.cli.tree import CommandGroup

ROOT = Path(__file__).parents[2]
SUFFIXES = (".py", ".pyi", ".cpp", ".hpp", ".html", ".js", ".css")


def records(source: str) -> int:
    """Dataclasses and named tuples."""
    classes = (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.ClassDef))
    return sum(
        any("dataclass" in ast.unparse(each) for each in one.decorator_list)
        or any(ast.unparse(each) == "NamedTuple" for each in one.bases)
        for one in classes
    )


def row(name: str, files: list[Path]) -> str:
    texts = [file.read_text("utf-8") for file in files]
    found = sum(records(text) for file, text in zip(files, texts, strict=True) if file.suffix == ".py")
    return f"{name:26}{len(files):8}{sum(text.count(chr(10)) for text in texts):8}{found:8}"


def options() -> dict[str, int]:
    """The options and arguments of each command."""
    loaded = {name: load(name) for group in GROUPS.values() for name in group}
    commands = {
        f"{name} {inner}".strip(): each
        for name, one in loaded.items()
        for inner, each in (one.commands.items() if isinstance(one, CommandGroup) else [("", one)])
    }
    return {name: len(each.params) for name, each in commands.items()}


def main() -> None:
    packages = [ROOT / "formulations", *sorted((ROOT / "ilpinfer").iterdir())]
    folders = [each for each in packages if (each / "__init__.py").exists()]
    print(f"{'':26}{'modules':>8}{'lines':>8}{'records':>8}")
    for folder in [*folders, ROOT / "benchmarks", ROOT / "tests"]:
        files = sorted(file for file in folder.rglob("*") if file.suffix in SUFFIXES)
        print(row(str(folder.relative_to(ROOT)), files))
    counts = options()
    print(f"{len(counts)} commands, {sum(counts.values())} options and arguments:", end=" ")
    print(", ".join(f"{name} {count}" for name, count in counts.items()))


if __name__ == "__main__":
    main()
