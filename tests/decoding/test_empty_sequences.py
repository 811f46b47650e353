"""An empty sequence has the empty labelling: score 0, optimal, in every way in. No rule says anything about it."""

import json
import warnings
from pathlib import Path

import numpy as np
import pytest

import formulations
import ilpinfer
from formulations import constraints as C
from ilpinfer import Decoder, Trellis
from ilpinfer.adapters import join_windows
from ilpinfer.adapters.huggingface import entities
from ilpinfer.adapters.sklearn import ConstrainedTagger
from ilpinfer.corpus.examples import InputNotice
from ilpinfer.evaluation.evaluation import Pair, evaluate
from ilpinfer.models.external import from_logits
from ilpinfer.models.forward_backward import posteriors, sums
from ilpinfer.models.training import train

NAMES = ["O", "B-x", "I-x"]
STEPS, PAIRS = np.zeros((3, 3)), np.zeros((3, 3, 3))
EMPTY = Trellis.from_emissions([], STEPS, labels=NAMES, start=[1, 2, 3], end=[1, 0, 0])
ONE = Trellis.from_emissions([[0, 1, 2]], STEPS, labels=NAMES)
RULES = [
    C.valid_scheme(),
    C.at_least_tokens("x", 2),
    C.at_most_runs("x", 0, penalty=1.5),
    C.starts_with("x", penalty=2, distance="hamming"),
    C.feature(from_="O", to="x", weight=0.5),
]
NAMES_OF_RULES = [rule.title for rule in RULES[:4]]
TAGGED = [(["Ada", "slept"], ["B-P", "O"]), (["Novak"], ["B-P"])]
TRELLISES = {
    "a list": lambda: EMPTY,
    "an array": lambda: Trellis.from_emissions(np.zeros((0, 3)), STEPS, labels=NAMES, tokens=[]),
    "second order": lambda: Trellis.from_emissions([], PAIRS, labels=NAMES, first=STEPS),
    "logits": lambda: from_logits([], NAMES),
    "pieces": lambda: from_logits(np.zeros((0, 3)), NAMES, word_ids=[], tokens=[]),
    "special pieces": lambda: from_logits(np.zeros((2, 3)), NAMES, word_ids=[None, None], transitions=STEPS),
    "windows": lambda: join_windows([np.zeros((0, 3))], [[]], NAMES, text=""),
    "joined": lambda: Trellis.joined([EMPTY, EMPTY]),
    "read again": lambda: Trellis.from_dict(EMPTY.to_dict()),
    "second order, read again": lambda: Trellis.from_dict(TRELLISES["second order"]().to_dict()),
}


def check(solution):
    assert (solution.labels, solution.ids.tolist(), solution.status) == ([], [], "optimal")
    assert (solution.score, solution.bound, solution.gap, solution.penalty) == (0, 0, 0, 0)
    assert not any(solution.violations.values())


@pytest.mark.parametrize("kind", TRELLISES)
def test_trellises(kind):
    trellis = TRELLISES[kind]()
    assert len(trellis) == 0 and trellis.score([]) == 0
    solution = ilpinfer.decode(trellis, RULES)
    check(solution)
    assert list(solution.violations) == NAMES_OF_RULES
    assert ilpinfer.verify(trellis, RULES, solution)


@pytest.mark.parametrize("method", [each.name for each in ilpinfer.methods()])
def test_methods(method):
    solution = ilpinfer.decode(EMPTY, RULES, method=method)
    check(solution)
    assert ilpinfer.verify(EMPTY, RULES, solution)
    several = ilpinfer.decode(EMPTY, RULES, method=method, top=3, time_limit=1e-9)
    check(*several)
    assert ilpinfer.verify(EMPTY, RULES, several, top=3)


def test_a_forged_proof_is_refused():
    solution = ilpinfer.decode(EMPTY)
    for forged in ({"bound": -1.0}, {"score": 1.0}, {"status": "infeasible"}):
        values = {**solution.to_dict(), **forged}
        assert not ilpinfer.verify(EMPTY, [], type(solution).from_dict(values)).ok


