"""The notice about rule sets that do not seem to fit the labels, or what a model says."""

import json
import time
from pathlib import Path

import numpy as np
import pytest
from cli.test_training import PAIRS
from support import effort

from formulations import RuleSet, Trellis, join_rules, load_rules, parse_rules
from formulations import constraints as C
from formulations.labels.reading import Reading
from ilpinfer.corpus.resumes import items
from ilpinfer.models.training import train
from ilpinfer.pipelines import fit
from ilpinfer.pipelines.fit import UnfitRule, unfit, unfit_rules

BROKEN = "is broken by 100 % of the labellings without rules where it applies"


def trellis_of(emissions, tokens=None):
    """A trellis of the labels title, author and O, without transitions."""
    tokens = tokens or ["w"] * len(emissions)
    return Trellis.from_emissions(emissions, np.zeros((3, 3)), labels=("title", "author", "O"), tokens=tokens)


def trellises(count=20, seed=0):
    """Of random scores under which every labelling ends with an author."""
    random, result = np.random.default_rng(seed), []
    for length in random.integers(2, 8, count).tolist():
        emissions = random.normal(size=(length, 3))
        emissions[-1, 1] += 50
        result.append(trellis_of(emissions))
    return result


def rule_set(*rules, fields=("title", "author"), name="own"):
    return RuleSet(rules, fields, name)


def test_what_the_catalogue_says_of_generated_items_fits():
    pairs = [(item.tokens, item.labels) for item in items(200, seed=0)]
    for count in (5, 20, 100):
        model = train("hmm", pairs[:count])
        scored = [model.trellis(tokens) for tokens, _ in pairs[100:]]
        for name in ("resume", "resume-both", "resume-one-each", "resume-title-first"):
            assert unfit(scored, load_rules(name)) == ""
    said = unfit(scored, load_rules("citations"))
    assert said.startswith(
        "citations does not seem to fit the model: 12 of 13 declared fields are not labels"
    )


def test_a_rule_that_the_labellings_break_is_named_with_their_share():
    last = C.logic("forall t: author(t) -> exists s > t: title(s)", name="a title at last")
    result = unfit(trellises(), rule_set(last, C.at_most_tokens("title", 99, name="harmless")))
    assert result == f'own does not seem to fit the model: "a title at last" {BROKEN}; run ilpinfer check'
    none, end = C.at_most_tokens("author", 0, name="none"), C.logic("not author(last)", name="end")
    assert f"{BROKEN}, and so are 2 other rules; run" in unfit(trellises(), rule_set(last, none, end))


def test_a_rule_whose_penalty_says_that_it_is_mostly_broken_fits():
    """A penalty of -log q is that of a rule which is broken on a share q of its occasions."""
    scored = [trellis_of([[1.0, 2.0 * (n % 7 > 0), 0.0]]) for n in range(100)]
    weak, strong = (rule_set(C.tag_at("title", words=["w"], name="w", penalty=nats)) for nats in (0.05, 0.5))
    assert unfit_rules(scored, weak) == []
    assert unfit_rules(scored, strong) == [UnfitRule("w", 100, 85)]


def test_absent_fields_are_counted_and_rules_about_them_alone_are_not_held_against_the_model():
    absent = C.at_least_tokens("date", 1, name="a date")
    some = rule_set(absent, fields=("title", "author", "date"))
    assert unfit(trellises(), some) == ""
    assert [each.name for each in unfit_rules(trellises(), some)] == ["a date"]
    most = rule_set(absent, fields=("author", "date", "pages"))
    absence = "2 of 3 declared fields are not labels of the model (date, pages)"
    assert (
        unfit(trellises(), most)
        == f'own does not seem to fit the model: {absence}; "a date" {BROKEN}; run ilpinfer check'
    )
    half = rule_set(C.at_most_tokens("author", 99), fields=("author", "date"))
    assert unfit(trellises(), half) == ""
    grouped = C.at_least_tokens(C.group("when", ["date", "pages"]), 1)
    text = parse_rules('fields = ["title", "date"]\n[[rule]]\nlogic = "exists t: date(t)"\n').rules[0]
    fields = ("title", "author", "O ", "date", "pages")
    assert unfit(trellises(), rule_set(grouped, text, fields=fields)).count(";") == 2


@pytest.mark.parametrize(("count", "says"), [(9, False), (10, True)])
def test_few_sequences_say_nothing(count, says):
    rules = rule_set(C.at_most_tokens("author", 0), fields=("author", "a", "b"))
    assert bool(unfit(trellises(count), rules)) == says
    assert unfit([], rules) == "" and unfit(trellises(), RuleSet(())) == ""


def test_a_rule_that_seldom_applies_is_left_alone():
    """To ten sequences of a hundred, or to one in ten: fewer do not make a rule set unfit."""
    every = trellises(100)
    at = [0, 11, 22, 33, 44, 55, 66, 77, 88, 99, 50]
    odd = trellis_of([[0.0, 9.0, 0.0], [0.0, 0.0, 9.0]], ["odd", "w"])

    def scored(count):
        return [odd if i in at[:count] else trellis for i, trellis in enumerate(every)]

    rules = rule_set(C.tag_at("title", words=["odd"], name="odd words"))
    assert unfit_rules(scored(10), rules) == [UnfitRule("odd words", 10, 10)]
    assert unfit_rules(scored(9), rules) == []


