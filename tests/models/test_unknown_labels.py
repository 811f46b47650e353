"""Labels of some tokens only: expectation-maximisation against sums over every completion, CODL, commands and refusals."""

import itertools
import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.effort import examples

from ilpinfer import constraints as C
from ilpinfer.core.rule_compiler import compiler_of
from ilpinfer.learning import CODL, RuleMiner
from ilpinfer.learning.expectation import Expectation
from ilpinfer.models.hmm import HMM, SecondOrderHMM
from ilpinfer.models.hmm.emissions import Emissions, words_of
from ilpinfer.models.hmm.model import of_weights
from ilpinfer.models.hmm.smoothing import Smoothing
from ilpinfer.models.hmm.unknown_labels import LEAST_GAIN, expected_counts, maximised
from ilpinfer.models.hmm.vocabulary import WordClasses
from ilpinfer.models.sequences import encode
from ilpinfer.models.training import rewrite, train

KINDS = [HMM, SecondOrderHMM]
PAIRS = [
    (tuple("abba"), ("x", None, None, "y")),
    (tuple("ab"), ("x", "y")),
    (tuple("bbcab"), (None, "y", None, "x", None)),
    (tuple("ca"), (None, None)),
    (tuple("c"), ("y",)),
]
WHOLE = [(tokens, labels) for tokens, labels in PAIRS if None not in labels]
NO_LABEL = "only hidden Markov models, CODL and the learning of weights take labels of some tokens"


def completions(labels, names):
    """All labellings that agree with the known labels."""
    return itertools.product(*[names if label is None else [label] for label in labels])


def enumerated(hmm, tokens, labels):
    """Expected counts of labels, of steps by label names, and the log-likelihood, from every completion."""
    names = hmm.labels.names
    trellis = hmm.trellis(list(tokens))
    scores = {y: math.exp(trellis.score(list(y))) for y in completions(labels, names)}
    total = sum(scores.values())
    nodes, steps = {}, {}
    for y, p in scores.items():
        for t, name in enumerate(y):
            nodes[t, name] = nodes.get((t, name), 0) + p / total
        for t in range(1, len(y)):
            key = (
                (y[t - 1], y[t])
                if hmm.FORMAT.endswith("hmm")
                else (y[t - 2] if t > 1 else None, y[t - 1], y[t])
            )
            steps[key] = steps.get(key, 0) + p / total
    return nodes, steps, math.log(total)


def arrays(hmm, nodes, steps, T):
    index = {name: k for k, name in enumerate(hmm.labels.names)}
    K = len(index)
    first, second = np.zeros((T, K)), np.zeros(hmm.shape(K))
    for (t, name), p in nodes.items():
        first[t, index[name]] = p
    for key, p in steps.items():
        place = [index[name] for name in key[-2:]]
        if len(key) == 3:
            place = [0 if key[0] is None else index[key[0]] + 1, *place]
        second[tuple(place)] += p
    return first, second


@pytest.mark.parametrize("kind", KINDS)
@given(
    st.lists(
        st.tuples(st.sampled_from("abc"), st.sampled_from(["x", "y", "z", None])), min_size=1, max_size=4
    )
)
@settings(max_examples=examples(20))
def test_expected_counts_are_those_of_every_completion(kind, pairs):
    hmm = kind.train([*WHOLE, (tuple("cab"), tuple("zxz"))])
    tokens, labels = zip(*pairs, strict=True)
    ids = np.array([-1 if label is None else hmm.labels.names.index(label) for label in labels])
    (nodes, steps), likelihood = expected_counts(hmm, tokens, ids)
    own_nodes, own_steps, own_likelihood = enumerated(hmm, tokens, labels)
    expected = arrays(hmm, own_nodes, own_steps, len(tokens))
    np.testing.assert_allclose(nodes, expected[0], atol=1e-4)
    np.testing.assert_allclose(steps, expected[1], atol=1e-4)
    assert likelihood == pytest.approx(own_likelihood, abs=1e-4)


