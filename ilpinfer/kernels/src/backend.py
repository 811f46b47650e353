"""The build backend: scikit-build-core, with the compiler of the package ziglang where the system has none for C++20.

As a script it builds the kernels in a folder that is kept, and puts them into the source tree: `python backend.py FOLDER [OPTION ...]`, where
options are those of CMake; `python backend.py` prints the packages that this needs.
"""

import importlib.util
import os
import platform
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

SOURCES = Path(__file__).parents[1]
ROOT = SOURCES.parents[1]
PROBE = "#include <barrier>\n#include <concepts>\n#include <span>\nint main() { return std::span<int>().size(); }\n"
PYTHON_ONLY = {"wheel.cmake": "false"}
"""Settings of editable installs: their wheel has no module, since the source tree has them."""
PATHS = "ilpinfer_source.pth"

Settings = dict[str, list[str] | str]


def has_compiler() -> bool:
    """Whether a compiler for C++20 is there. One that is named by CXX is, so that its own error is what one sees."""
    if os.environ.get("CXX"):
        return True
    if sys.platform == "win32" and (shutil.which("cl") or _visual_studio()):
        return True
    return any(_compiles(name) for name in ("c++", "g++", "clang++"))


def _compiles(name: str) -> bool:
    found = shutil.which(name)
    command = [str(found), "-std=c++20", "-fsyntax-only", "-x", "c++", "-"]
    return (
        found is not None
        and not subprocess.run(command, input=PROBE, text=True, capture_output=True, check=False).returncode
    )


def _visual_studio() -> bool:
    """Whether Visual Studio has its compiler for C++."""
    where = Path(os.environ.get("PROGRAMFILES(X86)", ""), "Microsoft Visual Studio/Installer/vswhere.exe")
    component = "Microsoft.VisualStudio.Component.VC.Tools.x86.x64"
    asked = [str(where), "-products", "*", "-requires", component, "-property", "installationPath"]
    return where.is_file() and bool(subprocess.run(asked, capture_output=True, check=False).stdout.strip())


@contextmanager
def compiler(folder: Path) -> Iterator[None]:
    """The environment of a build: that of the system, or the compiler of ziglang by scripts in a folder."""
    if has_compiler():
        yield
        return
    spec = importlib.util.find_spec("ziglang")
    if spec is None or spec.origin is None:
        raise SystemExit("no compiler for C++20 is found: install one, or the package ziglang")
    zig, libc = str(Path(spec.origin).with_name("zig")), platform.libc_ver()
    machine = f"{platform.machine()}-linux-gnu.{libc[1]}"
    target = ["-target", machine] if libc[0] == "glibc" else ["-mcpu=baseline"]
    tools = {
        "c++": _script(folder / "zig-c++", [zig, "c++", *target]),
        "ar": _script(folder / "zig-ar", [zig, "ar"]),
        "ranlib": _script(folder / "zig-ranlib", [zig, "ranlib"]),
    }
    options = [f"-DCMAKE_AR={tools['ar']}", f"-DCMAKE_RANLIB={tools['ranlib']}"]
    own = dict(os.environ)
    given = {"CXX": tools["c++"], "CMAKE_GENERATOR": "Ninja"}
    given["CMAKE_ARGS"] = f"{own.get('CMAKE_ARGS', '')} {shlex.join(options)}".strip()
    os.environ.update(given)
    try:
        yield
    finally:
        for name in given:
            os.environ.pop(name)
        os.environ.update({name: own[name] for name in given if name in own})


def _script(path: Path, command: Sequence[str]) -> str:
    """A program that runs a command with further arguments."""
    if sys.platform == "win32":
        path = path.with_suffix(".cmd")
        path.write_text(f"@{subprocess.list2cmdline(command)} %*\n")
    else:
        path.write_text(f'#!/bin/sh\nexec {shlex.join(command)} "$@"\n')
        path.chmod(0o755)
    return path.as_posix()


def build_in_place(build: Path, options: Sequence[str] = ()) -> None:
    """Build what has changed since the last call with the same folder, and copy it into the source tree."""
    if not shutil.which("cmake"):
        raise SystemExit("cmake is not found: install it, or the package cmake")
    build.mkdir(parents=True, exist_ok=True)
    with compiler(build):
        given = [f"-DPython_EXECUTABLE={sys.executable}", *shlex.split(os.environ.get("CMAKE_ARGS", ""))]
        generator = ["-G", "Ninja"] if shutil.which("ninja") and sys.platform != "win32" else []
        strip = [] if any("SANITIZE" in option for option in options) else ["--strip"]
        for command in (
            ["-S", str(SOURCES), "-B", str(build), *generator, *given, *options],
            ["--build", str(build), "--config", "Release", "--parallel"],
            ["--install", str(build), "--config", "Release", "--prefix", str(ROOT), *strip],
        ):
            if code := subprocess.run(["cmake", *command], check=False).returncode:
                raise SystemExit(code)


def _zig() -> list[str]:
    return [] if has_compiler() else ["ziglang>=0.14"]


def get_requires_for_build_wheel(settings: Settings | None = None) -> list[str]:
    from scikit_build_core import build

    return [*build.get_requires_for_build_wheel(settings), *_zig()]


def get_requires_for_build_editable(settings: Settings | None = None) -> list[str]:
    return get_requires_for_build_wheel(settings)


def get_requires_for_build_sdist(settings: Settings | None = None) -> list[str]:
    from scikit_build_core import build

    return build.get_requires_for_build_sdist(settings)


def prepare_metadata_for_build_wheel(folder: str, settings: Settings | None = None) -> str:
    from scikit_build_core import build

    return build.prepare_metadata_for_build_wheel(folder, settings)


def prepare_metadata_for_build_editable(folder: str, settings: Settings | None = None) -> str:
    return prepare_metadata_for_build_wheel(folder, {**(settings or {}), **PYTHON_ONLY})


def build_sdist(folder: str, settings: Settings | None = None) -> str:
    from scikit_build_core import build

    return build.build_sdist(folder, settings)


def build_wheel(folder: str, settings: Settings | None = None, metadata: str | None = None) -> str:
    from scikit_build_core import build

    with tempfile.TemporaryDirectory() as scripts, compiler(Path(scripts)):
        return build.build_wheel(folder, settings, metadata)


def build_editable(folder: str, settings: Settings | None = None, metadata: str | None = None) -> str:
    """A wheel that only names the source tree, in which the kernels are built.

    The folder that ILPINFER_BUILD names is kept for `make kernels`.
    """
    from scikit_build_core import build

    with tempfile.TemporaryDirectory() as scratch:
        build_in_place(Path(os.environ.get("ILPINFER_BUILD") or Path(scratch, "build")))
        paths = Path(scratch, PATHS)
        paths.write_text(f"{ROOT}\n", "utf-8")
        own: Settings = {"wheel.packages": [], f"wheel.force-include.{paths}": PATHS}
        return build.build_wheel(folder, {**(settings or {}), **PYTHON_ONLY, **own}, metadata)


def main(arguments: Sequence[str]) -> None:
    if arguments:
        build_in_place(Path(arguments[0]).absolute(), arguments[1:])
        return
    tools = [name for name in ("cmake", "ninja") if not shutil.which(name)]
    print(*_zig(), *tools)


if __name__ == "__main__":
    main(sys.argv[1:])
