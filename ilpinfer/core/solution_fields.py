"""The fields of a solution from plain values, and files of such values."""

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from formulations.arguments import whole
from formulations.files import Unreadable, json_bytes
from formulations.labels.label_set import MOST_LABELS
from formulations.messages import counted
from formulations.plain_values import (
    choice,
    items,
    kind_of,
    number,
    of_type,
    strings,
    table,
    text,
)
from formulations.problem.known_labels import read_given
from ilpinfer.core.certificate import Certificate
from ilpinfer.core.incumbents import Incumbent
from ilpinfer.core.infeasibility import Infeasibility
from ilpinfer.core.status import Status
from ilpinfer.system.files import write_atomically

LARGEST_FILE = 2**30
"""Bytes that a file of a solution may have."""
SCORES = {"score": -math.inf, "model_score": -math.inf, "feature_score": -math.inf, "penalty": math.inf}
"""Fields in nats, with the value of None."""
TEXTS = "method", "reason"
NEEDED = ("status", "labels", "ids", *SCORES, "violations", "bound", "gap", "certificate", *TEXTS, "seconds")
OPTIONAL = ("error", "given", "infeasibility", "overruled", "incumbents", "label_names")
ABOUT = ("id", "name", "comment", "metadata")
"""Keys of an input for notes about its sequence, which rows repeat."""
ROW_KEYS = (
    "sequence",
    *ABOUT,
    "tokens",
    "spans",
    "rank",
    "ranks",
    "trace",
    "explanation",
    "changed",
    "probabilities",
    "questions",
    "job",
)
"""Further keys of rows of `ilpinfer decode`, which are not read."""
TWO_PHASE = ("best_score", "floor", "cost_bound", "tau", "floor_kind")
FURTHER_OWN = ("alternatives", "file", "line", "further", "marginals", "notices", *TWO_PHASE)
OPTIONS = ("rules", "forbidden", "explain", "deadline", "top")
OWN = frozenset((*NEEDED, *OPTIONAL, *ROW_KEYS, *FURTHER_OWN, *OPTIONS)) - {*ABOUT}
"""Fields of rows, columns of shards and options of requests: names that no further key of a sequence may have."""


def solution_fields(
    values: Any, further: Mapping[str, Callable[[Any, str], Any]]
) -> tuple[dict[str, Any], tuple[Incumbent, ...] | None]:
    """Fields of a solution, and its incumbents if present; `further` reads the additional fields of a kind of solution."""
    if isinstance(values, dict) and not further and "floor_kind" in values:
        raise ValueError("the solution is of two-phase inference; read it as a TwoPhaseSolution")
    if isinstance(values, dict) and "sequence" in values:  # a row, which repeats further keys of its input
        known = {*NEEDED, *further, *OPTIONAL, *ROW_KEYS}
        values = {key: value for key, value in values.items() if key in known}
    given = table(values, (*NEEDED, *further), "the solution", (*OPTIONAL, *ROW_KEYS))
    status = Status(choice(given["status"], "status", list(Status)))
    ids, names = _labelling(given)
    fields = {
        "status": status,
        "violations": of_type(dict[str, int], given["violations"], "violations"),
        "bound": number(given["bound"], "bound", -math.inf if status is Status.INFEASIBLE else math.inf),
        "certificate": Certificate.from_dict(given["certificate"]),
        "path": None if ids is None else np.array(ids, np.int64),
        "names": names,
        "error": text(given.get("error", ""), "error"),
        "given": read_given(given.get("given", {})),
        "overruled": of_type(dict[str, list[int]], given.get("overruled", {}), "overruled"),
        **{name: number(given[name], name, null) for name, null in SCORES.items()},
        **{name: text(given[name], name) for name in TEXTS},
        "seconds": number(given["seconds"], "seconds"),
        **{name: read(given[name], name) for name, read in further.items()},
    }
    if "infeasibility" in given:
        fields["infeasibility"] = Infeasibility.from_dict(given["infeasibility"])
    return fields, _incumbents(given)


def _labelling(given: dict[str, Any]) -> tuple[tuple[int, ...] | None, tuple[str, ...]]:
    """Label ids, and names by id: those that are given, or those that the labels tell."""
    names = strings(given.get("label_names", []), "label_names")
    if given["ids"] is None or given["labels"] is None:
        if given["ids"] is not given["labels"]:
            raise ValueError("ids and labels: one of them is null; expected both, or none")
        return None, names
    ids, labels = _below(MOST_LABELS, given["ids"], "ids"), strings(given["labels"], "labels")
    if len(ids) != len(labels):
        raise ValueError(
            f"ids has {counted(len(ids), 'item')} and labels has {len(labels)}; expected one of each for each token"
        )
    known = list(names) or [""] * (1 + max(ids, default=-1))
    for t, (k, label) in enumerate(zip(ids, labels, strict=True)):
        if k >= len(known) or known[k] not in ("", label) or (names and not known[k]):
            raise ValueError(f"labels[{t}] is {label!r:.60} with id {k}, which is the id of another label")
        known[k] = label
    return ids, tuple(known)


def _incumbents(given: dict[str, Any]) -> tuple[Incumbent, ...] | None:
    if "incumbents" not in given:
        return None
    listed = enumerate(items(given["incumbents"], "incumbents"))
    return tuple(Incumbent.from_dict(each, f"incumbents[{at}]") for at, each in listed)


def write_values(path: str | Path, values: dict[str, Any]) -> None:
    """Write plain values whole, as `.json` or `.json.gz`; ValueError for another suffix."""
    try:
        content = json_bytes(path, values)
    except Unreadable as error:
        raise Unreadable(f"{path}: {error}") from None
    write_atomically(path, content)


def _below(end: int, value: Any, what: str) -> tuple[int, ...]:
    return tuple(
        whole(each, f"{what}[{at}]", 0, end - 1, kind_of) for at, each in enumerate(items(value, what))
    )