def of_counts(kind, expected, smoothing):
    """The model of expected counts of all sequences, by the formulas of counting."""
    names = ("x", "y")
    words, rows = words_of([tokens for tokens, _ in PAIRS], WordClasses())
    counts = np.zeros((len(words), 2))
    start, end, transitions = np.zeros(2), np.zeros(2), np.zeros(kind.shape(2))
    for row, (nodes, steps) in zip(rows, expected, strict=True):
        np.add.at(counts, row, nodes)
        start, end, transitions = start + nodes[0], end + nodes[-1], transitions + steps
    like = kind.train([(("a", "b"), names)])
    return kind(
        like.labels,
        start=start,
        end=end,
        transitions=transitions,
        emissions=Emissions(words, counts, Smoothing("witten-bell"), WordClasses()),
        smoothing=smoothing,
    )


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("iterations", [0, 1, 2, 3])
def test_iterations_are_those_of_enumeration(kind, iterations):
    model = None
    for _ in range(iterations + 1):
        expected = []
        for tokens, labels in PAIRS:
            if model is None:
                nodes = {(t, name): 1.0 for t, name in enumerate(labels) if name}
                reach = [
                    (t - 1, t) if kind is HMM or t < 2 else (t - 2, t - 1, t) for t in range(1, len(labels))
                ]
                keys = [[labels[t] for t in places] for places in reach]
                steps = {}
                for key in keys:
                    if None not in key:
                        name = tuple(key) if kind is HMM or len(key) == 3 else (None, *key)
                        steps[name] = steps.get(name, 0) + 1.0
            else:
                nodes, steps, _ = enumerated(model, tokens, labels)
            expected.append(arrays(kind.train([(("a", "b"), ("x", "y"))]), nodes, steps, len(tokens)))
        model = of_counts(kind, expected, kind.TRANSITIONS)
    found = kind.train(PAIRS, iterations=iterations)
    for name in ("start", "end", "transitions"):
        np.testing.assert_allclose(getattr(found, name), getattr(model, name), atol=1e-4)
    np.testing.assert_allclose(found.emissions.counts, model.emissions.counts, atol=1e-4)
    assert found.emissions.words == model.emissions.words


@pytest.mark.parametrize("kind", KINDS)
def test_with_all_labels_it_is_the_counted_model(kind):
    labels, texts, ids = encode(WHOLE)
    words, rows = words_of(texts, WordClasses())
    empty = Emissions(words, np.zeros((0, 0)), Smoothing("witten-bell"), WordClasses())
    found = maximised(
        lambda weighted: of_weights(kind, labels, empty, weighted, kind.TRANSITIONS),
        kind,
        texts,
        rows,
        ids,
        2,
        5,
    )
    assert found.body() == kind.train(WHOLE).body()


def test_the_likelihood_never_falls():
    values = []
    pairs = [*PAIRS, (tuple("abcabc"), tuple("xxyyyx"))]
    for iterations in range(8):
        hmm = HMM.train(
            pairs, emissions="none", transitions="none", vocabulary="uniform", iterations=iterations
        )
        values.append(sum(enumerated(hmm, *pair)[2] for pair in pairs))
    assert np.all(np.diff(values) > -1e-5) and values[-1] > values[0]


def test_iterations_end_where_a_token_gains_little():
    """Training ends with the model after the first one by which the mean of a token gains less than 0.0001 nats."""
    pairs, values = [*PAIRS, (tuple("abcabc"), (*"xxy", None, None, "x"))], []
    gaps = [pair for pair in pairs if None in pair[1]]
    for iterations in range(300):
        hmm = HMM.train(pairs, iterations=iterations)
        values.append(sum(enumerated(hmm, *pair)[2] for pair in gaps))
        if iterations > 1 and values[-1] == values[-2]:
            break
    *large, small, last, none = np.diff(values) / sum(len(tokens) for tokens, _ in gaps)
    assert len(large) > 3 and min(large) >= LEAST_GAIN > small > last > none == 0


