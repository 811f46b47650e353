"""Imports lead downwards only, between the layers of CONTRIBUTING.md and between files, and cost little."""

import ast
import importlib.util
import sys
from functools import cache
from graphlib import CycleError, TopologicalSorter

import pytest
from support.layers import ROOT, graph, layer, layers, modules, upward
from support.processes import python

import ilpinfer


def test_every_folder_is_a_layer_of_the_map():
    table = layers()
    folders = {
        (path.parent.name, path.name)
        for package in table
        for path in (ROOT / package).iterdir()
        if any(path.glob("*.py"))
    }
    assert folders <= {(package, name) for package, names in table.items() for name in names}
    assert {layer(module, table) for module in modules()} == {
        (p, n) for p, names in table.items() for n in names
    }


def test_no_import_leads_upwards():
    assert list(upward(graph(), layers())) == []


def test_an_import_upwards_is_noticed():
    arrows = {
        "formulations.grid": {"formulations.labels.label_set"},
        "ilpinfer.core.result": {"ilpinfer.exact.auto"},
    }
    assert len(list(upward(arrows, layers()))) == 2
    assert list(upward({"ilpinfer.errors": {"formulations.grid"}}, layers())) == []
    assert list(upward({"formulations.programs.rows": {"ilpinfer.errors"}}, layers())) != []


def test_methods_and_the_checker_of_their_proofs_share_no_code():
    """Methods do not reach the checker, which reads records of `core` only."""
    methods = tuple(f"ilpinfer.{name}." for name in ("kernels", "solvers", "exact", "search", "decoding"))
    arrows = [(name, target) for name, targets in graph().items() for target in targets]
    assert not [a for a in arrows if a[0].startswith(methods) and a[1].startswith("ilpinfer.proof")]
    used = {a[1] for a in arrows if a[0].startswith("ilpinfer.proof") and a[1].startswith("ilpinfer")}
    assert {name for name in used if not name.startswith("ilpinfer.proof.")} == {
        "ilpinfer.core.certificate",
        "ilpinfer.core.printing",
        "ilpinfer.core.rule_compiler",
        "ilpinfer.core.trees",
    }


def test_no_files_import_each_other_in_a_circle():
    try:
        TopologicalSorter(graph()).prepare()
    except CycleError as error:
        pytest.fail(" <- ".join(error.args[1]))


HEAVY = {
    *("lark", "regex", "ortools", "scipy", "pulp", "pycrfsuite", "matplotlib"),
    *("rich", "typer", "jinja2"),
}


@cache
def imported(package: str) -> dict[str, set[str]]:
    """Top-level names that each module of a package imports, anywhere in it."""
    result = {}
    for path in (ROOT / package).rglob("*.py"):
        names = set()
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Import):
                names |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.level == 0:
                names.add((node.module or "").split(".")[0])
        result[str(path.relative_to(ROOT))] = names
    assert result
    return result


def test_formulations_needs_numpy_a_parser_regular_expressions_and_the_standard_library_only():
    allowed = set(sys.stdlib_module_names) | {"numpy", "lark", "regex", "formulations"}
    assert all(names <= allowed for names in imported("formulations").values())


@pytest.mark.parametrize("package", ["formulations", "ilpinfer"])
def test_nothing_imports_the_benchmarks(package):
    assert [module for module, names in imported(package).items() if "benchmarks" in names] == []


def test_importing_loads_nothing_heavy_and_nothing_that_learns():
    code = "import sys, ilpinfer, ilpinfer.solvers; print(*sys.modules)"
    loaded = python("-c", code, cwd=ROOT, check=True).stdout.split()
    assert {name.partition(".")[0] for name in loaded} & HEAVY == set()
    assert not any(name.startswith("ilpinfer.learning") for name in loaded)


def test_no_name_of_the_package_is_hidden_by_a_module():
    assert [name for name in ilpinfer.__all__ if importlib.util.find_spec(f"ilpinfer.{name}")] == []
    assert next(method.name for method in ilpinfer.methods()) == "auto"
