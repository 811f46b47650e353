"""Vocabularies: distinct tokens, and what patterns say of them."""

import pytest

from formulations.automata.components import Literal
from formulations.problem.vocabulary import Vocabulary
from formulations.tokens.token_pattern import TokenPattern


def test_tokens_before_one_that_fails_are_kept(monkeypatch):
    pattern = TokenPattern(["b"])
    vocabulary = Vocabulary([[(Literal(0, pattern, True),)], [], []])
    held = vocabulary._table.held

    def failing(token):
        if token == "slow":
            raise TimeoutError
        return held(token)

    monkeypatch.setattr(vocabulary._table, "held", failing)
    with pytest.raises(TimeoutError):
        vocabulary.rows(["a", "b", "slow", "c"])
    assert vocabulary.known_rows(["a", "b"]).tolist() == [0, 1] and len(vocabulary) == 2
    monkeypatch.undo()
    words = [f"w{n}" for n in range(200)]
    assert vocabulary.rows(["slow", *words, "b"]).tolist() == [*range(2, 203), 1]
    of_b = vocabulary.class_of(0, vocabulary.rows(["a", "b", "slow"])).tolist()
    assert of_b[0] == of_b[2] != of_b[1]


def test_changes_of_its_numbers_are_counted():
    vocabulary = Vocabulary([])
    vocabulary.rows([f"w{n}" for n in range(64)])
    assert vocabulary.changes == 0 and len(vocabulary.numbers) == 64
    vocabulary.rows(["more"])
    assert vocabulary.changes == 1 and len(vocabulary.numbers) > 64


def test_many_new_tokens_at_once_are_as_one_by_one():
    purposes = [[(Literal(0, TokenPattern(pattern="w[0-9]*7")),)]]
    words = ["w7", *(f"w{n}" for n in range(1, 300)), "w7"]
    once, alone = Vocabulary(purposes), Vocabulary(purposes)
    rows = once.rows(words)
    assert rows.tolist() == [row for word in words for row in alone.rows([word]).tolist()]
    assert (once.numbers[rows] == alone.numbers[rows]).all() and len(once) == len(alone) == 299
    assert once._characters == alone._characters == sum(map(len, set(words)))