def test_among_others():
    expected = [ilpinfer.decode(each).labels for each in (ONE, EMPTY, ONE, EMPTY, EMPTY)]
    trellises = [ONE, EMPTY, ONE, EMPTY, EMPTY]
    assert [each.labels for each in ilpinfer.decode_many(trellises)] == expected
    assert [each.labels for each in ilpinfer.decode_many(trellises[::-1], threads=2)] == expected[::-1]
    assert [len(each) for each in ilpinfer.decode_many(trellises, top=2)] == [2, 1, 2, 1, 1]
    assert Trellis.joined([ONE, EMPTY, ONE]).tokens == ("", "")


def test_two_phases():
    for bound in ("relative", "odds"):
        solution = ilpinfer.decode_two_phase(EMPTY, RULES[:3], bound=bound)
        check(solution)
        assert (solution.best_score, solution.cost_bound) == (0, 0)
        assert ilpinfer.verify(EMPTY, RULES[:3], solution)
    check(*ilpinfer.decode_two_phase(EMPTY, RULES[:3], top=2))
    with pytest.raises(ValueError, match="above the best score"):
        ilpinfer.decode_two_phase(EMPTY, RULES[:3], floor=1.0)


def test_probabilities():
    chances = ilpinfer.marginals(EMPTY, RULES[:3])
    assert (
        chances.labels.shape == (0, 3)
        and chances.edges.shape == (0, 3, 3)
        and chances.sample(2).shape == (2, 0)
    )
    assert (chances.log_partition, chances.entropy, chances.probability_holds) == (0, 0, 1)
    assert set(chances.expected_violations.values()) == {0}
    assert sums(EMPTY).log_partition == 0 and posteriors(EMPTY).shape == (0, 3)


def test_other_calls():
    check(ilpinfer.prove(EMPTY, RULES, ilpinfer.decode(EMPTY, RULES, method="viterbi")))
    check(ilpinfer.evaluate_labelling(EMPTY, RULES, [], bound=0.0))
    (point,) = ilpinfer.decode_frontier(EMPTY, RULES[:3]).points
    assert (point.score, point.cost, point.labels) == (0, 0, ())
    assert not ilpinfer.decode(EMPTY, RULES).explain().broken
    program = formulations.formulate(EMPTY, RULES[:3])
    assert "End" in program.text("lp") and "ENDATA" in program.text("mps")
    assert entities([], NAMES) == entities(np.zeros((0, 3)), NAMES, [], [], text="") == []
    assert not ilpinfer.select_spans("", [], [], fields=["x"]).spans
    with pytest.raises(ValueError, match="an empty trellis has no first token"):
        _ = EMPTY.start


@pytest.mark.parametrize("kind", ["hmm", "hmm2", "crf"])
def test_models(kind):
    model = train(kind, TAGGED)
    decoder = Decoder([C.at_least_tokens("P", 1)], model=model)
    check(decoder.decode_tokens([]))
    assert len(list(decoder.decode_texts([["Ada"], [], ["Novak"]]))[1].labels) == 0
    assert len(model.trellis(())) == 0


@pytest.mark.parametrize("kind", ["hmm", "crf"])
def test_estimators(kind):
    X, y = [["Ada", "slept"], [], ["Novak"]], [["B-P", "O"], [], ["B-P"]]
    with pytest.warns(InputNotice, match="left out, as they have no token: 1 sequence, .*sequence 1"):
        fitted = ConstrainedTagger((), kind).fit(X, y)
    assert list(map(list, fitted.predict(X))) == y and fitted.score(X, y) == 1


def test_evaluation():
    assert "1.00" in ilpinfer.classification_report([[], ["B-X"]], [[], ["B-X"]])
    assert "0.00" in ilpinfer.classification_report([[]], [[]])
    assert evaluate([Pair((), (), ())]).accuracy == 0
    with pytest.raises(ValueError, match="0 predicted and 1 gold label"):
        ilpinfer.classification_report([["B-X"]], [[]])


GOLD = [{"tokens": tokens, "labels": labels} for tokens, labels in [TAGGED[0], ([], []), TAGGED[1]]]


