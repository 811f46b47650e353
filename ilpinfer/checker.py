"""Check references with integers and the standard library. Exit code 1: one is wrong; 2: a file cannot be read."""

import argparse
import gzip
import json
import sys
import zlib
from typing import Any, NamedTuple

FORMAT, FINE = "ilpinfer reference 1", 2**10  # FINE units of prices are a grid unit of 2^-20 nats
NEVER, LARGEST, UNITS = -(2**200), 2**62, 2**52  # sums of other numbers stay far above NEVER
MAX_STEPS, MOST_KEPT, MOST_BYTES = 10**9, 2**22, 2**26  # a step takes 0.1 µs, and less than 60 bytes
# For each token and node before it: 1 + the last label (0 if none), and steps (score, next node, label).
Layers = list[list[tuple[int, list[tuple[int, int, int]]]]]
Machines = list["Machine"]


class CheckError(Exception):
    """Error for a wrong claim, and for a record that is not a valid reference."""


def need(holds: Any, otherwise: str) -> None:
    if not holds:
        raise CheckError(otherwise)


def spend(budget: list[int], steps: int) -> None:
    budget[0] -= steps
    need(budget[0] >= 0, "the check takes more steps than the reference states, or than max_steps")


def whole(value: Any, shape: tuple[int | None, ...], low: int, high: int, *more: None) -> Any:
    """The value: an integer in a range, or one of `more`, or nested lists of them; None in a shape is any length."""
    need(not shape or (type(value) is list and shape[0] in (None, len(value))), f"not of shape {shape}")
    if len(shape) > 1:
        return [whole(each, shape[1:], low, high, *more) for each in value]
    numbers = [n for n in (value if shape else [value]) if not more or n is not None]
    fits = set(map(type, numbers)) <= {int} and (not numbers or low <= min(numbers) <= max(numbers) <= high)
    need(fits, f"a number is not an integer from {low} to {high}")
    return value


class Machine(NamedTuple):
    """An automaton with gains, and prices that the lattice pays to it. Of a group, only the least gain counts."""

    values: list[list[list[int]]]  # values[table[t]]: the symbols of labels at token t, in a row,
    table: list[int]  # or in a row for each 1 + label before (0 at token 0)
    next: list[list[int]]
    gain: list[list[int]]
    price: list[list[int]]
    group: int | None = None

    @classmethod
    def read(cls, record: Any, T: int, K: int, scale: int = 1) -> "Machine":
        """The machine of a record, with costs times a scale, and with a symbol for the end."""
        Q, C = len(record["cost"]), len(record["cost"][0])
        cost, moves = whole(record["cost"], (Q, C), 0, UNITS, None), whole(record["next"], (Q, C), 0, Q - 1)
        gain = [[NEVER if n is None else -scale * n for n in row] for row in cost]
        values = whole(record["values"], (None, None, K), 0, C - 1)
        need(all(len(rows) in (1, K + 1) for rows in values), "a table has neither 1 row nor 1 + labels")
        table = [*whole(record["table"], (T,), 0, len(values) - 1), len(values)]
        group = whole(record["group"], (), 0, LARGEST, None)
        return cls([*values, [[C - 1] * K]], table, moves, gain, [[0] * C] * (T + 1), group)

    def case(self, loses: bool) -> "Machine":
        """A machine with final gain NEVER where this one loses nothing at the end, or for False, something."""
        return self._replace(gain=[[0] * (len(g) - 1) + [NEVER * ((g[-1] < 0) != loses)] for g in self.gain])

    def row(self, t: int, before: int) -> list[int]:
        return (rows := self.values[self.table[t]])[before % len(rows)]

    def futures(self, budget: list[int]) -> list[dict[int, int]]:
        """For each t and state before token t, the largest gain from there to the end."""
        if self.group is not None:
            spend(budget, 50 + 5 * len(self.next))
            return [dict.fromkeys(range(len(self.next)), 0)] * (len(self.table) + 1)
        fronts, seen = [{0}], list[set[int]]()
        for t, rows in enumerate(self.values[number] for number in self.table):
            seen.append(set().union(*(rows[:1] if t == 0 or len(rows) == 1 else rows[1:])))
            spend(budget, 50 + sum(map(len, rows)) + 5 * len(fronts[t]) * len(seen[t]))
            fronts.append({self.next[q][c] for q in fronts[t] for c in seen[t]})
        best = [dict.fromkeys(fronts.pop(), 0)]
        for front, symbols, price in zip(fronts[::-1], seen[::-1], self.price[::-1], strict=True):
            reads = [(q, self.gain[q], self.next[q]) for q in front]
            best.append({q: max(g[c] + price[c] + best[-1][n[c]] for c in symbols) for q, g, n in reads})
        return best[::-1]


