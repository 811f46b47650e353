"""Completions for shells: names of methods, rule sets and models. The shell itself completes files where it can."""

import glob
import os
from collections.abc import Iterable, Iterator

Completion = tuple[str, str]
"""A value and its description."""


def methods(incomplete: str) -> list[Completion]:
    from ilpinfer.core.registry import methods, offered

    found = [(method.name, method.summary) for method in methods()]
    return _matching([*found, *offered()], incomplete)


def method_lists(incomplete: str) -> list[Completion]:
    """Names of methods, after a comma, for `compare --methods`."""
    before, comma, last = incomplete.rpartition(",")
    return [(f"{before}{comma}{name}", text) for name, text in methods(last)]


def rule_sets(incomplete: str) -> list[Completion]:
    """Names of the catalogue, and rule files."""
    from formulations.rulefiles.loading import catalogue

    return [
        *_matching(((name, "rule set of the catalogue") for name in catalogue()), incomplete),
        *_files(incomplete, ".toml"),
    ]


def models(incomplete: str) -> list[Completion]:
    from ilpinfer.models.files import BUILT_IN

    return [
        *_matching(((name, "built-in model") for name in BUILT_IN), incomplete),
        *_files(incomplete, ".json"),
    ]


def schemes(incomplete: str) -> list[Completion]:
    from formulations.labels.schemes import ALIASES, SCHEMES

    return _matching(((name, "") for name in (*SCHEMES, *ALIASES)), incomplete)


def kinds(incomplete: str) -> list[Completion]:
    from ilpinfer.models.training import KINDS

    return _matching(((name, kind.title) for name, kind in KINDS.items()), incomplete)


def _matching(values: Iterable[Completion], incomplete: str) -> list[Completion]:
    return [each for each in values if each[0].startswith(incomplete)]


def _files(incomplete: str, ending: str) -> Iterator[Completion]:
    """Files with the ending, and folders that may have some."""
    for path in sorted(glob.glob(f"{glob.escape(incomplete)}*")):
        if os.path.isdir(path):
            yield f"{path}/", "folder"
        elif path.endswith((ending, f"{ending}.gz")):
            yield path, "file"
