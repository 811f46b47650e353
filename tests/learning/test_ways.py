"""What is tried, what is taken by the trials of all, and that nothing is learnt from a held-out fold."""

import numpy as np
import pytest
from support.scored import scored

from formulations import RuleSet, Trellis
from formulations import constraints as C
from formulations.time_limits import OutOfTime, check, time_limit
from ilpinfer import Decoder
from ilpinfer.learning import WAYS, ScoredExample, WeightLearner
from ilpinfer.learning.choice import choose, refusals
from ilpinfer.learning.fitting import SECONDS_MINED, Fitting
from ilpinfer.learning.rules_to_learn import LEAST, MOST, keep_scheme, many_rules, run_lengths
from ilpinfer.learning.selection import CandidateTrial, select
from ilpinfer.learning.task import SECONDS
from ilpinfer.learning.ways import GIVEN, MINED, NONE, TOGETHER, ways_of
from ilpinfer.models.hmm import HMM

RIGHT, WRONG = [1, 1, 1, 1, 1, 1], [1, 0, 1, 1, 0, 0]
NO_RULES = RuleSet(())
PRIOR = "given: perceptron, start 2"
CORRECTABLE = "a model whose scores can be corrected"


def trial(*right, stopped=""):
    """Of sequences of one token: which of them are right, by place; None where they were not tried."""
    places = np.array([place for place, each in enumerate(right) if each is not None], np.int64)
    counts = np.array([RIGHT if right[place] else WRONG for place in places]).reshape(-1, 6)
    return CandidateTrial((), counts, 0.0, places, stopped)


def shares(number, **right):
    """Trials of so many sequences, of which the first ones are right."""
    return {
        name.replace("_", ": "): trial(*(place < some for place in range(number)))
        for name, some in right.items()
    }


@pytest.mark.parametrize(("better", "taken"), [(3, NONE), (6, MINED)])
def test_with_many_sequences_a_way_must_be_clearly_better_than_no_rules(better, taken):
    """3 of 200 are 1.7 standard errors, 6 are 2.5."""
    trials = {NONE: trial(*[False] * 200), **shares(200, mined=better)}
    assert choose(trials, "all") == taken


def test_of_the_ways_that_are_better_the_best_is_taken_and_the_first_of_equal_ones():
    trials = {NONE: trial(*[False] * 200), **shares(200, given=20, given_counts=30, mined=30)}
    assert choose(trials, "all") == "given: counts"


@pytest.mark.parametrize(("number", "taken"), [(30, PRIOR), (80, PRIOR), (200, GIVEN)])
def test_few_labels_keep_near_twice_the_given_penalties_unless_another_way_is_clearly_better(number, taken):
    trials = {NONE: trial(*[False] * number), **shares(number, given=13)}
    trials[PRIOR] = trial(*(place < 12 for place in range(number)))
    assert choose(trials, "all") == taken
    trials[MINED] = trial(*(place < 25 for place in range(number)))
    assert choose(trials, "all") == MINED


@pytest.mark.parametrize(("number", "chosen"), [(49, PRIOR), (50, NONE)])
def test_from_fifty_sequences_on_rules_must_be_clearly_better_than_no_rules(number, chosen):
    trials = {NONE: trial(*[False] * number), PRIOR: trial(True, *[False] * (number - 1))}
    assert choose(trials, "all") == chosen


def test_what_is_worse_than_no_rules_is_refused():
    trials = {NONE: trial(*[True] * 40), PRIOR: trial(*[False] * 30, *[True] * 10)}
    assert refusals(trials)[PRIOR].startswith("tokens worse than without rules by 75.00")
    assert choose(trials, "all") == NONE
    assert choose(trials, "all", asked=True) == PRIOR


def test_a_way_without_all_folds_is_compared_where_it_was_tried():
    """It is right on the half on which it was tried, and the others are not; they are right elsewhere."""
    half = trial(*[True] * 100, *[None] * 100, stopped="1 of 2 folds in 5 s")
    trials = {NONE: trial(*[False] * 200), MINED: trial(*[False] * 100, *[True] * 100), "mined: risk": half}
    assert choose(trials, "all") == "mined: risk"
    trials[MINED] = trial(*[True] * 99, *[False] * 101)
    assert choose(trials, "all") == MINED
    trials["mined: risk"] = trial(*[None] * 200, stopped="0 of 2 folds in 5 s")
    assert choose(trials, "all") == MINED


