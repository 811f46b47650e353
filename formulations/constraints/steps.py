"""Common parts of templates: symbol tables, components, and parameters about tokens."""

from collections.abc import Callable
from functools import cached_property, partial
from typing import Any, ClassVar

import numpy as np

from formulations.automata.components import Condition, Literal, StepChoice, UnboundComponent
from formulations.automata.lattice import StepTable
from formulations.automata.machine import Automaton, Machine, local, longest
from formulations.automata.sums import bounded
from formulations.blocks import stacked, stored
from formulations.constraints.template import Template
from formulations.dtypes import Booleans, Integers
from formulations.labels.reading import Reading
from formulations.tokens.token_pattern import Class, Exceptions, IgnoreCase, Regex, Texts, TokenPattern


def bits(*tables: Booleans) -> Integers:
    """Combine Boolean tables (K+1, K) or (1, K) to symbols: table i counts 2^i."""
    total: Any = sum(table.astype(np.int64) << i for i, table in enumerate(tables))
    result: Integers = total
    return result


def between(before: Booleans, after: Booleans) -> Booleans:
    """(K+1, K): steps from a label in `before` (K,) to one in `after` (K,)."""
    steps: Booleans = np.append(False, before)[:, None] & stored(after[None, :])
    return steps


def everywhere(table: Booleans | Integers) -> StepChoice:
    """The same table (K+1, K) or (1, K) at every token."""
    return StepChoice(stored(table).astype(np.int64)[None])


def only_at(table: Booleans | Integers, *condition: Literal) -> StepChoice:
    return choose(table & False, table, condition)


def choose(otherwise: Booleans | Integers, table: Booleans | Integers, condition: Condition) -> StepChoice:
    return StepChoice(stacked([stored(otherwise), stored(table)]).astype(np.int64), condition)


def at_tokens(tables: list[Booleans], index: Integers) -> StepTable:
    """Steps with the table `tables[index[t]]` at each token t of a sequence."""
    return StepTable(stacked([stored(table) for table in tables]).astype(np.int64), index)


def violations_at(steps: StepChoice) -> UnboundComponent:
    return UnboundComponent(steps, local)


def automaton_component(automaton: Automaton, steps: StepChoice) -> UnboundComponent:
    return UnboundComponent(steps, partial(Machine, automaton=automaton))


def counting_machine(
    build: Callable[..., Automaton], *parameters: int | bool
) -> Callable[[StepTable], Machine]:
    """A function from steps to a machine that counts up to the length of the sequence, by `build(*parameters, longest)`."""
    return partial(_bind_length, build, parameters)


def _bind_length(build: Callable[..., Automaton], parameters: tuple[int, ...], steps: StepTable) -> Machine:
    return Machine(steps, build(*parameters, longest(len(steps.index))))


def sum_component(steps: StepChoice, low: int | None, high: int | None) -> UnboundComponent:
    """A component that counts how far the sum of the steps is outside its bounds."""
    return UnboundComponent(steps, partial(bounded, low=low, high=high))


class Matching(Template, kw_only=True):
    """Base class of templates about tokens that match words, a pattern or a class."""

    words: Texts = ()
    pattern: Regex = ""
    ignore_case: IgnoreCase = True
    token_class: Class = ""
    unless: Exceptions = ()
    _default: ClassVar[TokenPattern | None] = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self._own_pattern and self._default is None:
            ways = "give words or a pattern, a token_class, or unless"
            raise ValueError(f"names no token: {ways}")

    @property
    def _own_pattern(self) -> TokenPattern:
        return TokenPattern(self.words, self.pattern, self.ignore_case, self.token_class, self.unless)

    @cached_property
    def pattern_of_tokens(self) -> TokenPattern:
        return self._own_pattern or self._default or TokenPattern()

    def matches(self, reading: Reading, token: int) -> bool:
        return self.pattern_of_tokens.matches(reading.tokens[token])
