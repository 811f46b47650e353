"""Calls that are refused: golden files have them, and all that they say. UPDATE_GOLDEN=1 writes them anew."""

import functools
import math
import pathlib
import re

import numpy as np
import pytest
from support.golden import alike, check_said
from support.places import GOLDEN

import ilpinfer
from formulations import constraints as C

NAMES = {name: getattr(ilpinfer, name) for name in ilpinfer.__all__}
NAMES |= {"ilpinfer": ilpinfer, "C": C, "np": np, "inf": math.inf, "nan": math.nan, "pytest": pytest}
NAMES |= {"alike": alike, "partial": functools.partial, "Path": pathlib.Path}
CODE = re.compile(r"(.*(?:\n\.\.\. .*)*)\n?((?:.|\n)*)")
"""Lines of Python, and what stands below them."""


def blocks():
    """The file of each block, and its lines of Python with the errors below them; lines without one come before others."""
    for path in sorted((GOLDEN / "refused").glob("*.txt")):
        for block in path.read_text("utf-8").strip().split("\n\n"):
            lines = [
                CODE.fullmatch(each.rstrip("\n")).groups()
                for each in re.split(r"^>>> ", block, flags=re.M)[1:]
            ]
            if lines:
                yield pytest.param(path, lines, id=f"{path.stem}: {lines[0][0]}")


@pytest.mark.parametrize(("path", "lines"), list(blocks()))
def test_calls_are_refused(here, path, lines):
    scope = dict(NAMES)
    for code, said in lines:
        try:
            exec(code.replace("\n... ", "\n"), scope)
            found = "not refused"
        except Exception as error:
            if not said:
                raise
            found = f"{type(error).__name__}: {error}".strip()
        if said:
            check_said(path, f">>> {code}", said, found)
