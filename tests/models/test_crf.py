"""Conditional random fields: scores, probabilities and files, against CRFsuite itself."""

import itertools
import math
import os
import struct

import numpy as np
import pycrfsuite
import pytest

import ilpinfer
from formulations import constraints as C
from ilpinfer.errors import ModelError
from ilpinfer.models.crf import CRF
from ilpinfer.models.crf.features import FeatureTemplate
from ilpinfer.models.crf.templates import load_template
from ilpinfer.models.crf.training import ALGORITHMS, Iteration, _train_apart
from ilpinfer.models.forward_backward import sums

SENTENCES = [
    ("Ada Byron wrote notes in London .", "B-person I-person O O O B-place O"),
    ("The notes of Ada Byron were read .", "O O O B-person I-person O O O"),
    ("London is far from Turin .", "B-place O O O B-place O"),
    ("Luigi Menabrea , Turin , spoke .", "B-person I-person O B-place O O O"),
    ("Byron left London in May 1816 .", "B-person O B-place O O O O"),
]
PAIRS = [(tuple(x.split()), tuple(y.split())) for x, y in SENTENCES]
NEW = ("In", "Turin", "Ada", "met", "Menabrea", "of", "London", ",", "1842", ".")


@pytest.fixture(scope="module")
def crfsuite_file(tmp_path_factory):
    """A model that CRFsuite trained by itself, on features of ours."""
    path = tmp_path_factory.mktemp("models") / "names.crfsuite"
    template = load_template("general")
    trainer = pycrfsuite.Trainer("lbfgs", {"c2": 0.1, "c1": 0.01}, verbose=False)
    for tokens, labels in PAIRS:
        trainer.append(template.features(tokens), labels)
    trainer.train(str(path))
    return path


@pytest.fixture(scope="module")
def tagger(crfsuite_file):
    with pycrfsuite.Tagger().open(str(crfsuite_file)):
        tagger = pycrfsuite.Tagger()
        tagger.open(str(crfsuite_file))
        yield tagger


@pytest.fixture(scope="module")
def crf():
    return CRF.train(PAIRS, parameters={"c2": 0.1})


def test_probabilities_equal_those_of_crfsuite(crfsuite_file, tagger):
    crf = CRF.from_crfsuite(crfsuite_file, "general")
    for tokens in [*(x for x, _ in PAIRS), NEW, NEW[:1]]:
        tagger.set(crf.features(tokens))
        best = tagger.tag()
        assert ilpinfer.decode(crf.trellis(tokens)).labels == best
        log_probability = math.log(tagger.probability(best))
        assert crf.log_probability(tokens, best) == pytest.approx(log_probability, abs=1e-9)
        for other in ("O", "B-person"):
            labelling = [other] * len(tokens)
            expected = tagger.probability(labelling)
            assert math.exp(crf.log_probability(tokens, labelling)) == pytest.approx(expected, abs=1e-12)
        ours = crf.label_probabilities(tokens)
        theirs = [[tagger.marginal(name, t) for name in crf.labels.names] for t in range(len(tokens))]
        assert np.allclose(ours, theirs, atol=1e-9)


def test_the_trellis_has_the_scores(crfsuite_file):
    crf = CRF.from_crfsuite(crfsuite_file, "general")
    trellis = crf.trellis(NEW)
    result = ilpinfer.marginals(trellis)
    assert np.allclose(result.labels, crf.label_probabilities(NEW), atol=1e-4)
    labelling = ["O"] * len(NEW)
    difference = trellis.score(labelling) - result.log_partition
    assert difference == pytest.approx(crf.log_probability(NEW, labelling), abs=1e-4)


def test_features_of_others_with_values_count_as_crfsuite_counts_them(tmp_path):
    path = tmp_path / "valued.crfsuite"
    features = [
        {"word": "Ada", "length": 3.0, "upper": True, "near": {"x": 2.0}},
        {"word": "naïve: --> x", "bag": ["a", "b"]},
        {"word": "Ada", "length": 0.5},
    ]
    trainer = pycrfsuite.Trainer("lbfgs", {"c2": 0.01}, verbose=False)
    trainer.append(pycrfsuite.ItemSequence(features), ["a", "b", "a"])
    trainer.append(pycrfsuite.ItemSequence(features[::-1]), ["b", "b", "a"])
    trainer.train(str(path))
    crf = CRF.from_crfsuite(path)
    tagger = pycrfsuite.Tagger()
    tagger.open(str(path))
    for chosen in itertools.permutations(features):
        tagger.set(pycrfsuite.ItemSequence(chosen))
        trellis = crf.trellis_of(chosen)
        scores = {y: trellis.score(y) for y in itertools.product("ab", repeat=3)}
        total = math.log(sum(map(math.exp, scores.values())))
        for labelling, score in scores.items():
            assert math.exp(score - total) == pytest.approx(tagger.probability(labelling), abs=1e-5)
    with pytest.raises(ValueError, match="no template for features"):
        crf.trellis(["Ada"])


