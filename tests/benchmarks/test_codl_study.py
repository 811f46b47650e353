"""What is learnt from and measured on in the study of constraint-driven learning, and its variants of rules."""

import pytest

from benchmarks.studies.codl.cells import cell_of
from benchmarks.studies.codl.tasks import sequences, task
from benchmarks.study import Sources


@pytest.fixture
def sources(corpora):
    return Sources(corpora, "smoke")


def test_what_is_measured_is_neither_labelled_nor_in_the_pool(sources):
    about = task(sources, cell_of("pool", "Cora", "plain", 5, "sup", 3))
    assert (len(about.labelled), len(about.test), len(about.pool)) == (5, 10, 10)
    known = sorted(tokens for tokens, _ in sequences(sources.folder))
    used = [*(tokens for tokens, _ in about.labelled), *(tokens for tokens, _ in about.test), *about.pool]
    for tokens in set(used):
        assert used.count(tokens) <= known.count(tokens)


def test_the_pool_of_other_citations_has_no_reference(sources):
    about = task(sources, cell_of("citations", "Rexa", "plain", 5, "H", 0))
    assert not {tokens for tokens, _ in sequences(sources.folder)} & set(about.pool)


def test_states_are_those_of_the_kind(sources):
    cell = cell_of("pool", "Cora", "best", 5, "sup", 0)
    prefixes = {label[:2] for _, labels in task(sources, cell).labelled for label in labels}
    assert "E-" in prefixes
