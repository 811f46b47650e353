"""A checker of references in one file, to be copied wherever it is wanted: standard library and whole numbers only.

It trusts the tables of a reference: scores, and rules as automata. From these it recomputes what each labelling is worth, and
the proof that no other one is worth more. Exit code 0: all references hold, 1: some do not, 2: some cannot be read.
"""

import argparse
import gzip
import json
import sys
import zlib
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, pairwise
from operator import add
from typing import Any, NamedTuple

FORMAT = "ilpinfer reference 1"
FINE = 2**10  # units of prices in a grid unit, which is 2^-20 nats
NEVER, LARGEST = -(2**200), 2**62  # no sum of numbers up to the second comes near the first, which forbids
MAX_STEPS, MOST_KEPT, MOST_LEAVES, MOST_BYTES = 10**9, 2**22, 10_000, 2**26


class Wrong(Exception):
    """A claim that does not hold, or a reference that is none."""


def need(holds: Any, otherwise: str) -> None:
    if not holds:
        raise Wrong(otherwise)


def get(record: Any, name: str, kind: type = list) -> Any:
    """A field of a record, which must be of a type."""
    need(
        type(record) is dict and type(record.get(name)) is kind, f'"{name}" is missing, or no {kind.__name__}'
    )
    return record[name]


def array(value: Any, shape: Sequence[int | None], low: int, high: int, what: str, *more: Any) -> Any:
    """Nested lists of a shape, None standing for any length, of numbers in a range or any of `more`."""
    need(type(value) is list and shape[0] in (None, len(value)), f"{what}: expected lists of shape {shape}")
    if len(shape) > 1:
        return [array(each, shape[1:], low, high, what, *more) for each in value]
    numbers = [n for n in value if n is not None] if more else value
    fits = set(map(type, numbers)) <= {int} and (not numbers or low <= min(numbers) <= max(numbers) <= high)
    need(fits, f"{what}: expected whole numbers from {low} to {high}")
    return value


class Budget:
    """Steps that a check may still take, each about 60 ns."""

    def __init__(self, steps: int) -> None:
        self.most = self.left = steps

    def spend(self, steps: int) -> None:
        self.left -= steps
        need(self.left >= 0, f"the proof takes more than {self.most} steps")


class Machine(NamedTuple):
    """An automaton. values[which[t]][1 + label before, 0 at token 0, or 0 where it does not matter][label] is a step's symbol.

    A state gains something on each symbol and at the end: violations, or scores in a proof. There, the lattice may also pay
    a price to it for each token and symbol.
    """

    values: list[list[list[int]]]
    which: list[int]
    next: list[list[int]]
    gain: list[list[int]]
    final: list[int]
    price: Sequence[list[int]] = ()
    shared: int = -1  # the rule, where its machines together gain once

    def row(self, t: int, before: int) -> list[int]:
        """Symbols by label."""
        table = self.values[self.which[t]]
        return table[before if len(table) > 1 else 0]

    def total(self, path: Sequence[int]) -> int:
        state = total = 0
        for t, (before, label) in enumerate(pairwise([-1, *path])):
            symbol = self.row(t, 1 + before)[label]
            state, total = self.next[state][symbol], total + self.gain[state][symbol]
        return total + self.final[state]

    def scored(self, penalty: int | None, shared: int = -1) -> "Machine":
        """With scores in place of violations; a penalty of None forbids them."""

        def score(n: int) -> int:
            return (NEVER if n else 0) if penalty is None else -penalty * (min(n, 1) if shared >= 0 else n)

        gain, final = [list(map(score, row)) for row in self.gain], list(map(score, self.final))
        price = [[0] * len(gain[0])] * len(self.which)
        return self._replace(gain=gain, final=final, price=price, shared=shared)

    def hopes(self, budget: Budget) -> list[dict[int, int]]:
        """For t = 0 to T, the most that each state before token t still gains."""
        if self.shared >= 0:
            return [dict.fromkeys(range(len(self.next)), 0)] * (len(self.which) + 1)
        fronts, seen = [{0}], list[set[int]]()
        for t, n in enumerate(self.which):
            table = self.values[n]
            seen.append(set(chain(*(table[:1] if t == 0 or len(table) == 1 else table[1:]))))
            budget.spend(50 + sum(map(len, table)) + 5 * len(fronts[-1]) * len(seen[-1]))
            fronts.append({self.next[q][c] for q in fronts[-1] for c in seen[-1]})
        best = [{q: self.final[q] for q in fronts.pop()}]
        for symbols, price, front in zip(seen[::-1], self.price[::-1], fronts[::-1], strict=True):
            later, arcs = best[-1], [(c, price[c]) for c in symbols]
            best.append(
                {q: max(self.gain[q][c] + p + later[self.next[q][c]] for c, p in arcs) for q in front}
            )
        return best[::-1]