def test_training_ends_where_counts_exceed_expectations_by_the_penalty_alone():
    """The gradient of the penalised likelihood is 0 at its maximum alone (Stokman 2011, eq. 21 and 35)."""
    every = {"feature.possible_states": True, "feature.possible_transitions": True}
    options = {**every, "c2": 0.5, "epsilon": 1e-9, "delta": 1e-12}
    crf = CRF.train(PAIRS[:3], load_template({"features": ["lower", "case"]}), parameters=options)
    learnt, K = crf.learnt, len(crf.labels)
    vertices, edges = np.zeros((len(learnt.attributes), K)), np.zeros((K, K))
    for tokens, labels in PAIRS[:3]:
        gold = np.eye(K)[crf.labels.ids(labels)]
        for names, excess in zip(crf.features(tokens), gold - crf.label_probabilities(tokens), strict=True):
            vertices[[learnt.attributes.index(name) for name in names]] += excess
        expected = sums(crf.trellis(tokens)).edges().reshape(-1, K, K)
        edges += np.einsum("ti,tj->ij", gold[:-1], gold[1:]) - expected.sum(axis=0)
    assert np.allclose(edges, 2 * 0.5 * learnt.transitions, atol=1e-3)
    for row, own in zip(vertices, itertools.pairwise(learnt.begins), strict=True):
        targets = learnt.targets[slice(*own)]
        assert np.allclose(row[targets], 2 * 0.5 * learnt.weights[slice(*own)], atol=1e-3)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_every_algorithm_learns_the_sentences(algorithm):
    parameters = {"c2": 0.01} if algorithm in ("lbfgs", "l2sgd") else {}
    seen: list[Iteration] = []
    watched = {"held_out": PAIRS[:2], "progress": seen.append}
    crf = CRF.train(PAIRS, "entities", algorithm=algorithm, parameters=parameters, **watched)
    assert [i.number for i in seen] == list(range(1, len(seen) + 1))
    assert seen[-1].held_out == 1.0
    assert seen[-1].seconds >= seen[0].seconds >= 0
    right = [ilpinfer.decode(crf.trellis(x), [C.valid_scheme()]).labels == list(y) for x, y in PAIRS]
    assert sum(right) >= len(PAIRS) - 1


def test_progress_without_anything_held_out_and_an_interrupt_inside():
    seen: list[Iteration] = []

    def watch(iteration: Iteration) -> None:
        seen.append(iteration)
        if iteration.number == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        CRF.train(PAIRS, progress=watch)
    assert [(i.number, i.held_out) for i in seen] == [(1, None), (2, None), (3, None)]


def test_labels_are_sorted_and_none_is_lost_to_the_l1_penalty():
    crf = CRF.train(PAIRS, parameters={"c1": 50.0})
    assert crf.labels.names == ("B-person", "B-place", "I-person", "O")
    assert np.allclose(crf.label_probabilities(NEW).sum(axis=1), 1)


def test_one_sequence_and_one_label_are_enough():
    crf = CRF.train([(("a", "b"), ("x", "x"))])
    assert ilpinfer.decode(crf.trellis(["c"])).labels == ["x"]


def test_labels_that_training_lacks(crf):
    with pytest.raises(ValueError, match="token 1: no label 'B-ship'; choose from B-person, B-place"):
        crf.log_probability(("The", "Argo"), ("O", "B-ship"))
    seen: list[Iteration] = []
    unseen = [(("The", "Argo"), ("O", "B-ship"))]
    again = CRF.train(PAIRS, held_out=unseen, progress=seen.append, parameters={"max_iterations": 2})
    assert again.labels == crf.labels
    assert seen[-1].held_out is None


def test_mixed_labels_are_taken_as_they_are_where_that_is_said():
    crf = CRF.train([(("a",), ("B-x",)), (("b",), ("title",))], scheme="plain")
    assert crf.labels.scheme == "plain"


def test_a_template_that_no_file_can_hold_is_not_saved(tmp_path, crf):
    with pytest.raises(ValueError, match="not read by load_template"):
        CRF(crf.labels, crf.learnt, FeatureTemplate(())).save(tmp_path / "crf.json")


@pytest.mark.filterwarnings("ignore::ilpinfer.models.crf.attribute_check.FeatureNotice")
def test_damaged_files_of_crfsuite_are_clear_errors(tmp_path, crfsuite_file):
    data = crfsuite_file.read_bytes()
    path = tmp_path / "broken.crfsuite"
    for length in range(0, len(data), max(1, len(data) // 97)):
        path.write_bytes(data[:length])
        with pytest.raises(ModelError, match=r"broken.crfsuite: (damaged model|not a model) of CRFsuite"):
            CRF.from_crfsuite(path)
    random, messages = np.random.default_rng(5), []
    for _ in range(200):
        changed = bytearray(data)
        for place in random.integers(0, min(len(data), 400), 3):
            changed[place] = int(random.integers(256))
        if random.random() < 0.5:
            place = 4 * int(random.integers(12))
            changed[place : place + 4] = struct.pack("<I", random.choice([0, 1, 5000, 2**31, 2**32 - 1]))
        path.write_bytes(bytes(changed))
        try:
            CRF.from_crfsuite(path).trellis_of([["word[0]=Ada"], ["word[0]=new"]])
        except ValueError as error:
            messages.append(str(error))
    assert messages and all("\n" not in message and len(message) < 1000 for message in messages)
    with pytest.raises(ModelError, match="cannot be read: No such file"):
        CRF.from_crfsuite(tmp_path / "none")


def test_what_goes_wrong_in_the_process_of_training_is_said(tmp_path):
    class Trainer:
        holds_out = False

        def train(self, path: str, group: int) -> None:
            if group == -1:
                raise MemoryError("too much")
            os._exit(1)

    trainer = Trainer()
    with pytest.raises(RuntimeError, match="CRFsuite: MemoryError: too much"):
        _train_apart(trainer, tmp_path / "model", print)
    trainer.holds_out = True
    with pytest.raises(RuntimeError, match="CRFsuite: its process ended unexpectedly; try other parameters"):
        _train_apart(trainer, tmp_path / "model", print)
