"""Rules that look at tokens, on trellises that have none."""

import json
import warnings
from pathlib import Path

import numpy as np
import pytest
from support.command_line import SCORES, run

import ilpinfer
from formulations import Trellis, catalogue, load_rules
from formulations import constraints as C
from formulations.constraints.feature import Feature
from formulations.problem.compiled_rules import compile_problem
from formulations.problem.missing_tokens import MissingTokens
from formulations.problem.problem import RuleNotice

WORDS = ("Ada", ",", "1843", "vol")


def trellis(tokens=None):
    return Trellis(np.zeros(2), np.zeros((3, 2, 2)), labels=["a", "O"], tokens=tokens)


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
    lambda **p: C.at_most_in_window("a", 1, 2, **p),
]


@pytest.mark.parametrize("make", READING)
def test_a_hard_rule_about_tokens_needs_tokens(make):
    with pytest.raises(
        ValueError, match=": a hard rule that looks at tokens, but the trellis has none; give it tokens"
    ):
        ilpinfer.decode(trellis(), [make()])
    assert ilpinfer.decode(trellis(WORDS), [make()]).status in ("optimal", "infeasible")


@pytest.mark.parametrize("make", READING)
def test_a_penalty_about_tokens_is_a_notice(make):
    with pytest.warns(RuleNotice, match="looks at tokens, but the trellis has none; give it tokens$"):
        assert ilpinfer.decode(trellis(), [make(penalty=1.0)]).status == "optimal"
    ilpinfer.decode(trellis(WORDS), [make(penalty=1.0)])


@pytest.mark.parametrize("make", BLIND)
@pytest.mark.parametrize("distance", ["count", "binary"])
def test_rules_that_look_at_labels_alone_need_none(make, distance):
    compile_problem(trellis(), [make(distance=distance), make(penalty=1.0, name="soft")])


def test_features_and_several_rules_are_one_notice():
    rules = [
        Feature(1.0, "a", words=("Ada",)),
        C.tag_at("a", words=["Ada"], penalty=1.0),
        C.at_most_runs("a", 1),
    ]
    with pytest.warns(RuleNotice, match="rule 'feature a' and 1 more look at tokens") as result:
        compile_problem(trellis(), rules)
    assert len(result) == 1
    compile_problem(trellis(), [Feature(1.0, "a")])
    compile_problem(trellis([" ", "", "", ""]), rules)


def test_every_rule_of_the_catalogue_says_whether_it_needs_tokens():
    needing = {}
    for name in catalogue():
        rules = load_rules(name)
        labels = [*rules.fields, "O"]
        K = len(set(labels))
        bare = Trellis(np.zeros(K), np.zeros((2, K, K)), labels=list(dict.fromkeys(labels)))
        hard = [rule for rule in rules.rules if rule.hard]
        with warnings.catch_warnings(record=True, action="always") as result:
            try:
                compile_problem(bare, rules)
            except ValueError as error:
                needing[name] = str(error)
            else:
                needing[name] = " ".join(str(w.message) for w in result)
        assert hard or "hard rule" not in needing[name]
    assert "look at tokens" in needing["citations"]


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
    Path("words.toml").write_text(text)
    code, out, err = run(["decode", "bare.jsonl", "--rules", "words.toml"], capsys)
    assert (code, out) == (2, "")
    assert err == (
        "ilpinfer: bare.jsonl, line 1: a word: a hard rule that looks at tokens, but the trellis has none; give it tokens\n"
    )
    Path("words.toml").write_text(text + "penalty = 2\n")
    code, out, err = run(["decode", "bare.jsonl", "--rules", "words.toml"], capsys)
    assert code == 0
    assert [json.loads(line)["violations"] for line in out.splitlines()] == [{"a word": 0}] * 4
    assert err == (
        "ilpinfer: notice: bare.jsonl, line 1: rule 'a word' looks at tokens, but the trellis has none; give it tokens; 2 more "
        "sequences have none either\n"
    )