def test_sequences_without_a_known_label_and_models_without_an_end():
    hmm = HMM.train([*WHOLE, (("a", "b"), [None, None])], ends=False)
    assert hmm.end is None and hmm.start.sum() == pytest.approx(3)
    names = HMM.train([*WHOLE, (("q",), [None])], labels=["x", "y", "z"]).labels.names
    assert names == ("x", "y", "z")


@pytest.mark.parametrize(
    ("pairs", "options", "said"),
    [
        ([(("a",), [None])], {}, "no token has a label; label some tokens of each kind"),
        ([(("a", "b"), [None])], {}, "sequence 0 has 1 label for 2 tokens"),
        (PAIRS, {"iterations": -1}, "iterations is -1"),
        (
            [(("a", "b"), ["x", "y"]), (("a", "a", "b"), ["y", None, "y"])],
            {"emissions": "none", "transitions": "none", "vocabulary": "uniform"},
            r"the sequence \('a', 'a', 'b'\) has no labelling with its known labels, by the counts of the others; smooth the counts",
        ),
    ],
)
def test_what_cannot_be_counted(pairs, options, said):
    with pytest.raises(ValueError, match=said):
        HMM.train(pairs, **options)


@pytest.mark.parametrize("learn", [lambda pairs: train("crf", pairs), lambda pairs: RuleMiner().fit(pairs)])
def test_others_refuse_unknown_labels(learn):
    with pytest.raises(ValueError, match=f"sequence 0: token 1 has no label; {NO_LABEL}"):
        learn(PAIRS)


BIO = [(["Ada", "L", "x"], ["B-a", "I-a", None]), (["Bo", "y"], [None, "O"])]


def test_schemes_of_labels_with_gaps():
    assert rewrite(BIO, "") == rewrite(BIO, "bio") == BIO
    assert rewrite(BIO, "plain")[0][1] == ["a", "a", None]
    with pytest.raises(
        ValueError,
        match="labels of partly labelled sequences are bio; they can be converted to plain, not to iobes",
    ):
        rewrite(BIO, "iobes")
    with pytest.warns(UserWarning, match="left out: 1 token"):
        assert rewrite([(["a", "b"], ["X", None])], "", never=["X"]) == [(["b"], [None])]


def best_completion(hmm, tokens, labels):
    trellis = hmm.trellis(list(tokens))
    return max(completions(labels, hmm.labels.names), key=lambda y: trellis.score(list(y)))


def test_codl_keeps_known_labels():
    partial = [pair for pair in PAIRS if None in pair[1]]
    codl = CODL(gamma=0.5, cycles=1)
    result = codl.fit(PAIRS, [tuple("ab")])
    completed = [(tokens, best_completion(result.supervised, tokens, labels)) for tokens, labels in partial]
    expected = codl.fit(WHOLE, [tokens for tokens, _ in partial] + [tuple("ab")])
    assert result.supervised.start.tolist() == expected.supervised.start.tolist()
    whole = HMM.train([*completed, (tuple("ab"), best_completion(result.supervised, "ab", [None] * 2))])
    sizes = sum(len(t) for t, _ in WHOLE), sum(len(t) for t, _ in completed) + 2
    mixed = 0.5 * sum(sizes) * (result.supervised.transitions / sizes[0] + whole.transitions / sizes[1])
    np.testing.assert_allclose(result.model.transitions, mixed)


@pytest.mark.parametrize(("name", "k"), [("top-k", 1), ("top-k", 3), ("posterior", 1)])
def test_estimates_agree_with_known_labels(name, k):
    hmm = HMM.train(PAIRS)
    rules = compiler_of([C.at_most_runs("x", 1, penalty=0.3)])
    step = Expectation(name, k, rules, known={0: {0: 0, 3: 1}})
    made, _ = step.estimates(hmm, {0: tuple("abba"), 1: tuple("ab")}, lambda: None)
    nodes = made[0].nodes(2)
    assert nodes[0, 0] == pytest.approx(1) and nodes[3, 1] == pytest.approx(1)
    assert made[1].nodes(2).sum() == pytest.approx(2)


