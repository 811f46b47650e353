"""Random changes of references, and an oracle of what their tables say that shares no code with the checker."""

import itertools
from contextlib import suppress
from copy import deepcopy
from fractions import Fraction
from random import Random
from typing import Any

from stress.mutations import value

NUMBERS = (0, 1, -1, 2, 3, 5, 1000, 2**20, -(2**20), 2**62, 2**70, None, True, 1.0, "1", [], {})


def mutated(record: Any, random: Random) -> Any:
    """A copy with one to three changes, most of them to tables, levels or proofs."""
    record = deepcopy(record)
    for _ in range(random.choice((1, 1, 1, 2, 3))):
        with suppress(LookupError, TypeError, AttributeError, ValueError):  # of what an earlier change left
            if random.random() < 0.25:
                _coherent(record, random)
            else:
                value(record, random, NUMBERS, often=("tables", *["levels"] * 2) * 4)
    return record


def _coherent(record: Any, random: Random) -> None:
    """A change that keeps the form: of a score and its claim, of a level, of a price, of a stage."""
    levels = record.get("levels") or [{}]
    level = random.choice(levels)
    tables = record.get("tables", {})
    kind = random.randrange(7)
    if kind == 0 and isinstance(level.get("score"), int):
        level["score"] += random.choice((-1, 1, -5, 2**20))
    elif kind == 1 and len(levels) > 1:
        levels.pop(random.randrange(len(levels)))
    elif kind == 2 and level.get("labellings"):
        labellings = level["labellings"]
        random.choice((labellings.pop, labellings.reverse))()
    elif kind == 3 and tables.get("node"):
        row = random.choice(tables["node"])
        change = random.choice((-1, 1, 7, -(2**20)))
        for k, score in enumerate(row):
            row[k] = None if score is None else score + change
    elif kind == 4 and len(levels) > 1:
        one, other = random.sample(levels, 2)
        one["proof"], other["proof"] = other["proof"], one["proof"]
    elif kind == 5 and tables.get("machines"):
        machines = tables["machines"]
        random.choice((machines.reverse, machines.pop, lambda: machines.append(deepcopy(machines[0]))))()
    else:
        level["proof"] = {"steps": 10**6, "tree": {"prices": [], "stages": []}}


def worth(tables: Any, K: int, path: tuple[int, ...]) -> Fraction | None:
    """The score of a labelling by the tables; None if it is forbidden."""
    second = tables["second"] is True
    total, state = Fraction(0), 0
    for t, label in enumerate(path):
        after = (path[t - 1] + 1) * K + label if second and t else label
        numbers = [tables["node"][t][after]]
        if t:
            numbers.append(tables["pool"][tables["step"][t - 1]][state][label])
        if None in numbers:
            return None
        total, state = total + sum(numbers), after
    groups: dict[int, list[int]] = {}
    for machine in tables["machines"]:
        q, costs = 0, []
        for t, label in enumerate([*path, None]):
            if label is None:
                symbol = len(machine["cost"][0]) - 1
            else:
                rows = machine["values"][machine["table"][t]]
                symbol = rows[0 if len(rows) == 1 or t == 0 else 1 + path[t - 1]][label]
            costs.append(machine["cost"][q][symbol])
            q = machine["next"][q][symbol]
        if None in costs:
            return None
        if machine["group"] is None:
            total -= sum(costs)
        else:
            groups.setdefault(machine["group"], [0]).extend(costs)
    return total - sum(map(max, groups.values()))


def falsehood(record: Any) -> str:
    """What a reference claims that its tables do not say; empty where there is nothing."""
    tables, K = record["tables"], len(record["labels"])
    T, left = len(tables["node"]), {}
    for path in itertools.product(range(K), repeat=T):
        value = worth(tables, K, path)
        if value is not None:
            left[path] = value
    if (record["status"] == "optimal") != bool(left):
        return f"{record['status']}, with {len(left)} labellings"
    for number, level in enumerate(record["levels"]):
        listed = [tuple(path) for path in level["labellings"]]
        best = max(left.values(), default=None)
        if level["score"] != best or any(left.get(path) != best for path in listed):
            return f"level {number}: {level['score']} is claimed of {listed}, and the best is {best}"
        if len(set(listed)) < len(listed) or bool(listed) == (best is None):
            return f"level {number}: lists {listed}"
        left = {path: value for path, value in left.items() if path not in listed}
    return ""
