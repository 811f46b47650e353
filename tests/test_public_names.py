"""The public names: where they are, and what they take."""

import re
from pathlib import Path
from typing import get_args, get_type_hints

import numpy as np
import pytest
from support.processes import python

import formulations
import ilpinfer
from ilpinfer.core.options import Options
from ilpinfer.core.registry import methods

TRELLIS = formulations.Trellis([0.0, -1.0], [[[0.0, -1.0], [-2.0, 0.5]]], labels=["a", "b"])


def test_names_are_listed_before_they_are_loaded():
    assert set(ilpinfer.__all__) <= set(dir(ilpinfer))


def test_the_names_of_formulations_are_handed_on():
    assert set(formulations.__all__) <= set(ilpinfer.__all__)
    assert all(getattr(ilpinfer, name) is getattr(formulations, name) for name in formulations.__all__)


def test_importing_the_package_is_enough():
    """In a process of its own, since other tests import modules of the package."""
    program = """
import ilpinfer, sys
assert "formulations" not in sys.modules
assert all(getattr(ilpinfer, name).__name__ == f"ilpinfer.{name}" for name in ilpinfer._MODULES)
trellis = ilpinfer.Trellis([0.0, -1.0], [[[0.0, -1.0], [-2.0, 0.5]]], labels=["a", "b"])
rules = [ilpinfer.constraints.starts_with("b")]
model = ilpinfer.solvers.to_pulp(ilpinfer.formulate(trellis, rules))
print(*ilpinfer.decode(trellis, rules).labels, len(model.variables()) > 0)
"""
    run = python("-c", program, check=True)
    assert (run.stdout, run.stderr) == ("b b True\n", "")


def test_type_checkers_see_the_same_names():
    text = Path(ilpinfer.__file__).read_text("utf-8")
    seen = re.findall(r"from ([\w.]+) import (\w+) as \2\n", text)
    modules = [name for module, name in seen if module == "ilpinfer"]
    assert tuple(modules) == ilpinfer._MODULES
    assert {name: module for module, name in seen if name not in modules} == ilpinfer._HOMES


def test_options_are_those_of_the_methods():
    hints = get_type_hints(Options)
    assert set(hints) == {name for method in methods() for name in method.all_options}
    for method in methods():
        for name, kind in get_type_hints(method.record).items() if method.record else ():
            accepted = get_args(hints[name])
            assert kind in (hints[name], *accepted) or {kind} == {type(value) for value in accepted}


def test_options_that_type_checkers_accept_are_accepted():
    """By every method that has the option; variants are named by each method itself."""
    records = [method.record for method in methods() if method.record]
    for name, hint in get_type_hints(Options).items():
        for value in (value for value in get_args(hint) if isinstance(value, str)):
            taking = [record for record in records if name in vars(record())]
            accepting = [record for record in taking if _accepts(record, name, value)]
            assert accepting and (name == "variant" or accepting == taking)


def _accepts(record, name, value):
    try:
        record(**{name: value})
    except ValueError:
        return False
    return True


def test_statuses_are_texts():
    solution = ilpinfer.decode(TRELLIS)
    assert solution.status is ilpinfer.Status.OPTIMAL and solution.status == "optimal"
    assert f"{solution.status}" == "optimal" and solution.to_dict()["status"] == "optimal"
    assert type(solution.to_dict()["status"]) is str


def test_errors_have_one_base():
    with pytest.raises(formulations.InferenceError):
        formulations.load_rules("no such file")
    assert formulations.InferenceError is ilpinfer.InferenceError
    with pytest.raises(formulations.InferenceError):
        ilpinfer.marginals(
            formulations.Trellis.from_emissions(np.zeros((9, 2)), np.zeros((2, 2)), labels=["a", "b"]),
            [formulations.constraints.exactly_tokens("a", 4)],
            budget=3,
        )