class Graph(NamedTuple):
    """Prefixes of labellings, those of a length as nodes 0, 1, ...; nothing but node 0 is of length 0.

    `ahead[t][node]` is the best that follows. `before` is 0 at the start, or 1 + the last label. `steps(t, node, least)` are
    (worth, score, charged score, target, label); worth, which is above `least`, is the charged score and the best that follows.
    """

    ahead: Sequence[Any]
    before: Callable[[int, int], int]
    steps: Callable[[int, int, int], list[tuple[int, int, int, int, int]]]


Layer = list[
    tuple[int, list[tuple[int, int, int]]]
]  # of each node: `before`, and (score, target, label) of each step


class Problem(NamedTuple):
    """Scores of T tokens and K labels, and rules (penalty, once, machines). In second order, a state is a pair of labels."""

    T: int
    K: int
    second: bool
    node: list[list[int]]
    pool: list[list[list[int]]]
    step: list[int]
    rules: list[tuple[int | None, bool, list[Machine]]]

    def base(self, t: int, state: int) -> int:
        """The state that label 0 of token t leads to."""
        return (state % self.K + 1) * self.K if self.second and t else 0

    def value(self, path: Sequence[int]) -> int:
        """What a labelling is worth."""
        state = total = 0
        for t, label in enumerate(path):
            after = self.base(t, state) + label
            total, state = total + self.pool[self.step[t]][state][label] + self.node[t][after], after
        for penalty, once, machines in self.rules:
            count = sum(machine.total(path) for machine in machines)
            total += (
                (NEVER if count else 0) if penalty is None else -penalty * (min(count, 1) if once else count)
            )
        return total

    def without_scores(self) -> "Problem":
        """The problem where every labelling that breaks nothing hard is worth 0."""
        node = [[NEVER * (n <= NEVER) for n in row] for row in self.node]
        pool = [[[NEVER * (n <= NEVER) for n in row] for row in table] for table in self.pool]
        rules = [(None if penalty is None else 0, once, machines) for penalty, once, machines in self.rules]
        return self._replace(node=node, pool=pool, rules=rules)

    def machine(self, key: Any) -> tuple[tuple[int, int], Machine]:
        """The machine of a key, a rule and one of its machines."""
        rule, place = array(key, (2,), 0, LARGEST, "machine of a proof")
        need(rule < len(self.rules) and place < len(self.rules[rule][2]), f"there is no machine {key}")
        penalty, once, machines = self.rules[rule]
        return (rule, place), machines[place].scored(penalty, rule if once and penalty is not None else -1)

    def graph(self, budget: Budget) -> Graph:
        """All labellings, without the rules."""
        K, ahead = self.K, [[0] * len(self.node[0])]
        for t in range(self.T - 1, -1, -1):
            budget.spend(len(self.pool[self.step[t]]) * (K + 20))
            worth = list(map(add, self.node[t], ahead[-1]))
            rows = [(row, self.base(t, s)) for s, row in enumerate(self.pool[self.step[t]])]
            ahead.append([max(map(add, row, worth[b : b + K])) for row, b in rows])
        ahead.reverse()

        def steps(t: int, state: int, least: int) -> list[tuple[int, int, int, int, int]]:
            b = self.base(t, state)
            scores = list(map(add, self.pool[self.step[t]][state], self.node[t][b : b + K]))
            worths = map(add, scores, ahead[t + 1][b : b + K])
            return [(w, scores[k], scores[k], b + k, k) for k, w in enumerate(worths) if w > least]

        return Graph(ahead, lambda t, state: 1 + state % K if t else 0, steps)


