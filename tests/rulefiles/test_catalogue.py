"""The catalogue: every entry is read, says what its source says, and counts what it should."""

import math

import numpy as np
import pytest

import ilpinfer
from formulations import Feature, LabelSet, Trellis, catalogue, dump_rules, load_rules, parse_rules
from formulations.rulefiles.loading import CATALOGUE

ENTRIES = {
    "advertisements": (13, 0), "bio": (1, 0), "case-law": (10, 0), "citations": (11, 0), "citations-order": (4, 0), "entities": (5, 0),
    "iobes": (1, 0), "newswire": (5, 0), "resume": (1, 3), "resume-both": (3, 3), "resume-hard": (1, 3),
    "resume-no-features": (1, 0), "resume-one-each": (3, 3), "resume-one-organization": (2, 3),
    "resume-strong-features": (1, 3), "resume-title-first": (2, 3),
}  # fmt: skip
SHORT = {
    "A": "author", "T": "title", "D": "date", "F": "features", "R": "rent", "N": "neighborhood", "j": "job title",
    "d": "date", "g": "organization", "x": "description", "i": "ignore", "P": "PER", "L": "LOC", "G": "ORG", "M": "MISC",
    "c": "company", "l": "location", "n": "NR", "s": "SECTION_TITLE", "b": "TEXT_BLOCK", "/": "NEWLINE", "O": "O",
}  # fmt: skip


def violations(entry, labels, tokens=None, scheme="plain"):
    """Name and count of each rule that a labelling breaks."""
    rules = load_rules(entry)
    seen = LabelSet(tuple(dict.fromkeys(labels)), scheme).with_optional_fields(rules.fields)
    words = tokens.split() if tokens else ["w"] * len(labels)
    result = {rule.name: rule.violations(labels, tokens=words, labels=seen) for rule in rules.rules}
    return {name: count for name, count in result.items() if count}


def short(text):
    return [SHORT[letter] for letter in text]


def test_entries_hold_what_they_should_and_survive_being_written():
    readme = (CATALOGUE / "README.md").read_text("utf-8")
    assert catalogue() == sorted(ENTRIES)
    for name, (rules, features) in ENTRIES.items():
        entry = load_rules(name)
        assert (len(entry.rules), len(entry) - len(entry.rules)) == (rules, features), name
        assert entry.title and entry.source and all(item.reason for item in entry), name
        assert parse_rules(dump_rules(entry), name) == entry
        assert f"`{name}`" in readme, f"{name} is not in the README"


def test_penalties():
    assert all(r.penalty == pytest.approx(-math.log(1e-1)) for r in load_rules("advertisements").rules)
    hard = ("newswire", "bio", "iobes", "resume-hard", "resume-strong-features")
    assert all(rule.hard for name in hard for rule in load_rules(name).rules)
    for name in ("entities", "case-law"):
        for rule in load_rules(name).rules:
            held, broken = (int(part.split()[-1]) for part in rule.reason.split(":")[-1].split(","))
            assert rule.penalty == pytest.approx(-math.log((broken + 1) / (held + broken + 2)), abs=1e-12)
    assert {rule.penalty for rule in load_rules("citations").rules} == {-math.log(1e-4)}
    assert [rule.penalty for rule in load_rules("resume").rules] == [1.3]
    for name, weights in (("resume", [-0.9, 0.01, 0.05]), ("resume-strong-features", [-9.0, 4.0, 0.05])):
        assert [item.weight for item in load_rules(name) if isinstance(item, Feature)] == weights


@pytest.mark.parametrize(
    ("entry", "labels", "tokens", "broken"),
    [
        ("citations", "AATTD", "Ada , Trees . 1999", {}),
        ("citations", "TTAD", "Trees by Ada 1999", {"starts with author or editor": 1, "changes only after punctuation": 2}),
        ("advertisements", "FFFFRRR", "big kitchen here @newline@ only $ *MONEY*", {}),
        ("advertisements", "FFFRRR", "big kitchen here only $ *MONEY*", {"changes only at punctuation or a line's end": 1}),
        ("advertisements", "FRRRR", ". near $ *MONEY* .", {"each field three words or more": 2, "neighborhood words": 1}),
        ("resume", "jxxgx", None, {"at most one description": 1}),
        ("resume-hard", "xgxgx", None, {"at most one description": 2}),
        ("resume-no-features", "xgx", None, {"at most one description": 1}),
        ("resume-one-organization", "gjgx", None, {"at most one organization": 1}),
        ("resume-title-first", "gxj", None, {"job title before description": 1}),
        ("resume-one-each", "jdjdid", None, {"at most one job title": 1, "at most one date": 2}),
        ("resume-both", "dx", None, {"a job title": 1, "an organization": 1}),
        ("entities", "POOGGOMO", "Ada , of Old Mill near Fair .", {}),
        ("entities", "PGPGLM", "Ada , Bo Mill Ham Fair", {
            "outside after a person and a comma": 1, "organization, then the same or outside": 2,
            "something outside after other names": 1, "no location before other names": 1,
        }),
        ("entities", "LOG", "Ham has Mill", {"location first, outside last": 1}),
        ("case-law", "ns/b/ns/b", "1. Facts @newline@ Words @newline@ 2. Law @newline@ More", {}),
        ("case-law", "bsnn/b", "Words Facts 1. 3. @newline@ More", {
            "titles after a numbering or a newline": 1, "numberings begin a line": 1, "numberings continue": 1,
            "title or text after a numbering": 2,
        }),
        ("case-law", "b/bs", "Words @newline@ 4. @newline@", {
            "line breaks are newlines": 1, "a number that begins a line is a numbering": 1,
            "titles after a numbering or a newline": 1, "text after a title": 1,
        }),
        ("newswire", "OOccO", "he left Ohmly Inc. .", {}),
        ("newswire", "OOOOO", "he left Ohmly Inc. today", {"company suffixes": 2}),
        ("newswire", "OOOOOOO", "at Marlow and Finch Shipping Lines now", {"long company names": 5}),
        ("newswire", "OOOO", "at Harbour Steel now", {}),
        ("newswire", "lll", "on Monday he", {"no capital, no name": 2, "days and months": 1}),
    ],
)  # fmt: skip
def test_violations(entry, labels, tokens, broken):
    assert violations(entry, short(labels), tokens) == broken


def test_schemes():
    assert violations("bio", ["B-a", "I-a", "O", "I-a", "B-a", "I-b"], scheme="bio") == {"valid labels": 2}
    assert violations("iobes", ["B-a", "E-a", "S-b", "O"], scheme="iobes") == {}
    assert violations("iobes", ["B-a", "O", "I-a", "E-a", "B-b"], scheme="iobes") == {"valid labels": 3}


def test_order_is_priority_in_newswire():
    lower, rules = "no capital, no name", load_rules("newswire")
    for text, wanted, overruled in (
        ("we like brightleaf now", "OOcO", {lower: [2]}),
        ("with First Bank of Redhaven .", "OccccO", {}),
        ("with Marlow and Finch Shipping Lines .", "OcccccO", {lower: [2]}),
    ):
        words = text.split()
        scores = np.zeros((len(words), 4)), np.zeros((4, 4))
        names = ("O", "company", "person", "location")
        solution = ilpinfer.decode(Trellis.from_emissions(*scores, labels=names, tokens=words), rules)
        result = solution.status, solution.labels, solution.overruled
        assert result == ("optimal", short(wanted), overruled)
