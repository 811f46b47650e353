"""The references that come with the package: small, of every kind, proved, and made as the package says."""

import gzip
import json

import pytest
from support.reference_generator import shipped

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
