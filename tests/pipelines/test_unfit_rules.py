"""The notice about rule sets that hardly fit the labels, or what a model says."""

import json
from pathlib import Path

import numpy as np
import pytest
from cli.test_training import PAIRS

from formulations import RuleSet, Trellis, join_rules, load_rules, parse_rules
from formulations import constraints as C
from ilpinfer.cli import main
from ilpinfer.corpus.resumes import items
from ilpinfer.models.training import train
from ilpinfer.pipelines import fit
from ilpinfer.pipelines.fit import UnfitRule, unfit, unfit_rules

SEQUENCES = [(tuple(tokens), tuple(labels)) for tokens, labels in PAIRS]


def trellises(count=20, seed=0, labels=("title", "author", "O")):
    """Of random scores under which every labelling ends with an author."""
    random = np.random.default_rng(seed)
    for length in random.integers(2, 8, count).tolist():
        emissions = random.normal(size=(length, len(labels)))
        emissions[-1, 1] += 50
        yield Trellis.from_emissions(emissions, np.zeros((3, 3)), labels=labels, tokens=["w"] * length)


def rule_set(*rules, fields=("title", "author"), name="own"):
    return RuleSet(rules, fields, name)


def test_what_the_catalogue_says_of_generated_items_fits():
    pairs = [(item.tokens, item.labels) for item in items(200, seed=0)]
    for count in (5, 20, 100):
        model = train("hmm", pairs[:count])
        scored = [model.trellis(tokens) for tokens, _ in pairs[100:]]
        for name in ("resume", "resume-both", "resume-one-each", "resume-title-first", "bio"):
            assert unfit(scored, load_rules(name)) == ""
    assert unfit(scored, load_rules("citations")).startswith(
        "citations hardly fits: 12 of 13 fields are not among"
    )


def test_a_rule_that_the_labellings_break_is_named_with_their_share():
    last = C.logic("forall t: author(t) -> exists s > t: title(s)", name="a title at last")
    result = unfit(list(trellises()), rule_set(last, C.at_most_tokens("title", 99, name="harmless")))
    assert result == (
        'own hardly fits: "a title at last" is broken by 100 % of the model\'s own labellings where it applies; '
        "see ilpinfer check"
    )
    several = rule_set(
        last, C.at_most_tokens("author", 0, name="none"), C.logic("not author(last)", name="end")
    )
    result = unfit(list(trellises()), several)
    assert "100 % of the model's own labellings where it applies, and so are 2 more; see" in result


def test_a_rule_whose_penalty_says_that_it_is_mostly_broken_fits():
    """A penalty of -log q is that of a rule which is broken on a share q of its occasions."""
    wrong = [n % 7 > 0 for n in range(100)]
    scored = [
        Trellis.from_emissions(
            [[1.0, 2.0 * own, 0.0]], np.zeros((3, 3)), labels=("title", "author", "O"), tokens=["w"]
        )
        for own in wrong
    ]
    weak, strong = (rule_set(C.tag_at("title", words=["w"], name="w", penalty=nats)) for nats in (0.05, 0.5))
    assert unfit_rules(scored, weak) == []
    assert unfit_rules(scored, strong) == [UnfitRule("w", 100, 85)]


def test_absent_fields_are_counted_and_rules_about_them_alone_are_not_held_against_the_model():
    absent = C.at_least_tokens("date", 1, name="a date")
    some = rule_set(absent, fields=("title", "author", "date"))
    assert unfit(list(trellises()), some) == ""
    assert [each.name for each in unfit_rules(list(trellises()), some)] == ["a date"]
    most = rule_set(absent, fields=("author", "date", "pages"))
    assert unfit(list(trellises()), most) == (
        "own hardly fits: 2 of 3 fields are not among the labels (date, pages); "
        '"a date" is broken by 100 % of the model\'s own labellings where it applies; see ilpinfer check'
    )
    half = rule_set(C.at_most_tokens("author", 99), fields=("author", "date"))
    assert unfit(list(trellises()), half) == ""
    grouped = C.at_least_tokens(C.group("when", ["date", "pages"]), 1)
    text = parse_rules('fields = ["title", "date"]\n[[rule]]\nlogic = "exists t: date(t)"\n').rules[0]
    fields = ("title", "author", "O ", "date", "pages")
    assert unfit(list(trellises()), rule_set(grouped, text, fields=fields)).count(";") == 2


@pytest.mark.parametrize(("count", "says"), [(9, False), (10, True)])
def test_few_sequences_say_nothing(count, says):
    rules = rule_set(C.at_most_tokens("author", 0), fields=("author", "a", "b"))
    assert bool(unfit(list(trellises(count)), rules)) == says
    assert unfit([], rules) == "" and unfit(list(trellises()), RuleSet(())) == ""


