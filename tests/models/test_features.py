"""Feature templates: what attributes say, what files may hold, and messages for what they may not."""

import itertools
import pickle

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.effort import examples

import ilpinfer
from formulations import constraints as C
from formulations.caches import LONGEST_TEXT, MOST_TEXTS
from ilpinfer.models.crf.attributes import WORD_ATTRIBUTES, bucket, short_shape
from ilpinfer.models.crf.contexts import CONTEXT_ATTRIBUTES, lines, segments
from ilpinfer.models.crf.features import _Memo
from ilpinfer.models.crf.templates import (
    TemplateError,
    load_template,
    read_template,
    template_names,
    with_rules,
)
from ilpinfer.models.files import load_model
from ilpinfer.models.training import train

EXPERIENCE = ("Engineer", "@newline@", "Acme", "Ltd", ",", "Pune", "@newline@", "@newline@")
LINES = (*EXPERIENCE, "May", "2019", "-", "today")


def features(written, tokens, **tables):
    return load_template({"features": [written], **tables}).features(tokens)


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("lower", [["lower[0]=on"], ["lower[0]=trees"]]),
        ("lower[-1]", [[], ["lower[-1]=on"]]),
        ("lower[-1..1]", [["lower[0]=on", "lower[1]=trees"], ["lower[-1]=on", "lower[0]=trees"]]),
        ("prefix:1..2", [["prefix:1[0]=o"], ["prefix:1[0]=t", "prefix:2[0]=tr"]]),
        ("first", [["first[0]"], []]),
        ("lower & last[1]", [["lower[0]=on & last[1]"], []]),
        ("case & lower[1]", [["case[0]=capitalised & lower[1]=trees"], []]),
    ],
)
def test_windows_ranges_and_conjunctions(written, expected):
    assert features(written, ("On", "trees")) == expected


def test_word_lists_patterns_phrases_and_what_stands_around():
    tokens = ("In", "New", "York", ",", "1999")
    assert features("city", tokens, words={"city": ["york"]})[2] == ["city[0]"]
    assert features("year", tokens, patterns={"year": r"\d{4}"})[4] == ["year[0]"]
    result = features("place", tokens, phrases={"place": ["New York", "New York City", "york"]})
    assert result == [[], ["place[0]=B"], ["place[0]=I"], [], []]
    tables = {"patterns": {"year": r"\d{4}"}, "around": {"ahead": {"attribute": "year", "in": "after"}}}
    assert features("ahead", tokens, **tables) == [["ahead[0]"]] * 4 + [[]]


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        ("line", "aabbbbbbcccc"),
        ("previous line", "..aaaaaabbbb"),
        ("next line", "bbcccccc...."),
        ("sequence", "************"),
    ],
)
def test_lines_around(place, expected):
    marks = {"engineer": "a", "pune": "b", "today": "c"}
    tables = {
        "patterns": {mark: word for word, mark in zip(("Engineer", "Pune", "today"), "abc")},
        "around": {f"near-{mark}": {"attribute": mark, "in": place} for mark in marks.values()},
    }
    template = load_template({"features": [f"near-{mark}" for mark in "abc"], **tables})
    result = [names[0][5] if len(names) == 1 else "*" if names else "." for names in template.features(LINES)]
    assert "".join(result) == expected


def test_stretches_cover_a_sequence():
    assert lines(LINES) == [(0, 2), (2, 8), (8, 12)]
    assert segments(("A", ".", ",", "B", "c", "(")) == [(0, 3), (3, 6)]
    assert segments(("a", "b")) == [(0, 2)]
    assert segments(()) == []


def test_numbers_that_go_on_and_subsections():
    tokens = ("1.", "Facts", "@newline@", "2.", "Law", "2.1", "So", "7.")
    column = CONTEXT_ATTRIBUTES["numbering"](tokens)
    assert [v for v in column if v] == [("begins",), ("goes-on",), ("goes-on",), ("breaks",)]
    assert [t for t, v in enumerate(CONTEXT_ATTRIBUTES["subsection"](tokens)) if v] == [4]


def test_shapes_and_buckets():
    assert short_shape("McCallum-03") == "XxXx-0"
    buckets = {0: "0", 4: "4", 5: "5-10", 10: "5-10", 11: "11-20", 50: "21-50", 51: "51+"}
    assert {n: bucket(n) for n in buckets} == buckets


@pytest.mark.parametrize("name", [*WORD_ATTRIBUTES, *CONTEXT_ATTRIBUTES])
@pytest.mark.parametrize("tokens", [("",), ("naïve", "@newline@", "(a", "b)", '"'), ("1.", "", "\n", "Ω3")])
def test_every_attribute_takes_any_token(name, tokens):
    result = features(name, tokens)
    assert len(result) == len(tokens)


@pytest.mark.parametrize("name", template_names())
def test_features_at_some_tokens_are_those_at_all(name):
    template = load_template(name)
    tokens = LINES[:9]
    whole = template.features(tokens)
    assert all(whole)
    for at in itertools.combinations(range(len(tokens)), 2):
        result = template.features(tokens, at)
        assert [f for t, f in enumerate(result) if t in at] == [whole[t] for t in at]
        assert not any(f for t, f in enumerate(result) if t not in at)
    assert template.features(tokens, []) == [[] for _ in tokens]


@pytest.mark.parametrize("name", template_names())
def test_templates_come_back_from_their_plain_values(name):
    template = load_template(name)
    assert load_template(template.source).features(LINES) == template.features(LINES)


def test_words_from_files_are_kept_in_the_plain_values(tmp_path):
    (tmp_path / "months.txt").write_text("# months\nMay\n\nJune\n")
    path = tmp_path / "own.toml"
    path.write_text('features = ["month"]\n[words]\nmonth = { file = "months.txt" }\n')
    template = load_template(path)
    (tmp_path / "months.txt").unlink()
    assert load_template(template.source).features(("may",)) == [["month[0]"]]


