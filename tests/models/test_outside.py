"""Scores from models of other libraries: held against those libraries, or against sums written out."""

import itertools
import json
import math
import warnings
from pathlib import Path

import numpy as np
import pytest
from sklearn_crfsuite import CRF

from formulations import LabelSet
from formulations.errors import ScoreNotice
from formulations.grid import FORBIDDEN, UNITS_PER_NAT, is_forbidden
from ilpinfer.corpus.logits import log_softmax, logit_scores, pool_pieces
from ilpinfer.errors import ModelError
from ilpinfer.models.external import (
    LinearChain,
    crf_parameters,
    crfsuite_file,
    from_logits,
    label_names,
    read_label_names,
)

GRID = 1e-5
LOGITS = np.random.default_rng(4).normal(size=(4, 3)) * 3
STEPS = np.random.default_rng(5).normal(size=(3, 3))


class Tensor:
    """What a tensor with a gradient on another device looks like."""

    def __init__(self, values, ready=frozenset()):
        self.values, self.ready = values, ready

    def detach(self):
        return Tensor(self.values, self.ready | {"detached"})

    def cpu(self):
        return Tensor(self.values, self.ready | {"here"})

    def numpy(self):
        assert self.ready == {"detached", "here"}
        return np.array(self.values)


def labellings(trellis):
    return itertools.product(range(len(trellis.labels)), repeat=len(trellis))


def test_logits_alone_are_independent_probabilities():
    trellis = from_logits(LOGITS, ["a", "b", "c"])
    shares = np.exp(LOGITS) / np.exp(LOGITS).sum(axis=1, keepdims=True)
    for y in labellings(trellis):
        expected = math.log(np.prod(shares[range(4), y]))
        assert trellis.score(y) == pytest.approx(expected, abs=GRID)
    raw = from_logits(LOGITS, scale="raw")
    assert raw.score([0, 1, 2, 0]) == pytest.approx(LOGITS[[0, 1, 2, 3], [0, 1, 2, 0]].sum(), abs=GRID)


def test_a_row_that_forbids_everything_stays_so():
    rows = log_softmax(np.array([[-np.inf, -np.inf], [-np.inf, 3.0]]))
    assert rows.tolist() == [[-np.inf, -np.inf], [-np.inf, 0.0]]


def assert_alike(trellis, rows):
    """Scores of labels are those of log probabilities (T, K) on the grid, but for halves of a unit within rounding errors."""
    units = rows * UNITS_PER_NAT
    half = np.abs(units - np.floor(units) - 0.5) < 1e-6
    assert (half | (trellis.lattice.node == np.rint(units))).all()
    assert np.abs(trellis.lattice.node - units).max() < 0.5 + 1e-6
    assert not trellis.lattice.pool.any()


@pytest.mark.parametrize("kind", [np.float64, np.float32, np.float16, list])
def test_logits_are_normalised_as_numpy_does_it(kind):
    rng = np.random.default_rng(3)
    for n in range(60):
        T, K = rng.integers(1, (20, 80 if n < 5 else 12))
        scores = rng.normal(size=(T, K)) * rng.choice([0.1, 3.0, 40.0])
        if n % 3 == 0:
            scores = np.rint(scores)
        logits = scores.tolist() if kind is list else scores.astype(kind)
        scores = np.asarray(logits, np.float64)
        names = [f"x{k}" for k in range(K)]
        labels = [names, dict(enumerate(names)), LabelSet(tuple(names)), np.array(names), iter(names)][n % 5]
        trellis = from_logits(logits, labels)
        assert trellis.labels.names == tuple(names)
        expected = scores - scores.max(axis=1, keepdims=True)
        expected -= np.log(np.exp(expected).sum(axis=1, keepdims=True))
        assert_alike(trellis, expected)
        if kind is not list:
            assert from_logits(np.asfortranarray(logits), names).lattice == trellis.lattice


def test_first_pieces_of_words_are_those_of_the_general_way():
    rng = np.random.default_rng(8)
    for n in range(200):
        S, K = rng.integers(1, (14, 6))
        ids = np.sort(rng.integers(-1, 5, S)).tolist()
        known = sorted({*ids} - {-1})
        if n % 5:
            ids = [known.index(i) if i >= 0 else i for i in ids]
        if n % 3 == 0:
            ids[rng.integers(S)] = -1
        given = [None if i < 0 and rng.random() < 0.5 else i for i in ids]
        given = [given, tuple(given), np.array(ids), list(np.array(ids))][n % 4]
        logits = rng.normal(size=(S, K)) * 5
        T = max(ids) + 1
        tokens = [None, ["a"] * T, ["a"] * T + ["\u200b"]][n % 3]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ScoreNotice)
            trellis = from_logits(logits, tokens=tokens, word_ids=given)
            rows = logit_scores(logits, {}, given, "first", "", None, tokens).emissions
            steps = {"transitions": np.where(rng.random((K, K)) < 0.2, -np.inf, rng.normal(size=(K, K)))}
            raw = from_logits(logits, tokens=tokens, word_ids=given, **steps)
            expected = logit_scores(logits, steps, given, "first", "", None, tokens).trellis(None, tokens)
        assert len(trellis) == len(rows)
        if len(rows):
            assert_alike(trellis, rows)
        assert raw.lattice == expected.lattice


