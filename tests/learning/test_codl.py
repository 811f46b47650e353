"""The loop of CODL against a plain one with brute force, its ends, its baselines, and going on after an interrupt."""

import json
from dataclasses import dataclass
from itertools import product

import numpy as np
import pytest
from support.oracles import labellings, score_units, snap, valid_scheme

from formulations import constraints as C
from formulations.problem.compiled_rules import unique_names
from ilpinfer.learning import BASELINES, CODL
from ilpinfer.learning.codl_records import Settings
from ilpinfer.learning.codl_run import CODLState
from ilpinfer.models.files import load_model
from ilpinfer.models.hmm import HMM
from ilpinfer.models.mixture import Mixture

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


def mixed(one, other, gamma, mixing):
    """Logarithms of mixed probabilities."""
    if gamma in (0, 1):
        return [np.log(part) for part in (one if gamma else other).probabilities()]
    if mixing == "counts":
        sizes = [sum(sum(row) for row in each.word.values()) for each in (one, other)]
        shares = [size / sum(sizes) for size in sizes] if gamma is None else (gamma, 1 - gamma)
        a, b = (share * sum(sizes) / size for share, size in zip(shares, sizes))
        both = ByHand([])
        both.start = [a * x + b * y for x, y in zip(one.start, other.start)]
        both.step = [[a * x + b * y for x, y in zip(*rows)] for rows in zip(one.step, other.step)]
        both.word = {w: [a * x + b * y for x, y in zip(one.word[w], other.word[w])] for w in WORDS}
        return [np.log(part) for part in both.probabilities()]
    pairs = zip(one.probabilities(), other.probabilities())
    if mixing == "probabilities":
        return [np.log(gamma * x + (1 - gamma) * y) for x, y in pairs]
    return [gamma * np.log(x) + (1 - gamma) * np.log(y) for x, y in pairs]


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


def by_hand(gamma, K, cycles, mixing, constrained):
    """Figure 2, word by word."""
    supervised = ByHand([(text, [LABELS.index(y) for y in labels], 1.0) for text, labels in LABELLED])
    logs = [np.log(part) for part in supervised.probabilities()]
    for _ in range(cycles):
        labelled = []
        for text in POOL:
            paths = best(text, logs, K, constrained)
            labelled += [(text, path, 1 / len(paths)) for path in paths]
        logs = mixed(supervised, ByHand(labelled), gamma, mixing)
    return logs


def parameters(model):
    scores = model.token_scores
    steps = np.concatenate([scores.transitions, scores.end[:, None]], axis=1)
    return [scores.start, steps, scores.emissions(WORDS)]


SETTINGS = product(
    ("probabilities", "scores", "counts"), [(0.9, 1), (0.1, 3), (0.5, 1000), (1.0, 1), (0.0, 1)]
)


@pytest.mark.parametrize(("mixing", "share"), [*SETTINGS, ("counts", (None, 1))])
@pytest.mark.parametrize("constrained", [True, False])
def test_the_loop_is_that_of_figure_2(share, mixing, constrained):
    gamma, k = share
    codl = CODL(options=OPTIONS, gamma=gamma, k=k, cycles=3, mixing=mixing, constrained=constrained)
    model = codl.fit(LABELLED, POOL, RULES).model
    expected = by_hand(gamma, k, 3, mixing, constrained)
    assert all(np.allclose(a, b, atol=1e-9) for a, b in zip(parameters(model), expected, strict=True))


def test_without_rules_the_loop_differs_from_the_one_with_rules():
    """So that the comparison above can fail."""
    one, other = (by_hand(0.5, 1, 3, "probabilities", constrained) for constrained in (True, False))
    assert not all(np.allclose(a, b, atol=1e-6) for a, b in zip(one, other))


def test_a_wide_beam_labels_as_the_exact_search_does():
    exact, beam = (CODL(options=OPTIONS, k=300, cycles=2, e_step=name) for name in ("top-k", "beam"))
    one, other = (each.fit(LABELLED, POOL, RULES).model for each in (exact, beam))
    assert all(np.allclose(a, b) for a, b in zip(parameters(one), parameters(other)))


@pytest.mark.parametrize("baseline", BASELINES)
@pytest.mark.parametrize("kind", ["hmm", "hmm2", "crf"])
def test_every_baseline_gives_the_same_bytes_twice(baseline, kind):
    settings = {"kind": kind, "options": {"max_iterations": 5} if kind == "crf" else OPTIONS}
    if kind == "crf" and BASELINES[baseline].get("e_step") == "posterior":
        with pytest.raises(ValueError, match="crf learns from labellings only: take another E-step"):
            CODL.of(baseline, **settings)
        return
    codl = CODL.of(baseline, **settings)
    whole = codl.fit(LABELLED, POOL, RULES, held_out=LABELLED)
    assert whole.text == codl.fit(LABELLED, POOL, RULES, held_out=LABELLED).text
    assert len(whole.trace) == codl.cycles


