"""Texts of rules: files, formulas, templates of one's own; what is wrong in them is said with its place."""

import math
import time
import tomllib

import fastjsonschema
import numpy as np
import pytest
from support.effort import at_most
from support.rule_schema import FILE, schema_text, validator

import ilpinfer
from formulations import LabelSet, RuleError, RuleSet, Trellis, catalogue, dump_rules, load_rules, parse_rules
from formulations import constraints as C
from formulations.errors import RuleNotice
from formulations.problem.compiled_rules import compile_problem
from formulations.rulefiles.loading import CATALOGUE
from formulations.rulefiles.toml_text import dumps

PLAIN = LabelSet(("a", "b", "O"))


def test_the_file_of_the_schema_is_what_templates_say():
    assert FILE.read_text("utf-8") == schema_text(), "python -m support.rule_schema writes it anew"


@pytest.mark.parametrize("entry", catalogue())
def test_the_catalogue_keeps_to_the_schema(entry):
    validator()(tomllib.loads((CATALOGUE / f"{entry}.toml").read_text("utf-8")))


@pytest.mark.parametrize(
    "table",
    [
        {"template": "at_most_runs", "field": "a", "m": 1},
        {"template": "at_most_runs"},
        {"template": "at_most_runs", "field": "a", "penalty": -1},
        {"linear": "runs(a) <= 1", "logic": "true"},
        {"logic": "true", "scope": "each word"},
    ],
)
def test_the_schema_refuses_what_the_reader_refuses(table):
    with pytest.raises(fastjsonschema.JsonSchemaException):
        validator()({"fields": ["a"], "rule": [table]})
    with pytest.raises(RuleError):
        parse_rules(dumps({"fields": ["a"], "rule": [table]}))


DEFINING = """
fields = ["a", "b"]
[[template]]
name = "after"
parameters = ["X", "Y"]
logic = "forall t: Y(t) -> some_before(X, t)"
[[template]]
name = "some_before"
parameters = ["F", "t"]
logic = "exists s < t: F(s)"
[[template]]
name = "few"
parameters = ["F"]
linear = "tokens(F) <= 1"
[[rule]]
template = "after"
X = "a"
Y = "b"
[[rule]]
template = "few"
F = { not = ["a", "b"] }
penalty = 2.0
[[rule]]
name = "not next to itself"
logic = "forall t > 0: X(t - 1) -> not X(t)"
scope = "each label"
"""


def test_templates_of_one_s_own_in_a_file():
    rules = parse_rules(DEFINING)
    after, few, apart = rules.rules
    labellings = list("abb"), list("bba"), list("OOa")
    counts = [[rule.violations(y, labels=PLAIN) for y in labellings] for rule in (after, few, apart)]
    assert counts == [[0, 2, 0], [0, 0, 1], [1, 1, 0]]
    assert after.title == "after(a, b)"
    assert parse_rules(dump_rules(rules)) == rules


def test_templates_of_one_s_own_in_python():
    near = C.define("near", ["A", "B"], logic="forall t: A(t) -> exists s in t-1..t+1: B(s)")
    assert near("a", "b", penalty=2).violations(list("aOb")) == 1
    quota = C.define("quota", ["A"], linear="tokens(A) <= 1")
    assert quota(("a", "b")).violations(list("aba")) == 2


def test_a_class_of_one_s_own():
    from formulations.constraints.steps import everywhere, violations_at

    try:

        class NeverSeen(C.Template):
            """No token of a field."""

            field: str

            def components(self, labels):
                return [violations_at(everywhere(labels.field(self.field).member[None, :]))]

            def trials(self, reading):
                return [C.Trial((t,), 1) for t in reading.positions(self.field)]

        rule = C.template(NeverSeen)("a", penalty=1)
        trellis = Trellis([0.0] * 3, [], labels=PLAIN)
        assert rule.violations(list("aba")) == 2 and rule.title == "never_seen(a)"
        assert compile_problem(trellis, [rule]).fold().rules == ()
        with pytest.raises(ValueError, match="there is a template 'never_seen' already"):
            C.template(NeverSeen)
    finally:
        C.TEMPLATES.pop("never_seen", None)