def charged(layers: list[Layer], ends: list[int], priced: Sequence[Machine], budget: Budget) -> Graph:
    """The graph of some layers, whose steps pay the prices of machines."""
    ahead, all_steps = [ends], list[Any]()
    for t in range(len(layers) - 1, -1, -1):
        later, result = ahead[-1], []
        for before, arcs in layers[t]:
            own = [score for score, _, _ in arcs]
            for machine in priced:
                row, price = machine.row(t, before), machine.price[t]
                own = [now - price[row[k]] for now, (_, _, k) in zip(own, arcs, strict=True)]
            budget.spend(20 + 3 * len(arcs) * (1 + len(priced)))
            result.append([(c + later[n], s, c, n, k) for c, (s, n, k) in zip(own, arcs, strict=True)])
        all_steps.append(result)
        ahead.append([max((step[0] for step in steps), default=NEVER) for steps in result])
    ahead.reverse()
    all_steps.reverse()
    return Graph(
        ahead,
        lambda t, node: layers[t][node][0],
        lambda t, node, least: [step for step in all_steps[t][node] if step[0] > least],
    )


def follow(
    graph: Graph, machines: Sequence[Machine], limit: int, budget: Budget
) -> tuple[list[Layer], list[int]]:
    """The prefixes that may pass the limit when machines read along, and what these gain at the end."""
    T, shared = len(graph.ahead) - 1, sorted({m.shared for m in machines} - {-1})
    hopes, layers, kept = [m.hopes(budget) for m in machines], list[Layer](), 0
    front: dict[Any, int] = {(0, (0,) * len(machines), (0,) * len(shared)): 0}
    for t in range(T):
        grown, values, layer = dict[Any, int](), list[int](), Layer()
        for (node, states, paid), value in front.items():
            least = limit - value - sum(hope[t][q] for hope, q in zip(hopes, states, strict=True))
            before, steps = graph.before(t, node), graph.steps(t, node, least)
            budget.spend(50 + 20 * len(steps) * (1 + len(machines)))
            reads = [
                (m, m.row(t, before), m.next[q], m.gain[q], m.price[t], hope[t + 1])
                for m, hope, q in zip(machines, hopes, states, strict=True)
            ]
            arcs = []
            for worth, score, own, target, label in steps:
                total, bound, after, due = value + own, worth - own, list[int](), list(paid)
                for m, row, nexts, gains, price, hope in reads:
                    symbol = row[label]
                    q, gain = nexts[symbol], gains[symbol]
                    if m.shared >= 0:
                        n = shared.index(m.shared)
                        least_due = min(due[n], gain, m.final[q] if t == T - 1 else 0)
                        gain, due[n] = least_due - due[n], least_due
                    after.append(q)
                    score, total, bound = score + gain, total + gain + price[symbol], bound + hope[q]
                if total + bound > limit:
                    place = grown.setdefault((target, tuple(after), tuple(due)), len(values))
                    values += [total] if place == len(values) else []
                    values[place] = max(values[place], total)
                    arcs.append((score, place, label))
            kept += len(arcs)
            need(kept <= MOST_KEPT, f"a leaf keeps more than {MOST_KEPT} steps")
            layer.append((before, arcs))
        layers.append(layer)
        front = dict(zip(grown, values, strict=True))
    ends = [
        graph.ahead[T][n] + sum(h[T][q] for h, q in zip(hopes, states, strict=True)) for n, states, _ in front
    ]
    return layers, ends


