"""Records of learning, checking and analysis are read back from plain values."""

import json
import math

import numpy as np
import pytest

from formulations import LabelSet, RuleSet, Trellis
from formulations import constraints as C
from formulations.programs.analysis import Analysis, analyse
from ilpinfer.decoding.frontier import Frontier, FrontierPoint
from ilpinfer.decoding.frontier_search import decode_frontier
from ilpinfer.evaluation.checking import Gold, RuleReport, check_rules
from ilpinfer.learning.measures import Measures
from ilpinfer.learning.tau import TauChoice, TauRow
from ilpinfer.learning.trade_off import TradeOff

LABELS = LabelSet(("a", "b", "O"))
RULES = RuleSet(
    [C.at_most_runs("a", 1, penalty=0.5), C.requires_before("b", "a"), C.ends_with("O", penalty=1)]
)
GOLD = [Gold(("x", "y", "z"), ("b", "a", "O"), "here"), Gold(("x",), ("a",), "there")]


def records():
    rng = np.random.default_rng(3)
    yield from check_rules(RULES, GOLD, LABELS)
    yield from analyse(RULES, LABELS, ["x", "y"])
    yield decode_frontier(Trellis(rng.normal(size=3), rng.normal(size=(7, 3, 3)), labels=LABELS), RULES)
    yield Frontier((), False, 1.5, "no time left")
    yield FrontierPoint(1.0, 2.0, {"r": 2}, ("a",), False)
    rows = TauRow(1.0, 0.5, 0.25, 0.125, 3.0, 2), TauRow(0.5, 0.5, 0.25, 0.125, 3.0, 2)
    yield TauChoice(1.0, "odds", rows, {"accuracy": 0.5}, (1.0, 0.5), "f1")
    yield TradeOff(0.0, math.inf, 1.0, 2.0)
    yield TradeOff(0.0, 1.0, 1.0, 2.0, Measures(0.5, 0.25, 1.0))


RECORDS = list(records())


@pytest.mark.parametrize("made", RECORDS, ids=lambda made: type(made).__name__)
def test_records_are_read_back(made):
    values = json.loads(json.dumps(made.to_dict(), allow_nan=False))
    assert type(made).from_dict(values) == made


@pytest.mark.parametrize("kind", [RuleReport, Analysis, Frontier, FrontierPoint, TauChoice, TradeOff])
def test_other_values_are_refused(kind):
    values = next(made for made in RECORDS if type(made) is kind).to_dict()
    first = next(iter(values))
    with pytest.raises(ValueError, match="no use for 'colour'"):
        kind.from_dict({**values, "colour": 1})
    with pytest.raises(ValueError, match=f"has no {first}"):
        kind.from_dict({key: value for key, value in values.items() if key != first})
    with pytest.raises(ValueError, match=rf"{first}.* is an object; expected"):
        kind.from_dict({**values, first: {}})
    with pytest.raises(ValueError, match="expected an object"):
        kind.from_dict(None)
