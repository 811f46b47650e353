"""Functions that make rules have the parameters of their templates, for type checkers as well as for `help`."""

import inspect
import pickle
import re

import pytest

from formulations import constraints as C
from formulations.constraints.rule import COMMON


@pytest.mark.parametrize("name", sorted(C.TEMPLATES))
def test_every_template_has_a_function_with_its_parameters(name):
    make = getattr(C, name)
    parameters = inspect.signature(make).parameters
    assert make.__name__ == name and make.__module__ == C.TEMPLATES[name].__module__
    assert tuple(parameters)[-len(COMMON) :] == COMMON
    assert all(parameters[common].kind is inspect.Parameter.KEYWORD_ONLY for common in COMMON)
    described = make.__doc__.partition("Parameters\n----------\n")[2]
    assert all(re.search(rf"(?m)^(?:\w+, )*{parameter}\b", described) for parameter in parameters)


def test_statements_of_rows_are_pickled_by_their_name():
    for rule in (C.at_most_runs("a", 2, penalty=1.5), C.starts_with("a"), C.tag_implies_tag("a", "b")):
        read = pickle.loads(pickle.dumps(rule))
        assert read == rule and type(read.statement) is C.TEMPLATES[rule.statement.rule_name]


def test_a_template_of_ones_own_has_rows_too():
    class Own(C.Template):
        """No token of a field."""

        field: str

        def trials(self, reading):
            return [C.Trial((self.place,), int(reading.has(self.place, self.field)))]

    try:
        first = C.template(Own, "not_first", "The first token is not of the field.", place=0)
        last = C.template(Own, "not_last", "The last token is not of the field.", place=-1)
        assert first("a").violations(["a", "b"]) == 1 and last("a").violations(["a", "b"]) == 0
        assert first.__doc__.startswith("The first token") and "penalty" in first.__doc__
        with pytest.raises(ValueError, match="'not first' is no name for a template"):
            C.template(Own, "not first")
    finally:
        C.TEMPLATES.pop("not_first", None)
        C.TEMPLATES.pop("not_last", None)