@pytest.fixture
def gold(here):
    Path("gold.jsonl").write_text("".join(f"{json.dumps(each)}\n" for each in GOLD))
    Path("rules.toml").write_text(
        'fields = ["P"]\n[[rule]]\ntemplate = "at_least_tokens"\nfield = "P"\nn = 1\n'
    )


@pytest.mark.filterwarnings("default")
def test_commands(gold, cli):
    said = cli.done("train gold.jsonl --kind hmm --output model.json").err
    assert "notice: left out, as they have no token: 1 sequence, sequence 1" in said
    cli.done("decode gold.jsonl --model model.json --rules rules.toml --output out.jsonl")
    rows = [json.loads(line) for line in Path("out.jsonl").read_text().splitlines()]
    assert [(row["status"], row["labels"]) for row in rows] == [("optimal", each["labels"]) for each in GOLD]
    assert "whole sequences 100.00 % (3 of 3)" in cli.done("evaluate out.jsonl gold.jsonl").out
    assert "100.0" in cli.done("check rules.toml gold.jsonl").out
    cli.done(
        "compare gold.jsonl --model model.json --rules rules.toml --methods auto,viterbi --output compared"
    )
    cli.done("export gold.jsonl --model model.json --rules rules.toml --output programs")
    code, _, err = cli(
        "reference make gold.jsonl --model model.json --rules rules.toml --output references.jsonl"
    )
    assert (
        code
        and "1 of 3 sequences have no reference: first gold.jsonl, line 2: an empty sequence has one" in err
    )


SCORED = {"label_names": NAMES, "emissions": [], "transitions": STEPS.tolist()}


@pytest.mark.parametrize(
    "record", [SCORED, {**SCORED, "tokens": []}, {"label_names": NAMES, "logits": [], "tokens": []}]
)
def test_records(record, here, cli):
    Path("in.jsonl").write_text(json.dumps(record))
    (row,) = cli.rows("decode in.jsonl")
    assert (row["status"], row["labels"], row["score"]) == ("optimal", [], 0)


RECORDS = [
    {"tokens": ["Ada"], "id": 1},
    {"tokens": ["Ada"], "labels": ["O", "O"]},
    "no JSON",
    {"tokens": [], "id": 2},
    {"tokens": ["Ada"], "given": {"7": "O"}},
    {"tokens": ["Novak"], "id": 3},
]


@pytest.fixture
def bad(gold, cli):
    with warnings.catch_warnings(action="default"):
        cli.done("train gold.jsonl --kind hmm --output model.json")
    lines = [each if isinstance(each, str) else json.dumps(each) for each in RECORDS]
    Path("in.jsonl").write_text("\n".join(lines))


def test_bad_records_are_counted_and_left_out(bad, cli):
    assert cli("decode in.jsonl --model model.json").err.count("in.jsonl, line 2: 2 labels for 1 token") == 1
    code, out, err = cli("decode in.jsonl --model model.json --on-error row")
    rows = [json.loads(line) for line in out.splitlines()]
    assert (
        code == 1
        and [row["id"] for row in rows] == [1, 2, 3]
        and [row["sequence"] for row in rows] == [0, 1, 2]
    )
    assert "3 records rejected: first in.jsonl, line 2: 2 labels for 1 token" in err
    assert "--on-error is 'skip'; expected 'raise' or 'row'" in cli.failed(
        "decode in.jsonl --model model.json --on-error skip"
    )


def test_a_run_that_left_records_out_is_resumed(bad, cli):
    line = "decode in.jsonl --model model.json --on-error row --output out.jsonl"
    cli(line)
    whole = Path("out.jsonl").read_text()
    Path("out.jsonl").rename("out.jsonl.part")
    Path("out.jsonl.part").write_text("".join(whole.splitlines(keepends=True)[:2]))
    code, _, err = cli(line)
    rows = [json.loads(row) for row in Path("out.jsonl").read_text().splitlines()]
    assert code == 1 and [row["id"] for row in rows] == [1, 2, 3] and "3 records rejected" in err


def test_nothing_but_bad_records(here, cli):
    Path("in.jsonl").write_text('{"tokens": 1}\n{"tokens": 2}\n')
    code, out, err = cli("decode in.jsonl --on-error row")
    assert (code, out) == (1, "") and "2 records rejected: first in.jsonl, line 1" in err
