"""Random instances: the same everywhere, of the kind that they say, and harder as hardness grows."""

import json

import pytest
from support.processes import python
from support.reference_generator import generate

import ilpinfer
from formulations import dump_rules, parse_rules
from formulations.problem.compiled_rules import compile_problem
from ilpinfer.references.shipped import KINDS

PROGRAM = """
import json, sys
from formulations import dump_rules
from ilpinfer.references.shipped import KINDS
from support.reference_generator import generate
made = [each for kind in KINDS for each in generate(kind, 3, seed=5, T=9, K=5, hardness=0.25)]
print(json.dumps([[each.name, each.trellis.to_dict(), dump_rules(each.rules), each.hidden, each.rival] for each in made]))
"""


def some(kind, count=12, **options):
    return list(generate(kind, count, **{"seed": 3, "T": 9, "K": 5, **options}))


def ids(instance, names):
    return [instance.trellis.labels.names.index(name) for name in names]


def test_every_process_makes_the_same():
    texts = [python("-c", PROGRAM, variables={"PYTHONHASHSEED": seed}).stdout for seed in "12"]
    assert texts[0] == texts[1]
    made = [each for kind in KINDS for each in some(kind, 3, seed=5, hardness=0.25)]
    here = [[each.name, each.trellis.to_dict()] for each in made]
    assert [each[:2] for each in json.loads(texts[0])] == json.loads(json.dumps(here))


@pytest.mark.parametrize("kind", KINDS)
def test_instances_are_of_their_kind(kind):
    made = some(kind)
    assert len({each.name for each in made}) == len(made) == 12
    assert all((len(each.trellis), len(each.trellis.labels)) == (9, 5) for each in made)
    assert {each.trellis.order for each in made} == {2 if kind == "second-order" else 1}
    assert {each.trellis.labels.scheme for each in made} == {"plain", "bio"}
    hard = [rule.hard for each in made for rule in each.rules]
    assert any(hard) == (kind in ("infeasible", "soft-and-hard")) and not all(hard)
    for each in made:
        best = ilpinfer.decode(each.trellis, each.rules, top=2)
        assert (not best) == (kind == "infeasible")
        assert kind != "ties" or best[0].score == best[1].score
        if kind != "infeasible":
            value = compile_problem(each.trellis, each.rules).value
            assert not any(value(each.trellis.ids(each.hidden)).violations.values())
            assert compile_problem(each.trellis, parse_rules(dump_rules(each.rules))).rules
