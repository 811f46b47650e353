"""Labelled sequences that training takes: tokens and labels apart, or pairs of word and tag; those without a token are left out."""

import numpy as np
import pandas as pd
import pytest

from formulations import RuleSet
from formulations import constraints as C
from ilpinfer.corpus.examples import InputNotice
from ilpinfer.learning import CODL, RuleMiner, WeightLearner
from ilpinfer.models.labelled_sequences import tokens_and_labels
from ilpinfer.models.training import train

APART = [(["a", "b", "c"], ["X", "Y", "Z"]), (["d", "e"], ["X", "Y"])]
PAIRS = [list(zip(*each, strict=True)) for each in APART]
KINDS = ["hmm", "hmm2", "crf"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("some", [slice(2), slice(1), slice(1, 2)], ids=["both", "long", "of two"])
def test_pairs_of_word_and_tag(kind, some):
    model = train(kind, PAIRS[some])
    assert model.body() == train(kind, APART[some]).body()
    assert {"a", "b", "c", "d", "e"}.isdisjoint(model.labels.names)


LONG, TWO = (["a", "b", "c"], ["X", "Y", "Z"]), (["d", "e"], ["X", "Y"])
READ = {
    "tuples of tuples": [tuple(map(tuple, each)) for each in APART],
    "lists of lists, one of them long": [list(each) for each in APART],
    "pairs as lists, one sequence long": [[list(pair) for pair in each] for each in PAIRS],
    "pairs in tuples": [tuple(each) for each in PAIRS],
    "pairs of zip": [zip(*each, strict=True) for each in APART],
    "arrays": [tuple(map(np.array, each)) for each in APART],
    "columns": [tuple(map(pd.Series, each)) for each in APART],
    "a generator": (each for each in PAIRS),
}


@pytest.mark.parametrize("form", READ)
def test_every_form_is_read_alike(form):
    read = [tuple(map(list, each)) for each in tokens_and_labels(READ[form])]
    assert read == [tuple(map(list, each)) for each in APART]


@pytest.mark.parametrize(
    "given, said",
    [
        (
            [[["d", "e"], ["X", "Y"]]],
            r"sequence 0 is .*, which is \(tokens, labels\) or pairs \(word, tag\); expected",
        ),
        (
            [[("EU", "NNP", "B-ORG"), ("rejects", "VBZ", "O")]],
            "sequence 0 is .*, which may be two tokens with further columns; expected",
        ),
        ([LONG, [("d", "X"), ("e", "Y")]], r"sequence 1 is .*, which is \(tokens, labels\) or pairs"),
        (
            [LONG, PAIRS[0]],
            r"sequence 0 is \(tokens, labels\), but sequence 1 is pairs \(word, tag\); give all in one",
        ),
        (
            [("a", "X"), ("b", "Y")],
            r"sequence 0 is \('a', 'X'\); expected \(tokens, labels\), a tuple of two lists",
        ),
        (["a", "b"], "sequence 0 is 'a'; expected"),
        ([None], "sequence 0 is None; expected"),
        ([{"tokens": ["a"], "labels": ["X"]}], "sequence 0 is {tokens = "),
        ([(["a"],)], "expected"),
        ([(["a"], ["X"], ["N"])], "expected"),
        ("ab", "sequences is 'ab'; expected labelled sequences"),
        (None, "sequences is None; expected labelled sequences"),
    ],
)
@pytest.mark.parametrize("kind", KINDS)
def test_other_forms_are_refused_by_name(kind, given, said):
    with pytest.raises(ValueError, match=said):
        train(kind, given)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("empty", [([], []), [], ((), ())])
def test_sequences_without_a_token_are_left_out(kind, empty):
    with pytest.warns(
        InputNotice, match="left out, as they have no token: 2 sequences, the first is .*sequence 1$"
    ):
        model = train(kind, [APART[0], empty, APART[1], empty])
    assert model.body() == train(kind, APART).body()


def test_nothing_but_empty_sequences():
    for kind in KINDS:
        with pytest.warns(InputNotice), pytest.raises(ValueError, match="no sequences to train on"):
            train(kind, [([], [])])


def test_unlabelled_sequences_without_a_token():
    with pytest.warns(InputNotice, match="1 sequence, sequence 1$"):
        CODL(gamma=0.5, cycles=1).fit(APART, [["a", "b"], []])


def test_mining():
    given = [(["Ada", "Notes", str(year)], ["author", "title", "date"]) for year in range(1843, 1873)]
    mined = RuleMiner(families=["first-field"]).fit(given)
    wrong = [["title", "author", "date"]] * len(given)
    with pytest.warns(InputNotice, match="1 sequence, sequence 30"):
        again = RuleMiner(families=["first-field"]).fit([*given, ([], [])], predictions=[*wrong, []])
    assert again.sequences == mined.sequences == 30
    assert [list(zip(*each, strict=True)) for each in given[:1]] and RuleMiner(families=["first-field"]).fit(
        [list(zip(*each, strict=True)) for each in given]
    ).rules == mined.rules


@pytest.mark.parametrize("odd", [(["a"], ["X"]), None, "a", []])
def test_the_learner_names_what_it_learns_from(odd):
    with pytest.raises(ValueError, match=r"examples\[0\] is .*; expected a ScoredExample"):
        WeightLearner().fit([odd], RuleSet((C.at_most_runs("X", 1, penalty=1.0),)))
