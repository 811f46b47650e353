"""Rules that hold for some sequences only, by the metadata of the sequence."""

import json
import pickle
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ilpinfer
from formulations.constraints.conditions import condition
from formulations.problem.compiled_rules import compile_rules
from formulations.problem.digest import digest
from ilpinfer import LabelSet, RuleSet, Trellis, dump_rules, parse_rules
from ilpinfer import constraints as C

ALWAYS, FLIGHT, OTHER = (
    C.at_most_runs("a", 2, penalty=0.4),
    C.at_least_runs("b", 1, penalty=2.0, when="intent = flight | fare"),
    C.at_most_tokens("b", 0, when="intent != flight"),
)
RULES = RuleSet((ALWAYS, FLIGHT, OTHER), fields=("a", "b"))


@pytest.mark.parametrize(
    ("text", "metadata", "holds"),
    [
        ("intent = flight", {"intent": "flight"}, True),
        ("intent=flight", {"intent": "fare"}, False),
        (" kind of text  =  long one ", {"kind of text": "long one"}, True),
        ("intent = flight | fare", {"intent": "fare"}, True),
        ("intent != flight", {"intent": "fare"}, True),
        ("intent != flight | fare", {"intent": "fare"}, False),
        ("intent = flight", {}, False),
        ("intent != flight", {}, False),
        ("page = 3", {"page": 3}, True),
        ("page = 3", {"page": 3.0}, True),
        ("page = 3.0", {"page": 3.0}, True),
        ("page != 3", {"page": 3.0}, False),
        ("page != 3", {"page": 3.5}, True),
        ("checked = true", {"checked": True}, True),
        ("x = null", {"x": None}, True),
    ],
)
def test_conditions(text, metadata, holds):
    assert condition(text).holds(metadata) is holds


@pytest.mark.parametrize(
    "text", ["intent", "= flight", "intent =", "intent == x", "a | b = c", "a = b = c", "a = | b", "!= x"]
)
def test_what_is_no_condition(text):
    with pytest.raises(ValueError, match=r'when is .*; expected "KEY = VALUE"'):
        C.at_most_runs("a", 1, when=text)


VALUES = st.sampled_from(["flight", "fare", "other", None])


@given(VALUES)
def test_the_rules_of_a_sequence(value):
    metadata = {} if value is None else {"intent": value}
    expected = [ALWAYS]
    if value in ("flight", "fare"):
        expected.append(C.at_least_runs("b", 1, penalty=2.0))
    if value is not None and value != "flight":
        expected.append(C.at_most_tokens("b", 0))
    found = RULES.of(metadata)
    assert list(found) == expected and found.fields == RULES.fields and not found.conditional
    assert found is RULES.of(dict(metadata)) and found.of({}) is found
    assert digest(compile_rules(found, LabelSet(("a", "b"))).rule_set) == digest(
        RuleSet(tuple(expected), fields=("a", "b"))
    )


def test_rules_without_a_condition_are_those_of_every_sequence():
    rules = RuleSet((ALWAYS,))
    assert rules.of({"intent": "flight"}) is rules
    assert pickle.loads(pickle.dumps(RULES)).of({"intent": "fare"}) == RULES.of({"intent": "fare"})


def test_digests_change_with_a_condition_alone():
    plain, other = C.at_most_runs("a", 1), C.at_most_runs("a", 1, when="x = y")
    assert digest(plain) != digest(other) != digest(C.at_most_runs("a", 1, when="x = z"))


@pytest.mark.parametrize(
    "use", [ilpinfer.decode, ilpinfer.marginals, lambda *problem: ilpinfer.verify(*problem, None)]
)
def test_unfiltered_rules_are_refused(use):
    trellis = Trellis([0.0, 1.0], [], labels=["a", "b"])
    with pytest.raises(
        ValueError, match=r"holds only where intent = flight \| fare: take the rules of a sequence"
    ):
        use(trellis, [FLIGHT])


def test_files_hold_conditions():
    text = dump_rules(RULES)
    assert 'when = "intent != flight"' in text
    assert parse_rules(text).items == RULES.items
    with pytest.raises(ilpinfer.RuleError, match=r"when is 'x'; expected .* \(line 5, column 8\)"):
        parse_rules('fields = ["a"]\n[[rule]]\ntemplate = "at_most_runs"\nfield = "a"\nwhen = "x"\n')


def sequences(number, seed=0):
    random = np.random.default_rng(seed)
    for place in range(number):
        T = int(random.integers(1, 6))
        about = [{"metadata": {"intent": ["flight", "fare", "other"][place % 3]}}, {"intent": "flight"}, {}][
            place % 4 % 3
        ]
        yield (
            about,
            {
                "tokens": [f"w{t}" for t in range(T)],
                "label_names": ["a", "b"],
                "emissions": random.normal(size=(T, 2)).round(2).tolist(),
                "transitions": random.normal(size=(2, 2)).round(2).tolist(),
            },
        )


def of(about):
    return about.get("metadata", about)


@pytest.mark.parametrize(
    "options", ["", "--top 2", "--tau 0.9", "--threads 2", "--explain --probabilities --questions 1"]
)
def test_each_sequence_is_decoded_under_its_rules(here, cli, options):
    known = list(sequences(12))
    Path("x.jsonl").write_text("".join(json.dumps({**about, **scores}) + "\n" for about, scores in known))
    Path("rules.toml").write_text(dump_rules(RULES))
    cli.done(f"decode x.jsonl --rules rules.toml --output out.jsonl {options}")
    rows = [json.loads(line) for line in Path("out.jsonl").read_text().splitlines()]
    rows = [row for row in rows if row.get("rank", 1) == 1]
    assert len(rows) == len(known)
    for (about, scores), row in zip(known, rows, strict=True):
        trellis = Trellis.from_emissions(
            scores["emissions"], scores["transitions"], labels=["a", "b"], tokens=scores["tokens"]
        )
        own = RULES.of(of(about))
        if "tau" in options:
            best = ilpinfer.decode_two_phase(trellis, own, tau=0.9)
        else:
            best = ilpinfer.decode(trellis, own)
            assert ilpinfer.verify(trellis, own, ilpinfer.Solution.from_dict(row)).proved
        assert row["labels"] == best.labels and row["score"] == pytest.approx(best.score)
        assert set(row["violations"]) == set(best.violations)


def test_notices_and_refusals_of_commands(here, cli):
    Path("x.jsonl").write_text("".join(json.dumps(scores) + "\n" for _, scores in sequences(2)))
    Path("rules.toml").write_text(dump_rules(RULES))
    ended = cli.done("decode x.jsonl --rules rules.toml --output out.jsonl")
    assert "when: no sequence has intent in its metadata, so rules on it are never applied" in ended.err
    assert "leave --jobs out" in cli.refused("decode x.jsonl --rules rules.toml --jobs 2 --output o.jsonl")
