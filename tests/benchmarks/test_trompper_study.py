"""Counts of labels, the choice of rewards, and the deterministic tagger."""

import pytest
from pandas import DataFrame
from support.places import CORPORA

from benchmarks.studies.trompper import chosen, confusion, counts_of, shares
from benchmarks.studies.trompper.tagger import is_known_title, tag
from ilpinfer.corpus.sequences import read, require_labels
from ilpinfer.evaluation.counts import precision, recall
from ilpinfer.evaluation.evaluation import Pair, evaluate


def row(fold, reward, predicted, gold, both):
    """A row with so many titles."""
    matrix = [[0] * 4 for _ in range(4)]
    matrix[1][1], matrix[1][2], matrix[2][1] = both, gold - both, predicted - both
    return {"shuffle": 0, "fold": fold, "reward": reward, "confusion": matrix}


def test_confusion_has_gold_in_rows():
    pair = Pair(
        ("1.", "Feiten", "x"), ("NR", "TEXT_BLOCK", "TEXT_BLOCK"), ("NR", "SECTION_TITLE", "TEXT_BLOCK")
    )
    assert confusion([pair]) == [[1, 0, 0, 0], [0, 0, 1, 0], [0, 0, 1, 0], [0, 0, 0, 0]]


def test_counts_and_measures():
    confusions = [row(fold, 0.0, 4, 5, 3)["confusion"] for fold in (0, 1)]
    assert counts_of(confusions).tolist() == [8, 10, 6]
    # P = 6/8, R = 6/10, F0.5 = 1.25 P R / (0.25 P + R) = 0.5625 / 0.7875.
    assert shares(confusions) == pytest.approx((0.75, 0.6, 2 / 3, 0.5625 / 0.7875))


def rewards(rows, beta):
    return [(one.fold, one.reward) for one in chosen(DataFrame(rows), beta).itertuples()]


def test_the_reward_of_a_fold_is_chosen_on_the_others():
    # Reward 1 is perfect in fold 0 and useless in fold 1: fold 0 has to take 0, fold 1 has to take 1.
    rows = [row(0, 0.0, 10, 10, 5), row(0, 1.0, 10, 10, 10), row(1, 0.0, 10, 10, 5), row(1, 1.0, 10, 10, 0)]
    assert rewards(rows, 1.0) == [(0, 0.0), (1, 1.0)]


def test_precision_counts_more_for_half():
    # On the other fold: reward 0 has P 1, R 0.5; reward 1 has P 0.6, R 0.9. F1 0.67 and 0.72, F0.5 0.83 and 0.64.
    rows = [row(0, 0.0, 10, 20, 10), row(0, 1.0, 30, 20, 18), row(1, 0.0, 0, 20, 0), row(1, 1.0, 0, 20, 0)]
    assert rewards(rows, 1.0)[1] == (1, 1.0)
    assert rewards(rows, 0.5)[1] == (1, 0.0)


SHORT = {"N": "NR", "S": "SECTION_TITLE", "T": "TEXT_BLOCK", "/": "NEWLINE"}


def tagged(*elements: str) -> str:
    tokens = ["@newline@" if element == "/" else element for element in elements]
    letters = {name: letter for letter, name in SHORT.items()}
    return "".join(letters[name] for name in tag(tokens))


@pytest.mark.parametrize(
    ("elements", "labels"),
    [
        (("1.", "Het procesverloop", "/", "De man kwam te laat."), "NS/T"),
        (("/", "B E S L I S S I N G", "/", "2.1", "Eiser heeft gelijk."), "/S/NT"),
        (("Tekst", "1.", "meer", "2.", "meer", "7.", "meer"), "TNTNTTT"),
        (("/", "7.", "meer", "8.", "meer", "8.1", "meer"), "/NTNTNT"),
        (("U", "I", "T", "S", "P", "R", "A", "A", "K"), "TTTTTTTTT"),
        (("1997", "2.", "(a)", "iv)"), "TTNT"),
        (("Daar", "De beslissing"), "TT"),
    ],
)
def test_numbers_go_on_and_titles_are_known(elements, labels):
    assert tagged(*elements) == labels


@pytest.mark.parametrize(
    ("text", "known"),
    [
        ("De beoordeling van het hoger beroep", True),
        ("MOTIVERING", True),
        ("3 appels", False),
        ("De vordering wordt afgewezen", False),
        ("Het vonnis", True),
        ("Vonnis", False),
        ("De beoordeling " + "van de zaak " * 5, False),
    ],
)
def test_known_titles(text, known):
    assert is_known_title(text) is known


CORPUS = CORPORA / "rechtspraak" / "all.tsv"


@pytest.mark.skipif(not CORPUS.is_file(), reason=f"needs the case law in {CORPUS}")
def test_the_tagger_is_no_worse_than_published():
    result = evaluate([Pair(t, tuple(tag(t)), g) for t, g in require_labels(read(CORPUS))], scheme="plain")
    titles = result.of_field("SECTION_TITLE", "tokens")
    assert float(precision(titles)) >= 0.96
    assert float(recall(titles)) >= 0.74