def test_words_may_come_from_a_file(tmp_path):
    (tmp_path / "names.txt").write_text("# companies\nAcme Steel\n\nOberon\n", "utf-8")
    (tmp_path / "rules.toml").write_text(
        'fields = ["c"]\n[[rule]]\ntemplate = "tag_phrases"\nfield = "c"\nphrases = { file = "names.txt" }\n'
    )
    (rule,) = load_rules(tmp_path / "rules.toml").rules
    assert rule.statement.phrases == ("Acme Steel", "Oberon")
    assert rule.violations(["O", "O", "c"], tokens=["acme", "steel", "x"], labels=LabelSet(("c", "O"))) == 2


def test_an_expression_that_can_match_nothing_is_broken_whatever_the_labels_are():
    few, more = LabelSet(("a",)), LabelSet(("a", "b"))
    for rule, labels in (
        (C.matches("!a"), few),
        (C.matches("!a", over="runs"), few),
        (C.matches("b a"), few.with_optional_fields(["b"])),
        (C.matches("a !a a | !'a'+"), few),
    ):
        trellis = Trellis(np.zeros(1), np.zeros((2, 1, 1)), labels=few)
        rules = RuleSet((rule,), ("b",) if "b" in labels.optional_fields else ())
        with pytest.warns(RuleNotice) as caught:
            problem = compile_problem(trellis, rules)
        assert "can match nothing with these labels: every labelling breaks it" in str(caught[-1].message)
        assert rule.violations(["a"] * 3, labels=labels) == 1
        assert problem.rules[0].violations(np.zeros(3, np.int64)) == 1
    trellis = Trellis(np.zeros(2), np.zeros((2, 2, 2)), labels=more)
    problem = compile_problem(trellis, [C.matches("!a b*")])
    assert problem.rules[0].violations(np.array([1, 1, 1])) == 0


def test_limits_are_stated(tmp_path):
    large = tmp_path / "large.toml"
    large.write_text("# " + "x" * 10 * 2**20)
    with pytest.raises(RuleError, match=r"10\.0 MiB; at most 4 MiB are read: put long lists"):
        load_rules(large)
    with pytest.raises(ValueError, match="a formula may have at most 20000"):
        C.logic("not " * 6000 + "true").violations(["a"])
    with pytest.raises(ValueError, match="more than 150 deep"):
        C.logic("not " * 4900 + "true").violations(["a"])
    began = time.perf_counter()
    with pytest.raises(ValueError, match="more than 10000 states"):
        C.matches("(a | b)* a (a | b){20}").ground(PLAIN, ["x"])
    with pytest.raises(ValueError, match="3000000 groundings"):
        C.logic("forall s, t, u, v: label(s) = label(t) or label(u) = label(v)").ground(PLAIN, ["x"] * 60)
    assert time.perf_counter() - began < at_most(60)


def test_a_formula_of_two_quantifiers_grows_with_the_square():
    def size(length: int) -> int:
        return len(rule.ground(PLAIN, ["x"] * length)[-1].gates.nodes)

    rule = C.logic("forall t: a(t) -> exists s != t: b(s)")
    assert size(80) < 4.5 * size(40)
    rule = C.logic("forall t: a(t) -> exists s < t: b(s)")
    assert size(200) < 2.1 * size(100)


def test_penalties_are_nats_or_hard():
    text = 'fields = ["a"]\n[[rule]]\nlinear = "runs(a) <= 1"\npenalty = {}\n'
    assert parse_rules(text.format('"hard"')).rules[0].penalty == math.inf
    assert parse_rules(text.format("inf")).rules[0].penalty == math.inf
    assert parse_rules(text.format("2.5")).rules[0].penalty == 2.5


def test_a_rule_that_counts_once_is_folded_once():
    """Two groundings that say the same of one token: 2 violations, 1 by the binary distance."""
    trellis = Trellis([0.0, 3.0], [], labels=LabelSet(("a", "b")))
    rule = C.logic("forall s, X in fields: a(s)", penalty=2.0, distance="binary")
    assert compile_problem(trellis, [rule]).fold().rules == ()
    assert ilpinfer.decode(trellis, [rule]).score == 1.0


