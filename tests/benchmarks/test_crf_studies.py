"""What the studies of conditional random fields stand on: spans and mined rules."""

from benchmarks.data.cross_validation import evaluate, percentages
from benchmarks.entity_rules import entity_rules
from formulations import LabelSet
from ilpinfer.models.crf.token_rules import TokenRules


def test_f1_of_exact_spans():
    spans = evaluate([(["B-x", "I-x", "O", "B-y"], ["B-x", "O", "O", "B-y"])], "bio").of_all()
    assert spans.tolist() == [2, 2, 1]
    assert percentages(spans).split() == ["50.00"] * 3
    assert percentages(evaluate([(["O"], ["O"])], "").of_all()).split() == ["0.00"] * 3


def test_mined_rules_clamp_small_words_and_leave_names_open():
    sentence = ["El", "Banco", "de", "España", "subió", "los", "tipos", "en", "Madrid", "."]
    labels = ["O", "B-ORG", "I-ORG", "I-ORG", "O", "O", "O", "O", "B-LOC", "O"]
    rules = entity_rules([(sentence, labels)] * 25)
    token_rules = TokenRules(LabelSet(("B-LOC", "B-ORG", "I-ORG", "O")), tuple(rules))
    allowed = token_rules.allowed(
        ["El", "gobierno", "de", "Francia", "y", "el", "Banco", "de", "Madrid", "."]
    )
    assert [labels == 0b1000 for labels in allowed] == [
        True,
        True,
        True,
        False,
        True,
        True,
        False,
        False,
        False,
        True,
    ]
    assert allowed[7] == 0b1100, "de goes on with a name or is none"
    assert allowed[8] == 0b1, "rule 1: a word that always is one name"
