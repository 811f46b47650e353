"""The studies of two-phase inference and of minimum risk, on a few generated items."""

import pytest

from benchmarks import posterior, two_phase
from benchmarks.data.held_out import Setting, labels_of, line_of, mined, percentages
from formulations import RuleSet
from ilpinfer.corpus.resumes import items
from ilpinfer.decoding.single import decode
from ilpinfer.models.hmm import HMM


@pytest.fixture(scope="module")
def setting() -> Setting:
    train = [(item.tokens, item.labels) for item in items(60, seed=0)]
    model, some = HMM.train(train), items(6, seed=1)
    rules = RuleSet(mined(train).items[:4], mined(train).fields, "mined")
    trellises = tuple(model.trellis(item.tokens) for item in some)
    return Setting("items", trellises, tuple(tuple(item.labels) for item in some), rules)


def test_measures(setting):
    assert percentages(setting, list(setting.gold)) == (100.0, 100.0, 100.0)
    assert percentages(setting, [None] * 6) == (0.0, 0.0, 0.0)
    line = line_of("auto", setting, lambda trellis: decode(trellis, setting.rules))
    labels = [labels_of(decode(trellis, setting.rules)) for trellis in setting.trellises]
    assert (line.accuracy, line.f1, line.whole) == percentages(setting, labels)
    assert line.proved == 6 and "auto" in str(line)


def test_two_phases(setting, capsys):
    panel = two_phase.report(setting)
    out = capsys.readouterr().out
    assert out.count("two-phase, relative") == len(two_phase.TAUS["relative"]) + 1
    assert "one phase, best common weight" in out and "Viterbi passes in the median" in out
    text = two_phase.picture([panel])
    assert "mean violation cost, nats" in text and "items" in text


def test_minimum_risk(setting, capsys):
    posterior.rows(setting)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split("  ")[1].strip() for line in lines[3:]] == list(posterior.METHODS)
