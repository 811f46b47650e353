"""The hidden Markov model: its probabilities, its file, and words that it has not seen."""

import itertools

import numpy as np
import pytest
from support.places import CORPORA

import ilpinfer
from ilpinfer.models.hmm import HMM, SecondOrderHMM
from ilpinfer.models.hmm.smoothing import AMOUNTS
from ilpinfer.models.hmm.vocabulary import CLASSES, LADDERS, WordClasses, shape, token_class

PAIRS = [
    (("Ada", "wrote", "notes", "1843"), ("author", "O", "title", "date")),
    (("Grace", "wrote", "code", "1952"), ("author", "O", "title", "date")),
    (("Alan", "1936"), ("author", "date")),
]


def test_seen_words_weigh_more_and_unseen_ones_follow_their_class():
    hmm = HMM.train(PAIRS)
    for text in ("Ada wrote code 1952", "Edsger wrote proofs 1968"):
        assert ilpinfer.decode(hmm.trellis(text.split())).labels == ["author", "O", "title", "date"]


@pytest.mark.parametrize(
    ("token", "name", "alike"),
    [
        ("1987", "year", "2000"),
        ("7", "digit", "0"),
        ("42", "digits-2", "00"),
        ("512", "digits-3", "000"),
        ("98765", "digits", "0000"),
        ("12-34", "number-like", "0-0"),
        ("B2B", "with-digit", "A0A"),
        (",", "punctuation", ","),
        ("__", "punctuation", "__"),
        ("J", "initial", "A"),
        ("ACM", "capitals", "ACM"),
        ("OCTOBER", "capitals", "January"),
        ("Sept", "capitalised", "January"),
        ("Maybe", "capitalised", "Maybe"),
        ("may", "lower", "may"),
        ("naïve", "other", "naïve"),
        ("a\nb", "other", "a\nb"),
    ],
)
def test_tokens_of_a_class_and_those_that_are_one_word(token, name, alike):
    assert CLASSES[token_class(token)][0] == name
    vocabulary = WordClasses(alike=True)
    assert vocabulary.word(token) == vocabulary.word(alike) == alike
    assert token_class(token) == token_class(alike) or alike == "January"
    assert WordClasses(lower_case=True).word(token) == token.lower()


@pytest.mark.parametrize("transitions", sorted(AMOUNTS))
@pytest.mark.parametrize("emissions", sorted(AMOUNTS))
@pytest.mark.parametrize("ends", [True, False])
def test_every_smoothing_gives_probabilities(emissions, transitions, ends):
    hmm = HMM.train(PAIRS, emissions=emissions, transitions=transitions, ends=ends)
    p, words = hmm.parameters, np.exp(hmm.emissions.log_probabilities)
    end = np.exp(p.end) if ends else 0
    assert np.isclose(np.exp(p.start).sum(), 1)
    assert np.allclose(np.exp(p.transitions).sum(axis=1) + end, 1)
    assert np.allclose(words.sum(axis=0), 1)
    finite = np.isfinite(hmm.trellis(["Ada", "new"]).score(["author", "O"]))
    assert finite or "none" in (emissions, transitions)


@pytest.mark.parametrize("by", sorted(LADDERS))
@pytest.mark.parametrize("singletons", [False, True])
def test_words_and_an_unseen_one_for_each_place_of_the_ladder_add_up(by, singletons):
    hmm = HMM.train(PAIRS, vocabulary=WordClasses(by, singletons))
    words = np.exp(hmm.emissions.log_probabilities)
    assert np.all(words > 0) and np.allclose(words.sum(axis=0), 1)
    assert hmm.emissions.rows(["Ada", "1843"]).max() < len(hmm.words)
    assert hmm.emissions.rows(["new", "1999", "?!"]).min() >= len(hmm.words)


def test_finer_keys_find_the_nearest_place():
    pairs = [(("singing", "dancing", "walked", "played"), ("noun", "noun", "verb", "verb"))]
    plain, suffixes = (HMM.train(pairs, vocabulary=by) for by in ("classes", "suffixes"))
    assert np.ptp(plain.emissions.scores(["running"])) == 0, "all are lower-case words"
    noun, verb = suffixes.emissions.scores(["running"])[0]
    assert noun > verb
    noun, verb = suffixes.emissions.scores(["jumped"])[0]
    assert noun < verb


def test_singletons_speak_for_unseen_words():
    """`the` is frequent as a, names are new every time as b, and all start with a capital or not at random."""
    pairs = [(("the", "Kim", "the", "Lee", "the", "lo"), tuple("ababab")), (("Of", "Of", "Bo"), tuple("aab"))]
    types, singletons = (HMM.train(pairs, vocabulary=WordClasses(singletons=s)) for s in (False, True))
    gap = [np.subtract(*hmm.emissions.scores(["Ann"])[0][::-1]) for hmm in (types, singletons)]
    assert gap[1] > gap[0] > 0


@pytest.mark.parametrize(
    ("token", "expected"),
    [("McCallum-2013", "XxXx-d"), ("", ""), ("...", "."), ("ÅÄé9", "Xxd"), ("pp.", "x.")],
)
def test_shapes(token, expected):
    assert shape(token) == expected


def test_a_corpus_of_one_token_is_enough():
    for emissions, transitions in itertools.product(sorted(AMOUNTS), repeat=2):
        for kind in (HMM, SecondOrderHMM):
            hmm = kind.train([(("a",), ("x",))], emissions=emissions, transitions=transitions)
            assert ilpinfer.decode(hmm.trellis(["a"])).labels == ["x"]


def test_labels_may_be_given_and_one_without_an_example_is_rare():
    hmm = HMM.train(PAIRS, labels=["O", "author", "title", "date", "note"])
    assert hmm.labels.names == ("O", "author", "title", "date", "note")
    trellis = hmm.trellis(["Ada", "1843"])
    assert -np.inf < trellis.score(["author", "note"]) < trellis.score(["author", "date"])
    with pytest.raises(ValueError, match="token 1: no label 'notes'"):
        trellis.score(["author", "notes"])


CORA = CORPORA / "cora"


@pytest.mark.skipif(not CORA.is_dir(), reason=f"needs the tagged references in {CORA}")
@pytest.mark.filterwarnings("ignore:no label for note")
def test_rules_repair_references_and_exact_beats_the_beam():
    from formulations import load_rules
    from ilpinfer.corpus.sequences import read, require_labels

    hmm = HMM.train(require_labels(read(CORA / "train.tsv"))[:20])
    rules = load_rules("citations")
    broken = 0
    for tokens, _ in require_labels(read(CORA / "dev.tsv"))[:25]:
        trellis = hmm.trellis(tokens)
        exact, viterbi, beam = (
            ilpinfer.decode(trellis, rules, method=m) for m in ("auto", "viterbi", "beam")
        )
        broken += any(viterbi.violations.values())
        assert exact.status == "optimal"
        assert viterbi.score <= exact.score <= viterbi.bound
        assert beam.score <= exact.score <= beam.bound
    assert broken >= 5
