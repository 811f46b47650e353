"""The synthetic résumé items: deterministic, well formed, and as often against the rule as intended."""

import hashlib
from itertools import groupby

import pytest

from ilpinfer.corpus.examples import Example
from ilpinfer.corpus.resumes import DESCRIPTION, LABELS, MAX_LENGTH, MIN_LENGTH, items


@pytest.fixture(scope="module")
def many() -> list[Example]:
    return items(2000)


def runs(item: Example) -> int:
    return sum(label == DESCRIPTION for label, _ in groupby(item.labels))


def test_same_seed_gives_same_items(many: list[Example]) -> None:
    assert items(50) == many[:50]
    assert items(50, seed=1) == items(50, seed=1) != many[:50]
    assert items(0) == []


def test_items_are_pinned() -> None:
    text = "\n".join(" ".join(item.tokens) + "\t" + " ".join(item.labels) for item in items(100, seed=7))
    assert hashlib.sha256(text.encode()).hexdigest()[:16] == "b47ebed638186687"


def test_items_are_words_with_labels_and_of_many_lengths(many: list[Example]) -> None:
    lengths = sorted(len(item.tokens) for item in many)
    assert MIN_LENGTH <= lengths[0] < 20 and 200 < lengths[-1] <= MAX_LENGTH
    assert 40 <= lengths[len(lengths) // 2] <= 60
    assert {label for item in many for label in item.labels} == set(LABELS)
    for item in many:
        assert len(item.tokens) == len(item.labels)
        assert all(token.split() == [token] and not {"<", ">"} & {*token} for token in item.tokens)


def test_at_most_one_run_of_description_holds_mostly_but_not_always(many: list[Example]) -> None:
    assert 0.01 <= sum(runs(item) > 1 for item in many) / len(many) <= 0.06
    assert 0 < sum(runs(item) == 0 for item in many) / len(many) <= 0.10
