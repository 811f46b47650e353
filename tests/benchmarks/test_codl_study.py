"""What is learnt from and measured on in the study of constraint-driven learning, and its variants of rules."""

from math import inf, log

import pytest

from benchmarks.data.corpora import with_factor
from benchmarks.studies.codl.cells import cell_of
from benchmarks.studies.codl.tasks import post_rules, sequences, task, with_distance
from benchmarks.study import Sources
from formulations import load_rules


@pytest.fixture
def sources(corpora):
    return Sources(corpora, "smoke")


def test_what_is_measured_is_neither_labelled_nor_in_the_pool(sources):
    about = task(sources, cell_of("posts", "posts", "plain", 5, "sup", 3))
    assert (len(about.labelled), len(about.test), len(about.pool)) == (5, 10, 10)
    known = sorted(tokens for tokens, _ in sequences(sources.folder, "posts"))
    used = [*(tokens for tokens, _ in about.labelled), *(tokens for tokens, _ in about.test), *about.pool]
    for tokens in set(used):
        assert used.count(tokens) <= known.count(tokens)


def test_the_pool_of_other_citations_has_no_reference(sources):
    about = task(sources, cell_of("citations", "Rexa", "plain", 5, "H", 0))
    assert not {tokens for tokens, _ in sequences(sources.folder, "Cora")} & set(about.pool)


def test_states_are_those_of_the_kind(sources):
    cell = cell_of("pool", "Cora", "best", 5, "sup", 0)
    prefixes = {label[:2] for _, labels in task(sources, cell).labelled for label in labels}
    assert "E-" in prefixes


def test_penalties_are_multiplied():
    rules = post_rules()
    assert [rule.penalty for rule in with_factor(rules, 3.0).rules] == pytest.approx([3 * log(10)] * 9)
    assert {rule.penalty for rule in with_factor(rules, inf).rules} == {inf}


def test_distances_of_the_citation_rules():
    rules = load_rules("citations")
    assert {rule.distance for rule in with_distance(rules, "binary").rules} == {"binary"}
    hamming = with_distance(rules, "hamming").rules
    assert [rule.distance for rule in hamming] == ["hamming"] * 13 + ["count"] * 10
