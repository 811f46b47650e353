"""Rules that come first, on the command line."""

from pathlib import Path

import pytest
from support.command_line import columns, rows

from formulations import load_rules
from ilpinfer.models.files import load_model
from ilpinfer.pipelines.rules_first import rules_first

NAMES = [
    "the/O mayor/O Ada/B-per Lovelace/I-per of/O Steel/B-org Inc/I-org spoke/O ./O",
    "Steel/B-org Works/I-org Inc/I-org hired/O Grace/B-per Hopper/I-per ./O",
    "on/O Monday/O Ada/B-per left/O Inc/B-org ./O",
]
NEW = "Ada\nInc\nleft\nof\nWorks\n.\n\nthe\nof\n.\n\nGrace\nSteel\nspoke\nof\nMonday\n.\n"
RULES = """
fields = ["per", "org"]
[[rule]]
name = "companies"
template = "tag_at"
field = "org"
words = ["Inc", "Works"]
[[rule]]
name = "small words"
template = "tag_at"
field = "O"
pattern = "[^A-Z]+"
ignore_case = false
[[rule]]
template = "valid_scheme"
[[rule]]
name = "a person"
template = "at_least_runs"
field = "per"
n = 1
penalty = 0.4
"""


@pytest.fixture
def folder(here, cli):
    Path("train.tsv").write_text(columns(*NAMES))
    Path("new.txt").write_text(NEW)
    Path("rules.toml").write_text(RULES)
    cli.done("train train.tsv --kind crf --output crf.json")
    return here


@pytest.mark.parametrize("scheme_rule", [True, False])
def test_rules_that_come_first_change_no_labelling(scheme_rule, folder, cli):
    if not scheme_rule:
        Path("rules.toml").write_text(RULES.replace('[[rule]]\ntemplate = "valid_scheme"\n', ""))
    command = "decode new.txt --model crf.json --rules rules.toml"
    cli.done(f"{command} --output all.jsonl")
    cli.done(f"{command} --rules-first --output first.jsonl")
    every, first = rows(Path("all.jsonl")), rows(Path("first.jsonl"))
    for name in ("status", "labels", "penalty", "violations"):
        assert [row[name] for row in every] == [row[name] for row in first]
    assert every[1]["labels"] == ["O"] * 3 and first[1]["model_score"] != every[1]["model_score"]
    crf, rules = load_model("crf.json"), load_rules("rules.toml")
    trellis = rules_first(crf, rules).trellis(("Ada", "Inc", "left"))
    assert [row[:].max() for row in trellis.lattice.node[2:]] == [0]
    cli.done("compare new.txt --model crf.json --rules rules.toml --rules-first --output c")


@pytest.mark.parametrize("rules", ["--rules bio", ""])
def test_what_cannot_come_first(rules, folder, cli):
    err = cli.refused(f"decode new.txt --model crf.json {rules} --rules-first --output o.jsonl")
    assert "--rules-first: rules first need a hard rule on single tokens" in err
