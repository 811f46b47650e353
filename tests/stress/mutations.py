"""Mutations of text, JSON values and archives: small changes that turn good input into bad input."""

import io
import json
import random
import zipfile
from collections.abc import Callable, Sequence
from copy import deepcopy
from typing import Any

WORDS = (
    *"()[]{}<>=!\"'\\\t\n\r,.:;#*+-^$|? \0",
    *("\n\n", "[[", "]]", "\ufeff", "\ud800".encode("utf-8", "surrogatepass").decode("latin-1")),
    *("nan", "inf", "-inf", "1e999", "-1", "0", "9" * 30, "9" * 400, "0x10", "1_000", "true", "null"),
    *("forall t:", "exists s < t:", "title", "[hard]", "[/x]", "each field", "O", "B-", "I-title", "../x"),
    *("-DOCSTART-", "\u2028", "é", "9" * 5000),
)
VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 0.5, 1e308, float("inf"), float("nan"), 2**63, 10**400),
    *("", "x", "title", "\0", [], [1], ["title"], [[]], {}, {"x": 1}, [None], "9" * 500),
    *(-1, 1.5, "\ud800", {"0": 1}, [[0], [0, 1]], [0, 0, 0, 1], "AAAA", {"file": "/dev/zero"}),
)


def text(data: bytes, rng: random.Random) -> bytes:
    """Bytes with one to four cuts, repetitions, insertions, changed bytes, or a sudden end."""
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(data) + 1)
        end = min(len(data), at + rng.choice((1, 1, 2, 5, 30)))
        kind = rng.randrange(6)
        if kind == 0:
            data = data[:at] + data[end:]
        elif kind == 1:
            data = data[:at] + data[at:end] * 2 + data[end:]
        elif kind == 2:
            data = data[:at] + rng.choice(WORDS).encode("utf-8", "replace") + data[at:]
        elif kind == 3:
            data = data[:at] + rng.choice(WORDS).encode("utf-8", "replace") + data[end:]
        elif kind == 4 and at < len(data):
            data = data[:at] + bytes([rng.randrange(256)]) + data[at + 1 :]
        elif rng.random() < 0.3:
            data = data[:at]
    return data


def places(value: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The way to each part of nested lists and records, itself included."""
    keys = value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    return [at, *(place for key in keys for place in places(value[key], (*at, key)))]


def part(record: Any, place: tuple[Any, ...]) -> Any:
    for key in place:
        record = record[key]
    return record


def value(data: Any, rng: random.Random, values: tuple[Any, ...] = VALUES, often: Sequence[Any] = ()) -> Any:
    """A JSON value in which one place holds something else, is gone, stands twice, has another key, kind or order, or lies deep.

    Each entry of the whole value is as likely as any other, however much it holds, but for those that are chosen more often.
    """
    if not isinstance(data, dict | list) or not data:
        return deepcopy(rng.choice(values))
    keys = list(data) if isinstance(data, dict) else range(len(data))
    top = rng.choice([*keys, *(key for key in often if key in keys)])
    at = (top, *rng.choice(places(data[top])))
    node, key, kind = part(data, at[:-1]), at[-1], rng.randrange(10)
    old = node[key]
    if kind == 0:
        del node[key]
    elif kind == 1 and isinstance(node, list):
        node.insert(key, old)
    elif kind == 1:
        node[f"{key}x"] = node.pop(key)
    elif kind == 2 and isinstance(old, dict):
        node[key] = [list(pair) for pair in old.items()]
    elif kind == 2 and isinstance(old, list):
        node[key] = {str(n): each for n, each in enumerate(old)}
    elif kind == 3 and isinstance(old, list):
        rng.choice((rng.shuffle, list.reverse))(old)
    elif kind in (3, 4) and type(old) is int:
        node[key] = old + rng.choice((-1, 1, 2, -1000, 1024, 2**20))
    elif kind == 5:
        node[key] = deepcopy(part(data, rng.choice(places(data))))
    elif kind == 6 and rng.random() < 0.2:
        node[key] = nested(rng.choice((20, 150)), cases=rng.random() < 0.5)
    else:
        node[key] = deepcopy(rng.choice(values))
    return data


def nested(depth: int, *, cases: bool) -> Any:
    """Lists in lists, or cases in cases."""
    value: Any = []
    for _ in range(depth):
        value = {"case": [], "below": value, "above": []} if cases else [value]
    return value


def json_lines(data: bytes, rng: random.Random) -> bytes:
    """JSON lines of which one holds a changed value, or a changed text."""
    if rng.random() < 0.4:
        return text(data, rng)
    lines = data.decode().splitlines()
    at = rng.randrange(len(lines))
    lines[at] = json.dumps(value(json.loads(lines[at]), rng))
    return "".join(f"{line}\n" for line in lines).encode()


def sealed(seal: Callable[[Any], Any]) -> Callable[[bytes, random.Random], bytes]:
    """Changes of a JSON file that carries a digest, which is made anew most of the time."""

    def change(data: bytes, rng: random.Random) -> bytes:
        if rng.random() < 0.3:
            return text(data, rng)
        body = value(json.loads(data), rng)
        return json.dumps(seal(body) if isinstance(body, dict) else body).encode()

    return change


def archive(data: bytes, rng: random.Random) -> bytes:
    """An archive with changed bytes, or with a changed member that is packed anew."""
    if rng.random() < 0.4:
        return text(data, rng)
    packed = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(packed, "w") as new:
        names = old.namelist()
        changed = rng.choice(names)
        for name in names:
            content = old.read(name)
            new.writestr(name, text(content, rng) if name == changed else content)
    return packed.getvalue()
