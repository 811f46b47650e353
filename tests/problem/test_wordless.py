"""Rules that look at tokens, on trellises that have none."""

import json
import math
import pickle
import warnings
from pathlib import Path

import numpy as np
import pytest
from support.command_line import SCORES, run

import formulations
import ilpinfer
from formulations import Trellis, catalogue, load_rules
from formulations import constraints as C
from formulations.constraints.feature import Feature
from formulations.errors import RuleNotice
from formulations.problem.compiled_rules import compile_problem
from formulations.problem.problem import MissingTokens, NoTokens

WORDS = ("Ada", ",", "1843", "vol")


def trellis(tokens=None):
    return Trellis(np.zeros(2), np.zeros((3, 2, 2)), labels=["B-a", "O"], tokens=tokens)


READING = [
    lambda **p: C.tag_at("a", words=["Ada"], **p),
    lambda **p: C.contains_only("a", token_class="number", **p),
    lambda **p: C.right_before("a", words=["vol"], **p),
    lambda **p: C.tag_phrases("a", ["Ada Lovelace"], **p),
    lambda **p: C.tag_sequence("a", ["Ada"], **p),
    lambda **p: C.changes_only_after(**p),
    lambda **p: C.changes_never_after(words=["the"], **p),
    lambda **p: C.logic('forall t: token(t) = "Ada" -> a(t)', **p),
    lambda **p: C.logic("forall s, t: token(s) = token(t) and s != t -> not a(t)", **p),
    lambda **p: C.numbers_continue("a", **p),
    lambda **p: C.all_different(words=["Ada"], **p),
    lambda **p: C.consistent(**p),
    lambda **p: C.state_change("a", "O", token_class="punctuation", **p),
]
BLIND = [
    lambda **p: C.at_most_runs("a", 1, **p),
    lambda **p: C.requires_before("a", "O", **p),
    lambda **p: C.min_run_length("a", 2, **p),
    lambda **p: C.valid_scheme(**p),
    lambda **p: C.starts_with("a", **p),
    lambda **p: C.linear("tokens(a) <= 3", **p),
    lambda **p: C.logic("forall t: begins(a, t) -> t = 0", **p),
    lambda **p: C.at_most_in_window("a", 1, width=2, **p),
]


@pytest.mark.parametrize("penalty", [math.inf, 1.0])
@pytest.mark.parametrize("make", READING)
def test_a_rule_about_tokens_needs_tokens(make, penalty):
    rules = [make(penalty=penalty)]
    doors = [
        ilpinfer.decode,
        lambda *given: ilpinfer.decode(*given, top=2),
        lambda *given: ilpinfer.decode(*given, method="viterbi"),
        lambda *given: list(ilpinfer.decode_many([given[0]], given[1])),
        ilpinfer.marginals,
        formulations.formulate,
        lambda *given: ilpinfer.evaluate_labelling(*given, ["B-a"] * 4),
    ]
    for door in doors:
        with pytest.raises(
            NoTokens, match=": it looks at tokens, but the sequence has none; give it tokens, or"
        ):
            door(trellis(), rules)
    assert ilpinfer.decode(trellis(WORDS), rules).status in ("optimal", "infeasible")


@pytest.mark.parametrize("make", BLIND)
@pytest.mark.parametrize("distance", ["count", "binary"])
def test_rules_that_look_at_labels_alone_need_none(make, distance):
    compile_problem(trellis(), [make(distance=distance), make(penalty=1.0, name="soft")])


def test_a_feature_about_tokens_needs_tokens():
    with pytest.raises(NoTokens, match=r"^feature a: it looks at tokens"):
        compile_problem(trellis(), [Feature(1.0, "a", words=("Ada",)), C.at_most_runs("a", 1)])
    compile_problem(trellis(), [Feature(1.0, "a")])
    compile_problem(trellis([" ", "", "", ""]), [Feature(1.0, "a", words=("Ada",))])


def test_the_error_names_the_rule_and_survives_a_process():
    error = NoTokens("a word", "give tokens")
    again = pickle.loads(pickle.dumps(error))
    assert str(again) == str(error) == "a word: it looks at tokens, but the sequence has none; give tokens"
    assert (again.rule, again.way) == ("a word", "give tokens")


def test_every_rule_set_of_the_catalogue_that_looks_at_tokens_needs_them():
    needing = set()
    for name in catalogue():
        rules = load_rules(name)
        labels = list(dict.fromkeys([*rules.fields, "O"]))
        K = len(labels)
        with warnings.catch_warnings(action="ignore", category=RuleNotice):
            try:
                compile_problem(Trellis(np.zeros(K), np.zeros((2, K, K)), labels=labels), rules)
            except NoTokens:
                needing.add(name)
    assert "citations" in needing and needing != set(catalogue())


def test_words_know_whether_they_are_looked_at():
    words = MissingTokens(("", ""))
    assert len(words) == 2 and words == ("", "") and hash(words) == hash(("", "")) and not words.seen
    for look in (lambda: words[0], lambda: words[:1], lambda: list(words), lambda: [*zip(words, words)]):
        words.seen = False
        look()
        assert words.seen


def test_commands_say_that_scores_have_no_tokens(folder, capsys):
    bare = {key: value for key, value in SCORES.items() if key != "tokens"}
    Path("bare.jsonl").write_text((json.dumps(bare) + "\n") * 3 + json.dumps(SCORES) + "\n")
    text = (
        'fields = ["title"]\n[[rule]]\nname = "a word"\ntemplate = "tag_at"\nfield = "title"\nwords = ["b"]\n'
    )
    for penalty in ("", "penalty = 2\n"):
        Path("words.toml").write_text(text + penalty)
        assert run(["decode", "bare.jsonl", "--rules", "words.toml"], capsys) == (
            2,
            "",
            "ilpinfer: bare.jsonl, line 1: a word: it looks at tokens, but the sequence has none; give it tokens, or "
            "leave the rule out\n",
        )
