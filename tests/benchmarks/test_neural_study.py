"""The study of neural taggers: which documents they see, and what is kept of their logits."""

import numpy as np
import pytest

from benchmarks.studies.neural import draws
from benchmarks.study import Missing


@pytest.mark.parametrize("corpus", draws.CORPORA)
def test_taggers_have_not_seen_what_they_label(corpus, corpora):
    one, other = (draws.draw_of(corpora, corpus, number) for number in range(2))
    for draw in (one, other):
        assert draw.rest and draw.held_out and draw.evaluated
        assert not any(document in draw.rest for document in draw.held_out)
        assert not any(document in draw.training for document in draw.evaluated)
        assert all(document in draw.training for document in (*draw.rest, *draw.held_out))
    assert one.evaluated != other.evaluated


def test_a_file_keeps_logits_in_eighths(corpora, tmp_path, monkeypatch):
    monkeypatch.setattr(draws, "FOLDER", tmp_path / "logits")
    draw = draws.draw_of(corpora, "names", 0)
    labels, rng = ["B-LOC", "B-ORG", "I-LOC", "O"], np.random.default_rng(0)
    parts = [draw.evaluated, draw.held_out]
    rows = [[8 * rng.normal(size=(len(x), 4)) for document in some for x, _ in document] for some in parts]
    layers = [
        {"transitions": rng.normal(size=(4, 4)), "start": rng.normal(size=4), "end": rng.normal(size=4)}
    ] * 2
    draws.save(draws.path_of("names", 0), labels, rows, layers)
    logits = draws.read(corpora, "names", 0)
    assert logits.labels.names == tuple(labels)
    for tagger, own, some, layer in zip(
        [logits.evaluated, logits.held_out], rows, parts, layers, strict=True
    ):
        assert tagger.documents == some
        for ((tokens, _), found), row in zip(tagger.sentences(), own, strict=True):
            wanted = np.maximum(row - row.max(axis=1, keepdims=True), -draws.LOWEST)
            assert len(tokens) == len(found) and np.abs(found - wanted).max() <= 0.5 / draws.EIGHTHS
        assert all(np.allclose(tagger.layer[name], layer[name], atol=2e-3) for name in draws.LAYER)
    monkeypatch.setattr(draws, "path_of", lambda part, number: tmp_path / "logits" / "names-0.npz")
    with pytest.raises(Missing, match=r"names-0.npz has logits of other texts"):
        draws.read(corpora, "names", 1)


def test_a_document_is_one_example(corpora):
    logits = draws.made_up(corpora, "names", 0)
    apart, joined = (
        list(logits.held_out.examples(logits.labels, 2.0, joined=each)) for each in (False, True)
    )
    assert len(apart) > len(joined) == len(logits.held_out.documents)
    assert all(len(each.trellis) == len(each.gold) for each in (*apart, *joined))
    tokens = [token for each in apart for token in each.trellis.tokens]
    assert [t for each in joined for t in each.trellis.tokens if t != "\n"] == tokens


def test_the_committed_logits_are_few_and_small():
    files = sorted(draws.FOLDER.glob("*"))
    assert [file.name for file in files] == sorted(
        f"{name}-{n}.npz" for name in draws.PARTS for n in range(2)
    )
    assert sum(file.stat().st_size for file in files) < 3_200_000
