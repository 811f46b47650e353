"""A digest of a compiled problem: equal for equal content, in every process."""

from collections.abc import Sequence
from dataclasses import fields, is_dataclass
from hashlib import blake2b
from typing import Any

import numpy as np

from formulations.compiled.circuit import Circuit
from formulations.compiled.gates import LITERAL, TRUE
from formulations.compiled.problem import Problem


def digest(problem: Problem, names: Sequence[str], tokens: Sequence[str]) -> str:
    """64 hexadecimal digits that change with any score, rule, penalty, label name or token.

    Parameters
    ----------
    problem : as it was compiled, before folding
    names : K label names
    tokens : T texts
    """
    compiled = problem.model, problem.lattice, problem.rules
    return _content((compiled, tuple(names), tuple(tokens)), {}).hex()


def _content(value: Any, known: dict[int, tuple[np.ndarray, bytes]]) -> bytes:
    """The digest of a value, from those of what it holds; `known` holds arrays met before, by identity: none is let go."""
    if isinstance(value, np.ndarray):
        if id(value) not in known:
            known[id(value)] = value, _array(value)
        return known[id(value)][1]
    if isinstance(value, Circuit):
        value = ("Circuit", value.length, value.gates.labels, *_below(value))
    elif is_dataclass(value):
        declared = ((field.name, getattr(value, field.name)) for field in fields(value))
        value = (type(value).__name__, *(each for pair in declared for each in pair))
    if isinstance(value, tuple | list):
        return _hash("parts", b"".join(_content(each, known) for each in value))
    if isinstance(value, str):
        return _hash("text", value.encode("utf-8", "surrogatepass"))
    if value is None:
        return _hash("none", b"")
    return _hash("number", str(int(value)).encode())


def _array(array: np.ndarray) -> bytes:
    """Of whole numbers or truth values, in C order, whatever the machine's own byte order."""
    return _hash(f"array {array.shape}", np.ascontiguousarray(array, "<i8").tobytes())


def _below(circuit: Circuit) -> tuple[Any, ...]:
    """The gates that a circuit rests on, numbered among themselves; gates grow as machines are made of them."""
    gates = circuit.gates
    number, tables, rows = {0: 0, TRUE: TRUE}, dict[int, int](), []
    for node in gates.below(circuit.roots):
        kind, a, b = gates.nodes[node]
        rows.append(
            (kind, a, tables.setdefault(b, len(tables))) if kind == LITERAL else (kind, number[a], number[b])
        )
        number[node] = len(number)
    roots = np.array([number[root] for root in circuit.roots], np.int64)
    return np.array(rows, np.int64), roots, *(gates.tables[table] for table in tables)


def _hash(kind: str, content: bytes) -> bytes:
    found = blake2b(kind.encode() + b"\0", digest_size=32)
    found.update(content)
    return found.digest()
