"""Mined rules, their precision, ways to apply them, and times by part."""

import numpy as np
import pytest

from benchmarks.studies.liao.open_tokens import OpenTokens
from benchmarks.studies.liao.report import time_shares
from benchmarks.studies.liao.rules import company_words, entity_rules
from benchmarks.studies.liao.ways import Way, check_best, overwrite
from benchmarks.study import Disagreement
from formulations import LabelSet
from formulations import constraints as C
from ilpinfer.models.crf import CRF
from ilpinfer.models.crf.token_rules import TokenRules

LABELS = LabelSet(("B-LOC", "B-ORG", "I-ORG", "O"))
SENTENCE = ["El", "Banco", "de", "España", "subió", "los", "tipos", "en", "Madrid", "."]
GOLD = ["O", "B-ORG", "I-ORG", "I-ORG", "O", "O", "O", "O", "B-LOC", "O"]


def test_mined_rules_clamp_small_words_and_leave_names_open():
    mined = entity_rules([(SENTENCE, GOLD)] * 25, companies=26)
    rules = [rule for some in mined.values() for rule in some]
    tokens = ["El", "gobierno", "de", "Francia", "y", "el", "Banco", "de", "Madrid", "."]
    allowed = TokenRules(LABELS, tuple(rules)).allowed(tokens)
    outside = [labels == 0b1000 for labels in allowed]
    assert outside == [True, True, True, False, True, True, False, False, False, True]
    assert allowed[7] == 0b1100, "de goes on with a name or is none"
    assert allowed[8] == 0b1, "rule 1: a word that always is one name"


def test_company_words_need_times_and_precision():
    suffix = ["Acme", "Corp"], ["B-ORG", "I-ORG"]
    first = ["Grupo", "Prisa"], ["B-ORG", "I-ORG"]
    against = ["Sr", "Corp"], ["O", "O"]
    assert company_words([suffix, suffix, first, first], 2, 0.9) == (["Corp", "Prisa"], ["Acme", "Grupo"])
    assert company_words([suffix, suffix, first, first], 3, 0.9) == ([], [])
    # Two of three cases of Corp are within a company: 0.67.
    assert company_words([suffix, suffix, against], 2, 0.7) == ([], ["Acme"])
    assert company_words([suffix, suffix, against], 2, 0.6) == (["Corp"], ["Acme"])


def test_rule_2_comes_before_rule_3_and_after_rule_1():
    pairs = [(["Grupo", "Prisa", "sube"], ["B-ORG", "I-ORG", "O"])] * 3
    rules = entity_rules(pairs, companies=3)
    assert list(rules) == ["rule 2", "rule 4"]
    allowed = TokenRules(LABELS, tuple(rules["rule 2"]), False).allowed(["Grupo", "Santander"])
    assert allowed == [0b110, 0b110]


def test_shares_are_of_the_whole_time_of_the_baseline():
    baseline, row = [0.0, 1.0, 0.5, 0.5], [0.2, 0.4, 0.2, 0.2]
    assert time_shares(row, baseline) == pytest.approx([0.1, 0.2, 0.1, 0.1, 0.5])


@pytest.fixture(scope="module")
def crf():
    return CRF.train([(SENTENCE, GOLD)] * 3, {"features": ["word[-1..1]"]}, scheme="bio")


def test_the_reduced_chain_has_the_constrained_optimum(crf):
    mined = entity_rules([(SENTENCE, GOLD)] * 25, companies=26)
    way = Way(crf, TokenRules(crf.labels, tuple(rule for some in mined.values() for rule in some)))
    random = np.random.default_rng(0)
    sentences = [list(map(str, random.choice(SENTENCE, n))) for n in (1, 2, 3, 5, 8, 13) for _ in range(12)]
    labels, _, open_share = way.run(sentences)
    assert 0.1 < open_share < 0.9
    for tokens, own in zip(sentences, labels, strict=True):
        check_best(way, tokens, own)


def test_decided_tokens_get_no_features(crf):
    rules = TokenRules(crf.labels, (C.tag_at("O", words=["El", "de", "."]),))
    tokens = ["El", "Banco", "de", "Madrid", "."]
    open_tokens = OpenTokens.of([rules.allowed(tokens)])
    assert open_tokens.at.tolist() == [1, 3]
    expected = ["word[-1]=El", "word[0]=Banco", "word[1]=de"]
    assert open_tokens.features(crf.template, [tokens])[0] == expected


def test_labels_that_are_written_over_move_nothing_else():
    path, emissions = np.array([0, 2, 4]), np.zeros((3, 5))
    emissions[1, 3] = 5.0
    assert overwrite(path, [31, 0b11000, 31], emissions, np.zeros((5, 5))).tolist() == [0, 3, 4]


def test_a_worse_labelling_is_a_disagreement(crf):
    way = Way(crf, TokenRules(crf.labels, ()))
    [labels], _, _ = way.run([SENTENCE])
    check_best(way, SENTENCE, labels)
    with pytest.raises(Disagreement, match="rules first"):
        check_best(way, SENTENCE, ["O"] * len(SENTENCE))