@pytest.mark.parametrize(
    ("word_ids", "message"),
    [
        ([0, 1, 0, 1], r"word_ids\[2\] is word 0, after word 1; give one sequence at a time"),
        ([None, 1, 0, None], r"word_ids\[2\] is word 0, after word 1"),
        (["0", "0", "1", "1"], r"word_ids\[0\] is '0'; expected the number of a word"),
        ([True, False, True, True], r"word_ids\[0\] is True"),
        ([0, 0.5, 1, 1], r"word_ids\[1\] is 0.5"),
        ([0, 1, 1], "word_ids has 3 numbers; expected one for each of 4 pieces"),
    ],
)
def test_odd_word_ids_are_refused(word_ids, message):
    with pytest.raises(ValueError, match=message):
        from_logits(np.zeros((4, 2)), word_ids=word_ids, tokens=["a", "b"])


def test_word_ids_of_pandas():
    logits = np.eye(3)
    assert_alike(from_logits(logits, word_ids=[math.nan, 0.0, 1.0]), log_softmax(logits)[1:])


def test_odd_logits_are_seen_in_pieces_that_are_no_first_ones():
    for value, message in {np.nan: "is nan", np.inf: "is inf"}.items():
        logits = np.zeros((3, 2), np.float32)
        logits[2, 1] = value
        with pytest.raises(ValueError, match=rf"logits\[2, 1\] {message}"):
            from_logits(logits, word_ids=[0, 1, None])
        with pytest.raises(ValueError, match=rf"logits\[2, 1\] {message}"):
            from_logits(logits, word_ids=[0, 1, None], transitions=np.zeros((2, 2)))
    for value, forbids in {-np.inf: True, -1e8: True, -0.99e8: False}.items():
        logits = np.array([[value, 0.0, value]])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ScoreNotice)
            trellis = from_logits(logits)
        assert is_forbidden(trellis.lattice.node).tolist() == [[forbids, False, forbids]]
    with pytest.warns(ScoreNotice, match=r"logits\[0, 0\] = -1e\+09"):
        trellis = from_logits(np.full((2, 2), -1e9), word_ids=[None, 0])
    assert trellis.lattice.node.tolist() == [[FORBIDDEN] * 2]


def test_a_crf_layer_scores_as_pytorch_crf_defines_it():
    rng = np.random.default_rng(6)
    begin, stop = rng.normal(size=3), rng.normal(size=3)
    state = {"encoder.weight": np.ones(2), "crf.transitions": Tensor(STEPS)}
    state |= {"crf.start_transitions": Tensor(begin), "crf.end_transitions": stop}
    trellis = from_logits(Tensor(LOGITS), {"2": "c", "0": "a", "1": "b"}, **crf_parameters(state))
    assert trellis.labels.names == ("a", "b", "c")
    for y in labellings(trellis):
        score = begin[y[0]] + LOGITS[0, y[0]]
        for t in range(1, 4):
            score += STEPS[y[t - 1], y[t]] + LOGITS[t, y[t]]
        assert trellis.score(y) == pytest.approx(score + stop[y[-1]], abs=GRID)


def test_pieces_become_words():
    shares = np.array([[0.5, 0.5], [0.6, 0.4], [0.1, 0.9], [0.3, 0.7], [0.5, 0.5]])
    ids = [None, 0, 0, 1, None]
    words = {pool: np.exp(pool_pieces(np.log(shares), ids, pool)) for pool in ("first", "mean", "max")}
    assert words["first"] == pytest.approx(shares[[1, 3]])
    assert words["mean"] == pytest.approx(np.array([[0.35, 0.65], [0.3, 0.7]]))
    assert words["max"] == pytest.approx(shares[[2, 3]])
    trellis = from_logits(
        np.log(shares) + 2, ["x", "y"], tokens=["un like ly", "so"], word_ids=ids, pool="mean"
    )
    assert trellis.score(["x", "y"]) == pytest.approx(math.log(0.35 * 0.7), abs=GRID)


def test_names_from_files(tmp_path):
    path = tmp_path / "config.json"
    path.write_text(json.dumps({"model_type": "bert", "id2label": {"1": "B-x", "0": "O"}}))
    assert read_label_names(path) == ("O", "B-x")
    path.write_text('["a", "b"]')
    assert read_label_names(path) == label_names(["a", "b"]) == ("a", "b")
    wrong = {"{": "not JSON", "3": "no label names", '{"model_type": "bert"}': "ids from 0"}
    for text, message in wrong.items():
        path.write_text(text)
        with pytest.raises(ModelError, match=message):
            read_label_names(path)
    with pytest.raises(ModelError, match="cannot be read"):
        read_label_names(tmp_path / "none.json")


