"""The record that declares what is run."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.data.sets import DataSet, Scale


@dataclass(frozen=True)
class Contender:
    """A method with its options.

    Parameters
    ----------
    method, options : as `decode` takes them
    timed : whether the time limit changes what it finds; others run once, at the longest limit
    seeded : whether it takes a seed
    """

    method: str
    options: Mapping[str, Any] = field(default_factory=dict)
    timed: bool = True
    seeded: bool = False


@dataclass(frozen=True)
class Grid:
    """Contenders by name, on data sets, at time limits in seconds, with seeds."""

    contenders: Mapping[str, Contender]
    limits: tuple[float, ...]
    seeds: tuple[int, ...]
    sets: Mapping[str, Callable[[Path, Scale], Iterator[DataSet]]]