def test_codl_needs_a_whole_sequence_and_no_pool():
    partial = [pair for pair in PAIRS if None in pair[1]]
    with pytest.raises(ValueError, match="every labelled sequence has tokens without a label"):
        CODL(gamma=0.5).fit(partial, [tuple("ab")])
    assert len(CODL(gamma=0.5, cycles=2).fit(PAIRS, []).trace) == 2
    crf = CODL(gamma=0.5, cycles=1).fit(PAIRS, [tuple("ab")], kind="crf")
    assert crf.model.labels.names == ("x", "y")


COLUMNS = "Ada\tB-a\nL\t_\nx\tO\n\nBo\t?\ny\tO\n\nEd\tB-a\nz\tO\n"
ROWS = [
    {"tokens": ["Ada", "L", "x"], "labels": ["B-a", None, "O"]},
    {"tokens": ["Bo", "y"], "labels": [None, "O"]},
    {"tokens": ["Ed", "z"], "labels": ["B-a", "O"]},
]
SAID = "labels _ and ? are unknown: 2 tokens in 2 sequences"


def test_files_with_labels_of_some_tokens(here, cli):
    Path("x.tsv").write_text(COLUMNS)
    Path("x.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    models = []
    for name in ("x.tsv", "x.jsonl"):
        ended = cli.done(f"train {name} --kind hmm --option iterations=3 --output m.json")
        assert f"{name}: {SAID}" in ended.err
        models.append(json.loads(Path("m.json").read_text()))
    expected = HMM.train([(row["tokens"], row["labels"]) for row in ROWS], iterations=3)
    for made in models:
        assert made["model"]["labels"] == ["B-a", "O"]
        assert made["model"]["transitions"] == expected.transitions.tolist()
    assert models[0]["made"] == models[1]["made"]
    Path("ints.jsonl").write_text(
        json.dumps({"tokens": ["a", "b"], "labels": [1, None], "label_names": ["O", "B-a"]})
    )
    cli.done("convert ints.jsonl ints.tsv")
    assert Path("ints.tsv").read_text() == "a\tB-a\nb\t_\n"


def test_commands_tell_what_they_do_with_gaps(here, cli):
    Path("x.tsv").write_text(COLUMNS)
    Path("pool.txt").write_text("Ada L\n")
    Path("rules.toml").write_text(
        'fields = ["a"]\n[[rule]]\ntemplate = "at_most_runs"\nfield = "a"\nn = 1\npenalty = 1.0\n'
    )
    cli.done("codl x.tsv pool.txt --rules rules.toml --gamma 0.5 --cycles 1 --output m.json")
    for line in (
        "train x.tsv --kind crf --output m.json",
        "mine x.tsv --folds 0 --output m.toml",
        "check rules.toml x.tsv",
    ):
        assert f"x.tsv, line 1: token 1 has no label; {NO_LABEL}" in cli.refused(line)
    for option in ("--cross-validate 3", "--held-out 0.7"):
        ended = cli(f"train x.tsv {option} --output m.json")
        assert ended.code == 2 and "evaluate on a file in which all have one" in ended.err
    said = cli.done("train x.tsv --never _ --never ? --output m.json").err
    assert "left out: 2 tokens in 2 sequences, with the helper labels '?', '_'" in said and SAID not in said
    assert "can be converted to plain, not to iobes" in cli("train x.tsv --scheme iobes --output m.json").err


def test_unknown_labels_of_gold_are_left_out(here, cli):
    Path("gold.tsv").write_text(COLUMNS)
    Path("found.tsv").write_text(COLUMNS.replace("_", "O").replace("?", "B-a"))
    ended = cli.done("evaluate found.tsv gold.tsv --json")
    assert "left out: 2 tokens in 2 sequences, with the helper labels '?', '_'" in ended.err
    assert json.loads(ended.out)["accuracy"] == 1
