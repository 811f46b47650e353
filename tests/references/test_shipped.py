"""The references that come with the package, and their integer programs."""

import gzip
import json
import math
import re

import highspy
import pytest
from support import cbc
from support.reference_generator import generate, shipped

from formulations import formulate, parse_rules
from ilpinfer.references.making import make
from ilpinfer.references.shipped import FOLDER, KINDS, ShippedReferences
from ilpinfer.references.verification import verify

ALL = ShippedReferences()


def test_there_are_twenty_of_each_kind_in_a_megabyte():
    assert len(ALL) == 100 == len({reference.name for reference in ALL})
    files = sorted(FOLDER.iterdir())
    assert [file.name for file in files] == sorted(f"{kind}.jsonl.gz" for kind in KINDS)
    assert sum(file.stat().st_size for file in files) < 2**20
    lengths = [len(reference.tokens) for reference in ALL]
    assert max(lengths) == 200 and max(len(reference.labels) for reference in ALL) == 30


@pytest.mark.parametrize("kind", KINDS)
def test_kinds_are_what_they_say(kind):
    references = ALL.kind(kind)
    assert len(references) == 20 and all(each.name.startswith(f"{kind}-") for each in references)
    assert {each.status for each in references} == {"infeasible" if kind == "infeasible" else "optimal"}
    assert {each.trellis.order for each in references} == {2 if kind == "second-order" else 1}
    if kind == "ties":
        assert all(len(each.optima) > 1 for each in references)


@pytest.mark.parametrize("kind", KINDS)
def test_each_is_proved_by_its_meaning(kind):
    for reference in ALL.kind(kind):
        assert verify(reference, depth="meaning"), reference.name


@pytest.mark.parametrize("kind", KINDS)
def test_they_are_made_of_the_generated_instances(kind):
    """All instances are those that the generator makes; of the smallest ones the whole references are made anew."""
    for number, (instance, reference) in enumerate(zip(shipped(kind), ALL.kind(kind), strict=True)):
        assert reference.name == instance.name and reference.trellis == instance.trellis
        if number < 4:
            again = make(instance.trellis, instance.rules, name=instance.name)
            assert {**again.to_dict(), "made": None} == {**reference.to_dict(), "made": None}


def test_the_files_hold_no_time():
    for file in FOLDER.iterdir():
        assert file.read_bytes()[4:8] == bytes(4)
        for line in gzip.decompress(file.read_bytes()).splitlines():
            assert set(json.loads(line)["made"]) <= {"ilpinfer", "python", "numpy"}


def test_names():
    assert ALL["ties-0-3"].name == "ties-0-3" and "infeasible" in repr(ALL)


def references(kind):
    options = {"T": 4, "K": 3} if kind == "second-order" else {"T": 7, "K": 4}
    made = generate(kind, 3, seed=2, hardness=0.8, **options)
    return [make(each.trellis, each.rules, name=each.name) for each in made]


def by_highs(file):
    """The optimum of an LP or MPS file; None where it is infeasible."""
    highs = highspy.Highs()
    highs.setOptionValue("output_flag", False)
    highs.setOptionValue("mip_rel_gap", 0.0)
    highs.setOptionValue("mip_abs_gap", 1e-9)
    assert highs.readModel(str(file)) == highspy.HighsStatus.kOk
    highs.run()
    status = highs.getModelStatus()
    if status == highspy.HighsModelStatus.kInfeasible:
        return None
    assert status == highspy.HighsModelStatus.kOptimal
    value = highs.getInfo().objective_function_value
    return value if file.suffix == ".lp" else -value


def by_cbc(file):
    """Of an MPS file, which CBC minimises."""
    solution = file.with_suffix(".sol")
    log = cbc.run(file, solution)
    if re.search("infeasible", solution.read_text().splitlines()[0], re.I):
        return None
    assert "Optimal solution found" in log or "optimal" in solution.read_text()
    return -float(re.search(r"objective value\s+(-?[\d.e+]+)", solution.read_text())[1])


@pytest.mark.parametrize("kind", KINDS)
def test_two_solvers_find_the_optimum(kind, tmp_path):
    for reference in references(kind):
        program = formulate(reference.trellis, parse_rules(reference.rules))
        lp, mps = tmp_path / "x.lp", tmp_path / "x.mps"
        program.write(lp)
        program.write(mps)
        found = [by_highs(lp), by_highs(mps), by_cbc(mps)]
        if reference.score is None:
            assert found == [None] * 3
        else:
            assert None not in found
            assert all(math.isclose(value, reference.score, abs_tol=1e-6) for value in found)
