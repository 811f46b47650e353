"""Imports lead downwards only: between the layers of CONTRIBUTING.md, and between files."""

from graphlib import CycleError, TopologicalSorter

import pytest
from support.layers import ROOT, graph, layer, layers, modules, upward


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
    """Methods reach the checker by the entrance to verify alone, and it reads records of `core` only."""
    methods = tuple(f"ilpinfer.{name}." for name in ("kernels", "solvers", "exact", "search", "decoding"))
    arrows = [(name, target) for name, targets in graph().items() for target in targets]
    entrances = {a for a in arrows if a[0].startswith(methods) and a[1].startswith("ilpinfer.proof")}
    assert entrances == {("ilpinfer.decoding.decoder", "ilpinfer.proof.verification")}
    used = {a[1] for a in arrows if a[0].startswith("ilpinfer.proof") and a[1].startswith("ilpinfer")}
    assert {name for name in used if not name.startswith("ilpinfer.proof.")} == {
        "ilpinfer.core.certificate",
        "ilpinfer.core.rule_compiler",
        "ilpinfer.core.trees",
    }


def test_no_files_import_each_other_in_a_circle():
    try:
        TopologicalSorter(graph()).prepare()
    except CycleError as error:
        pytest.fail(" <- ".join(error.args[1]))
