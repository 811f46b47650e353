"""Trials in arrays against those of the templates themselves, on random labellings."""

import numpy as np
import pytest

from formulations import LabelSet
from formulations import constraints as C
from formulations.labels.reading import Reading
from ilpinfer.learning.labellings import LabelArrays
from ilpinfer.learning.rule_trials import count_trials, violations

WORDS = ("Ada", "Inc", "x", ",", "1998", "IBM", "the")
NAMES = {
    "plain": ("a", "b", "c", "O"),
    "bio": ("B-a", "I-a", "B-b", "I-b", "B-c", "O"),
    "iob1": ("B-a", "I-a", "B-b", "I-b", "I-c", "O"),
    "iobes": ("B-a", "I-a", "E-a", "S-a", "B-b", "I-b", "E-b", "S-b", "S-c", "O"),
    "paths": ("B-a", "I-a", "I-a/B-x", "I-a/I-x", "B-b/B-x", "I-b/I-x", "I-b", "B-c", "O"),
}


def statements(scheme):
    rules = [
        C.at_most_runs("a", 1),
        C.requires_present("a", "b"),
        C.never_together("a", "b"),
        C.requires_before("a", "b"),
        C.precedence("a", "b"),
        C.presence_precedence("a", "b"),
        C.adjacency("a", "b"),
        C.state_change("a", "b", words=[","]),
        C.state_change("b", "c", words=["x"], both=True),
        C.begin_end("a", "b"),
        C.min_run_length("a", 3),
        C.max_run_length("a", 1),
        C.max_gap("a", "a", 1),
        C.max_gap("b", "a", 0),
        C.at_most_in_window("a", 1, width=3),
        C.at_most_in_window("b", 2, width=9),
        C.alternation("a", "b"),
        C.tag_at("a", words=["ada", "1998"]),
        C.tag_at("O", token_class="year", previous=C.tokens(["the"])),
        C.tag_at("a", token_class="capitalised", following=C.tokens(["inc"])),
        C.right_before("b", words=["inc", "x"]),
        C.starts_with(("a", "c")),
        C.ends_with("b"),
    ]
    if scheme == "paths":
        rules += [
            C.precedence("a", "a/x"),
            C.presence_precedence("a/x", "a"),
            C.requires_before("a/x", "b/x"),
            C.never_together("a/x", "b/x"),
            C.at_most_runs("a/x", 1),
            C.alternation("a", "a/x"),
            C.min_run_length("b/x", 2),
        ]
    return [rule.statement for rule in rules]


@pytest.mark.parametrize("scheme", NAMES)
@pytest.mark.parametrize("seed", range(4))
def test_trials_are_those_of_the_templates(scheme, seed):
    random = np.random.default_rng(seed)
    labels = LabelSet(NAMES[scheme], scheme)
    lengths = random.integers(1, 9, 30)
    ids = [random.integers(len(labels), size=n) for n in lengths]
    texts = [[WORDS[i] for i in random.integers(len(WORDS), size=n)] for n in lengths]
    table = LabelArrays.of(labels, texts, ids)
    readings = [
        Reading([labels.names[k] for k in row], text, labels) for row, text in zip(ids, texts, strict=True)
    ]
    for statement in statements(scheme):
        trials = count_trials(table, statement)
        expected = [
            (m, trial.amount) for m, reading in enumerate(readings) for trial in statement.trials(reading)
        ]
        found = list(zip(trials.sequence.tolist(), trials.amount.tolist(), strict=True))
        assert found == expected, statement.sentence
        totals = [sum(trial.amount for trial in statement.trials(reading)) for reading in readings]
        assert violations(table, statement).tolist() == totals


def test_a_template_that_is_not_counted_is_named():
    table = LabelArrays.of(LabelSet(("a", "b")), [["x"]], [np.array([0])])
    with pytest.raises(ValueError, match="trials of inside are not counted in arrays"):
        count_trials(table, C.inside("a", "b").statement)