def check_leaf(
    problem: Problem,
    root: tuple[list[Layer], list[int]],
    cases: list[Machine],
    leaf: Any,
    limit: int,
    budget: Budget,
) -> None:
    """Check that nothing passes the limit in a case, outside of which some machines gain `NEVER`."""
    priced, where, stages = dict[Any, Machine](), dict[Any, int](), list[list[Machine]]()
    for entry in get(leaf, "prices"):
        need(type(entry) is list and len(entry) == 3, "a price is no list of machine, rows and index")
        key, own = problem.machine(entry[0])
        need(own.shared < 0 and key not in priced, f"machine {key} has two prices, or may have none")
        rows = array(entry[1], (None, len(own.gain[0])), -LARGEST, LARGEST, "prices")
        index = array(entry[2] or [0] * problem.T, (problem.T,), 0, len(rows) - 1, "index of prices")
        priced[key] = own._replace(price=[rows[n] for n in index])
    for number, stage in enumerate(get(leaf, "stages")):
        need(type(stage) is list, "a stage is no list")
        stages.append([])
        for key, own in map(problem.machine, stage):
            need(where.setdefault(key, number) == number, f"machine {key} is in two stages")
            need(
                own.shared < 0 or where.setdefault(own.shared, number) == number,
                f"rule {own.shared} is in two stages",
            )
            stages[-1].append(priced.get(key, own))
        need(len({*map(tuple, stage)}) == len(stage), "a stage names a machine twice")
    layers, ends = root
    slack = {key: own.hopes(budget)[0][0] for key, own in priced.items()}
    for number, machines in enumerate([cases, *stages], -1):
        graph = charged(layers, ends, [priced[key] for key in slack], budget)
        if graph.ahead[0][0] + sum(slack.values()) <= limit:
            return
        slack = {key: most for key, most in slack.items() if where.get(key) != number}
        layers, ends = follow(graph, machines, limit - sum(slack.values()), budget)
    graph = charged(layers, ends, [priced[key] for key in slack], budget)
    need(graph.ahead[0][0] + sum(slack.values()) <= limit, "labellings that are worth more are not ruled out")


def check_proof(
    problem: Problem, proof: Any, claim: int | None, excluded: list[list[int]], budget: Budget
) -> None:
    """Check that no labelling but those excluded is worth more than a claim, or that there is none."""
    K, T = problem.K, problem.T
    problem, limit = (problem.without_scores(), -1) if claim is None else (problem, (claim + 1) * FINE - 1)
    nexts, final = [[1] * K, [1] * K], [0, 0]
    for path in excluded:
        state = 0
        for label in path:
            if nexts[state][label] == 1:
                nexts[state][label] = len(nexts)
                nexts.append([1] * K)
                budget.spend(K)
            state = nexts[state][label]
        final += [0] * (len(nexts) - len(final))
        final[state] = 1
    others = Machine([[list(range(K))]], [0] * T, nexts, [[0] * K] * len(nexts), final).scored(None)
    root = follow(problem.graph(budget), [others] if excluded else [], limit, budget)
    waiting, leaves = list[tuple[Any, list[Machine]]]([(get(proof, "tree", dict), [])]), 0
    while waiting:
        node, cases = waiting.pop()
        if "tokens" not in node:
            leaves += 1
            need(leaves <= MOST_LEAVES, f"the tree has more than {MOST_LEAVES} leaves")
            check_leaf(problem, root, cases, node, limit, budget)
            continue
        tokens, labels = (array(node[x], (None,), 0, n - 1, x) for x, n in (("tokens", T), ("labels", K)))
        (most,) = array([node.get("most")], (1,), 0, T, "most")
        values, index = (
            [[[0] * K], [[int(k in labels) for k in range(K)]]],
            [int(t in tokens) for t in range(T)],
        )
        for side, end in (("below", most), ("above", most + 1)):
            row = [[q, min(q + 1, end)] for q in range(end + 1)]
            over = [[0, int(side == "below" and q == end)] for q in range(end + 1)]
            short = [int(side == "above" and q < end) for q in range(end + 1)]
            waiting.append(
                (get(node, side, dict), [*cases, Machine(values, index, row, over, short).scored(None)])
            )