def features(tokens):
    result = [{"word": token.lower(), "length": len(token) / 4, "upper": token.isupper()} for token in tokens]
    return [item | {"near": list(tokens[t - 1 : t])} for t, item in enumerate(result)]


TEXTS = [("Ada", "wrote", "IT"), ("IT", "is", "Ada"), ("so", "it", "goes", "Ada")]
TAGS = [["name", "O", "O"], ["O", "O", "name"], ["O", "O", "O", "name"]]


def test_an_estimator_of_sklearn_crfsuite_scores_the_same():
    estimator = CRF(c2=0.1, max_iterations=30, all_possible_transitions=True)
    with pytest.raises(ValueError, match="fit it first"):
        crfsuite_file(estimator)
    estimator.fit([features(tokens) for tokens in TEXTS], TAGS)
    assert crfsuite_file(estimator).suffix == ".crfsuite"
    model = LinearChain.from_estimator(estimator, features)
    for tokens in [*TEXTS, ("IT", "unknown")]:
        trellis = model.trellis(tokens)
        scores = {y: trellis.score(y) for y in labellings(trellis)}
        total = math.log(sum(map(math.exp, scores.values())))
        estimator.tagger_.set(features(tokens))
        for y, score in scores.items():
            names = [trellis.labels.names[k] for k in y]
            assert score - total == pytest.approx(math.log(estimator.tagger_.probability(names)), abs=GRID)
        best = max(scores, key=scores.get)
        assert [trellis.labels.names[k] for k in best] == estimator.predict_single(features(tokens))


@pytest.fixture
def logits(here):
    arrays = {
        "logits_0": [[2.0, 0.0], [0.0, 1.0], [3.0, 0.0]],
        "tokens_0": ["a", "b", "c"],
        "labels_0": ["x", "y", "x"],
        "logits_1": [[9.0, 9.0], [0.0, 5.0], [4.0, 0.0], [1.0, 2.0]],
        "word_ids_1": [-1, 0, 0, 1],
        "label_names": ["x", "y"],
    }
    np.savez("logits.npz", **{name: np.array(value) for name, value in arrays.items()})
    Path("one.toml").write_text('fields = ["x"]\n[[rule]]\ntemplate = "at_most_runs"\nfield = "x"\nn = 1\n')
    return {name: np.array(value) for name, value in arrays.items()}


def decoded(arguments, cli) -> list[dict]:
    return [json.loads(line) for line in cli.output(f"decode {arguments} --method viterbi").splitlines()]


def test_an_archive_of_logits_is_decoded_and_compared(logits, cli):
    rows = decoded("logits.npz", cli)
    assert [row["labels"] for row in rows] == [["x", "y", "x"], ["y", "y"]]
    assert rows[0]["tokens"] == ["a", "b", "c"]
    assert [row["labels"] for row in decoded("logits.npz --pool mean", cli)][1] == ["y", "y"]
    best = sum(math.log(1 / (1 + math.exp(-gap))) for gap in (2, 1, 3))
    assert rows[0]["score"] == pytest.approx(best, abs=GRID)
    assert decoded("logits.npz --logits raw", cli)[0]["score"] == 6.0


def test_rules_bind_logits(logits, cli):
    out = cli.done("decode logits.npz --rules one.toml").out
    assert json.loads(out.splitlines()[0])["labels"] == ["x", "x", "x"]


def test_a_layer_in_the_archive_and_names_beside_it(logits, cli):
    del logits["label_names"], logits["word_ids_1"]
    layer = {"start_transitions": [0.0, 7.0], "end_transitions": [0, 0], "transitions": [[0, 0], [0, 0]]}
    np.savez("layer.npz", **logits, **{f"crf.{name}": np.array(x) for name, x in layer.items()})
    Path("config.json").write_text(json.dumps({"id2label": {"0": "x", "1": "y"}}))
    rows = decoded("layer.npz --label-names config.json", cli)
    assert (rows[0]["labels"], rows[0]["score"]) == (["y", "y", "x"], 11.0)


def test_lines_of_logits(logits, cli):
    record = {
        "logits": [[2.0, 0.0], [None, 1.0], [3.0, 0.0]],
        "label_names": ["x", "y"],
        "tokens": ["a", "b"],
    }
    record |= {"word_ids": [0, 1, 1], "transitions": [[0, -1], [0, 0]], "start": [-5, 0]}
    Path("in.jsonl").write_text(json.dumps(record) + "\n")
    (row,) = decoded("in.jsonl", cli)
    assert (row["labels"], row["score"]) == (["y", "y"], 1.0)
