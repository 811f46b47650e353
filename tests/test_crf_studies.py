"""What the studies of conditional random fields stand on: spans, folds and mined rules."""

from benchmarks.cross_validation import folds
from benchmarks.entity_rules import entity_rules
from benchmarks.spans import Counts, counts, spans
from formulations import LabelSet
from ilpinfer.models.token_rules import TokenRules


def test_spans_at_every_level():
    labelling = ["B-venue/B-journal", "I-venue/I-journal", "I-venue/B-date/B-year", "B-venue/B-journal", "O"]
    assert spans(labelling) == {
        ("venue", 0, 3),
        ("venue/journal", 0, 2),
        ("venue/date", 2, 3),
        ("venue/date/year", 2, 3),
        ("venue", 3, 4),
        ("venue/journal", 3, 4),
    }
    assert spans(["I-x", "I-x", "B-x", "O", "I-y"]) == {("x", 0, 2), ("x", 2, 3), ("y", 4, 5)}


def test_f1_of_exact_spans():
    found = counts([(["B-x", "I-x", "O", "B-y"], ["B-x", "O", "O", "B-y"])])
    assert found == Counts(right=1, found=2, gold=2)
    assert found.f1 == found.precision == found.recall == 50
    assert counts([(["O"], ["O"])]).f1 == 0


def test_folds_cover_everything_once():
    found = folds(11, 5, seed=3)
    assert sorted(place for fold in found for place in fold) == list(range(11))
    assert {len(fold) for fold in found} == {2, 3}
    assert found == folds(11, 5, seed=3) != folds(11, 5, seed=4)


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
