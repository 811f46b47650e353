"""What is learnt from and measured on in the study of constraint-driven learning, and its variants of rules."""

import numpy as np
import pytest

from benchmarks.studies.codl.baselines import Baseline, probabilities
from benchmarks.studies.codl.cells import cell_of
from benchmarks.studies.codl.tasks import sequences, task
from benchmarks.study import Sources
from formulations import RuleSet
from formulations import constraints as C
from ilpinfer.learning import CODL
from ilpinfer.models.hmm import HMM


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


LABELLED = [
    (["Ada", "wrote", "notes", "1843"], ["name", "text", "text", "year"]),
    (["Alan", "computing", "1950"], ["name", "text", "year"]),
]
POOL = [
    ["Grace", "wrote", "1952"],
    ["Ada", "notes", "1843"],
    ["1936", "Alan"],
    ["Alonzo"],
    ["Church", "wrote"],
]
RULES = RuleSet((C.at_most_runs("name", 1, penalty=1.5), C.tag_at("year", pattern=r"\d+", penalty=2.25)))


def test_a_mean_of_probabilities_is_one_of_each_factor():
    one, other = HMM.train(LABELLED), HMM.train([(text, labels[::-1]) for text, labels in LABELLED])
    mixed, words = probabilities(one, other, 0.25), ("Ada", "1843", "unseen")

    def factors(model, path):
        p, e = model.parameters, model.emissions.scores(words)
        steps = [p.transitions[a, b] for a, b in zip(path, path[1:], strict=False)]
        return np.exp([p.start[path[0]], *steps, p.end[path[-1]], *e[range(3), path]])

    for path in ([0, 1, 2], [2, 2, 0]):
        expected = np.log(0.25 * factors(one, path) + 0.75 * factors(other, path)).sum()
        assert mixed.trellis(words).score(path) == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("beam", [False, True])
def test_baselines_of_counts_without_other_choices_are_the_loop_of_the_library(beam):
    options = {"emissions": "additive"}
    baseline = Baseline(gamma=0.3, k=300, mixing="counts", beam=beam).fit(LABELLED, POOL, RULES, options)
    model = CODL(gamma=0.3, k=300).fit(LABELLED, POOL, RULES, options=options).model
    for text in POOL:
        for path in ([0] * len(text), list(range(len(text)))):
            expected = model.trellis(text).score(path)
            assert baseline.trellis(text).score(path) == pytest.approx(expected, abs=1e-4)


def test_self_training_adds_the_surest_and_keeps_their_labels(monkeypatch):
    seen, labelled = [], Baseline.labelled

    def watched(self, model, texts, rules):
        result = labelled(self, model, texts, rules)
        seen.append((sorted(texts), max(result, key=lambda place: result[place].lead, default=None)))
        return result

    monkeypatch.setattr(Baseline, "labelled", watched)
    Baseline(gamma=None, mixing="counts", share=0.2, relabel=False).fit(LABELLED, POOL, RULES, {})
    assert [len(texts) for texts, _ in seen] == [5, 4, 3, 2, 1]
    for (before, surest), (after, _) in zip(seen, seen[1:], strict=False):
        assert sorted([*after, surest]) == before
