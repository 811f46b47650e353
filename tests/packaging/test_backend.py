"""The build backend."""

import os
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "ilpinfer" / "kernels" / "src"))

import backend  # noqa: E402

posix = pytest.mark.skipif(sys.platform == "win32", reason="the compilers of the test are scripts of a shell")


def compilers(folder: Path, monkeypatch: pytest.MonkeyPatch, **codes: int) -> None:
    """Programs on the path that end with these codes, and no others."""
    for name, code in codes.items():
        program = folder / name.replace("xx", "++")
        program.write_text(f"#!/bin/sh\nexit {code}\n")
        program.chmod(0o755)
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.delenv("CXX", raising=False)


@posix
@pytest.mark.parametrize(
    "codes, there", [({}, False), ({"gxx": 1}, False), ({"cxx": 1, "clangxx": 0}, True), ({"cxx": 0}, True)]
)
def test_the_compiler_of_a_package_is_asked_for_where_no_other_compiles(tmp_path, monkeypatch, codes, there):
    compilers(tmp_path, monkeypatch, **codes)
    assert backend.has_compiler() is there
    assert backend._zig() == ([] if there else ["ziglang>=0.14"])


@posix
def test_a_compiler_that_is_named_is_taken_as_it_is(tmp_path, monkeypatch):
    compilers(tmp_path, monkeypatch)
    monkeypatch.setenv("CXX", "/nowhere/c++")
    with backend.compiler(tmp_path):
        assert os.environ["CXX"] == "/nowhere/c++"


@posix
def test_the_environment_is_as_before_after_a_build(tmp_path, monkeypatch):
    compilers(tmp_path, monkeypatch)
    package = tmp_path / "packages" / "ziglang"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    monkeypatch.syspath_prepend(package.parent)
    monkeypatch.setenv("CMAKE_ARGS", "-DOWN=1")
    before = dict(os.environ)
    with backend.compiler(tmp_path):
        assert os.environ["CXX"] == (tmp_path / "zig-c++").as_posix()
        assert os.environ["CMAKE_ARGS"].startswith("-DOWN=1 -DCMAKE_AR=")
        assert f"{package / 'zig'} c++" in (tmp_path / "zig-c++").read_text()
    assert dict(os.environ) == before


def test_no_compiler_and_no_package(tmp_path, monkeypatch):
    monkeypatch.setattr(backend, "has_compiler", lambda: False)
    monkeypatch.setattr(backend.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(SystemExit, match="no compiler for C\\+\\+20 is found"), backend.compiler(tmp_path):
        pass


def test_an_editable_wheel_names_the_source_tree_and_holds_nothing_else(tmp_path, monkeypatch):
    pytest.importorskip("scikit_build_core")
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(backend, "build_in_place", lambda folder: None)
    with zipfile.ZipFile(tmp_path / backend.build_editable(str(tmp_path))) as wheel:
        assert wheel.read(backend.PATHS).decode() == f"{ROOT}\n"
        assert [name for name in wheel.namelist() if ".dist-info/" not in name] == [backend.PATHS]