def test_rules_as_features():
    rules = [C.tag_at("O", words=["the"], name="small"), C.tag_phrases("place", ["New York"])]
    template = with_rules(load_template({"features": ["word"]}), rules, "")
    assert template.features(("the", "New", "York"))[0] == ["word[0]=the", "rule[0]=small"]
    assert len(template.features(("the", "New", "York"))[1]) == 2
    assert load_template(template.source).features(("the",)) == template.features(("the",))
    with pytest.raises(TemplateError, match="rule 'once' is not about single tokens"):
        with_rules("general", [C.at_most_runs("place", 1, name="once")])
    with pytest.raises(TemplateError, match="the template has rules already; give all of them at once"):
        with_rules(template, rules)
    with pytest.raises(TemplateError, match=r"no attribute with a place"):
        with_rules("general", rules, "[x]")


def test_rules_of_a_file_are_kept_in_the_plain_values(tmp_path):
    (tmp_path / "months.txt").write_text("May\nJune\n")
    rule = 'fields = ["date"]\n[[rule]]\ntemplate = "tag_at"\nfield = "date"\nname = "month"\n'
    (tmp_path / "rules.toml").write_text(rule + 'words = { file = "months.txt" }\n')
    path = tmp_path / "own.toml"
    path.write_text('features = ["rule[0..1]"]\nrules = { file = "rules.toml" }\n')
    template = load_template(path)
    for name in ("months.txt", "rules.toml"):
        (tmp_path / name).unlink()
    assert load_template(template.source).features(("in", "may")) == [["rule[1]=month"], ["rule[0]=month"]]
    path.write_text('features = ["rule"]\nrules = 3\n')
    with pytest.raises(TemplateError, match=r"rules is 3; expected the text of a rule file, or \{ file = "):
        load_template(path)


TOKENS = st.sampled_from(["May", "may", "1999", "New", "York", "the", "Inc"])
RULES = st.lists(
    st.sampled_from(
        [
            C.tag_at("date", words=["May"], name="month"),
            C.tag_at("date", token_class="year", previous=C.tokens(["may"]), name="year after may"),
            C.tag_phrases("place", ["New York", "york the"], name="place"),
            C.tag_sequence("company", [C.tokens(token_class="capitalised"), C.tokens(["Inc"])], name="inc"),
        ]
    ),
    min_size=1,
    unique_by=lambda rule: rule.name,
)


@settings(max_examples=examples(100))
@given(tokens=st.lists(TOKENS, min_size=1, max_size=6), rules=RULES)
def test_a_rule_is_a_feature_where_a_labelling_of_other_labels_breaks_it(tokens, rules):
    """By violations of a labelling in which only the token in question has the label of no rule."""
    own = with_rules({"features": ["first"]}, rules, "").features(tokens)
    fields = {"month": "date", "year after may": "date", "place": "place", "inc": "company"}
    for t, names in enumerate(own):
        broken = set()
        for rule in rules:
            kept = [fields[rule.name]] * len(tokens)
            other = [*kept[:t], "O", *kept[t + 1 :]]
            counts = [rule.violations(labels, tokens=tokens) for labels in (kept, other)]
            broken |= {rule.name} if counts[1] > counts[0] else set()
        assert {name.removeprefix("rule[0]=") for name in names if name != "first[0]"} == broken


def test_a_model_weighs_rules_against_what_it_sees(tmp_path):
    """A rule that always holds in training makes up for words that were never seen; one that never holds has no say."""
    names = [f"name{n}" for n in range(20)]
    pairs = [(["the", name, "Inc"], ["O", "company", "company"]) for name in names[:10]]
    pairs += [(["the", name, "said"], ["O", "O", "O"]) for name in names[:10]]
    rule = C.tag_sequence("company", [C.tokens(pattern=r"name\d+"), C.tokens(["Inc"])], name="inc")
    wrong = C.tag_at("company", words=["the"], name="the")
    model = train("crf", pairs, template=with_rules({"features": ["word"]}, [rule, wrong]))
    plain = train("crf", pairs, template={"features": ["word"]})
    unseen = ["the", "name19", "Inc"]
    assert ilpinfer.decode(model.trellis(unseen)).labels == ["O", "company", "company"]
    assert model.trellis(unseen).score(["O", "company", "company"]) > plain.trellis(unseen).score(
        ["O", "company", "company"]
    )
    model.save(tmp_path / "model.json")
    again = load_model(tmp_path / "model.json")
    assert again.features(unseen) == model.features(unseen)


def test_features_of_few_and_short_words_are_kept():
    memo, long = _Memo(lambda word: [word]), "x" * (LONGEST_TEXT + 1)
    for number in range(MOST_TEXTS + 1):
        assert memo[str(number)] == [str(number)]
        assert len(memo) <= MOST_TEXTS
    assert memo[long] == [long] and long not in memo
    assert memo[None] == () and None not in memo


def test_a_copy_of_a_template_begins_with_empty_caches():
    template, tokens = load_template("general"), ("On", "trees")
    expected, used = template.features(tokens), set(vars(template))
    copy = pickle.loads(pickle.dumps(template))
    assert copy == template and used > set(vars(copy))
    assert copy.features(tokens) == expected


def test_a_template_of_a_model_file_names_no_file_of_rules(tmp_path):
    (tmp_path / "rules.toml").write_text("")
    with pytest.raises(ValueError, match="the template's rules are in another file"):
        read_template({"features": ["lower"], "rules": {"file": str(tmp_path / "rules.toml")}})
