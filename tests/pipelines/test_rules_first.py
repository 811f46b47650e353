"""Rules first: the best labellings are those of constrained Viterbi on features of all tokens."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.effort import examples

import ilpinfer
from formulations import LabelSet
from formulations import constraints as C
from ilpinfer.models.crf import CRF
from ilpinfer.models.crf.templates import load_template
from ilpinfer.models.crf.token_rules import TokenRules
from ilpinfer.models.crf.weights import Weights
from ilpinfer.pipelines.rules_first import RulesFirst

LABELS = ("B-org", "B-per", "I-org", "I-per", "O")
WORDS = ("Ada", "Inc", "de", "works", "Steel", ".")
SETS = {
    "none": (),
    "one word": (C.tag_at("O", words=["works", "."]),),
    "a group": (
        C.tag_at("org", words=["Inc"]),
        C.tag_at("O", pattern="[^A-Z]+", ignore_case=False, unless=["de"]),
    ),
    "contexts": (C.tag_at("per", words=["Ada"], following="de"), C.right_before("per", words=["works"])),
}


@pytest.fixture(scope="module")
def crf():
    """Random weights on words and their neighbours."""
    template, random = load_template({"features": ["word[-1..1]"]}), np.random.default_rng(11)
    names = tuple(f"word[{o}]={word}" for o in (-1, 0, 1) for word in WORDS)
    K, A = len(LABELS), len(names)
    places = np.arange(A + 1) * K, np.tile(np.arange(K), A)
    weights = Weights(LABELS, names, *places, random.normal(size=A * K), random.normal(size=(K, K)))
    return CRF(LabelSet(LABELS), weights, template)


def whole(crf, first, tokens):
    """The trellis with features everywhere, and what the rules allow, for the engine."""
    rules = [*first.rules, C.valid_scheme()]
    return ilpinfer.decode(crf.trellis(tokens), rules, method="constrained-viterbi")


@settings(max_examples=examples(60), deadline=None)
@given(st.sampled_from(sorted(SETS)), st.lists(st.sampled_from(WORDS), min_size=1, max_size=7))
def test_the_trellis_has_the_constrained_optimum(crf, name, tokens):
    first = RulesFirst(crf, SETS[name])
    solution = whole(crf, first, tokens)
    if solution.status == "infeasible":
        with pytest.raises(ValueError, match="forbid every label"):
            first.trellis(tokens)
    else:
        assert ilpinfer.decode(first.trellis(tokens), [C.valid_scheme()]).labels == solution.labels


def test_decided_tokens_get_no_features(crf, monkeypatch):
    asked = []
    features = type(crf.template).features
    monkeypatch.setattr(type(crf.template), "features", lambda *a: (asked.append(a[2]), features(*a))[1])
    trellis = RulesFirst(crf, SETS["a group"]).trellis(["works", "Ada", "Inc", "works", ".", "Steel"])
    assert asked == [[1, 2, 5]]
    assert [row.max() for row in trellis.lattice.node[[0, 3, 4]]] == [0, 0, 0]


def test_more_rules_and_any_decoder_go_on_from_the_trellis(crf):
    first = RulesFirst(crf, SETS["a group"])
    tokens = ["works", "Ada", "Inc", "works", "de", "Steel"]
    trellis = first.trellis(tokens)
    one = ilpinfer.decode(trellis, [C.valid_scheme(), C.at_least_runs("per", 1)])
    assert any(label.endswith("per") for label in one.labels)
    assert one.labels[0] == one.labels[3] == "O"


def test_earlier_rules_win_and_the_scheme_reaches_neighbours():
    labels = LabelSet(LABELS)
    rules = (
        C.tag_at("org", words=["Inc"]),
        C.tag_at("O", words=["Inc", "works"]),
        C.tag_at(["I-org", "I-per", "O"], words=["de"]),
    )
    token_rules = TokenRules(labels, rules)
    named = [
        {LABELS[k] for k in range(5) if labels >> k & 1}
        for labels in token_rules.allowed(["works", "de", "Inc", "de", "Ada"])
    ]
    assert named == [{"O"}, {"O"}, {"B-org"}, {"I-org", "O"}, {"B-org", "B-per", "I-org", "O"}]


def test_phrases_win_over_a_later_rule_on_their_words():
    labels = LabelSet(LABELS)
    rules = (C.tag_phrases("org", ["Steel de Ada"]), C.tag_at("O", words=["Steel", "de"]))
    allowed = TokenRules(labels, rules).allowed(["de", "Steel", "de", "Ada", "de"])
    single = [LABELS[left.bit_length() - 1] for left in allowed if left & (left - 1) == 0]
    assert single == ["O", "B-org", "O"]
    assert allowed[2] == allowed[3] == 0b101, "B-org or I-org"