def acceptor(paths: list[Any], T: int, K: int) -> Machine:
    """A machine that has a final loss for these labellings, and for no others."""
    names = dict[tuple[int, int], int]()
    for path in paths:
        state = 0
        for label in path:
            state = names.setdefault((state, label), len(names) + 1)
    inner, off = {0, *(state for state, _ in names)}, len(names) + 1
    moves = [[names.get((state, k), off) for k in range(K + 1)] for state in range(off + 1)]
    gain = [[0] * K + [-(state not in inner)] for state in range(off)] + [[0] * (K + 1)]
    return Machine([[[*range(K)]], [[K] * K]], [0] * T + [1], moves, gain, [[0] * (K + 1)] * (T + 1))


def follow(layers: Layers, machines: Machines, priced: Machines, limit: int, budget: list[int]) -> Layers:
    """The layers, divided by states of machines, without steps below the limit; empty if nothing exceeds it."""
    worths, result, ahead, kept = [list[Any]() for _ in layers], [list[Any]() for _ in layers], [0], 0
    for t in range(len(layers) - 1, -1, -1):
        for before, steps in layers[t]:
            spend(budget, 20 + 5 * (1 + len(steps)) * (1 + len(priced)))
            prices = [(m.row(t, before), m.price[t]) for m in priced]
            own = [score - sum([price[symbols[k]] for symbols, price in prices]) for score, _, k in steps]
            worths[t].append([(c + ahead[n], c, s, n, k) for c, (s, n, k) in zip(own, steps, strict=True)])
        ahead = [max((step[0] for step in steps), default=NEVER) for steps in worths[t]]
    futures = [m.futures(budget) for m in machines]
    at: dict[Any, Any] = {g: n for n, g in enumerate({m.group for m in machines})} | {None: None}
    front: dict[Any, int] = {(0, (0,) * len(machines), (0,) * len(at)): 0}
    for t, layer in enumerate(layers):
        last, grown = t == len(layers) - 1, dict[Any, list[int]]()
        for (node, states, due), value in front.items():
            trios, arcs = list(zip(machines, states, futures, strict=True)), []
            before, future = layer[node][0], sum(h[t][q] for _, q, h in trios)
            left = [step for step in worths[t][node] if value + future + step[0] > limit]
            spend(budget, 50 + len(layer[node][1]) + 20 * len(left) * (1 + len(machines)))
            rows = [(m.row(t, before), m.gain[q], m.next[q], m.price[t], at[m.group], h) for m, q, h in trios]
            for worth, charged, score, target, label in left:
                total, bound, after, paid = value + charged, value + worth, list[int](), list(due)
                for symbols, gains, nexts, price, place, h in rows:
                    symbol = symbols[label]
                    gain, following = gains[symbol], nexts[symbol]
                    if place is not None:
                        gain, paid[place] = min(0, gain - paid[place]), min(gain, paid[place])
                    after.append(following)
                    score, total = score + gain, total + gain + price[symbol]
                    bound += gain + price[symbol] + h[t + 1][following]
                if bound > limit:
                    entry = grown.setdefault(last or (target, tuple(after), tuple(paid)), [len(grown), total])
                    entry[1] = max(entry[1], total)
                    arcs.append((score, entry[0], label))
            result[t].append((before, arcs))
            need((kept := kept + len(arcs)) <= MOST_KEPT, f"more than {MOST_KEPT} steps to store")
        front = {key: total for key, (_, total) in grown.items()}
    return result if front else []


def exclude(layers: Layers, parts: Machines, cases: Machines, leaf: Any, limit: int, left: list[int]) -> None:
    """Check that no labelling of the case exceeds the limit; the machines `cases` exclude all others."""
    machines, slack, top = [*parts, *cases], dict[int, int](), len(parts) - 1
    spend(left, 50 + 2 * len(machines))
    for entry in leaf["prices"]:
        own = machines[number := whole(entry["machine"], (), 0, top)]
        need(own.group is None and number not in slack, f"machine {number} has two prices, or is in a group")
        rows = whole(entry["rows"], (None, len(own.gain[0])), -LARGEST, LARGEST)
        table = whole(entry["table"], (len(layers),), 0, len(rows) - 1)
        machines[number] = own._replace(price=[rows[n] for n in table])
        slack[number] = machines[number].futures(left)[0][0]
    stages = [*(whole(stage, (None,), 0, top) for stage in leaf["stages"]), []]
    used = [n for s in stages for n in [*s, *(-1 - g for g in {machines[n].group for n in s} - {None})]]
    need(len(set(used)) == len(used), "a machine or a group is followed twice")
    for stage in [[*range(len(parts), len(machines))], *stages][not cases :]:
        priced = [machines[number] for number in slack]
        slack = {number: slack[number] for number in slack.keys() - stage}
        layers = follow(layers, [machines[n] for n in stage], priced, limit - sum(slack.values()), left)
    need(not layers, "the proof does not exclude all labellings with a higher score")


