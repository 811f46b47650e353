"""Changed references: nothing false is accepted, and whatever is refused is refused with a message."""

import json
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from stress.references import MEGABYTES, check, sources
from support.effort import examples
from support.reference_mutations import falsehood, mutated
from support.strategies import NEAR_TIES, problems

from ilpinfer import checker
from ilpinfer.references.making import make


def accepted(record):
    try:
        checker.check(record, 10**7)
    except checker.CheckError as fault:
        return not str(fault)
    return True


@settings(max_examples=examples(100))
@given(st.one_of(problems(longest=3), problems(scores=NEAR_TIES, longest=3)), st.integers(0, 2**32))
def test_nothing_false_is_accepted(drawn, seed):
    instance, cases = drawn
    record = make(instance.trellis, [case.rule for case in cases], ties=5).to_dict()
    assert accepted(record) and not falsehood(record)
    random = Random(seed)
    for _ in range(10):
        changed = mutated(record, random)
        assert not accepted(changed) or falsehood(changed) == "", json.dumps(changed)


@pytest.mark.parametrize("record", [None, [], 1, "x", {}, {"format": checker.FORMAT}, {"format": []}])
def test_what_is_no_reference_is_refused(record):
    assert not accepted(record)


@st.composite
def proofs(draw, tables, T):
    """Proofs of the right form with any prices and stages, and whether all machines are followed."""
    machines = range(len(tables["machines"]))
    prices, stage, place = [], [], {}
    for n, machine in enumerate(tables["machines"]):
        group, width = machine["group"], len(machine["cost"][0])
        if group is None and draw(st.booleans()):
            row = st.lists(st.integers(-(2**33), 2**33), min_size=width, max_size=width)
            table = st.lists(st.integers(0, 1), min_size=T + 1, max_size=T + 1)
            rows = draw(st.lists(row, min_size=2, max_size=2))
            prices.append({"machine": n, "rows": rows, "table": draw(table)})
        stage.append(place.setdefault(n if group is None else ("group", group), draw(st.integers(0, 2))))
    stages = [[n for n in machines if stage[n] == number] for number in (0, 1)]
    return {"prices": prices, "stages": stages}, 2 not in stage


@settings(max_examples=examples(250))
@given(st.one_of(problems(longest=3), problems(scores=NEAR_TIES, longest=3)), st.data())
def test_no_prices_and_stages_prove_what_is_false(drawn, data):
    instance, cases = drawn
    record = make(instance.trellis, [case.rule for case in cases], top=3).to_dict()
    leaf, whole = data.draw(proofs(record["tables"], len(record["tokens"])))
    proof = {"steps": 10**7, "tree": leaf}
    levels = [{**level, "proof": proof} for level in record["levels"]]
    assert accepted({**record, "levels": levels}) or not whole
    without_first = levels[1:] or [{"score": None, "labellings": [], "proof": proof}]
    infeasible = len(levels) == 1 and record["status"] == "infeasible"
    assert infeasible or not accepted({**record, "levels": without_first})
    if len(levels) > 2:
        assert not accepted({**record, "levels": [levels[0], *levels[2:]]})


def test_no_door_ends_in_a_raw_error_or_takes_much_memory():
    """A part of `python -m stress.references`: verify at each depth and the single file."""
    report = check(600, 11, sources(11, 40))
    assert not report["faults"] and report["peak"] < MEGABYTES
    counts = report["counts"]
    for door in ("checker", "tables", "meaning"):
        assert counts[f"{door} accepts"] > 10 and counts[f"{door} refuses"] > 100, counts
