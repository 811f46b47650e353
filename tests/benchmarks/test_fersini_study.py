"""Floors, sums over halves, the choice of tau, and the comparison with frontiers."""

import math

import numpy as np
import pytest
from pandas import DataFrame

from benchmarks.studies.fersini.measuring import floor_of, floors_of, measured, setting_of
from benchmarks.studies.fersini.report import chosen, measures, sums
from formulations import RuleSet
from formulations import constraints as C
from ilpinfer.models.hmm import HMM

FIELDS = {"part": "cora", "model": "HMM of 20", "rules": "mined"}


def row(half, value, right, **others):
    """A row of ten tokens."""
    counts = {"tokens": 10, "right": right, "predicted": 2, "gold": 2, "both": 1, "whole": 0, "sequences": 1}
    own = {"cost": 1.0, "score": -3.0, "proved": 1, "missing": 0, "milliseconds": 1.0}
    return {**FIELDS, "kind": "method", "half": half, "value": value, **counts, **own, **others}


def test_floors():
    assert floor_of(-10.0, 0.0, 0.9, "relative") == pytest.approx(-11.0)
    assert floor_of(10.0, 12.0, 0.9, "relative") == pytest.approx(9.0)
    # log P is -2: twice that at tau = 0.
    assert floor_of(10.0, 12.0, 0.0, "relative, log P") == pytest.approx(8.0)
    assert floor_of(10.0, 12.0, 0.5, "odds") == pytest.approx(10 + math.log(0.5))


def test_sums_and_measures():
    total = sums(DataFrame([row(0, 1.0, 9), row(1, 1.0, 6)]))
    assert (total.sequences, total.cost, total.score, total.proved) == (2, 2.0, -6.0, 2)
    assert measures(total) == pytest.approx((0.75, 0.5, 0.0))


def test_tau_is_chosen_on_the_other_half():
    rows = [row(0, 1.0, 9), row(0, 0.5, 3), row(1, 1.0, 2), row(1, 0.5, 8)]
    total, values = chosen(DataFrame(rows))
    # Half 0 takes what is best on half 1, which is 0.5, and the other way round.
    assert values == (0.5, 1.0)
    assert measures(total).accuracy == pytest.approx((3 + 2) / 20)


def test_rows_of_a_setting():
    train = [(("Ada", "Notes", str(year)), ("author", "title", "date")) for year in range(1843, 1863)]
    rules = RuleSet((C.precedence("author", "title", penalty=2.0),))
    setting = setting_of(HMM.train(train), train[:4], rules)
    rows = list(measured(setting, "one phase"))
    assert [(r["half"], r["sequences"], r["tokens"]) for r in rows] == [(0, 2, 6), (1, 2, 6)]
    best = sum(score for score, _ in floors_of(setting))
    assert sum(r["score"] for r in measured(setting, "odds") if r["value"] == 1.0) == pytest.approx(best)
    assert all(np.isfinite(r["cost"]) for r in rows)
