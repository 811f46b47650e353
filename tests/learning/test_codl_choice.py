"""Settings that are chosen on folds, against fits and decoding of each fold by public names."""

from dataclasses import replace

import numpy as np
import pytest

from formulations import RuleSet
from formulations import constraints as C
from ilpinfer import Decoder
from ilpinfer.learning import CODL
from ilpinfer.models.files import record_of
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
GRID = [
    ("probabilities", 0.9, 1.0),
    ("probabilities", 0.5, 1.0),
    ("probabilities", 0.1, 1.0),
    ("counts", 0.6, 1.0),
    ("counts", 0.3, 1.0),
]
SOFTER = ("counts", 0.4, 1 / 3)


def by_hand(base, settings, rules):
    """Share of right fields on the folds together, under rules."""
    mixing, gamma, weight = settings
    learner = CODL.of(base, mixing=mixing, gamma=gamma, penalty_weight=weight, cycles=2)
    right = total = 0
    for fold in make_folds(range(len(LABELLED)), 5, 0):
        seen = [pair for place, pair in enumerate(LABELLED) if place not in fold]
        model = learner.fit(seen, POOL, RULES).model
        for place in fold:
            tokens, gold = LABELLED[place]
            found = Decoder(rules, model=model).decode_tokens(tokens).labels
            right += sum(a == b for a, b in zip(found, gold, strict=True))
            total += len(tokens)
    return right / total


@pytest.mark.parametrize("base, grid", [("codl", GRID), ("posterior", [*GRID, SOFTER]), ("soft-em", GRID)])
def test_each_of_the_grid_is_tried_on_the_folds_and_the_best_is_taken(base, grid):
    result = CODL.of(base).fit(LABELLED, POOL, RULES)
    assert [(each.mixing, each.gamma, each.penalty_weight) for each in result.tried] == grid
    for each, settings in zip(result.tried, grid, strict=True):
        assert each.held_out["without rules"].accuracy == pytest.approx(by_hand(base, settings, ()))
        assert each.held_out["with rules"].accuracy == pytest.approx(by_hand(base, settings, RULES))
    values = [
        each.held_out["with rules"].accuracy + each.held_out["with rules"].f1 / 2 for each in result.tried
    ]
    mixing, gamma, weight = grid[values.index(max(values))]
    explicit = CODL.of(base, mixing=mixing, gamma=gamma, penalty_weight=weight).fit(LABELLED, POOL, RULES)
    made = result.made
    assert made["settings"] == explicit.made["settings"]
    assert (explicit.tried, explicit.made["choice"]) == ((), "given")
    assert made["choice"] == f"the best of {len(grid)} on 5 folds of 12 labelled sequences"
    assert result.text.replace(made["choice"], "given") == explicit.text


def test_ties_go_to_the_default():
    labelled = [(["a", "1"], ["name", "year"])] * 10
    result = CODL().fit(labelled, [["a", "1"]])
    assert {each.value for each in result.tried} == {1.5}
    settings = result.made["settings"]
    assert (settings["gamma"], settings["mixing"]) == (0.9, "probabilities")


@pytest.mark.parametrize(
    "settings, number, gamma, choice",
    [
        ({}, 9, 0.9, "default: 9 labelled sequences are too few for folds; 10 are needed"),
        ({"gamma": 0.7}, 12, 0.7, "given"),
        ({"gamma": None}, 12, None, "given"),
        ({"mixing": "scores"}, 12, 0.9, "given"),
        ({"penalty_weight": 2.0}, 12, 0.9, "given"),
        ({"cycles": 0}, 12, 0.9, "given"),
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
    assert result.trace[0].learnt == 1


def test_a_learner_has_its_own_mixings():
    crf = CODL(kind="crf", options={"max_iterations": 3}, cycles=1).fit(LABELLED, POOL[:5], RULES)
    assert [(each.mixing, each.gamma) for each in crf.tried] == [
        ("scores", g) for g in (0.9, 0.5, 0.1, 0.6, 0.3)
    ]


def test_progress_counts_the_models_of_folds():
    seen = []
    result = CODL(cycles=1).fit(LABELLED, POOL[:5], RULES, progress=lambda *each: seen.append(each))
    models = 5 * len(result.tried)
    assert [each for each in seen if each[0] == 0] == [(0, n, models) for n in range(1, models + 1)]


def test_the_weight_multiplies_penalties_of_the_e_step_alone():
    halved = RuleSet(tuple(replace(rule, penalty=rule.penalty / 2) for rule in RULES))
    weights = {"one": (0.5, RULES), "other": (1.0, halved), "full": (1.0, RULES)}
    results = {
        name: CODL.of("posterior", penalty_weight=weight).fit(LABELLED, POOL, rules, held_out=LABELLED)
        for name, (weight, rules) in weights.items()
    }
    bodies = {name: record_of(result.model) for name, result in results.items()}
    assert bodies["one"] == bodies["other"] != bodies["full"]
    assert results["one"].before == results["full"].before
