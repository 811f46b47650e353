"""The study of equal words: which sentences are a document, and which penalty is chosen."""

import pytest
from pandas import DataFrame

from benchmarks.report import Report
from benchmarks.studies import names as study

DATELINE = ("Madrid", ",", "23", "may", "(", "EFECOM", ")", ".")


def test_a_document_begins_at_a_dateline():
    sentences = [
        (("before",), ("O",)),
        (DATELINE, ("O",) * 8),
        (("EFE", "says"), ("O", "O")),
        (DATELINE, ("O",) * 8),
    ]
    assert [len(document) for document in study.documents(sentences)] == [1, 2, 1]
    assert [pair for document in study.documents(sentences) for pair in document] == sentences


def row(part, rules, penalty, right):
    spans = [[10, 10, right], [10, 10, right]]
    counts = {
        "places": [0, 1],
        "tokens": [20, 20],
        "right": [20, 20],
        "whole": [0, 0],
        "spans": spans,
        "missing": 0,
    }
    about = {"part": part, "rules": rules, "penalty": penalty, "documents": 2, "decoded": 2, "optimal": 2}
    return {**counts, **about}


@pytest.fixture
def rows():
    choice = [
        row(study.CHOICE, study.DOCUMENT, nats, right) for nats, right in (("1", 6), ("2", 8), ("4", 7))
    ]
    others = [row(study.DEV, study.DOCUMENT, nats, right) for nats, right in (("1", 9), ("2", 6), ("4", 5))]
    return [
        row(study.CHOICE, study.SCHEME, study.NONE, 5),
        *choice,
        row(study.DEV, study.SCHEME, study.NONE, 5),
        *others,
    ]


def test_the_penalty_is_chosen_on_its_own_folds(rows, tmp_path):
    assert study._best(DataFrame(rows[1:4])) == "2"
    report = Report(tmp_path)
    study.report(DataFrame(rows), report)
    chosen = [line for line in report.markdown().splitlines() if "(chosen)" in line]
    assert len(chosen) == 1 and "2 (chosen)" in chosen[0] and "60.00" in chosen[0] and "+10.00" in chosen[0]
