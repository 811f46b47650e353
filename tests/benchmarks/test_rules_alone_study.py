"""Rules alone and left out, and what the report says of those that were tried in one way only."""

from pandas import DataFrame

from benchmarks.studies.rules_alone import sentences, table_of
from benchmarks.studies.rules_alone.settings import Problems
from formulations import RuleSet, Trellis
from formulations import constraints as C


def problems():
    """Viterbi labels a b a; gold is a b b."""
    trellis = Trellis.from_emissions(
        [[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]], [[0.0, 0.0]] * 2, labels=["a", "b"]
    )
    rules = RuleSet(
        (
            C.at_most_runs("a", 1, penalty=3.0, name="once"),
            C.starts_with("b", penalty=0.5, name="first"),
            C.feature(label="b", weight=0.1, name="b"),
        )
    )
    return Problems((trellis,), ((("x", "y", "z"), ("a", "b", "b")),), rules)


def test_a_rule_alone_and_all_others():
    own = problems()
    assert [item.name for item in own.chosen("first", without=False)] == ["first"]
    assert [item.name for item in own.chosen("first", without=True)] == ["once", "b"]


def test_labellings_that_break_a_rule_are_counted():
    own = problems()
    viterbi = [solution.labels for solution in own.baseline]
    gold = [labels for _, labels in own.pairs]
    assert (own.broken("once", viterbi), own.broken("once", gold)) == (1, 0)
    assert own.broken("first", gold) == 1
    assert own.broken("b", gold) is None


def test_decoding_is_under_the_chosen_rules():
    own = problems()
    [solution], spent = own.decoded(own.chosen("once", without=False))
    assert solution.violations == {"once": 0}
    assert spent > 0


def row(rule, *, without=False):
    """A rule without any effect."""
    gains = {"tokens": [90.0, 0.0, 0.0, 0.0], "spans": [80.0, 0.0, 0.0, 0.0], "whole": [70.0, 0.0, 0.0, 0.0]}
    return {"part": "p", "model": "m", "rule": rule, "without": without} | gains


def test_rules_that_were_not_tried_alone_are_left_out():
    rows = [row("one"), row("one", without=True), row("two", without=True)]
    assert table_of(DataFrame(rows)).rule.tolist() == ["one", "one"]


def test_rules_that_were_not_left_out_are_not_called_idle():
    rows = [row("one"), row("one", without=True), row("two")]
    assert [*sentences(table_of(DataFrame(rows)))] == ["Without any effect, alone or left out: “one”."]
