"""Words that a tokenizer makes no piece of, such as control characters: they have the scores of no opinion, and are counted."""

import json

import numpy as np
import pytest

import ilpinfer
from formulations import constraints as C
from formulations.errors import ScoreNotice
from ilpinfer.adapters import join_windows
from ilpinfer.adapters.huggingface import entities
from ilpinfer.corpus.sequences import read
from ilpinfer.models.external import from_logits

NAMES = ["O", "B-x", "I-x"]
WORDS = ["Ada", "\u200b", "Byron"]
ROWS = np.array([[0.0, 5.0, 0.0], [0.0, 0.0, 5.0]])
SAID = r"^words without a piece, whose labels all score the same: 1, word 1 \('\\u200b'\)$"
RULES = [C.valid_scheme()]


@pytest.mark.parametrize("pool", ["first", "mean", "max"])
@pytest.mark.parametrize("scale, score", [("log-softmax", -np.log(3)), ("raw", 0)])
def test_labels_score_the_same(pool, scale, score):
    with pytest.warns(ScoreNotice, match=SAID):
        trellis = from_logits(ROWS, NAMES, word_ids=[0, 2], tokens=WORDS, pool=pool, scale=scale)
    assert trellis.tokens == tuple(WORDS) and trellis.emissions[1] == pytest.approx([score] * 3)
    assert ilpinfer.decode(trellis, RULES).labels == [
        "B-x",
        "B-x",
        "I-x",
    ]  # equal scores: the first label that fits


@pytest.mark.parametrize("ids, words", [([1, 2], 3), ([0, 2], 3), ([0, 3], 4), ([None, 1], 2)])
def test_without_tokens_the_largest_number_tells_the_words(ids, words):
    with pytest.warns(ScoreNotice, match="without a piece"):
        assert len(from_logits(ROWS, NAMES, word_ids=ids)) == words


def test_words_at_the_end():
    """One without a letter has no piece; one with letters shows that the input was cut."""
    with pytest.warns(ScoreNotice, match=r": 2, the first is word 2 \('\\u200b'\)"):
        assert len(from_logits(ROWS, NAMES, word_ids=[0, 1], tokens=["a", "b", "\u200b", "\U0001f600"])) == 4
    with pytest.raises(ValueError, match="4 tokens, but logits for 2; was the input cut short"):
        from_logits(ROWS, NAMES, word_ids=[0, 1], tokens=["a", "b", "\u200b", "c"])


def test_no_word_with_a_piece():
    with pytest.warns(ScoreNotice, match="without a piece"):
        assert len(from_logits(ROWS, NAMES, word_ids=[None, None], tokens=["\u200b"])) == 1


@pytest.mark.parametrize(
    "tokens, said", [(None, "and 999999998 others have no piece"), (["a"], "1 token, but word_ids has word")]
)
def test_ids_that_are_no_numbers_of_words(tokens, said):
    with pytest.raises(ValueError, match=said):
        from_logits(ROWS, NAMES, word_ids=[0, 10**9], tokens=tokens)


@pytest.mark.parametrize(
    "text, token", [("Ada \u200b Byron", "\u200b"), ("Ada\u200bByron", "\u200b"), ("Ada  Byron", "")]
)
def test_windows(text, token):
    offsets = [[(0, 3), (len(text) - 5, len(text))]]
    with pytest.warns(ScoreNotice, match=r": 1, word 1"):
        trellis = join_windows([ROWS], offsets, NAMES, word_ids=[[0, 2]], text=text)
    assert trellis.tokens == ("Ada", token, "Byron")
    assert ilpinfer.decode(trellis, RULES).labels == [
        "B-x",
        "B-x",
        "I-x",
    ]  # equal scores: the first label that fits


@pytest.mark.parametrize("strategy", ["first", "average", "max"])
@pytest.mark.parametrize("begin", [0, 7])
def test_entities(strategy, begin):
    """A word without a piece is a token for rules, and has no span of its own; words before the first piece are of no interest."""
    given = {"word_ids": [begin, begin + 2], "offset_mapping": [(0, 3), (5, 10)], "text": "Ada \u200bByron"}
    with pytest.warns(ScoreNotice, match=": 1, word 1"):
        (found,) = entities(ROWS, NAMES, **given, rules=RULES, aggregation_strategy=strategy)
    assert (found["start"], found["end"], found["entity_group"]) == (0, 10, "x")


@pytest.mark.filterwarnings("default")  # as the command has them
def test_files(tmp_path, folder, cli):
    record = {"tokens": WORDS, "label_names": NAMES, "logits": ROWS.tolist(), "word_ids": [0, 2]}
    path = tmp_path / "in.jsonl"
    path.write_text(f"{json.dumps(record)}\n{json.dumps(record)}\n")
    with pytest.warns(ScoreNotice, match=": 2, the first is word 1"):
        assert [each.scores.length for each in read(path)] == [3, 3]
    archive = tmp_path / "in.npz"
    np.savez(archive, logits=ROWS, word_ids=[0, 2], tokens=WORDS, label_names=NAMES)
    with pytest.warns(ScoreNotice, match=SAID):
        assert read(archive)[0].scores.length == 3
    code, out, err = cli("decode in.jsonl")
    assert code == 0 and len(out.splitlines()) == 2
    assert (
        err.count("notice: words without a piece, whose labels all score the same: 2, the first is word 1")
        == 1
    )
