"""Rules from Python: `rules.py`, `rules.py:NAME` or `package.module:NAME`. The module is imported, which runs its code."""

import importlib
import inspect
import re
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

from formulations import RuleSet
from formulations.rulefiles.loading import rule_set
from ilpinfer.corpus.examples import InputError
from ilpinfer.errors import describe

_PLACE = re.compile(r"(?P<file>.+\.py)(:(?P<name>[^\W\d]\w*))?|(?P<module>[^\W\d][\w.]*):(?P<own>[^\W\d]\w*)")
NAME = "RULES"
"""Name of the rules in a file, if none is given."""


def is_python(source: str) -> bool:
    return _PLACE.fullmatch(source) is not None


def file_of(source: str) -> str:
    """The file of rules without the name after it."""
    place = _PLACE.fullmatch(source)
    return place["file"] if place and place["file"] else source


def python_rules(source: str) -> RuleSet:
    """The rules of a Python file or module; InputError if it cannot be imported or has no rules."""
    module, name = _module(source)
    if not hasattr(module, name):
        raise InputError(
            f"{source}: {module.__name__} has no {name!r}; expected a list of rules or a rule set"
        )
    value: Any = getattr(module, name)
    if isinstance(value, str | Path):
        raise InputError(f"{source}: {name} is a text; expected a list of rules or a rule set")
    try:
        rules = rule_set(value)
    except ValueError as error:
        raise InputError(f"{source}: {error}") from error
    return rules if rules.name else replace(rules, name=source)


def code_of(sources: Sequence[str]) -> str:
    """The source text of the rule modules, which identifies interrupted runs, as functions have no digest."""
    return "".join(inspect.getsource(_module(source)[0]) for source in sources if is_python(source))


def _module(source: str) -> tuple[ModuleType, str]:
    place = _PLACE.fullmatch(source)
    assert place is not None
    path = Path(place["file"]).resolve() if place["file"] else None
    if path is not None and not path.is_file():
        raise InputError(f"{source}: no such file")
    folder, name = (str(Path.cwd()), place["module"]) if path is None else (str(path.parent), path.stem)
    if folder not in sys.path:
        sys.path.insert(0, folder)
    try:
        module = importlib.import_module(name)
    except Exception as error:
        raise InputError(f"{source}: cannot be imported: {describe(error)}") from error
    found = getattr(module, "__file__", None)
    if path is not None and (found is None or Path(found).resolve() != path):
        raise InputError(f"{source}: another module is named {name!r}: give the file another name")
    return module, place["name"] or place["own"] or NAME
