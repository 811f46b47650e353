"""Checks of the form of references: keys, types, shapes and ranges."""

import re
from collections.abc import Sequence
from typing import Any

from formulations.arguments import flag
from formulations.labels.schemes import SCHEMES, scheme_name, scheme_of
from formulations.plain_values import choice, items, strings, table, text
from ilpinfer.checker import FORMAT, LARGEST, UNITS, CheckError, Machine, whole

KEYS = (
    *("format", "name", "status", "labels", "scheme", "tokens", "rules"),
    *("model", "tables", "levels", "digest", "made"),
)
SCORES = ("node", "pool", "step")
MACHINE = ("values", "table", "next", "cost", "group")


def check_form(record: Any) -> None:
    """Raise ValueError, with the key, for plain values that do not match the JSON Schema of references."""
    if not isinstance(record, dict) or record.get("format") != FORMAT:
        raise ValueError(f'its "format" is not {FORMAT!r}')
    table(record, KEYS, "the object")
    for key in ("name", "rules"):
        text(record[key], key)
    choice(scheme_of(scheme_name(text(record["scheme"], "scheme"))), "scheme", SCHEMES)
    choice(record["status"], "status", ("optimal", "infeasible"))
    labels, tokens = (strings(record[key], key) for key in ("labels", "tokens"))
    if not (labels and tokens):
        raise ValueError("it has no labels or no tokens")
    if len(set(labels)) < len(labels):
        raise ValueError("a label is there twice")
    if not re.fullmatch("[0-9a-f]{64}", text(record["digest"], "digest")):
        raise ValueError("digest is not 64 hexadecimal digits")
    for name, version in table(record["made"], (), "made", _keys(record["made"])).items():
        text(version, f"made: {name!r:.40}")
    T, K = len(tokens), len(labels)
    tables = table(record["tables"], ("second", *SCORES, "machines"), "tables")
    second = flag(tables["second"], "tables: second")
    check_scores(tables, "tables", T, K, second)
    if record["model"] is not None:
        check_scores(table(record["model"], SCORES, "model"), "model", T, K, second)
    widths = [
        _check_machine(machine, f"tables: machines[{at}]", T, K)
        for at, machine in enumerate(items(tables["machines"], "tables: machines"))
    ]
    for at, level in enumerate(items(record["levels"], "levels")):
        _check_level(level, f"levels[{at}]", T, K, widths)
    status = "optimal" if record["levels"] and record["levels"][0]["score"] is not None else "infeasible"
    if not record["levels"] or record["status"] != status:
        raise ValueError(f'"levels" is empty, or "status" is not {status!r}')


def check_scores(values: Any, what: str, T: int, K: int, second: bool) -> None:
    """Check shapes: node (T, S), pool (P, S, K), step (T-1,) below P. ValueError also for scores of impossible states."""
    S = (K + 1) * K if second else K
    node = numbers(values["node"], f"{what}: node", (T, S), -UNITS, UNITS, None)
    numbers(values["pool"], f"{what}: pool", (None, S, K), -UNITS, UNITS, None)
    numbers(values["step"], f"{what}: step", (T - 1,), 0, len(values["pool"]) - 1)
    if second and {*node[0][K:], *(score for row in node[1:] for score in row[:K])} - {None}:
        raise ValueError(f"{what}: node allows a state that no labelling has; expected null for it")


def numbers(value: Any, what: str, shape: tuple[int | None, ...], low: int, high: int, *more: None) -> Any:
    """Whole numbers in nested lists; see `ilpinfer.checker.whole`."""
    try:
        return whole(value, shape, low, high, *more)
    except CheckError as error:
        raise ValueError(f"{what}: {error}") from None


def _keys(value: Any) -> Sequence[str]:
    return tuple(value) if isinstance(value, dict) else ()


def _check_machine(value: Any, what: str, T: int, K: int) -> int:
    """Check a machine, and return the number of its symbols."""
    table(value, MACHINE, what, ("rule",))
    text(value.get("rule", ""), f"{what}: rule")
    for number, row in enumerate(items(value["cost"], f"{what}: cost")[:1] or [None]):
        items(row, f"{what}: cost[{number}]")
    try:
        Machine.read(value, T, K)
    except CheckError as error:
        raise ValueError(f"{what}: {error}") from None
    return len(value["cost"][0])


def _check_level(value: Any, what: str, T: int, K: int, widths: Sequence[int]) -> None:
    table(value, ("score", "labellings", "proof"), what)
    numbers(value["score"], f"{what}: score", (), -LARGEST, LARGEST, None)
    numbers(value["labellings"], f"{what}: labellings", (None, T), 0, K - 1)
    proof = table(value["proof"], ("steps", "tree"), f"{what}: proof")
    numbers(proof["steps"], f"{what}: steps", (), 0, LARGEST)
    waiting = [proof["tree"]]
    while waiting:
        node = waiting.pop()
        if "case" in _keys(node):
            table(node, ("case", "below", "above"), f"{what}: a node of its tree")
            _check_machine(node["case"], f"{what}: a case of its tree", T, K)
            waiting += [node["below"], node["above"]]
        else:
            _check_leaf(node, f"{what}: a leaf of its tree", T, widths)


def _check_leaf(value: Any, what: str, T: int, widths: Sequence[int]) -> None:
    table(value, ("prices", "stages"), what)
    for price in items(value["prices"], f"{what}: prices"):
        table(price, ("machine", "rows", "table"), f"{what}: a price")
        number = numbers(price["machine"], f"{what}: machine of a price", (), 0, len(widths) - 1)
        rows = numbers(price["rows"], f"{what}: rows of a price", (None, widths[number]), -LARGEST, LARGEST)
        numbers(price["table"], f"{what}: table of a price", (T + 1,), 0, len(rows) - 1)
    for stage in items(value["stages"], f"{what}: stages"):
        numbers(stage, f"{what}: a stage", (None,), 0, len(widths) - 1)