def test_the_file_of_a_model_says_how_it_was_made(tmp_path):
    result = CODL(options=OPTIONS, cycles=1, gamma=0.25).fit(LABELLED, POOL, RULES)
    result.save(tmp_path / "model.json")
    made = json.loads((tmp_path / "model.json").read_text())["made"]
    assert made["settings"]["gamma"] == 0.25
    assert "/" not in json.dumps(made)
    assert isinstance(load_model(tmp_path / "model.json"), Mixture)


def test_the_seed_draws_the_pool():
    texts = [CODL(pool_size=2, cycles=1, seed=seed).fit(LABELLED, POOL, RULES).text for seed in (0, 0, 1)]
    assert texts[0] == texts[1] != texts[2]


@dataclass(frozen=True)
class Counted:
    """A learner of one's own, which keeps what it is given."""

    seen: list
    mixings: tuple[str, ...] = ("probabilities",)
    fractions: bool = False

    def prepare(self, labels, texts):
        def learn(estimates):
            pairs = [(texts[e.place], [labels.names[k] for k in e.best]) for e in estimates]
            self.seen.append(pairs)
            return HMM.train(pairs, labels=labels.names)

        return learn

    def mix(self, supervised, pool, gamma, mixing):
        return Mixture((supervised, pool), (gamma, 1 - gamma), mixing)


def test_a_learner_of_ones_own():
    learner = Counted([])
    result = CODL(learner=learner, cycles=2, gamma=0.5).fit(LABELLED, POOL, RULES)
    assert learner.seen[0] == [(tuple(text), labels) for text, labels in LABELLED]
    assert [[text for text, _ in pairs] for pairs in learner.seen[1:]] == [list(map(tuple, POOL))] * 2
    assert result.model.models[0] is result.supervised
    with pytest.raises(ValueError, match="take another E-step"):
        CODL(learner=learner, e_step="posterior")


def test_self_training_keeps_labels_and_adds_the_surest():
    codl = CODL.of("self-training", options=OPTIONS, mixing="counts", gamma=None)
    trace = codl.fit(LABELLED, POOL, RULES).trace
    assert [cycle.learnt for cycle in trace] == [1, 2, 3, 4, 5]
    halves = CODL(options=OPTIONS, confidence=0.4).fit(LABELLED, POOL, RULES).trace
    assert {cycle.learnt for cycle in halves} == {2}


def test_progress_and_trace_tell_of_every_sequence():
    seen = []
    watched = {"held_out": LABELLED, "progress": lambda *each: seen.append(each)}
    result = CODL(options=OPTIONS, cycles=2).fit(LABELLED, POOL, RULES, **watched)
    assert seen == [(cycle, done, 5) for cycle in (1, 2) for done in range(1, 6)]
    assert result.trace[0].changed == 1.0
    assert set(result.trace[0].violations) == set(unique_names(RULES))
    assert set(result.trace[0].held_out) == set(result.before) == {"without rules", "with rules"}
    assert result.before["without rules"].accuracy == 1.0


def test_labels_that_mark_ends_keep_to_their_scheme(monkeypatch):
    labelled = [(["a", "b", "c"], ["B-x", "I-x", "E-x"]), (["d"], ["S-x"]), (["e"], ["O"])]
    pool = [["a", "d", "c"], ["c", "a"], ["b"], ["e", "b"]]
    cycle, found = CODLState.cycle, []

    def watched(self):
        cycle(self)
        found.extend(self.best.values())

    monkeypatch.setattr(CODLState, "cycle", watched)
    CODL(cycles=2, constrained=False).fit(labelled, pool)
    names = sorted({name for _, labels in labelled for name in labels})
    assert len(found) == 2 * len(pool)
    for path in found:
        labelling = [names[k] for k in path]
        assert valid_scheme(labelling, labelling, "iobes") == 0


def test_sequences_without_a_labelling_are_left_out_and_counted():
    hard = [C.requires_present("year", "text"), C.tag_at("year", words=["Alonzo"])]
    trace = CODL(options=OPTIONS, cycles=1).fit(LABELLED, POOL, hard).trace
    assert (trace[0].left_out, trace[0].learnt) == (1, 4)
    with pytest.raises(ValueError, match="no sequence of the pool has a labelling that keeps the hard rules"):
        CODL(options=OPTIONS, cycles=1).fit(LABELLED, [["Alonzo"]], hard)


def test_what_a_baseline_says_may_be_said_again():
    assert isinstance(CODL.of("hard-em", gamma=0.0), Settings)
