"""What is learnt from and measured on: references and other citations, in models of two kinds."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from benchmarks.data.corpora import drawn, read_labelled, train_and_dev
from benchmarks.data.sets import Labelled
from benchmarks.study import Cell, Sources
from formulations import RuleSet, load_rules
from ilpinfer.corpus.conversion import iobes, strip

POOL = 1000
CORA, REXA = "Cora", "Rexa"
"""Where the pool is from."""


@dataclass(frozen=True)
class Kind:
    """A kind of HMM: states by BIO labels, and options of training."""

    states: Callable[[Sequence[str]], Sequence[str]]
    options: Mapping[str, Any]


@dataclass(frozen=True)
class Task:
    """Labelled sequences, others to measure on, a pool that has neither of them, and rules."""

    labelled: list[Labelled]
    test: list[Labelled]
    pool: list[tuple[str, ...]]
    rules: RuleSet


def plain(labels: Sequence[str]) -> tuple[str, ...]:
    return strip([labels])[0]


LOWER, BEST = "plain", "best"
KINDS = {
    LOWER: Kind(plain, {"by": "uniform", "lower_case": True}),
    BEST: Kind(iobes, {"alike": True}),
}
"""The paper's, with a state for each field, and one whose fields begin and end and that reads numbers, initials and months alike."""


def task(sources: Sources, cell: Cell) -> Task:
    """Sequences in the order of the draw: labelled ones, those that are measured on, and the rest."""
    known, tested = sequences(sources.folder), sources(smoke=10, sample=100)
    chosen = drawn(known, cell.draw)
    states, most = KINDS[cell.kind].states, sources(smoke=10, sample=POOL)
    labelled = [(tokens, tuple(states(labels))) for tokens, labels in chosen[: cell.size]]
    test, pool = chosen[cell.size :][:tested], [tokens for tokens, _ in chosen[cell.size + tested :]]
    if cell.corpus == REXA:
        pool = drawn(unlabelled(sources.folder), [cell.draw, 1])
    return Task(labelled, test, pool[:most], load_rules("citations"))


def sequences(folder: Path) -> list[Labelled]:
    train, dev = train_and_dev(folder, "cora")
    return [*train, *dev]


@cache
def unlabelled(folder: Path) -> list[tuple[str, ...]]:
    """Citations of Rexa that are not in Cora; Missing where they are not there."""
    known = {tokens for tokens, _ in sequences(folder)}
    pool = read_labelled(folder / "rexa" / "unlabelled_silver.tsv")
    return [tokens for tokens, _ in pool if tokens not in known]