def read(record: Any, budget: list[int], scale: int = FINE) -> tuple[Layers, Machines]:
    """The layers and the machines of a reference, with scores times a scale."""
    tables, K = record["tables"], len(record["labels"])
    T, S = len(tables["node"]), K * (K + 1) if tables["second"] is True else K
    need(0 < T * S * K <= MOST_KEPT, f"it has no tokens, no labels, or more than {MOST_KEPT} steps")
    spend(budget, 4 * T * S * (K + 2))
    node, layers = whole(tables["node"], (T, S), -UNITS, UNITS, None), [list[Any]() for _ in range(T)]
    pool = whole(tables["pool"], (None, S, K), -UNITS, UNITS, None)
    for t, number in enumerate([-1, *whole(tables["step"], (T - 1,), 0, len(pool) - 1)]):
        for state, row in enumerate(pool[number] if t else [[0] * K]):
            base = (state % K + 1) * K if S > K and t else 0
            sums = enumerate(zip(row, node[t][base : base + K], strict=True))
            steps = [(NEVER if None in each else scale * sum(each), base + k, k) for k, each in sums]
            layers[t].append((1 + state % K if t else 0, steps))
    layers.append([(1 + state % K, [(0, 0, 0)]) for state in range(S)])
    return layers, [Machine.read(each, T, K, scale) for each in tables["machines"]]


def check_level(layers: Layers, machines: Machines, level: Any, before: list[Any], most: int) -> int:
    """Check the scores of a level, and that only labellings in `before` are better; returns the number of steps."""
    score, budget, T, K = level["score"], [most], len(layers) - 1, len(layers[0][0][1])
    paths = list(map(tuple, whole(level["labellings"], (None, T), 0, K - 1)))
    limit = -1 if score is None else (whole(score, (), -LARGEST, LARGEST) + 1) * FINE - 1
    need((score is None) == (not paths), "a level without a score has no labellings, and others have some")
    spend(budget, T * (K + 10) * (len(before) + len(paths)))
    need(len({*before, *paths}) == len(before) + len(paths), "a labelling is listed twice")
    layers = follow(layers, [acceptor(before, T, K).case(False)] if before else [], [], limit - FINE, budget)
    if paths:
        own = follow(layers, [acceptor(paths, T, K).case(True), *machines], [], limit - FINE, budget)
        kept = sum(len(arcs) for layer in own[-1:] for _, arcs in layer)
        need(kept == len(paths), f"a labelling does not have the score {score}")
    waiting: list[tuple[Any, list[Machine]]] = [(level["proof"]["tree"], [])] if layers else []
    while waiting:
        node, cases = waiting.pop()
        if "case" in node:
            case = Machine.read(node["case"], T, K)
            spend(budget, 100 * T + 10 * sum(map(len, case.gain)) + len(cases))
            waiting += [(node[side], [*cases, case.case(side == "above")]) for side in ("below", "above")]
        else:
            exclude(layers, machines, cases, node, limit, budget)
    return most - budget[0]


def check(record: Any, max_steps: int = MAX_STEPS) -> None:
    """Check a reference in at most this many steps; CheckError names the wrong claim."""
    try:
        need(record["format"] == FORMAT, f"it is not of the format {FORMAT!r}")
        budget, scores, listed = [max_steps], [level["score"] for level in record["levels"]], list[Any]()
        problem, order = read(record, budget), [-2 * LARGEST if n is None else n for n in scores]
        need(order and order == sorted({*order}, reverse=True), "no levels, or their scores do not decrease")
        need(record["status"] == ("infeasible" if scores[0] is None else "optimal"), "the status is wrong")
        for level in record["levels"]:
            own = read(record, budget, 0) if level["score"] is None else problem
            steps = min(whole(level["proof"]["steps"], (), 0, LARGEST), budget[0])
            spend(budget, check_level(*own, level, listed, steps))
            listed += map(tuple, level["labellings"])
    except (LookupError, TypeError, AttributeError, ValueError, RecursionError, MemoryError) as error:
        raise CheckError(f"a key is missing, or a value is of another type: {str(error)[:60]}") from None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="+", metavar="FILE", help="JSON, or .jsonl; either may be .gz")
    parser.add_argument("--max-steps", type=int, default=MAX_STEPS, help="per reference; about a minute")
    options, code = parser.parse_args(), 0
    most = min(MOST_BYTES, max(options.max_steps, 4) // 4)  # a byte costs 4 steps
    for path, name, number, text in [(path, repr(path)[1:-1], 0, b"") for path in options.files]:
        try:
            with (gzip.open if path.endswith(".gz") else open)(path, "rb") as stream:
                while (text := (stream.readline if ".jsonl" in path else stream.read)(most)) or not number:
                    number += 1
                    try:
                        check(json.loads(text), options.max_steps - 4 * len(text))
                    except CheckError as fault:
                        code = max(code, 1)
                        print(f"{name}: reference {number}: {fault}")
            print(f"{name}: references checked: {number}")
        except (OSError, EOFError, zlib.error, ValueError, RecursionError, MemoryError) as error:
            code, kind = 2, "is not JSON" if isinstance(error, ValueError) else "cannot be read"
            kind = f"cannot be read in {most} bytes" if len(text) == most else kind
            where = f"{name}: reference {number}" if number else f"{name}:"
            print(f"{where} {kind}: {str(error) or type(error).__name__}", file=sys.stderr)
    return code


if __name__ == "__main__":
    sys.exit(main())
