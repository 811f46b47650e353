"""Cost networks as text for toulbar2 (.wcsp), with numbered variables, values and functions."""

from collections import Counter
from collections.abc import Iterator

import numpy as np

from formulations.dtypes import Integers
from formulations.programs.cost_network import FORBIDDEN_COST, CostFunction, CostNetwork


def wcsp(network: CostNetwork, title: str) -> str:
    """Text for toulbar2 with costs in grid units. A shared table is written once."""
    sizes, functions = network.sizes, network.functions
    head = f"{title} {len(sizes)} {max(sizes, default=0)} {len(functions)} {network.most}\n"
    return "".join([head, " ".join(map(str, sizes)), "\n", *_functions(functions, network.most)])


def _functions(functions: tuple[CostFunction, ...], most: int) -> Iterator[str]:
    """`arity variables default tuples`, then the tuples with other costs; a shared table is numbered by its first function."""
    uses = Counter(id(each.table) for each in functions)
    numbers, texts = dict[int, int](), dict[int, tuple[int, str]]()
    for each in functions:
        key = id(each.table)
        scope = f"{len(each.scope)} {' '.join(map(str, each.scope))}"
        if key not in texts:
            texts[key] = _tuples(np.where(each.table == FORBIDDEN_COST, most, each.table))
        usual, lines = texts[key]
        if key in numbers:
            yield f"{scope} {usual} {-numbers[key]}\n"
            continue
        if uses[key] > 1:
            numbers[key] = len(numbers) + 1
            scope = f"-{scope}"
        yield f"{scope} {usual} {lines.count(chr(10))}\n{lines}"


def _tuples(table: Integers) -> tuple[int, str]:
    """The most frequent cost of a table, and a line for each tuple of values with another cost."""
    costs, counts = np.unique(table, return_counts=True)
    usual = int(costs[counts.argmax()])
    others = np.argwhere(table != usual)
    lines = np.column_stack([others, table[table != usual]]).tolist()
    return usual, "".join(f"{' '.join(map(str, line))}\n" for line in lines)
