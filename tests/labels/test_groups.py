"""Groups that share members: each is looked at once, however deep they lie inside one another."""

import pickle

import pytest

import ilpinfer
from formulations import Group, LabelSet, RuleError, Trellis, dump_rules, parse_rules
from formulations import constraints as C

LEVELS = 60
RULES = [
    'template = "at_most_runs"\nfield = "g59"',
    'template = "at_most_runs"\nfield = ["h59", "g59"]',
    'linear = "runs(h59) <= 1"',
    'logic = "forall t: g59(t) -> field(t) = h59"',
    'template = "matches"\nregex = "(h59 | n)*"',
    'template = "never_together"\nfield = "X"\nother = "n"\nscope = "each label"',
    'template = "at_most_runs"\nfield = { not = ["g59", "each field"] }',
]


def shared() -> str:
    lines = ['fields = ["a", "b"]', "[groups]", 'g0 = ["a", "b"]', 'h0 = ["b", "a"]']
    for i in range(1, LEVELS):
        lines += [f'g{i} = ["g{i - 1}", "h{i - 1}"]', f'h{i} = ["h{i - 1}", "g{i - 1}"]']
    return "\n".join([*lines, 'n = { not = ["h59"] }', *(f"[[rule]]\n{rule}" for rule in RULES)])


def test_groups_that_share_members_take_no_time():
    rules = parse_rules(shared())
    assert parse_rules(dump_rules(rules)) == rules == pickle.loads(pickle.dumps(rules))
    trellis = Trellis([0.0] * 3, [[[0.0] * 3] * 3] * 3, labels=["a", "b", "O"])
    solution = ilpinfer.decode(trellis, rules)
    assert solution.status == "optimal" and ilpinfer.verify(trellis, rules, solution).proved
    assert [rule.violations(list("abOa")) for rule in rules.rules] == [1, 1, 1, 0, 0, 2, 0]
    assert all(len(repr(group)) < 100 for group in rules.groups)


def test_a_group_within_a_group_counts_as_its_members():
    labels = LabelSet(("B-a", "I-a", "B-b", "I-b", "O"))
    inner = C.group("inner", ["a", "b"])
    outer = C.group("outer", [inner, C.other_than("a", "b", "O")])
    names = ["B-a", "B-a", "B-b", "O", "I-b"]
    for field in (inner, outer, ("a", "b")):
        assert C.at_most_runs(field, 0).violations(names, labels=labels) == 3
        assert (labels.field(field).begins == labels.field(inner).begins).all()


def test_equal_groups_are_equal_and_others_are_not():
    def made() -> Group:
        group = Group("g", ("a",))
        for level in range(45):
            group = Group(f"g{level}", (group, Group(f"h{level}", (group, "b"))))
        return group

    assert made() == made() and hash(made()) == hash(made())
    assert (
        len({Group("g", ("a",)), Group("g", ("a", "a")), Group("g", ("b",)), Group("g", ("a",), True)}) == 3
    )
    assert Group("g", ("a", "bc")) != Group("g", ("ab", "c"))
    assert Group("g", (Group("h", ("a",)),)) != Group("g", ("h",))


def test_groups_too_deep_are_refused_with_their_place():
    lines = ['fields = ["a"]', "[groups]", 'g0 = ["a"]', *(f'g{i} = ["g{i - 1}"]' for i in range(1, 150))]
    with pytest.raises(RuleError, match=r"groups lie more than 100 deep.*\(line 103, ") as result:
        parse_rules("\n".join(lines))
    assert "^" in result.value.excerpt
