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


def calls():
    """The place of each, the lines before it in its block, itself, and the error."""
    for path in sorted((GOLDEN / "refused").glob("*.txt")):
        for block in path.read_text("utf-8").strip().split("\n\n"):
            before = []
            for each in re.split(r"^>>> ", block, flags=re.M)[1:]:
                code, said = CODE.fullmatch(each.rstrip("\n")).groups()
                if said:
                    yield pytest.param(path, tuple(before), code, said, id=f"{path.stem}: {code}")
                else:
                    before.append(code.replace("\n... ", "\n"))


@pytest.mark.parametrize(("path", "before", "code", "said"), list(calls()))
def test_a_call_is_refused(here, path, before, code, said):
    scope = dict(NAMES)
    for line in before:
        exec(line, scope)
    try:
        exec(code.replace("\n... ", "\n"), scope)
        found = "not refused"
    except Exception as error:
        found = f"{type(error).__name__}: {error}".strip()
    check_said(path, f">>> {code}", said, found)
