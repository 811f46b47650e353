"""The loop of CODL against a plain one with brute force, its ends, and what it tells."""

import json
from itertools import product

import numpy as np
import pytest
from support.oracles import labellings, score_units, snap, valid_scheme

import ilpinfer
from formulations import Trellis
from formulations import constraints as C
from formulations.problem.compiled_rules import unique_names
from ilpinfer.learning import CODL, E_STEPS, perceptron
from ilpinfer.learning.codl_loop import Loop
from ilpinfer.models.files import load_model
from ilpinfer.models.hmm import HMM

LABELLED = [
    (["Ada", "Lovelace", "wrote", "notes", "1843"], ["name", "name", "text", "text", "year"]),
    (["Alan", "computing", "1950"], ["name", "text", "year"]),
]
POOL = [
    ["Grace", "wrote", "compilers", "1952"],
    ["Ada", "notes", "1843", "1843"],
    ["1936", "Alan", "Turing"],
    ["Alonzo"],
    ["Church", "wrote", "notes"],
]
LABELS = ("name", "text", "year")
ONCE, YEARS = 1.5, 2.25
RULES = [C.at_most_runs("name", 1, penalty=ONCE), C.tag_at("year", pattern=r"\d+", penalty=YEARS)]
OPTIONS = {"by": "uniform", "emissions": "additive"}
WORDS = sorted({word for text in POOL for word in text} | {word for text, _ in LABELLED for word in text})


def cost(text, path):
    """Penalties in grid units, counted by hand."""
    names = [LABELS[k] for k in path]
    runs = sum(now == "name" and (t == 0 or names[t - 1] != "name") for t, now in enumerate(names))
    wrong = sum(word.isdigit() and name != "year" for word, name in zip(text, names))
    return max(0, runs - 1) * snap(ONCE) + wrong * snap(YEARS)


class ByHand:
    """Counts of a first-order HMM, and its probabilities with additive smoothing, term by term."""

    def __init__(self, weighted):
        K = range(len(LABELS))
        self.start = [0.0 for _ in K]
        self.step = [[0.0] * (len(LABELS) + 1) for _ in K]
        self.word = {word: [0.0 for _ in K] for word in WORDS}
        for text, path, weight in weighted:
            self.start[path[0]] += weight
            for now, after in zip(path, [*path[1:], len(LABELS)]):
                self.step[now][after] += weight
            for word, k in zip(text, path):
                self.word[word][k] += weight

    def probabilities(self):
        K = len(LABELS)
        start = [(c + 0.1) / (sum(self.start) + 0.1 * K) for c in self.start]
        step = [[(c + 0.1) / (sum(row) + 0.1 * (K + 1)) for c in row] for row in self.step]
        total = [sum(counts[k] for counts in self.word.values()) for k in range(K)]
        V = len(WORDS)
        word = [[(self.word[w][k] + 1) / (total[k] + V + 1) for k in range(K)] for w in WORDS]
        return [np.array(start), np.array(step), np.array(word)]


def mixed(one, other, gamma):
    """Logarithms of the probabilities of mixed counts."""
    if gamma in (0, 1):
        return [np.log(part) for part in (one if gamma else other).probabilities()]
    sizes = [sum(sum(row) for row in each.word.values()) for each in (one, other)]
    a, b = (share * sum(sizes) / size for share, size in zip((gamma, 1 - gamma), sizes))
    both = ByHand([])
    both.start = [a * x + b * y for x, y in zip(one.start, other.start)]
    both.step = [[a * x + b * y for x, y in zip(*rows)] for rows in zip(one.step, other.step)]
    both.word = {w: [a * x + b * y for x, y in zip(one.word[w], other.word[w])] for w in WORDS}
    return [np.log(part) for part in both.probabilities()]


def best(text, logs, K, constrained):
    """The K best labellings by enumeration; of equal ones the first by label ids."""
    start, step, word = logs
    emissions = word[[WORDS.index(w) for w in text]]

    def value(path):
        units = score_units(
            path, start, [step[:, :-1]] * (len(path) - 1), emissions=emissions, end=step[:, -1]
        )
        return units - (cost(text, path) if constrained else 0)

    return sorted(labellings(len(text), len(LABELS)), key=lambda path: (-value(path), path))[:K]


def by_hand(gamma, K, cycles, constrained):
    """Figure 2, word by word."""
    supervised = ByHand([(text, [LABELS.index(y) for y in labels], 1.0) for text, labels in LABELLED])
    logs = [np.log(part) for part in supervised.probabilities()]
    for _ in range(cycles):
        labelled = []
        for text in POOL:
            paths = best(text, logs, K, constrained)
            labelled += [(text, path, 1 / len(paths)) for path in paths]
        logs = mixed(supervised, ByHand(labelled), gamma)
    return logs


