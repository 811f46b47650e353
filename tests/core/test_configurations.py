"""Methods written with their options, registered decoders, entry points, and modules that are imported at first use."""

from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import EntryPoint

import pytest

import ilpinfer
from formulations import entry_points
from ilpinfer.core import registry
from ilpinfer.core.deadline import Deadline
from ilpinfer.core.methods import Method
from ilpinfer.core.request import Request, configuration
from ilpinfer.core.result import Task


def constant(trellis, rules, *, time_limit, seed):
    """Label everything with the first label. No more."""
    return [0] * len(trellis)


@pytest.fixture(autouse=True)
def clean(monkeypatch):
    monkeypatch.setattr(registry, "_registered", {})


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("auto", ("auto", {})),
        ("beam:width=50", ("beam", {"width": 50})),
        ("cbc:time_limit=0.5:threads=2", ("cbc", {"time_limit": 0.5, "threads": 2})),
        ("lds:variant=admissible:keep_going=false", ("lds", {"variant": "admissible", "keep_going": False})),
        ("package:decoder", ("package:decoder", {})),
        ("package:decoder:seed=3:time_limit=2.5", ("package:decoder", {"seed": 3, "time_limit": 2.5})),
        ("auto:within=null", ("auto", {"within": None})),
    ],
)
def test_options_stand_behind_colons(text, expected):
    assert configuration(text) == expected


@pytest.mark.parametrize("text", ["beam:5", "cbc:0.5", "package:decoder:2.5", "beam:width=3:1e3"])
def test_a_number_without_a_name_is_no_option(text):
    with pytest.raises(ValueError, match=r"has no name; write .*:time_limit="):
        configuration(text)


def test_written_options_win():
    request = Request.of("beam:width=50:time_limit=1", 9.0, {"width": 3})
    assert (request.settings["width"], request.time_limit) == (50, 1)


def test_registered_decoders_are_methods():
    ilpinfer.register_method("mine", constant)
    method = ilpinfer.methods()[-1]
    assert (method.name, method.exact, method.seeded) == ("mine", False, True)
    assert method.summary == "Label everything with the first label. No more"
    ilpinfer.register_method("mine", lambda *given, **more: None)
    assert ilpinfer.methods()[-1].function is not constant


def test_entry_points_have_their_name_and_that_of_their_package(monkeypatch):
    points = [
        EntryPoint("greedier", "test_configurations:constant", registry.DECODERS),
        EntryPoint("broken", "test_configurations:no_such_thing", registry.DECODERS),
    ]
    monkeypatch.setattr(entry_points, "offered", lambda group: points if group == registry.DECODERS else [])
    for name in ("greedier", "test_configurations:greedier"):
        method = registry.method(name)
        assert (method.name, method.process) == (name, True)
        assert method.function.__name__ == "constant"
    with pytest.raises(ValueError, match='method "broken": test_configurations:no_such_thing cannot be'):
        registry.method("broken")
    with pytest.raises(ValueError, match='did you mean "greedier"'):
        registry.method("greediest")


def test_a_function_of_a_module_is_named_by_its_place():
    assert registry.method("test_configurations:constant").function.__name__ == "constant"


def test_threads_wait_for_a_module_that_another_one_imports(tmp_path, monkeypatch):
    module = tmp_path / "slow_to_import.py"
    module.write_text("import time\ntime.sleep(0.3)\ndef run(problem, task, name): yield name\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    method, task = Method("own", True, "", "slow_to_import:run"), Task(Deadline(None))
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(lambda _: list(method.run(None, task)), range(4)))
    assert results == [["own"]] * 4