def read(record: Any) -> Problem:
    """The tables of a reference, in fine units."""
    need(type(record) is dict and record.get("format") == FORMAT, f'its "format" is not {FORMAT!r}')
    tables, K = get(record, "tables", dict), len(get(record, "labels"))
    T, second = len(get(tables, "node")), get(tables, "second", bool)
    need(T and K, "it has no tokens, or no labels")
    states, units = K * (K + 1) if second else K, LARGEST // FINE
    node = array(tables["node"], (T, states), -units, units, "node", None)
    pool = array(get(tables, "pool"), (None, states, K), -units, units, "pool", None)
    step = array(get(tables, "step"), (T - 1,), 0, len(pool) - 1, "step")
    node, *pool = (
        [[NEVER if n is None else n * FINE for n in row] for row in each] for each in (node, *pool)
    )
    automata = []
    for each in get(tables, "automata"):
        final = array(get(each, "final"), (None,), 0, units, "final")
        width = len(array(get(each, "emits"), (len(final), None), 0, units, "emits")[0]) if final else 0
        need(width, "an automaton has no states, or no symbols")
        shape = len(final), width
        nexts = array(get(each, "next"), shape, 0, len(final) - 1, "next")
        automata.append((nexts, array(each["emits"], shape, 0, units, "emits"), final))
    rules = []
    for each in get(tables, "rules"):
        penalty, machines = (
            array([get(each, "penalty", type(each.get("penalty")))], (1,), 0, units, "penalty", None)[0],
            [],
        )
        for one in get(each, "machines"):
            (n,) = array([get(one, "automaton", int)], (1,), 0, len(automata) - 1, "automaton")
            values = array(get(one, "values"), (None, None, K), 0, len(automata[n][1][0]) - 1, "values")
            need(
                all(len(table) in (1, K + 1) for table in values),
                "values: a table has 1 row, or one for each label and one",
            )
            index = array(get(one, "index"), (T,), 0, len(values) - 1, "index")
            machines.append(Machine(values, index, *automata[n]))
        rules.append((None if penalty is None else penalty * FINE, get(each, "once", bool), machines))
    return Problem(T, K, second, node, [[[0] * K], *pool], [0, *(n + 1 for n in step)], rules)


def check(record: Any, max_steps: int = MAX_STEPS) -> None:
    """Check a reference; raise `Wrong` for what does not hold."""
    problem, listed, above = read(record), list[list[int]](), LARGEST
    levels = get(record, "levels")
    need(levels and type(levels[0]) is dict, "it claims nothing")
    status = "infeasible" if levels[0].get("score") is None else "optimal"
    need(record.get("status") == status, f'its "status" should be {status!r}')
    for number, level in enumerate(levels):
        score, proof = get(level, "score", type(level.get("score"))), get(level, "proof", dict)
        paths = array(get(level, "labellings"), (None, problem.T), 0, problem.K - 1, "labellings")
        (steps,) = array([proof.get("steps")], (1,), 0, max_steps, "steps of a proof")
        what = f"level {number}"
        if score is None:
            need(
                not paths and number == len(levels) - 1,
                f"{what}: no labelling and no level may follow a score of null",
            )
        else:
            array([score], (1,), -LARGEST, above - 1, f"{what}: score")
            need(paths, f"{what}: it lists no labelling")
        for path in paths:
            need(problem.value(path) == score * FINE, f"{what}: a labelling is not worth {score}")
        need(
            len(set(map(tuple, listed + paths))) == len(listed + paths),
            f"{what}: a labelling is listed twice",
        )
        try:
            check_proof(problem, proof, score, listed, Budget(steps))
        except Wrong as fault:
            raise Wrong(f"{what}: {fault}") from None
        listed, above = listed + paths, score


def records(path: str) -> Iterator[Any]:
    """References of a file: JSON, or JSON lines where its name says so; either may be gzipped."""
    with (gzip.open if path.endswith(".gz") else open)(path, "rb") as stream:
        lines = ".jsonl" in path
        while text := stream.readline(MOST_BYTES + 1) if lines else stream.read(MOST_BYTES + 1):
            need(len(text) <= MOST_BYTES, f"a reference has more than {MOST_BYTES} bytes")
            yield json.loads(text)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "files", nargs="+", metavar="FILE", help="JSON, JSON lines (.jsonl), or either gzipped (.gz)"
    )
    parser.add_argument(
        "--max-steps", type=int, default=MAX_STEPS, help="of one proof; default about a minute"
    )
    options, counts, code = parser.parse_args(arguments), [0, 0], 0
    for path in options.files:
        number = 0
        try:
            for number, record in enumerate(records(path), 1):
                try:
                    check(record, options.max_steps)
                    counts[0] += 1
                except (Wrong, RecursionError, MemoryError) as fault:
                    counts[1] += 1
                    print(f"{path}: reference {number}: {fault or type(fault).__name__}")
        except (OSError, EOFError, zlib.error, ValueError, RecursionError, MemoryError, Wrong) as error:
            print(
                f"{path}: reference {number + 1} cannot be read: {error or type(error).__name__}",
                file=sys.stderr,
            )
            code = 2
    print(f"{counts[0]} hold, {counts[1]} do not")
    return code or int(counts[1] > 0)


if __name__ == "__main__":
    sys.exit(main())
