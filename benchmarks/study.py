"""The record of a study: it runs row by row, and makes tables and pictures from its rows alone."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from benchmarks.data import Scale
from benchmarks.journal import Journal

STUDIES: Mapping[str, str] = {
    "codl": "benchmarks.codl:STUDY",
    "engine": "benchmarks.engine:STUDY",
    "searches": "benchmarks.searches:STUDY",
    "tuning": "benchmarks.tuning:STUDY",
}
"""The import path of each study, by name."""
RESULTS = Path(__file__).parent / "results"


@dataclass(frozen=True)
class Work:
    """What a study is run with.

    Parameters
    ----------
    data : folder of the corpora
    scale : how much is run
    sections : of the study
    journal : where rows go; what it has is not run again
    say : prints a line of progress
    """

    data: Path
    scale: Scale
    sections: Sequence[str]
    journal: Journal
    say: Callable[[str], None]


@dataclass(frozen=True)
class Study:
    """One study.

    Parameters
    ----------
    name, summary : its name, and what it measures, in one line
    sections : which can be run one by one
    run : adds the rows that the journal lacks
    report : text made from the rows; pictures go into the folder
    """

    name: str
    summary: str
    sections: tuple[str, ...]
    run: Callable[[Work], None]
    report: Callable[[Journal, Path], str]


class Disagreement(Exception):
    """Two programs that cannot both be right; the message names them."""


def study_named(name: str) -> Study:
    """The study of that name."""
    module, _, attribute = STUDIES[name].partition(":")
    result: Study = getattr(import_module(module), attribute)
    return result


def digest() -> str:
    """Of the library's code and the studies', so that rows of different code are never mixed."""
    result = hashlib.sha256()
    for folder in ("formulations", "ilpinfer", "benchmarks"):
        for path in sorted((Path(__file__).parents[1] / folder).rglob("*")):
            if path.suffix in (".py", ".toml", ".lark"):
                result.update(path.read_bytes())
    return result.hexdigest()
