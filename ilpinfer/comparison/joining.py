"""Rows of comparisons that were written before, under other names, and of two runs on the same sequences."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any

from formulations.errors import InferenceError
from ilpinfer.comparison.frame import line_of
from ilpinfer.comparison.plan import RESULTS, SUMMARY, ComparisonData
from ilpinfer.comparison.rows import check_agreement
from ilpinfer.comparison.statistics import reference_of
from ilpinfer.system.checkpoint import Row

REMEDY = "expected a folder that `ilpinfer compare --output` of this version has written"


class RunError(InferenceError, ValueError):
    """A comparison that cannot be read, or two that cannot be joined; the message names the place or the difference."""


def read_run(path: str | Path, keys: Iterable[str]) -> tuple[Callable[[], Iterator[Row]], dict[str, Any]]:
    """The rows of a folder, read whenever they are asked for, and its summary, which has the keys; RunError for a damaged one."""
    folder = Path(path)
    try:
        record = json.loads((folder / SUMMARY).read_text("utf-8"))
        missing = [name for name in keys if name not in record]
        methods = {line["method"] for line in record["methods"]}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise RunError(f"{folder / SUMMARY}: cannot be read ({error}); {REMEDY}") from None
    if missing:
        raise RunError(f"{folder / SUMMARY}: has no {missing[0]}; {REMEDY}")
    rows, number, last = partial(_rows_in, folder / RESULTS), 0, -1
    try:
        for row in rows():
            line_of(row)
            if (
                row["method"] not in methods
                or not last <= row["sequence"] <= last + 1
                or row["digest"] is None
            ):
                raise ValueError("another row is expected")
            last, number = row["sequence"], number + 1
        if last + 1 != record["sequences"]:
            raise ValueError("rows are missing")
    except (OSError, ValueError, KeyError, TypeError):
        raise RunError(f"{folder / RESULTS}: damaged after line {number}; {REMEDY}") from None
    return rows, record


def _rows_in(path: Path) -> Iterator[Row]:
    with path.open("rb") as stream:
        yield from map(json.loads, stream)


def under_names(rows: Callable[[], Iterable[Row]], names: Mapping[str, str]) -> Iterator[Row]:
    for row in rows():
        yield {**row, "method": names[row["method"]]}


def join_rows(one: ComparisonData, other: ComparisonData) -> Callable[[], Iterator[Row]]:
    """The rows of both, without those of a reference that the second has, too; RunError where they cannot be joined."""
    for name, words in (("rules_digest", "rules"), ("sequences", "numbers of sequences")):
        if one.about[name] != other.about[name]:
            raise RunError(f"two comparisons with different {words} cannot be joined")
    if one.cap != other.cap:
        raise RunError(f"the cap is {one.cap:g} nats in one comparison and {other.cap:g} in the other")
    reference = reference_of(one.kinds)
    shared = {reference} if reference and reference == reference_of(other.kinds) else set()
    twice = [method for method in one.kinds if method in other.kinds and method not in shared]
    if twice:
        raise RunError(f"{', '.join(twice)}: in both comparisons; give other names in one of them")
    for sequence, own, more in _pairs(one, other):
        if own[0]["digest"] != more[0]["digest"]:
            raise RunError(
                f"sequence {sequence} is another one in the second comparison: its scores, tokens or gold labels differ"
            )
        found = [
            [(row["status"], row["score"]) for row in rows if row["method"] in shared] for rows in (own, more)
        ]
        if found[0] != found[1]:
            raise RunError(f"sequence {sequence}: {reference} has another result in the second comparison")
        check_agreement([*own, *more], f"sequence {sequence}")
    return partial(_merge, one, other, shared)


def _merge(one: ComparisonData, other: ComparisonData, shared: set[str]) -> Iterator[Row]:
    for _, own, more in _pairs(one, other):
        yield from own
        yield from (row for row in more if row["method"] not in shared)


def _pairs(one: ComparisonData, other: ComparisonData) -> Iterator[tuple[int, list[Row], list[Row]]]:
    groups = (groupby(each.rows(), lambda row: row["sequence"]) for each in (one, other))
    for (sequence, own), (_, more) in zip(*groups, strict=True):
        yield sequence, list(own), list(more)