def test_seconds_decide_on_how_many_folds_all_but_the_first_are_tried():
    folds, calls = [[0], [1], [2]], []

    def fit(name, fold):
        calls.append((name, fold[0]))
        if name == "slow":
            sum(range(3_000_000))
        return name

    selection = select(
        {"first": "slow", "quick": "quick", "slow": "slow"},
        fit,
        lambda name, fold: np.array([RIGHT]),
        folds,
        lambda trials: "quick",
        0.02,
    )
    slow = selection.trials["slow"]
    assert len(slow.fitted) == len(slow.places) == len(slow.scores) < 3
    assert slow.stopped.startswith(f"{len(slow.fitted)} of 3 folds in 0.0")
    assert not selection.trials["first"].stopped and not selection.trials["quick"].stopped
    assert selection.trials["quick"].places.tolist() == [0, 1, 2]


def test_what_is_tried_by_what_is_given():
    def names(*, groups=WAYS, given=True, update=None, quick=False, own=()):
        return list(ways_of(groups, given, update, quick, dict(own)))

    every = names()
    assert every[:2] == [NONE, GIVEN] and every[-1] == "all weights: margin"
    assert not any("given" in name for name in names(given=False))
    assert names(update="risk") == [NONE, "given: risk", "mined: risk", "given and mined: risk"]
    assert names(quick=True) == [NONE, GIVEN, PRIOR]
    assert names(groups=[TOGETHER], update="perceptron") == [NONE, "all weights: perceptron"]
    assert PRIOR not in names(own={"start": 1.0})


def corpus(number, seed=0):
    """Sequences of the fields a, b and c, of which b ends with a full stop; words say little."""
    random, pairs = np.random.default_rng(seed), []
    for _ in range(number):
        parts = [("a", random.integers(1, 3)), ("b", random.integers(2, 4)), ("c", 1)]
        labels = [f"{'BI'[t > 0]}-{field}" for field, length in parts for t in range(length)]
        words = [str(random.choice(["x", "y", "z"])) for _ in labels]
        pairs.append((words, labels))
    return pairs


def fitting(pairs, given=NO_RULES):
    model = HMM.train(corpus(20, seed=1))
    return Fitting([ScoredExample(model.trellis(words), tuple(labels)) for words, labels in pairs], given)


@pytest.mark.parametrize("name", [MINED, "mined: perceptron", "mined: risk", "given and mined: risk"])
def test_nothing_is_learnt_from_the_held_out_fold(name):
    given = RuleSet((C.at_most_runs("a", 1, penalty=2.0),))
    way, fold, pairs = ways_of(WAYS, True, None, False, {})[name], [0, 4, 8], corpus(30)
    other = [
        (words, ["B-c"] * len(words) if place in fold else labels)
        for place, (words, labels) in enumerate(pairs)
    ]
    results = []
    for some in (pairs, other):
        made = fitting(some, given).fit(way, fold)
        rules = made.data.with_weights(made.weights.weights)
        results.append([(rule.title, round(rule.penalty, 6)) for rule in rules.rules if not rule.hard])
    assert results[0] == results[1] and (results[0] or name == "mined: perceptron")


def test_given_penalties_are_where_risk_starts_beside_mined_rules():
    """Of a rule that no labelling breaks, the penalty stays."""
    given = RuleSet((C.at_most_tokens("a", 50, penalty=2.5, name="mine"),))
    way = ways_of(WAYS, True, None, False, {})["given and mined: risk"]
    made = fitting(corpus(30), given).fit(way, [])
    assert made.data.names[0] == "mine" and made.weights.weights[0] == pytest.approx(2.5)


def test_lengths_of_runs_of_fields_that_are_frequent_enough():
    pairs = [(["x", "y"], ["B-a", "I-a"])] * 3 + [(["x"], ["B-b"])]
    rules = run_lengths(pairs, 3)
    assert len(rules) == len(LEAST) + len(MOST)
    assert {rule.statement.field for rule in rules} == {"a"}


def test_the_scheme_is_kept_where_gold_keeps_it():
    assert len(keep_scheme([(["x", "y"], ["B-a", "I-a"])])) == 1
    assert not len(keep_scheme([(["x", "y"], ["B-a", "I-b"])], "bio"))
    assert not len(keep_scheme([(["x", "y"], ["a", "b"])]))


def test_too_little_to_mine_from_gives_no_rule():
    assert not len(many_rules([(["x"], ["a"])] * 2))


