"""Rules that are written and read again have the same digest, so that proofs and references stay valid."""

import math
import tomllib

from hypothesis import given, settings
from hypothesis import strategies as st
from support.effort import examples
from support.rule_schema import validator
from support.strategies import LABEL_SETS, TOKENS, cases

import ilpinfer
from formulations import Feature, LabelSet, Rule, RuleSet, Trellis, dump_rules, parse_rules
from formulations import constraints as C
from formulations.constraints.formulas import Text
from formulations.constraints.template import TEMPLATES
from formulations.parameters import Words
from formulations.problem.compiled_rules import compile_rules
from ilpinfer.references.making import make

PLAIN = LabelSet(("a", "b", "c", "O"), "plain")
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
INNER = C.group("inner", ["a", "O"])
GROUPS = [
    C.group("g", ["a", "b"]),
    C.group("nested", [INNER, "c"]),
    C.group("with a complement", [C.other_than("a", INNER), "c"]),
    C.Group("not these", ("a", INNER), complement=True),
    C.other_than("a"),
    C.other_than("b", C.other_than("c", INNER)),
]
NAMED = [group for group in GROUPS if not group.name.startswith("other than")]
AFTER = C.define("after", ["A", "B"], logic="forall t: B(t) -> exists s < t: A(s) or g(s)", groups=GROUPS[:1])
FEW = C.define("few", ["F"], linear="runs(F) + runs(nested) <= 2", groups=GROUPS)
FILE = """
fields = ["a", "b"]
[groups]
g = ["a", "b"]
unused = ["b"]
[[template]]
name = "first_of_all"
parameters = ["F"]
logic = "forall t: at_start(F, t) or not F(t)"
[[template]]
name = "at_start"
parameters = ["F", "t"]
logic = "t = 0 and F(t)"
[[template]]
name = "never_used"
parameters = ["F"]
linear = "runs(F) <= 1"
[[rule]]
linear = "tokens(a) <= 2"
[[rule]]
logic = "forall t: at_start(g, t) -> g(t + 1)"
[[rule]]
template = "first_of_all"
F = ["b", "g"]
penalty = 1
[[rule]]
template = "matches"
regex = "a* 'g' .*"
"""


def from_file() -> list[Rule]:
    return parse_rules(FILE).rules


@st.composite
def selectors(draw):
    one = st.one_of(st.sampled_from(["a", "b", "c", "O"]), st.sampled_from(GROUPS))
    return draw(st.one_of(one, st.lists(one, min_size=1, max_size=3)))


@st.composite
def words(draw):
    result = Words(draw(st.lists(st.sampled_from(TOKENS), min_size=1, unique=True)))
    result.source = draw(st.sampled_from(["", "names.txt"]))
    return result


@st.composite
def options(draw):
    penalty = draw(st.one_of(st.just(math.inf), st.integers(1, 4), st.floats(1e-5, 1e6)))
    return {"penalty": penalty, "reason": draw(TEXTS)}


@st.composite
def grouped(draw):
    """A rule or feature with groups, in each of the forms that can name one."""
    A, B, n = draw(selectors()), draw(selectors()), draw(st.integers(0, 3))
    over = draw(st.sampled_from(["tokens", "runs"]))
    name, groups = draw(st.sampled_from(NAMED)).name, draw(st.permutations(NAMED))
    return draw(
        st.sampled_from(
            [
                lambda how: C.at_most_runs(A, n, distance="hamming", **how),
                lambda how: C.forbidden_transition(A, B, partial="forced", **how),
                lambda how: C.precedence(A, B, **how),
                lambda how: C.linear(f"runs('{name}') - tokens(a) <= {n}", groups=groups, **how),
                lambda how: C.linear(f"tokens(a) <= {n}", groups=groups, partial="forced", **how),
                lambda how: C.logic(f"forall t: '{name}'(t) -> not c(t + 1)", groups=groups, **how),
                lambda how: C.logic("exists t: a(t)", groups=groups, **how),
                lambda how: C.logic(f"forall t: X(t) -> '{name}'(t)", groups=groups, scope="each label", **how),
                lambda how: C.linear("runs(X) + runs(Y) <= 3", groups=groups, scope="each pair", **how),
                lambda how: C.matches(f"a* ('{name}' | c)+ .*", over, groups=groups, **how),
                lambda how: C.matches("a* .*", over, groups=groups, **how),
                lambda how: C.at_most_runs(C.group("scoped", ["X", INNER]), n, scope="each label", **how),
                lambda how: AFTER(A, B, **how),
                lambda how: FEW(A, **how),
                lambda how: C.tag_at(A, words=draw(words()), previous=C.tokens(draw(words())), **how),
                lambda how: Feature(draw(st.sampled_from([-1, 0.5, 3])), label=A, words=draw(words()), reason=how["reason"]),
                lambda how: C.feature(weight=1.5, from_=A, to=B),
                lambda how: C.feature(weight=1.5, to=B, pattern="x+", ignore_case=False),
            ]
        )
    )(draw(options()))  # fmt: skip


