"""The hidden Markov model: its probabilities, its file, and words that it has not seen."""

import json
from pathlib import Path

import numpy as np
import pytest

import ilpinfer
from ilpinfer.models.files import ModelError, load_model
from ilpinfer.models.hmm import HMM
from ilpinfer.models.words import CLASSES, token_class

PAIRS = [
    (("Ada", "wrote", "notes", "1843"), ("author", "O", "title", "date")),
    (("Grace", "wrote", "code", "1952"), ("author", "O", "title", "date")),
    (("Alan", "1936"), ("author", "date")),
]


def test_probabilities_add_up():
    hmm = HMM.train(PAIRS)
    p, emission = hmm.parameters, np.exp(hmm.emissions.log_probabilities)
    start, transitions, end = np.exp(p.start), np.exp(p.transitions), np.exp(p.end)
    assert np.isclose(start.sum(), 1)
    assert np.allclose(transitions.sum(axis=1) + end, 1)
    assert emission.shape == (len(hmm.words) + len(CLASSES), 4)
    assert np.all(emission > 0)
    assert np.allclose(emission.sum(axis=0), 1), "over words and one unseen word of each class"


def test_seen_words_weigh_more_and_unseen_ones_follow_their_class():
    hmm = HMM.train(PAIRS)
    assert ilpinfer.decode(hmm.trellis(["Ada", "wrote", "code", "1952"])).labels == [
        "author",
        "O",
        "title",
        "date",
    ]
    assert ilpinfer.decode(hmm.trellis(["Edsger", "wrote", "proofs", "1968"])).labels == [
        "author",
        "O",
        "title",
        "date",
    ]


@pytest.mark.parametrize(
    ("token", "name"),
    [
        ("1999", "year"),
        ("7", "digit"),
        ("42", "digits-2"),
        ("123", "digits-3"),
        ("12345", "digits"),
        ("12-34", "number-like"),
        ("B2B", "with-digit"),
        (",", "punctuation"),
        ("__", "punctuation"),
        ("J", "initial"),
        ("ACM", "capitals"),
        ("Knuth", "capitalised"),
        ("the", "lower"),
        ("naïve", "other"),
        ("a\nb", "other"),
    ],
)
def test_classes(token, name):
    assert CLASSES[token_class(token)][0] == name


def test_a_model_file_is_plain_json_and_comes_back_the_same(tmp_path):
    path = tmp_path / "hmm.json"
    hmm = HMM.train(PAIRS)
    hmm.save(path)
    record = json.loads(path.read_text())
    assert (record["format"], record["version"]) == ("ilpinfer-hmm", 2)
    again = load_model(path)
    assert again.labels == hmm.labels
    tokens = ["Ada", "unseen", "1999", "?"]
    assert np.array_equal(hmm.trellis(tokens).lattice.node, again.trellis(tokens).lattice.node)
    assert np.array_equal(hmm.parameters.transitions, again.parameters.transitions)
    assert list(tmp_path.iterdir()) == [path]


def damaged(change):
    def apply(path: Path) -> None:
        record = json.loads(path.read_text())
        change(record)
        path.write_text(json.dumps(record))

    return apply


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda path: path.write_text(path.read_text()[:200]), "damaged model, not JSON"),
        (lambda path: path.write_bytes(b"\x80\x04\x95"), "damaged model, not JSON"),
        (lambda path: path.write_text("[]"), "not a model of ilpinfer"),
        (lambda path: path.unlink(), "the model cannot be read: No such file"),
        (damaged(lambda r: r.update(version=99)), "model version 99, but this release reads 2"),
        (damaged(lambda r: r["model"]["start"].__setitem__(0, 5.0)), "does not fit its digest"),
        (damaged(lambda r: r.pop("model")), "does not fit its digest"),
    ],
)
def test_a_damaged_model_is_a_clear_error(tmp_path, damage, message):
    path = tmp_path / "hmm.json"
    HMM.train(PAIRS).save(path)
    damage(path)
    with pytest.raises(ModelError, match=message):
        load_model(path)


def test_empty_sequences_and_corpora_are_refused():
    with pytest.raises(ValueError, match="an empty sequence has no labelling"):
        HMM.train(PAIRS).trellis([])
    with pytest.raises(ValueError, match="no sequences to train on"):
        HMM.train([])


CORA = Path(__file__).parents[2] / "shared" / "data" / "cora"


@pytest.mark.skipif(not CORA.is_dir(), reason=f"needs the tagged references in {CORA}")
def test_rules_repair_references_and_exact_beats_the_beam():
    from formulations import load_rules
    from ilpinfer.corpus.sequences import labelled, read

    hmm = HMM.train(labelled(read(CORA / "train.tsv"))[:20])
    rules = load_rules("citations")
    broken = 0
    for tokens, _ in labelled(read(CORA / "dev.tsv"))[:25]:
        trellis = hmm.trellis(tokens)
        with pytest.warns(UserWarning, match="no label for note: counted as absent"):
            exact, viterbi, beam = (
                ilpinfer.decode(trellis, rules, method=m) for m in ("auto", "viterbi", "beam")
            )
        broken += any(viterbi.violations.values())
        assert exact.status == "optimal"
        assert viterbi.score <= exact.score <= viterbi.bound
        assert beam.score <= exact.score <= beam.bound
    assert broken >= 5