def parameters(model):
    scores = model.token_scores
    steps = np.concatenate([scores.transitions, scores.end[:, None]], axis=1)
    return [scores.start, steps, scores.emissions(WORDS)]


@pytest.mark.parametrize(("gamma", "k"), [(0.9, 1), (0.1, 3), (0.5, 1000), (1.0, 1), (0.0, 1)])
@pytest.mark.parametrize("constrained", [True, False])
def test_the_loop_is_that_of_figure_2(gamma, k, constrained):
    codl, rules = CODL(gamma=gamma, k=k, cycles=3), RULES if constrained else ()
    model = codl.fit(LABELLED, POOL, rules, options=OPTIONS).model
    expected = by_hand(gamma, k, 3, constrained)
    assert all(np.allclose(a, b, atol=1e-9) for a, b in zip(parameters(model), expected, strict=True))


def test_without_rules_the_loop_differs_from_the_one_with_rules():
    """So that the comparison above can fail."""
    one, other = (by_hand(0.5, 1, 3, constrained) for constrained in (True, False))
    assert not all(np.allclose(a, b, atol=1e-6) for a, b in zip(one, other))


def perceptron_by_hand(weighted):
    """The averaged perceptron on labellings with weights, by enumeration, from the logarithms of counts on."""
    now = [np.log(part) for part in ByHand(weighted).probabilities()]
    total, done, random = [np.zeros_like(part) for part in now], 0, np.random.default_rng(0)
    for _ in range(perceptron.EPOCHS):
        for place in random.permutation(len(weighted)):
            text, path, weight = weighted[place]
            for sign, labels in ((1, path), (-1, best(text, now, 1, False)[0])):
                step = sign * weight * perceptron.RATE
                now[0][labels[0]] += step
                for before, after in zip(labels, [*labels[1:], len(LABELS)]):
                    now[1][before][after] += step
                for word, label in zip(text, labels):
                    now[2][WORDS.index(word)][label] += step
            total = [a + b for a, b in zip(total, now)]
            done += 1
    return [part / done for part in total]


@pytest.mark.parametrize(("gamma", "k"), [(0.9, 1), (0.4, 3), (1.0, 1), (0.0, 2)])
@pytest.mark.parametrize("constrained", [True, False])
def test_the_perceptron_is_that_by_hand(gamma, k, constrained):
    supervised = perceptron_by_hand(
        [(text, [LABELS.index(y) for y in labels], 1.0) for text, labels in LABELLED]
    )
    expected = supervised
    for _ in range(2):
        labelled = []
        for text in POOL:
            paths = best(text, expected, k, constrained)
            labelled += [(text, path, 1 / len(paths)) for path in paths]
        pool = perceptron_by_hand(labelled)
        expected = [gamma * a + (1 - gamma) * b for a, b in zip(supervised, pool)]
    codl, rules = CODL(gamma=gamma, k=k, cycles=2, m_step="perceptron"), RULES if constrained else ()
    model = codl.fit(LABELLED, POOL, rules, options=OPTIONS).model
    start, steps, words = expected
    found = model.token_scores
    assert np.allclose(found.start, start, atol=1e-6)
    assert np.allclose(np.c_[found.transitions, found.end], steps, atol=1e-6)
    assert np.allclose(found.emissions(WORDS), words, atol=1e-6)


def test_the_perceptron_learns_what_a_chain_can_tell_apart(monkeypatch):
    """Labels by the scores of a chain, which counts of them do not give back."""
    monkeypatch.setattr(perceptron, "EPOCHS", 30)
    rng, words, names = np.random.default_rng(0), list("abcdef"), ["p", "q", "r"]
    scores, steps = rng.normal(size=(6, 3)), rng.normal(size=(3, 3))
    labelled = []
    for _ in range(40):
        ids = rng.integers(0, 6, 8)
        labels = ilpinfer.decode(Trellis.from_emissions(scores[ids], steps, labels=names)).labels
        labelled.append(([words[i] for i in ids], labels))
    wrong = []
    for m_step in ("likelihood", "perceptron"):
        model = CODL(cycles=0, m_step=m_step).fit(labelled, []).model
        found = [ilpinfer.decode(model.trellis(tuple(text))).labels for text, _ in labelled]
        wrong.append(sum(x != y for a, (_, b) in zip(found, labelled) for x, y in zip(a, b)))
    assert wrong[1] < wrong[0] / 4, wrong


