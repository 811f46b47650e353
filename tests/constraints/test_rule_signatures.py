"""Functions that make rules have the parameters of their templates, for type checkers as well as for `help`."""

import inspect
import pickle
import re

import pytest
from mypy import api
from support.places import ROOT

from formulations import constraints as C
from formulations.constraints.rule import COMMON

TEXT = """
from formulations import Rule, constraints as C

made: Rule = C.at_most_runs("title", 1, penalty=2)
made = C.tag_at("journal", words=["a"], previous=C.tokens(["x"]), name="n", scope="each label", reason="r")
made = C.should_be_tagged(-1, "title", distance="count", partial="forced")
made = C.exactly_tokens(["a", C.group("b", ["c"])], 2)
made = C.matches("a+", over="runs", groups=[C.group("a", ["b"])])
made = C.tag_sequence("c", [C.tokens(["a"]), C.tokens(["b"])])
made = C.changes_only_after()
C.at_most_runs("title", tipo=3)  # Unexpected keyword argument "tipo"
C.at_most_runs("title", "one")  # expected "int"
C.at_most_runs()  # Too few arguments
C.at_most_runs("title", 1, 2.0)  # Too many positional arguments
C.at_most_runs("title", penalty="hard")  # expected "float"
C.between_runs("title", low=1)  # Too few arguments
C.should_be_tagged("last", "title")  # expected "int"
C.tag_at("journal", token_class="yeer")  # incompatible type
C.matches("a+", over="rums")  # incompatible type
C.changes_only_after("a")  # Too many positional arguments
number: int = C.at_most_runs("title")  # expression has type "Rule", variable has type "int"


class OfOnesOwn(C.Template):
    field: str
    n: int = 1

    def trials(self, reading: object) -> list[C.Trial]:
        return []


of_ones_own = C.template(OfOnesOwn)
made = of_ones_own("a", 2, penalty=1)
of_ones_own("a", m=2)  # Unexpected keyword argument "m"
"""


def test_mistakes_are_errors_of_the_type_checker(tmp_path, monkeypatch):
    monkeypatch.chdir(ROOT)
    path = tmp_path / "mistakes.py"
    path.write_text(TEXT, "utf-8")
    output, message, _ = api.run(["--no-error-summary", "--follow-imports=silent", str(path)])
    assert not message
    errors: dict[int, str] = {}
    for line, error in re.findall(r"mistakes\.py:(\d+): error: (.*)", output):
        errors[int(line)] = errors.get(int(line), "") + error
    expected = {n: line.partition("  # ")[2] for n, line in enumerate(TEXT.split("\n"), 1) if "  # " in line}
    assert errors.keys() == expected.keys(), output
    for line, error in expected.items():
        assert error in errors[line]


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
