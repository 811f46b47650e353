"""Item numbers that continue the ones before them (Trompper 2016, the deterministic tagger)."""

from collections.abc import Iterable, Sequence

import numpy as np

from formulations.automata.lattice import StepTable
from formulations.automata.machine import Machine, automaton
from formulations.constraints.rule_functions import maker
from formulations.constraints.template import Template, Trial, template
from formulations.labels.label_set import LabelSet
from formulations.labels.reading import Reading
from formulations.labels.selectors import Selector
from formulations.tokens.item_numbers import continues, item_numbers

__all__ = ["numbers_continue"]


@template("numbers_continue")
class NumbersContinue(Template):
    """Item numbers of a field continue each other: 2 after 1, and 1.1, 2 or 1.3 after 1.2.

    A token of the field is a violation if it is an item number and does not continue the last item number of the field before
    it. The first one is never a violation. Digits (1, 2., 1.3), roman numerals and letters are read; a letter that is also a
    roman numeral may be either.

    Parameters
    ----------
    field : str, Group or list of str
        Field, label or group.

    Examples
    --------
    >>> from formulations import constraints as C
    >>> C.numbers_continue("item").violations(["item", "O", "item"], tokens=["1", "of", "3"])
    1
    """

    field: Selector

    def ground(self, labels: LabelSet, tokens: Sequence[str]) -> Iterable[Machine]:
        texts = [token for token in dict.fromkeys(tokens) if item_numbers(token)]
        number = {token: i for i, token in enumerate(texts, 1)}
        member = labels.field(self.field).member[None, :].astype(np.int64)
        values = np.arange(len(texts) + 1)[:, None, None] * member
        steps = StepTable(values, np.array([number.get(token, 0) for token in tokens], np.int64))

        def read(last: int, symbol: int) -> tuple[int, int]:
            """State: the last item number so far; 0 for none."""
            if not symbol:
                return last, 0
            return symbol, int(last > 0 and not continues(texts[last - 1], texts[symbol - 1]))

        yield Machine(steps, automaton(0, read, symbols=len(texts) + 1))

    def trials(self, reading: Reading) -> Iterable[Trial]:
        last = None
        for t in reading.positions(self.field):
            if item_numbers(reading.tokens[t]):
                if last is not None:
                    yield Trial((last, t), int(not continues(reading.tokens[last], reading.tokens[t])))
                last = t


numbers_continue = maker(NumbersContinue)