def digest(rules, labels=PLAIN):
    return compile_rules(rules, labels).digest


@settings(max_examples=examples(300))
@given(
    st.lists(st.one_of(grouped(), cases(PLAIN).map(lambda case: case.rule)), max_size=5),
    st.lists(st.sampled_from(NAMED), unique=True),
    st.booleans(),
)
def test_rules_written_and_read_again_have_the_same_digest(items, groups, more):
    items += from_file() if more else []
    rules = RuleSet(tuple(items), fields=("b", "a"), name="rules", groups=tuple(groups))
    again = parse_rules(dump_rules(rules))
    assert digest(again) == digest(rules)
    assert dump_rules(again) == dump_rules(parse_rules(dump_rules(again)))
    labelling, tokens = ["a", "b", "O", "c"], ["x", "pp", "1999", "."]
    for one, other in zip(rules.rules, again.rules, strict=True):
        assert one.violations(labelling, tokens=tokens, labels=PLAIN) == other.violations(
            labelling, tokens=tokens, labels=PLAIN
        )


@settings(max_examples=examples(200))
@given(st.sampled_from(LABEL_SETS), st.data())
def test_rules_of_all_schemes_are_read_as_they_were_written(pair, data):
    labels = LabelSet(pair[1], pair[0])
    rules = RuleSet(tuple(data.draw(cases(labels)).rule for _ in range(3)), name="rules")
    text = dump_rules(rules)
    again = parse_rules(text)
    assert again.items == rules.items and parse_rules(dump_rules(again)) == again
    assert digest(again, labels) == digest(rules, labels)
    validator()(tomllib.loads(text))


def test_a_rule_set_from_python_beside_groups_has_a_reference():
    texts = C.linear("tokens(a) <= 2"), C.logic("exists t: b(t)"), C.matches("a* .*")
    rules = [C.at_most_runs(NAMED[0], 1), *texts]
    trellis = Trellis([1.0, 0.0, 0.5], [[[0.0, 1.0, 0.5]] * 3], labels=["a", "b", "O"], tokens=["x", "y"])
    again = parse_rules(dump_rules(rules))
    solution = ilpinfer.decode(trellis, rules)
    assert ilpinfer.verify(trellis, again, solution).ok
    assert make(trellis, rules, name="one").digest == solution.certificate.digest


def test_texts_hold_the_groups_and_formulas_that_they_name():
    first = from_file()[0].statement
    assert (first.groups, first.named) == ((), ())
    second, third = (rule.statement for rule in from_file()[1:3])
    assert isinstance(second, Text) and [f.name for f in second.named] == ["at_start"]
    assert [group.name for group in second.groups] == ["g"] and third.groups == ()
    assert [f.name for f in third.named] == ["at_start"]


def test_words_keep_the_name_of_their_file(tmp_path):
    (tmp_path / "names.txt").write_text("secret\nhidden\n", "utf-8")
    text = 'fields = ["a"]\n[[rule]]\ntemplate = "tag_at"\nfield = "a"\nwords = { file = "names.txt" }\n'
    rules = parse_rules(text, "rules", tmp_path)
    written = dump_rules(rules)
    assert 'words = {file = "names.txt", words = ["secret", "hidden"]}' in written
    again = parse_rules(written)
    assert again.rules[0].title == rules.rules[0].title == "tag_at(a, names.txt (2 words))"
    assert digest(again) == digest(rules)


def test_all_templates_are_drawn():
    """The strategies above draw each template at least once."""
    import inspect

    from support import strategies

    text = inspect.getsource(strategies) + inspect.getsource(inspect.getmodule(digest))
    assert [name for name in TEMPLATES if f"C.{name}(" not in text] == []
