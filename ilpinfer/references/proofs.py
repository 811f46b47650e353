"""Proof trees in the form of references: prices and stages of machines by their places in the tables."""

from collections.abc import Callable, Iterator
from typing import Any

from formulations.automata.agreement import Agreement
from formulations.automata.sums import Sum
from formulations.problem.problem import Problem
from ilpinfer.core.certificate import Leaf, MachineKey, Split, Tree, nodes
from ilpinfer.proof.multipliers import FINE
from ilpinfer.references.tables import Tables

Price = tuple[MachineKey, list[list[int]], list[int] | None]


def plain_trees(problem: Problem, tables: Tables, tree: Tree) -> Iterator[dict[str, Any]]:
    """The tree in the form of references, and after it trees that rule out more and take longer to check.

    The cases of splits are always followed there, so that multipliers on them are left out. Those after the first also prune
    by the prices before they follow, and follow machines that have prices.
    """

    def same(leaf: dict[str, Any]) -> dict[str, Any]:
        return leaf

    def pruned(leaf: dict[str, Any]) -> dict[str, Any]:
        return {**leaf, "stages": [[], *leaf["stages"]]}

    def followed(leaf: dict[str, Any]) -> dict[str, Any]:
        named = [key for stage in leaf["stages"] for key in stage]
        more = [[price[0]] for price in leaf["prices"] if price[0] not in named]
        return {**leaf, "stages": [[], *more, *leaf["stages"]]}

    def everything(leaf: dict[str, Any]) -> dict[str, Any]:
        leaf = followed(leaf)
        named = [key for stage in leaf["stages"] for key in stage]
        more = [[list(key)] for key in tables.places.values() if list(key) not in named]
        apart = [stage for stage in more if not tables.plain["rules"][stage[0][0]]["once"]]
        return {**leaf, "stages": [*leaf["stages"], *apart]}

    for change in (same, pruned, followed, everything):
        yield _plain_tree(tree, lambda leaf, change=change: change(_plain_leaf(problem, tables, leaf)))  # type: ignore[misc]


def _plain_tree(tree: Tree, plain_leaf: Callable[[Leaf], dict[str, Any]]) -> dict[str, Any]:
    root: dict[str, Any] = {}
    places = [(root, "tree")]
    for _, node in nodes(tree):
        parent, name = places.pop()
        if isinstance(node, Split):
            row = {"tokens": list(node.tokens), "labels": list(node.labels), "most": node.most}
            parent[name] = {**row, "below": None, "above": None}
            places += [(parent[name], "above"), (parent[name], "below")]
        else:
            parent[name] = plain_leaf(node)
    result: dict[str, Any] = root["tree"]
    return result


def _plain_leaf(problem: Problem, tables: Tables, leaf: Leaf) -> dict[str, Any]:
    """A leaf: the prices that the lattice pays to machines, and the machines that are followed, stage by stage."""
    count, prices = len(problem.rules), list[Any]()
    for (rule, place), value in leaf.multipliers.items():
        if rule < count and value:
            total = problem.rules[rule].components[place]
            assert isinstance(total, Sum)
            row = [value * weight for weight in total.weights.tolist()]
            prices.append([list(tables.components[rule, place]), [row], None])
    for (rule, place), scores in (leaf.shares[-1] if leaf.shares else {}).items():
        agreement = problem.rules[rule].components[place]
        assert isinstance(agreement, Agreement)
        index = [0] * agreement.length
        for number, token in enumerate(agreement.tokens.tolist(), 1):
            index[token] = number
        rows = [[0, *(-FINE * int(score) for score in row)] for row in scores]
        prices.append([list(tables.components[rule, place]), [[0] * (agreement.kinds + 1), *rows], index])
    stages = [
        [list(tables.places[key]) for key in stage if key[0] < count]
        for stage in (leaf.product, *leaf.stages)
    ]
    return {"prices": prices, "stages": [stage for stage in stages if stage]}
