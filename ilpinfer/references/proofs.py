"""Proof trees in the form of references: prices and stages, with machines by their numbers in the tables."""

from collections.abc import Callable, Iterator
from typing import Any

from formulations.automata.components import Agreement
from formulations.automata.sums import Sum
from formulations.problem.problem import Problem
from ilpinfer.core.trees import Leaf, Split, Tree, nodes
from ilpinfer.proof.leaf import FINE
from ilpinfer.references.tables import ReferenceTables

PlainLeaf = dict[str, Any]


def plain_trees(problem: Problem, tables: ReferenceTables, tree: Tree) -> Iterator[dict[str, Any]]:
    """The tree in the form of references, then stronger trees, which take longer to check. Machines of splits are always followed."""
    alone = [n for n, machine in enumerate(tables.plain["machines"]) if machine["group"] is None]

    def pruned(leaf: PlainLeaf) -> PlainLeaf:
        """Prune by prices before the first stage."""
        return {**leaf, "stages": [[], *leaf["stages"]]}

    def one_by_one(leaf: PlainLeaf) -> PlainLeaf:
        """Also follow each machine with prices, in a stage of its own."""
        return _with_stages(pruned(leaf), [price["machine"] for price in leaf["prices"]])

    def everything(leaf: PlainLeaf) -> PlainLeaf:
        return _with_stages(one_by_one(leaf), alone)

    changes: tuple[Callable[[PlainLeaf], PlainLeaf], ...] = (dict, pruned, one_by_one, everything)
    for change in changes:
        yield _plain_tree(problem, tables, tree, change)


def _with_stages(leaf: PlainLeaf, machines: list[int]) -> PlainLeaf:
    named = {machine for stage in leaf["stages"] for machine in stage}
    return {**leaf, "stages": [*leaf["stages"], *([n] for n in machines if n not in named)]}


def _plain_tree(
    problem: Problem, tables: ReferenceTables, tree: Tree, change: Callable[[PlainLeaf], PlainLeaf]
) -> dict[str, Any]:
    root: dict[str, Any] = {}
    places = [(root, "tree")]
    for _, node in nodes(tree):
        parent, name = places.pop()
        if isinstance(node, Split):
            parent[name] = {"case": _case(node, *problem.shape), "below": None, "above": None}
            places += [(parent[name], "above"), (parent[name], "below")]
        else:
            parent[name] = change(_plain_leaf(problem, tables, node))
    result: dict[str, Any] = root["tree"]
    return result


def _case(split: Split, T: int, K: int) -> dict[str, Any]:
    """A machine that counts the tokens of a split with its labels; a final cost if there are more than `most`."""
    top = split.most + 1
    return {
        "values": [[[0] * K], [[int(k in split.labels) for k in range(K)]]],
        "table": [int(t in split.tokens) for t in range(T)],
        "next": [[q, min(q + 1, top), q] for q in range(top + 1)],
        "cost": [[0, 0, int(q == top)] for q in range(top + 1)],
        "group": None,
    }


def _plain_leaf(problem: Problem, tables: ReferenceTables, leaf: Leaf) -> PlainLeaf:
    """A leaf: prices, which move scores from the lattice to machines, and the machines of each stage."""
    count, T, prices = len(problem.rules), problem.shape[0], list[Any]()
    for (rule, place), value in leaf.multipliers.items():
        if rule < count and value:
            total = problem.rules[rule].components[place]
            assert isinstance(total, Sum)
            row = [*(value * weight for weight in total.weights.tolist()), 0]
            prices.append({"machine": tables.components[rule, place], "rows": [row], "table": [0] * (T + 1)})
    for (rule, place), scores in (leaf.shares[-1] if leaf.shares else {}).items():
        agreement = problem.rules[rule].components[place]
        assert isinstance(agreement, Agreement)
        table = [0] * (T + 1)
        for number, token in enumerate(agreement.tokens.tolist(), 1):
            table[token] = number
        rows = [[0, *(-FINE * int(score) for score in row), 0] for row in scores]
        rows = [[0] * (agreement.kinds + 2), *rows]
        prices.append({"machine": tables.components[rule, place], "rows": rows, "table": table})
    stages = [
        [tables.places[key] for key in stage if key[0] < count] for stage in (leaf.product, *leaf.stages)
    ]
    return {"prices": prices, "stages": [stage for stage in stages if stage]}