def test_a_model_of_second_order_keeps_its_scores():
    from ilpinfer.models.hmm import SecondOrderHMM

    result = WeightLearner(folds=2).fit_model(corpus(12), SecondOrderHMM.train)
    assert not result.corrected and isinstance(result.model, SecondOrderHMM)
    assert not any(each.name.startswith(TOGETHER) for each in result.tried)


def test_without_rules_the_model_is_learnt_alone():
    result = WeightLearner(folds=2, epochs=2).fit_model(corpus(12), HMM.train)
    assert [each.name for each in result.tried][:2] == [NONE, MINED]
    assert result.model is not None


def test_examples_without_tokens_can_be_mined():
    examples = [scored(seed) for seed in range(12)]
    plain = [
        ScoredExample(Trellis(each.trellis.start, each.trellis.edges, labels=each.trellis.labels), each.gold)
        for each in examples
    ]
    assert WeightLearner(folds=2).fit(plain).sequences == 12


@pytest.mark.parametrize(
    "chosen",
    [
        {"quick": True, "update": "risk"},
        {"quick": True, "ways": [TOGETHER]},
        {"update": "counts", "ways": [TOGETHER]},
        {"ways": []},
    ],
)
def test_choices_that_leave_nothing_to_try(chosen):
    with pytest.raises(ValueError, match="nothing to try"):
        WeightLearner(**chosen)


def test_choices_that_leave_nothing_to_try_of_what_is_given():
    def said(learner, *given):
        with pytest.raises(ValueError, match="nothing to try without") as error:
            learner.fits(10, *given)
        return str(error.value).partition(":")[0].removeprefix("nothing to try without ")

    assert said(WeightLearner(quick=True), (), True) == "rules with a penalty"
    assert said(WeightLearner(ways=[TOGETHER]), [C.at_most_runs("a", 1, penalty=1.0)]) == CORRECTABLE
    assert (
        said(WeightLearner(quick=True, ways=[GIVEN, TOGETHER])) == f"rules with a penalty and {CORRECTABLE}"
    )
    hard = [C.at_most_runs("a", 1)]
    with pytest.raises(ValueError, match="nothing to try without rules with a penalty"):
        WeightLearner(quick=True).fit_model(corpus(4), HMM.train, hard)


@pytest.mark.parametrize(("number", "refused"), [(49, False), (50, True)])
def test_with_few_sequences_a_way_is_refused_only_if_it_is_clearly_worse(number, refused):
    """One of them is worse, which is one standard error."""
    trials = {NONE: trial(*[True] * number), GIVEN: trial(False, *[True] * (number - 1))}
    assert bool(refusals(trials)[GIVEN]) == refused


def test_sequences_have_little_time_under_mined_rules(monkeypatch):
    limits = []

    class Recorder(Decoder):
        def __init__(self, *given, **options):
            limits.append(options["time_limit"])
            super().__init__(*given, **options)

    monkeypatch.setattr("ilpinfer.learning.training_set.Decoder", Recorder)
    some = fitting(corpus(30), RuleSet((C.at_most_runs("a", 1, penalty=2.0),)))
    for name, seconds in ((GIVEN, SECONDS), (MINED, SECONDS_MINED)):
        made = some.fit(ways_of(WAYS, True, None, False, {})[name], [0])
        limits.clear()
        some.score(made, [0])
        assert limits == [seconds]


def test_the_time_limit_of_a_caller_ends_the_first_trial_with_its_own_error():
    def fit(name, fold):
        check()

    with pytest.raises(OutOfTime), time_limit(lambda: True):
        select({"first": "", "other": ""}, fit, fit, [[0], [1]], lambda trials: "first", 1.0)


def test_the_study_of_ways_has_no_best_of_a_kind_without_time():
    pytest.importorskip("pandas")
    from pandas import DataFrame

    from benchmarks.studies.ways import _judged

    tried = {NONE: ("", 4), MINED: (MINED, 0), "mined: risk": (MINED, 0), GIVEN: (GIVEN, 4)}
    rows = [
        {
            "way": way,
            "group": group,
            "setting": "",
            "size": 4,
            "draw": 0,
            "models": 0.0,
            "trial": 0.0,
            "fit": 0.0,
        }
        | {
            "counts": [RIGHT] * number,
            "places": [*range(number)],
            "stopped": "" if number else "0 of 2 folds",
        }
        for way, (group, number) in tried.items()
    ]
    assert _judged(DataFrame(rows)).best.tolist() == [True, False, False, True]
