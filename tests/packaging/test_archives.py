"""What source archives hold."""

import tomllib

import pytest
from support.layers import PACKAGES
from support.places import ROOT


@pytest.mark.parametrize("package", PACKAGES)
def test_the_archives_have_all_files_that_are_no_modules(package):
    tool = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["scikit-build"]
    named = [pattern for pattern in tool["sdist"]["include"] if pattern.startswith(f"/{package}/")]
    packaged = {path for pattern in named for path in ROOT.glob(pattern[1:]) if path.is_file()}
    packaged = {path for path in packaged if path.suffix != ".py"}
    made = {".pyc", ".so", ".pyd"}
    there = {path for path in (ROOT / package).rglob("*.*") if path.is_file() and path.suffix not in made}
    there = {path for path in there if path.suffix != ".py"}
    assert {path for path in there - packaged if path.name != "README.md"} == set()
    assert packaged - there == set()