def test_shares_are_those_of_the_plain_checker_on_every_labelling(monkeypatch):
    monkeypatch.setattr(fit, "MOST_BROKEN", 0.0)
    scored = trellises(60, seed=3)
    one, first = C.at_most_runs("title", 1, name="one"), C.requires_before("author", "title", name="first")
    rules = rule_set(one, first)
    result = {each.name: each for each in unfit_rules(scored, rules)}
    for rule in rules.rules:
        applies = broken = 0
        for trellis in scored:
            names = [trellis.labels.names[k] for k in np.argmax(trellis.lattice.node, axis=1)]
            applies += bool(rule.trials(Reading(names, trellis.tokens, trellis.labels)))
            broken += rule.violations(names, tokens=trellis.tokens, labels=trellis.labels) > 0
        if rule.title in result:
            assert (result[rule.title].applies, result[rule.title].broken) == (applies, broken)
    assert result


def test_at_most_so_many_sequences_are_looked_at(monkeypatch):
    seen = []
    monkeypatch.setattr(fit, "Reading", lambda *args: seen.append(1) or Reading(*args))
    none = rule_set(C.at_most_tokens("author", 0, name="none"))
    assert unfit_rules(trellises(450), none) == [UnfitRule("none", 200, 200)]
    assert len(seen) == 200


def test_the_clock_is_looked_at_inside_a_sequence(monkeypatch):
    """Each grounding of the formula tries all pairs of tokens before it."""
    monkeypatch.setattr(fit, "SECONDS", 0.2)
    slow = C.logic("forall t: exists s < t, u < s: forall v in u..t: title(v) and label(v) != label(s)")
    scores = np.tile([0.0, 9.0, 0.0], (4000, 1))
    began = time.process_time()
    assert unfit_rules([trellis_of(scores)] * 10, rule_set(slow)) == []
    assert time.process_time() - began < effort.at_most(2)


def test_tokens_at_which_an_earlier_rule_has_priority_do_not_count():
    one, two = C.tag_at("author", words=["w"], name="first"), C.tag_at("title", words=["w"], name="second")
    assert unfit_rules([trellis_of([[0.0, 9.0, 0.0]] * 2)] * 12, rule_set(one, two)) == []


@pytest.fixture
def folder(here, cli):
    blocks = ["\n".join(map("\t".join, zip(*each, strict=True))) for each in PAIRS]
    Path("train.tsv").write_text("\n\n".join(blocks) + "\n")
    cli.done("train train.tsv --output m.json")
    return here


UNFIT = """
fields = ["author", "title", "date"]
[[rule]]
name = "titles end"
logic = "title(last)"
penalty = 5
"""


@pytest.mark.parametrize("command", ["decode --output o.jsonl", "compare --output c --methods auto,viterbi"])
def test_commands_say_it_once(command, folder, cli):
    Path("rules.toml").write_text(UNFIT)
    command += " train.tsv --model m.json"
    for _ in range(2):
        err = cli.done(f"{command} --rules rules.toml").err
        (said,) = [line for line in err.splitlines() if "does not seem to fit" in line]
        assert (
            said
            == f'ilpinfer: notice: rules.toml does not seem to fit the model: "titles end" {BROKEN}; run ilpinfer check'
        )
    Path("rules.toml").write_text(UNFIT.replace("title(last)", "date(last)"))
    for fitting in ("--rules rules.toml", "--rules bio", ""):
        assert "does not seem to fit" not in cli.done(f"{command} {fitting}").err


def test_scores_without_a_model_are_looked_at_too(folder, cli):
    Path("rules.toml").write_text(UNFIT)
    record = {"emissions": [[0, 1]] * 3, "transitions": [[0, 0]] * 2, "label_names": ["title", "O"]}
    record["tokens"] = [*"abc"]
    Path("s.jsonl").write_text((json.dumps(record) + "\n") * 12)
    lines = cli.done("decode s.jsonl --rules rules.toml --output o.jsonl").err.splitlines()
    assert lines[1:] == ["o.jsonl: 12 sequences, 12 proved"], "absent fields are not said twice"
    assert (
        "rules.toml does not seem to fit the model: 2 of 3 declared fields are not labels of the model (author, date); "
        in lines[0]
    )
    Path("s.jsonl").write_text((json.dumps(record) + "\n") * 9)
    err = cli.done("decode s.jsonl --rules rules.toml --output p.jsonl").err
    assert err.startswith("ilpinfer: notice: no label for author, date: counted as absent\np.jsonl: ")


def test_joined_rule_sets_are_one():
    rules = join_rules(
        [
            rule_set(C.at_most_runs("title", 9), name="some"),
            rule_set(C.at_most_tokens("author", 0, name="none")),
        ]
    )
    assert unfit(trellises(), rules).startswith(
        'some + own does not seem to fit the model: "none" is broken by 100 %'
    )