def test_a_perceptron_of_a_crf_is_that_of_crfsuite():
    one, other = (
        CODL(cycles=1, gamma=0.5, **way).fit(LABELLED, POOL, RULES, kind="crf", options=options).model
        for way, options in (({"m_step": "perceptron"}, {}), ({}, {"algorithm": "averaged-perceptron"}))
    )
    assert one.body() == other.body()


@pytest.mark.parametrize("e_step", E_STEPS)
@pytest.mark.parametrize("kind", ["hmm", "hmm2", "crf"])
def test_every_e_step_and_kind_gives_the_same_bytes_twice(e_step, kind):
    settings = {"kind": kind, "options": {"max_iterations": 5} if kind == "crf" else OPTIONS}
    codl = CODL(gamma=0.5, cycles=2, e_step=e_step)
    if (kind, e_step) == ("crf", "posterior"):
        with pytest.raises(ValueError, match="crf learns from labellings only: take the E-step top-k"):
            codl.fit(LABELLED, POOL, RULES, **settings)
        return
    texts = [codl.fit(LABELLED, POOL, RULES, held_out=LABELLED, **settings).text for _ in range(2)]
    assert texts[0] == texts[1]


def test_a_crf_has_the_sum_of_weighted_scores():
    """In the only cycle, the model learnt from the labels of the pool is that of γ = 0."""
    options = {"max_iterations": 5}
    models = {
        gamma: CODL(gamma=gamma, cycles=1).fit(LABELLED, POOL, RULES, kind="crf", options=options).model
        for gamma in (1.0, 0.0, 0.25)
    }
    for text, path in product(POOL, product(LABELS, repeat=2)):
        one, other, both = (models[gamma].trellis(text[:2]) for gamma in (1.0, 0.0, 0.25))
        labels = path[: len(text[:2])]
        assert both.score(labels) == pytest.approx(
            0.25 * one.score(labels) + 0.75 * other.score(labels), abs=1e-4
        )


def test_the_file_of_a_model_says_how_it_was_made(tmp_path):
    result = CODL(cycles=1, gamma=0.25).fit(LABELLED, POOL, RULES, options=OPTIONS)
    result.save(tmp_path / "model.json")
    made = json.loads((tmp_path / "model.json").read_text())["made"]
    assert made["settings"]["gamma"] == 0.25
    assert "/" not in json.dumps(made)
    assert isinstance(load_model(tmp_path / "model.json"), HMM)


def test_progress_and_trace_tell_of_every_sequence():
    seen = []
    watched = {"held_out": LABELLED, "progress": lambda *each: seen.append(each)}
    result = CODL(cycles=2).fit(LABELLED, POOL, RULES, options=OPTIONS, **watched)
    assert seen == [(cycle, done, 5) for cycle in (1, 2) for done in range(1, 6)]
    assert result.trace[0].changed == 1.0
    assert set(result.trace[0].violations) == set(unique_names(RULES))
    assert set(result.trace[0].held_out) == set(result.before) == {"without rules", "with rules"}
    assert result.before["without rules"].accuracy == 1.0


def test_labels_that_mark_ends_keep_to_their_scheme(monkeypatch):
    labelled = [(["a", "b", "c"], ["B-x", "I-x", "E-x"]), (["d"], ["S-x"]), (["e"], ["O"])]
    pool = [["a", "d", "c"], ["c", "a"], ["b"], ["e", "b"]]
    cycle, found = Loop.cycle, []

    def watched(self):
        cycle(self)
        found.extend(self.best.values())

    monkeypatch.setattr(Loop, "cycle", watched)
    CODL(cycles=2).fit(labelled, pool)
    names = sorted({name for _, labels in labelled for name in labels})
    assert len(found) == 2 * len(pool)
    for path in found:
        labelling = [names[k] for k in path]
        assert valid_scheme(labelling, labelling, "iobes") == 0


def test_sequences_without_a_labelling_are_left_out_and_counted():
    hard = [C.requires_present("year", "text"), C.tag_at("year", words=["Alonzo"])]
    trace = CODL(cycles=1).fit(LABELLED, POOL, hard, options=OPTIONS).trace
    assert (trace[0].left_out, trace[0].ways) == (1, {"top-k": 4})
    with pytest.raises(ValueError, match="no sequence of the pool has a labelling that keeps the hard rules"):
        CODL(cycles=1).fit(LABELLED, [["Alonzo"]], hard, options=OPTIONS)


@pytest.mark.parametrize("kind", ["hmm", "hmm2"])
def test_iterations_of_a_training_with_unknown_labels_are_refused(kind):
    with pytest.raises(ValueError, match="iterations are those of a training with unknown labels"):
        CODL(cycles=0).fit(LABELLED, [], kind=kind, options={"iterations": 5})
