"""Malformed references: one check of the form, a message with file and record, and on to the next."""

import json
from copy import deepcopy
from dataclasses import replace
from random import Random

import pytest
from stress.mutations import value as changed_value
from support.reference_mutations import mutated
from test_making import VALIDATE

from formulations import Trellis
from formulations import constraints as C
from ilpinfer.references.form import check_form
from ilpinfer.references.making import make
from ilpinfer.references.record import Reference
from ilpinfer.references.shipped import ShippedReferences
from ilpinfer.references.verification import verify

TRELLIS = Trellis([0.0, -1.0], [[[0.0, -1.0], [-2.0, 0.5]]], labels=["a", "b"], tokens=["u", "v"])
RULES = [C.at_most_tokens("a", 0, penalty=0.5), C.requires_present("a", "b", penalty=0.75)]
GOOD = json.loads(json.dumps(make(TRELLIS, RULES, name="good").to_dict()))
MALFORMED = [{key: GOOD[key] for key in GOOD if key != "model"}, GOOD | {"levels": [[]]}, [], 10**30]


def test_the_form_is_that_of_the_schema():
    """What passes keeps the JSON Schema; of changed references, few pass."""
    random, passed = Random(3), 0
    shipped = [each for kind in ShippedReferences.kinds for each in ShippedReferences().kind(kind)[:2]]
    sources = [GOOD, *(each.to_dict() for each in shipped)]
    for source in json.loads(json.dumps(sources)):
        check_form(source)
        VALIDATE(source)
        for number in range(60):
            record = mutated(source, random) if number % 2 else changed_value(deepcopy(source), random)
            try:
                check_form(record)
            except ValueError:
                continue
            passed += 1
            VALIDATE(record)
    assert 20 < passed < 500


@pytest.fixture
def lines(tmp_path):
    """A file of malformed references between good ones."""
    path = tmp_path / "some.jsonl"
    rows = [GOOD, *MALFORMED, GOOD]
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return path


@pytest.mark.parametrize("depth", ["tables", "meaning"])
def test_each_malformed_record_is_a_finding_and_the_next_is_checked(lines, depth, cli):
    code, said, error = cli(f"reference verify {lines} --depth {depth}")
    assert code == 1 and len(error.splitlines()) == 1
    assert f"{len(MALFORMED)} of {len(MALFORMED) + 2} references are not verified" in error
    for number in range(2, len(MALFORMED) + 2):
        assert f"{lines}: reference {number}: not a reference: " in said
    assert "reference 1:" not in said and f"reference {len(MALFORMED) + 2}" not in said
    code, said, _ = cli(f"reference verify {lines} --depth {depth} --json")
    found = json.loads(said)["references"]
    assert code == 1 and [each["holds"] for each in found] == [True, *[False] * len(MALFORMED), True]


def test_rules_that_cannot_be_read_are_a_finding(tmp_path, cli):
    path = tmp_path / "one.json"
    path.write_text(json.dumps(GOOD | {"rules": "[[rule"}))
    code, said, _ = cli(f"reference verify {path} --verbose")
    assert code == 1 and f"{path}: reference 1 (good): " in said and "nats" not in said


def test_what_holds_is_shown(lines, cli):
    _, said, _ = cli(f"reference verify {lines} --verbose")
    title = f"{lines}: reference {len(MALFORMED) + 2} (good)"
    assert f"{title}: -0.5 nats, margin 1.0; 1 labelling; 2 tokens, 2 labels\n  u/b v/b\n" in said
    _, said, _ = cli(f"reference verify {lines} --verbose --json")
    first, second, *_ = json.loads(said)["references"]
    assert (first["score"], first["optima"], first["complete"]) == (-0.5, [["b", "b"]], True)
    assert "score" not in second


def deeper(**changes):
    level = GOOD["levels"][0] | {"proof": GOOD["levels"][0]["proof"] | changes}
    return Reference.from_dict(GOOD | {"levels": [level, *GOOD["levels"][1:]]})


@pytest.mark.parametrize("depth", ["tables", "meaning"])
def test_every_depth_refuses_what_the_plain_checker_refuses(depth):
    assert verify(Reference.from_dict(GOOD), depth)
    steps = GOOD["levels"][0]["proof"]["steps"]
    assert verify(deeper(steps=steps), depth) and not verify(deeper(steps=steps - 1), depth)
    higher = deepcopy(GOOD)
    higher["levels"][0]["score"] += 1
    assert not verify(Reference.from_dict(higher), depth)
    other = Reference.from_dict(deepcopy(GOOD))
    other.tables["node"][0] = [float(score) for score in other.tables["node"][0]]
    finding = verify(other, depth)
    assert not finding and "tables: node" in finding.reasons[0]


@pytest.mark.parametrize("depth", ["tables", "meaning"])
def test_records_made_by_hand_are_findings(depth):
    good = Reference.from_dict(GOOD)
    steps, machines = good.tables | {"step": [2**27]}, good.tables | {"machines": [None]}
    for tables in ({}, {"second": False}, steps, machines):
        assert not verify(replace(good, model=None, tables=tables), depth)
    assert not verify(replace(good, model={"node": [], "pool": [], "step": [2**31]}), depth)
    assert not verify(replace(good, levels=()), depth)


def test_scores_of_pairs_that_no_labelling_has_are_refused():
    reference = deepcopy(ShippedReferences()["second-order-0-0"].to_dict())
    K = len(reference["labels"])
    check_form(reference)
    reference["tables"]["node"][0][K] = 5
    with pytest.raises(ValueError, match="tables: node allows a state that no labelling has"):
        check_form(reference)