def test_a_rule_that_seldom_applies_is_left_alone():
    """To ten sequences of a hundred, or to one in ten: fewer do not make a rule set unfit."""
    every = list(trellises(100))
    at = [0, 11, 22, 33, 44, 55, 66, 77, 88, 99, 50]
    scores = [[0.0, 9.0, 0.0], [0.0, 0.0, 9.0]]

    def scored(count):
        odd = Trellis.from_emissions(
            scores, np.zeros((3, 3)), labels=("title", "author", "O"), tokens=["odd", "w"]
        )
        return [odd if i in at[:count] else trellis for i, trellis in enumerate(every)]

    rules = rule_set(C.tag_at("title", words=["odd"], name="odd words"))
    assert unfit_rules(scored(10), rules) == [UnfitRule("odd words", 10, 10)]
    assert unfit_rules(scored(9), rules) == []


def test_shares_are_those_of_the_plain_checker_on_every_labelling(monkeypatch):
    monkeypatch.setattr(fit, "MOST_BROKEN", 0.0)
    scored = list(trellises(60, seed=3))
    rules = rule_set(
        C.at_most_runs("title", 1, name="one title"), C.requires_before("author", "title", name="title first")
    )
    result = {each.name: each for each in unfit_rules(scored, rules)}
    for rule in rules.rules:
        applies = broken = 0
        for trellis in scored:
            names = [trellis.labels.names[k] for k in np.argmax(trellis.lattice.node, axis=1)]
            applies += bool(rule.trials(_reading(names, trellis)))
            broken += rule.violations(names, trellis.tokens, trellis.labels) > 0
        if rule.title in result:
            assert (result[rule.title].applies, result[rule.title].broken) == (applies, broken)
    assert result


def _reading(names, trellis):
    from formulations.labels.reading import Reading

    return Reading(names, trellis.tokens, trellis.labels)


def test_at_most_so_many_sequences_are_looked_at(monkeypatch):
    scored = list(trellises(450))
    seen = []
    original = fit.Reading
    monkeypatch.setattr(fit, "Reading", lambda *args: seen.append(1) or original(*args))
    assert unfit_rules(scored, rule_set(C.at_most_tokens("author", 0, name="none"))) == [
        UnfitRule("none", 200, 200)
    ]
    assert len(seen) == 200


def test_tokens_at_which_an_earlier_rule_has_priority_do_not_count():
    rules = rule_set(
        C.tag_at("author", words=["w"], name="first"),
        C.tag_at("title", words=["w"], name="second"),
    )
    scores = [[0.0, 9.0, 0.0]] * 2
    scored = [
        Trellis.from_emissions(scores, np.zeros((3, 3)), labels=("title", "author", "O"), tokens=["w"] * 2)
    ] * 12
    assert unfit_rules(scored, rules) == []


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("train.tsv").write_text(
        "\n\n".join("\n".join(map("\t".join, zip(*each, strict=True))) for each in PAIRS) + "\n"
    )
    assert main(["train", "train.tsv", "--output", "m.json"]) == 0
    return tmp_path


UNFIT = """
fields = ["author", "title", "date"]
[[rule]]
name = "titles end"
logic = "title(last)"
penalty = 5
"""


@pytest.mark.parametrize(
    "command", [["decode", "--output", "o.jsonl"], ["compare", "--output", "c", "--methods", "auto,viterbi"]]
)
def test_commands_say_it_once(command, folder, capsys):
    Path("rules.toml").write_text(UNFIT)
    capsys.readouterr()
    call = [command[0], "train.tsv", "--model", "m.json", *command[1:]]
    for _ in range(2):
        assert main([*call, "--rules", "rules.toml"]) == 0
        lines = [line for line in capsys.readouterr().err.splitlines() if "hardly" in line]
        assert lines == [
            'ilpinfer: notice: rules.toml hardly fits: "titles end" is broken by 100 % of the model\'s own labellings '
            "where it applies; see ilpinfer check"
        ]
    Path("rules.toml").write_text(UNFIT.replace("title(last)", "date(last)"))
    for fitting in (["--rules", "rules.toml"], ["--rules", "bio"], []):
        assert main([*call, *fitting]) == 0
        assert "hardly" not in capsys.readouterr().err


def test_scores_without_a_model_are_looked_at_too(folder, capsys):
    Path("rules.toml").write_text(UNFIT)
    record = {
        "emissions": [[0, 1]] * 3,
        "transitions": [[0, 0]] * 2,
        "label_names": ["title", "O"],
        "tokens": [*"abc"],
    }
    Path("s.jsonl").write_text((json.dumps(record) + "\n") * 12)
    assert main(["decode", "s.jsonl", "--rules", "rules.toml", "--output", "o.jsonl"]) == 0
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1, "absent fields are not said twice"
    assert "rules.toml hardly fits: 2 of 3 fields are not among the labels (author, date); " in lines[0]
    Path("s.jsonl").write_text((json.dumps(record) + "\n") * 9)
    assert main(["decode", "s.jsonl", "--rules", "rules.toml", "--output", "p.jsonl"]) == 0
    assert capsys.readouterr().err == "ilpinfer: notice: no label for author, date: counted as absent\n"


def test_joined_rule_sets_are_one():
    rules = join_rules([load_rules("bio"), rule_set(C.at_most_tokens("author", 0, name="none"))])
    assert unfit(list(trellises()), rules).startswith('bio + own hardly fits: "none" is broken by 100 %')
