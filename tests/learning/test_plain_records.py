"""Records of learning, checking and analysis are read back from plain values."""

import json

import numpy as np
import pytest

from formulations import LabelSet, RuleSet, Trellis
from formulations import constraints as C
from formulations.programs.analysis import Analysis, analyse
from ilpinfer.corpus.examples import Example
from ilpinfer.decoding.frontier import Frontier, FrontierPoint
from ilpinfer.decoding.frontier_search import decode_frontier
from ilpinfer.evaluation.checking import RuleReport, check_rules

LABELS = LabelSet(("a", "b", "O"))
RULES = RuleSet(
    [C.at_most_runs("a", 1, penalty=0.5), C.requires_before("b", "a"), C.ends_with("O", penalty=1)]
)
GOLD = [Example(("x", "y", "z"), ("b", "a", "O"), "here"), Example(("x",), ("a",), "there")]


def records():
    rng = np.random.default_rng(3)
    yield from check_rules(RULES, GOLD, LABELS)
    yield from analyse(RULES, LABELS, ["x", "y"])
    yield decode_frontier(Trellis(rng.normal(size=3), rng.normal(size=(7, 3, 3)), labels=LABELS), RULES)
    yield Frontier((), False, 1.5, "no time left")
    yield FrontierPoint(1.0, 2.0, {"r": 2}, ("a",), False)


RECORDS = list(records())


@pytest.mark.parametrize("made", RECORDS, ids=lambda made: type(made).__name__)
def test_records_are_read_back(made):
    values = json.loads(json.dumps(made.to_dict(), allow_nan=False))
    assert type(made).from_dict(values) == made


@pytest.mark.parametrize("kind", [RuleReport, Analysis, Frontier, FrontierPoint])
def test_other_values_are_refused(kind):
    values = next(made for made in RECORDS if type(made) is kind).to_dict()
    first = next(iter(values))
    with pytest.raises(ValueError, match="unknown key 'colour'"):
        kind.from_dict({**values, "colour": 1})
    with pytest.raises(ValueError, match=f"has no {first}"):
        kind.from_dict({key: value for key, value in values.items() if key != first})
    with pytest.raises(ValueError, match=rf"{first}.* is an object; expected"):
        kind.from_dict({**values, first: {}})
    with pytest.raises(ValueError, match="expected an object"):
        kind.from_dict(None)