def test_time_limits_count_what_stating_a_formula_takes():
    K, T = 20, 150
    labels = LabelSet(tuple(f"f{i}" for i in range(K)))
    trellis = Trellis.from_emissions([[0.0] * K] * T, [[0.0] * K] * K, labels=labels)
    rule = C.logic("forall s, t: label(s) = label(t)", penalty=1.0)
    ilpinfer.decode(trellis, [], method="cp-sat")
    for decode in (ilpinfer.decode, ilpinfer.decode_two_phase):
        for method in ("auto", "cp-sat"):
            solution = decode(trellis, [rule], method=method, time_limit=0.3)
            assert (solution.status, solution.has_labelling, solution.bound) == ("unknown", False, math.inf)
            assert solution.seconds < at_most(1.3) and "no time left" in solution.method


def test_a_rule_file_without_a_rule_is_noticed(here, cli):
    (here / "empty.toml").write_text('fields = ["a"]\n', "utf-8")
    with pytest.warns(RuleNotice, match=r"^empty\.toml: no rule and no feature$"):
        load_rules("empty.toml")
    assert len(load_rules("empty.toml", "bio")) == 1
    (here / "in.jsonl").write_text('{"start": [0, 1], "edges": [], "label_names": ["a", "O"]}\n', "utf-8")
    assert "empty.toml: no rule and no feature" in cli.done("decode in.jsonl --rules empty.toml").err


def test_zeros_before_a_number_count_for_nothing():
    for text in (
        'linear = "tokens(a) <= {}"',
        'linear = "{} * tokens(a) <= 1"',
        'logic = "forall t: a(t + {})"',
    ):
        assert parse_rules(f'fields = ["a"]\n[[rule]]\n{text.format("0" * 5000 + "1")}')


def test_a_quoted_field_can_be_an_argument_of_a_named_formula():
    text = """
fields = ["job title", "date"]
[[template]]
name = "after"
parameters = ["A", "B"]
logic = "forall t: A(t) -> exists s < t: B(s)"
[[rule]]
logic = 'after("job title", date)'
"""
    (rule,) = parse_rules(text).rules
    labels = LabelSet(("job title", "date"))
    assert rule.violations(["job title", "date"], labels=labels) == 1
    assert rule.violations(["date", "job title"], labels=labels) == 0


def test_named_formulas_that_branch_are_bounded():
    """Ten times two calls are taken; thirty times are refused."""
    branching = [
        {"name": f"f{i}", "parameters": ["t"], "logic": f"f{i + 1}(t) and f{i + 1}(t)" if i < 10 else "a(t)"}
        for i in range(11)
    ]
    document = {"fields": ["a"], "template": branching, "rule": [{"logic": "forall t: f0(t)"}]}
    began = time.perf_counter()
    assert parse_rules(dumps(document)).rules[0].violations(list("ab"), labels=LabelSet(("a", "b"))) == 1
    assert time.perf_counter() - began < at_most(20)
    long = C.logic("forall t: " + " and ".join(["a(t)"] * 1500))
    assert long.violations(list("ab"), labels=LabelSet(("a", "b"))) == 1


def test_rules_made_in_python_bring_their_templates_and_groups_along():
    named = C.group("named", ["a", "b"])
    near = C.define("near", ["A"], logic="forall t: A(t) -> named(t)", groups=[named])
    few = C.define("few", ["A"], linear="tokens(A) <= 1")
    rules = [near(A="c"), few("c", penalty=2.0), C.matches("named+ c*", groups=(named,))]
    again = parse_rules(dump_rules(rules))
    assert again.fields == ("c", "a", "b")
    assert [rule.statement.rule_name for rule in again] == ["near", "few", "matches"]
    assert parse_rules(dump_rules(again)) == again
    for y in ("abc", "cab", "ccc"):
        labels = LabelSet(("a", "b", "c"))
        expected = [rule.violations(list(y), labels=labels) for rule in rules]
        assert [rule.violations(list(y), labels=labels) for rule in again] == expected


def test_a_model_may_have_labels_that_a_file_does_not_declare():
    (rule,) = parse_rules('[[rule]]\ntemplate = "matches"\nregex = "(!O)+"\n').rules
    assert [rule.violations(list(y), labels=LabelSet(("a", "O"))) for y in ("aa", "aO")] == [0, 1]
