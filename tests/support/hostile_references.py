"""References made to be expensive: small files that once took much time or memory for few counted steps."""

from collections.abc import Iterator
from typing import Any

from ilpinfer.checker import FORMAT

EMPTY: dict[str, list[Any]] = {"prices": [], "stages": []}
CASE = {"group": None, "values": [[[0]]], "table": [0], "next": [[0, 0]], "cost": [[0, 0]]}


def record(K: int, T: int, machines: list[Any], level: Any, *, score: int | None = 0, S: int = 0) -> Any:
    """A reference of T tokens and K labels whose scores are all equal; forbidden where the score is None."""
    S = S or K
    tables = {
        "second": S > K,
        "node": [[score] * S for _ in range(T)],
        "pool": [[[score] * K for _ in range(S)]],
        "step": [0] * (T - 1),
        "machines": machines,
    }
    return {
        "format": FORMAT,
        "name": "",
        "status": "infeasible" if score is None else "optimal",
        "labels": [f"l{k}" for k in range(K)],
        "scheme": "plain",
        "tokens": ["w"] * T,
        "rules": "",
        "model": None,
        "tables": tables,
        "levels": level if isinstance(level, list) else [level],
        "digest": "0" * 64,
        "made": {},
    }


def level(score: int | None, labellings: list[Any], tree: Any = EMPTY, steps: int = 10**9) -> Any:
    return {"score": score, "labellings": labellings, "proof": {"steps": steps, "tree": tree}}


def machine(T: int, K: int, group: int | None = None, states: int = 1) -> Any:
    """A machine that loses nothing."""
    rows = [[0, 0]] * states
    return {"group": group, "values": [[[0] * K]], "table": [0] * T, "next": rows, "cost": rows}


def chain(cases: int, leaf: Any) -> Any:
    """A tree that is as deep as it has leaves."""
    tree = leaf
    for _ in range(cases):
        tree = {"case": CASE, "below": leaf, "above": tree}
    return tree


def hostile() -> Iterator[tuple[str, Any]]:
    """Names and references; each file has fewer than 250 000 bytes but for the last ones."""
    alone = [machine(1, 1) for _ in range(1200)]
    prices = [{"machine": n, "rows": [[0, 0]], "table": [0, 0]} for n in range(1200)]
    groups = [machine(2, 2, g) for g in range(2500)]
    bits = [[i >> b & 1 for b in range(13)] for i in range(2500)]
    follow = {"prices": [], "stages": [[*range(len(groups))]]}
    yield "many groups", record(2, 2, groups, level(0, [[0, 0]], follow))
    yield "a long labelling", record(1, 20_000, [], level(0, [[0] * 20_000]))
    yield "labellings of many tokens", record(2, 4_000, [], level(0, [[0] * 4_000, [1] * 4_000]))
    yield "many labellings", record(2, 13, [], level(0, bits))
    yield "many levels", record(2, 13, [], [level(-n, [bits[n]], steps=900) for n in range(1000)])
    for K, T in ((100, 20), (100, 400), (30, 200), (9, 5_000)):
        yield f"{T} x {K} scores", record(K, T, [], level(0, [[0] * T]))
        yield f"{T} x {K} forbidden", record(K, T, [], level(None, []), score=None)
    yield "pairs of labels", record(8, 100, [], level(0, [[0] * 100]), S=72)
    yield "many cases", record(1, 1, alone, level(0, [[0]], chain(290, EMPTY)))
    stage = {"prices": [], "stages": [[0]]}
    yield "a large group", record(1, 1, [machine(1, 1, 0, 9_000)], level(0, [[0]], chain(280, stage)))
    yield "empty stages", record(1, 1, [], level(0, [[0]], {"prices": [], "stages": [[]] * 60_000}))
    one_by_one = {"prices": prices, "stages": [[n] for n in range(1200)]}
    yield "prices, one by one", record(1, 1, alone, level(0, [[0]], one_by_one))
    together = {"prices": prices, "stages": [[*range(1200)]]}
    yield "prices, together", record(1, 1, alone, level(0, [[0]], together))
    rows = {"machine": 0, "rows": [[0, 0]] * 40_000, "table": [0, 0]}
    yield "rows of prices", record(1, 1, alone[:1], level(0, [[0]], {"prices": [rows], "stages": []}))
    symbols = {**CASE, "values": [[]] * 80_000}
    yield "empty rows", record(1, 1, [symbols], level(0, [[0]]))
    yield "lists", [[]] * 80_000
    yield "records", [{"": 0}] * 35_000
    wide = [machine(2, 2, g) for g in range(24_000)]
    follow = {"prices": [], "stages": [[*range(len(wide))]]}
    yield "more groups than a file may have", record(2, 2, wide, level(0, [[0, 0]], follow))
    yield "a large file", record(500, 16, [], level(0, [[0] * 16]))
