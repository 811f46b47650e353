"""The study of mined rules: which rules a cell has, and what becomes of their penalties."""

import numpy as np
import pytest

from benchmarks.data import umass
from benchmarks.studies import umass_rules as study
from benchmarks.study import Cell, Sources
from formulations import RuleSet, Trellis
from formulations import constraints as C
from ilpinfer.learning import ScoredExample


@pytest.fixture
def sources(corpora):
    return Sources(corpora, "full")


def test_training_references_are_evenly_spaced(sources):
    whole = umass.training_part(sources, 0)
    assert len(whole) == 60
    assert umass.training_part(sources, 4) == [whole[n] for n in (0, 15, 30, 45)]


def test_the_scheme_alone_has_no_mined_rule(sources):
    rules, families = study.statements(
        sources, Cell(part=study.PENALTIES, training=0, half=0, rules="", penalties=study.SCHEME)
    )
    assert list(rules) == [umass.VALID] and not families


def test_learning_leaves_out_a_rule_without_use():
    # gold keeps the first rule against the scores, and never needs the second
    trellis = Trellis.from_emissions(np.array([[0.0, 0.4], [0.0, 0.4]]), np.zeros((2, 2)), labels=["a", "b"])
    given = RuleSet(
        (C.starts_with("a", penalty=9.0, name="first"), C.ends_with("b", penalty=9.0, name="last"))
    )
    rules = study.learnt([ScoredExample(trellis, ("a", "b"))] * 4, given, study.LEARNER)
    assert [rule.name for rule in rules.rules] == ["first"]
    assert 0.2 < rules.rules[0].penalty < 9.0, (
        "rises from 0 until it outweighs 0.4 nats; the mean over epochs"
    )
