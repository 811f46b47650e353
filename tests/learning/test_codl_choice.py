"""The weight of the supervised model that is chosen on folds, against fits and decoding of each fold by public names."""

import numpy as np
import pytest

from formulations import RuleSet
from formulations import constraints as C
from ilpinfer import Decoder
from ilpinfer.learning import CODL, E_STEPS
from ilpinfer.learning.codl import GAMMAS, clearly_best
from ilpinfer.learning.selection import CandidateTrial
from ilpinfer.pipelines.cross_validation import make_folds

WORDS = {
    "name": ["Ada", "Alan", "Emmy", "may"],
    "text": ["on", "may", "notes", "1936"],
    "year": ["1843", "1936"],
}
RULES = RuleSet((C.at_most_runs("name", 1, penalty=3.0), C.at_most_runs("year", 1, penalty=3.0)))


def drawn(seed):
    """A sequence of three to eight tokens; some words have several labels."""
    rng = np.random.default_rng(seed)
    labels = [str(name) for name in rng.permutation(list(WORDS)) for _ in range(rng.integers(1, 3))]
    return [str(rng.choice(WORDS[name])) for name in labels], labels


LABELLED, POOL = [drawn(seed) for seed in range(12)], [drawn(seed)[0] for seed in range(100, 110)]


def by_hand(e_step, gamma):
    """Share of right fields on the folds together, under rules."""
    right = total = 0
    for fold in make_folds(range(len(LABELLED)), 5, 0):
        seen = [pair for place, pair in enumerate(LABELLED) if place not in fold]
        model = CODL(gamma=gamma, cycles=2, e_step=e_step).fit(seen, POOL, RULES).model
        for place in fold:
            tokens, gold = LABELLED[place]
            found = Decoder(RULES, model=model).decode_tokens(tokens).labels
            right += sum(a == b for a, b in zip(found, gold, strict=True))
            total += len(tokens)
    return right / total


@pytest.mark.parametrize("e_step", E_STEPS)
def test_each_weight_is_tried_on_the_folds_and_one_is_taken(e_step):
    result = CODL(e_step=e_step).fit(LABELLED, POOL, RULES)
    assert [each.name for each in result.tried] == [f"gamma {gamma}" for gamma in GAMMAS]
    for each, gamma in zip(result.tried, GAMMAS, strict=True):
        assert each.measures.accuracy == pytest.approx(by_hand(e_step, gamma))
    gamma = result.made["settings"]["gamma"]
    explicit = CODL(e_step=e_step, gamma=gamma).fit(LABELLED, POOL, RULES)
    made = result.made
    assert made["settings"] == explicit.made["settings"]
    assert (explicit.tried, explicit.made["choice"]) == ((), "given")
    assert made["choice"] == f"of {len(GAMMAS)} on 5 folds of 12 labelled sequences"
    assert result.text.replace(made["choice"], "given") == explicit.text


def trial(right):
    """Sequences of ten tokens in one span, of which so many are right; the span is where all are."""
    counts = [[10, n, 1, 1, int(n == 10), int(n == 10)] for n in right]
    return CandidateTrial((), np.array(counts), 0.0)


def test_another_than_the_first_is_taken_if_it_is_clearly_better():
    """By (0.1 + 0.5) a sequence: in all of four; in one of four, 0.15 ± 0.13, which is no two standard errors."""
    usual = trial([9, 9, 9, 9])
    assert clearly_best({"usual": usual, "worse": trial([8] * 4), "all": trial([10] * 4)}) == "all"
    assert clearly_best({"usual": usual, "one": trial([10, 9, 9, 9])}) == "usual"
    assert clearly_best({"usual": usual, "same": usual}) == "usual"


def test_ties_go_to_the_default():
    result = CODL().fit([(["a", "1"], ["name", "year"])] * 10, [["a", "1"]])
    assert {each.measures for each in result.tried} == {(1.0, 1.0, 1.0)}
    assert result.made["settings"]["gamma"] == GAMMAS[0]


@pytest.mark.parametrize(
    "settings, number, gamma, choice",
    [
        ({}, 9, GAMMAS[0], "default: 9 labelled sequences are too few for folds; 10 are needed"),
        ({"gamma": 0.7}, 12, 0.7, "given"),
        ({"cycles": 0}, 12, GAMMAS[0], "without cycles"),
    ],
)
def test_nothing_is_chosen(settings, number, gamma, choice):
    result = CODL(**settings).fit(LABELLED[:number], POOL, RULES)
    assert (result.tried, result.made["choice"]) == ((), choice)
    assert result.made["settings"]["gamma"] == gamma


def test_folds_that_cannot_be_learnt_from_leave_the_default():
    """The 100 sequences that trials draw have no labelling under the hard rule; one of the pool has."""
    labelled = [(["Ada", "1843"], ["name", "year"])] * 10
    pool = [["Ada"]] * 300 + [["Ada", "1843"]]
    hard = [C.requires_present("name", "year"), C.tag_at("name", words=["Ada"])]
    result = CODL(cycles=1).fit(labelled, pool, hard)
    assert result.made["choice"].startswith(
        "default: folds cannot be learnt from: no sequence of the pool has"
    )
    assert result.trace[0].ways == {"top-k": 1}


def test_progress_counts_the_models_of_folds():
    seen = []
    result = CODL(cycles=1).fit(LABELLED, POOL[:5], RULES, progress=lambda *each: seen.append(each))
    models = 5 * len(result.tried)
    assert [each for each in seen if each[0] == 0] == [(0, n, models) for n in range(1, models + 1)]
