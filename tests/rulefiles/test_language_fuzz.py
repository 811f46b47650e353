"""Mutated texts of rules: read, or refused with a RuleError that has its place, and never anything else."""

import contextlib
import random

import pytest
from support.effort import examples

from formulations import LabelSet, RuleError, dump_rules, parse_rules
from formulations import constraints as C
from formulations.logic import semantics as meaning
from formulations.rulefiles.loading import CATALOGUE
from formulations.rulefiles.toml_text import dumps

LABELS = LabelSet(("title", "author", "journal", "O"))
FORMULAS = [
    "forall t: title(t) -> exists s < t: author(s)",
    "forall s, t: token(t) = token(s) -> label(t) = label(s)",
    'forall t in 1..last: token(t) matches "[0-9]+" or token(t) in [\'pp\', "pages"]',
    "exists X in {title, author}: not X(first)",
    "forall t: edge(t) = (author, title) <-> change(t) and begins(title, t+1)",
    "forall X in fields, t > 0: X(t - 1) iff X(t)",
    'forall t: field(t) = "title" and token(t) is year',
    "not (true or false) implies label(0) != title and some(1, title)",
]
INEQUALITIES = [
    "2*runs(title) - tokens(note) <= 3",
    "at(title, -1) + count(t: title(t) and author(t-1)) >= 1",
    'changes() < 4 - 2 * tokens("title") + steps(title, author)',
]
REGEXES = [
    "author+ title+ (journal | author)* O*",
    "!title .{0,3} ('title' | author){2}",
    "(a{2,3} | title)+",
]
SIGNS = [
    *"()[]{}\"'.,:<>=!&|+-*# \n\t\\09é$^?;²٣",
    *["forall ", "exists ", "->", "<->", " and ", " or ", "not ", " in ", " is ", "matches", "count(", "runs(", ".."],
    *["9" * 21, "last", "X", "t", "true", "token(", "label(", '"O"', "each field", "{2,1}", "{1001}", "((" * 60],
]  # fmt: skip
VALUES = [
    *["title", "g", "X", "O", "each field", "", 3, -1, True, 1.5, float("nan"), float("inf"), 10**30, "hard", "count"],
    *['("', "year", "each label", "/dev/zero", [], {}],
]  # fmt: skip


def mutated(rng: random.Random, text: str) -> str:
    for _ in range(rng.randint(1, 4)):
        at, end = sorted(rng.randint(0, len(text)) for _ in range(2))
        end = min(end, at + 8)
        put = rng.choice(["", rng.choice(SIGNS), rng.choice(SIGNS), text[end : end + 8]])
        text = text[:at] + put + text[rng.choice([at, at, end]) :]
    return text


def drawn(rng: random.Random, depth: int = 2):
    kind = rng.random() if depth else 1.0
    if kind < 0.2:
        return [drawn(rng, depth - 1) for _ in range(rng.randint(0, 3))]
    if kind < 0.35:
        names = rng.sample(["not", "words", "file", "pattern", "unless", "x"], rng.randint(0, 2))
        return {name: drawn(rng, depth - 1) for name in names}
    return rng.choice(VALUES)


def document(rng: random.Random, kind: str) -> str:
    known = {
        "fields": ["title", "author", "journal", "note", "a"],
        "groups": {"g": ["title", "author"]},
        "template": [{"name": "some", "parameters": ["p", "F"], "logic": "exists s < p: F(s)"}],
    }
    if kind == "file":
        files = [CATALOGUE / f"{name}.toml" for name in ("citations", "resume", "entities")]
        return mutated(rng, rng.choice(files).read_text("utf-8"))
    if kind == "named":
        form = rng.choice(["logic", "linear"])
        text = mutated(rng, rng.choice(FORMULAS if form == "logic" else INEQUALITIES))
        own = {"name": "own", "parameters": ["p"], form: text}
        return dumps({**known, "template": [*known["template"], own], "rule": [{"logic": "own(t)"}]})
    if kind == "values":
        name = rng.choice(sorted(C.TEMPLATES))
        keys = [*C.TEMPLATES[name].__dataclass_fields__, "penalty", "distance", "scope", "partial", "name"]
        rule = {key.rstrip("_"): rng.choice(["title", 1, drawn(rng)]) for key in keys if rng.random() < 0.6}
        more = {rng.choice(["fields", "groups", "template", "rule", "feature", "title"]): drawn(rng)}
        feature = {key: drawn(rng) for key in rng.sample(["weight", "label", "from", "words", "name"], 3)}
        made = {**known, "rule": [{**rule, "template": name}], "feature": [feature][: rng.randint(0, 1)]}
        return dumps(made | (more if rng.random() < 0.2 else {}))
    texts = {"logic": FORMULAS, "linear": INEQUALITIES, "regex": REGEXES}[kind]
    table = {"template": "matches"} if kind == "regex" else {}
    return dumps({**known, "rule": [{**table, kind: mutated(rng, rng.choice(texts))}]})


def tried(text: str) -> None:
    """Read the text and use its rules; all that may be raised is a RuleError with a place."""
    rules, refused = None, None
    try:
        rules = parse_rules(text, "rules.toml")
    except RuleError as error:
        refused = error
    if rules is None:
        assert refused.excerpt and "^" in refused.excerpt and len(str(refused)) < 1500, refused
        return
    labels = LABELS.with_optional_fields(rules.fields)
    for rule in rules.rules:
        with contextlib.suppress(ValueError):
            rule.violations(["title", "author", "O"], tokens=["x", "pp", "1999"], labels=labels)
        with contextlib.suppress(ValueError):
            rule.ground(labels, ["x", "pp", "1999"])
    assert parse_rules(dump_rules(rules), rules.name) == rules


@pytest.mark.examples
@pytest.mark.parametrize("kind", ["logic", "linear", "regex", "named", "values", "file"])
def test_mutated_texts_are_read_or_refused_with_their_place(kind):
    rng = random.Random(kind)
    for _ in range(examples(900, 60)):
        tried(document(rng, kind))


@pytest.mark.parametrize(
    "text",
    [
        "not " * 4000 + "true",
        "forall t: " * 1900 + "a(t)",
        "true -> " * 2400 + "true",
        "true <-> " * 2200 + "true",
        "forall " + ", ".join(f"t{i}" for i in range(2000)) + ": a(t0)",
    ],
)
def test_parts_too_deep_inside_one_another_are_refused(text):
    own = {"name": "own", "parameters": ["p"], "logic": text}
    for more in (
        {"rule": [{"logic": text}]},
        {"rule": [{"linear": f"count(z: {text}) <= 1"}]},
        {"template": [own], "rule": [{"logic": "forall t: own(t)"}]},
    ):
        with pytest.raises(RuleError, match=r"deep inside one another \(line") as result:
            parse_rules(dumps({"fields": ["a"], **more}))
        assert "^" in result.value.excerpt
    with pytest.raises(ValueError, match="deep inside one another"):
        C.define("own", ["p"], logic=text)


def test_the_plain_checker_refuses_too_many_groundings(monkeypatch):
    monkeypatch.setattr(meaning, "MOST", 10_000)
    rule = C.logic("forall " + ", ".join(f"t{i}" for i in range(100)) + ": a(t0)")
    with pytest.raises(ValueError, match="more than 10000 groundings on 2 tokens"):
        rule.violations(["a", "b"], labels=LabelSet(("a", "b")))
