"""`ilpinfer learn` and `ilpinfer check --write`: what they write and show, where scores come from, bad input, interrupts."""

import json
from pathlib import Path

import numpy as np
import pytest
from support.command_line import columns, rule_text
from support.processes import python

from formulations import load_rules
from formulations.errors import RuleNotice
from ilpinfer.corpus.conversion import convert
from ilpinfer.models.files import load_model, training_record

RULES = """
title = "References"
source = "by hand"
fields = ["author", "title", "date", "pages"]

[groups]
opening = ["author", "title"]

[[template]]
name = "after"
parameters = ["A", "B"]
logic = "forall t: B(t) -> exists s < t: A(s)"

[[rule]]
name = "a title after the author"
template = "after"
A = "author"
B = "title"
penalty = 0.8

[[rule]]
name = "years are dates"
template = "tag_at"
field = "date"
pattern = '\\d{4}'
penalty = 3.0
reason = "the style guide"

[[rule]]
template = "starts_with"
field = "opening"
penalty = 2.0

[[rule]]
template = "at_most_runs"
field = "each field"
distance = "binary"
penalty = 1.0

[[rule]]
template = "at_most_runs"
field = "each field"
penalty = 0.5

[[rule]]
name = "all names\\nin one"
template = "at_most_tokens"
field = "author"
n = 0
penalty = 0.001

[[rule]]
template = "tag_at"
field = "title"
words = { file = "words.txt" }
penalty = 1.5

[[rule]]
name = "never more than nine dates"
template = "at_most_tokens"
field = "date"
n = 9

[[feature]]
label = "pages"
weight = -0.5
"""
TITLES = ["Notes", "on", "Engines", "Turing", "1931", "pp", "7", "."]
SURNAMES = ("Lovelace", "Hopper", "Turing", "Noether", "Church", "Goedel")


def references(number: int, seed: int = 0, scheme: str = "bio") -> str:
    """Columns of references: author, title, perhaps pages, date."""
    random, pairs = np.random.default_rng(seed), []
    for _ in range(number):
        title = random.choice(TITLES, random.integers(1, 6)).tolist()
        parts = [("author", [str(random.choice(SURNAMES)), "."]), ("title", [*title, "."])]
        parts += [("pages", ["pp", str(random.integers(1, 9))])] * int(random.integers(2))
        parts.append(("date", [str(random.integers(1900, 1999))]))
        labels = [f"{'BI'[t > 0]}-{field}" for field, tokens in parts for t in range(len(tokens))]
        pairs.append(([token for _, tokens in parts for token in tokens], convert(labels, "bio", scheme)))
    return columns(*pairs)


@pytest.fixture
def folder(here):
    Path("train.tsv").write_text(references(24))
    Path("more.tsv").write_text(references(20, seed=1))
    Path("rules.toml").write_text(RULES)
    Path("words.txt").write_text("Notes\nEngines\n")
    return here


def learn(options: str = "", source: str = "train.tsv") -> str:
    quick = "" if "--update" in options else "--quick"
    return f"learn {source} --rules rules.toml --output learnt.toml {quick} {options}"


def scored_lines(text: str) -> str:
    """JSON lines with random scores, and the labels of columns as gold."""
    random, names, lines = np.random.default_rng(5), ["author", "title", "pages", "date"], []
    for block in text.strip().split("\n\n"):
        tokens, labels = zip(*(row.split("\t") for row in block.split("\n")), strict=True)
        emissions = random.normal(size=(len(tokens), 4))
        emissions[range(len(tokens)), list(map(names.index, labels))] += 1.0
        record = {"emissions": emissions.tolist(), "transitions": [[0.0] * 4] * 4, "label_names": names}
        lines.append(json.dumps({**record, "tokens": tokens, "labels": labels}) + "\n")
    return "".join(lines)


def test_rules_are_learnt_written_read_and_decoded(folder, cli):
    _, out, err = cli.done(learn("--kind hmm --json"))
    result = json.loads(out)
    assert result["sequences"] == 24 and result["unlabelled"] == 0
    given = {rule["name"]: rule["given"] for rule in result["rules"]}
    assert given == {
        "a title after the author": 0.8,
        "years are dates": 3.0,
        "starts_with(opening)": 2.0,
        "at_most_runs(each field, 1)": 1.0,
        "at_most_runs(each field, 1) #2": 0.5,
        "all names\nin one": 0.001,
        "tag_at(title, words.txt (2 words))": 1.5,
        "feature pages": -0.5,
    }
    again = load_rules("learnt.toml")
    learnt = [rule["learnt"] for rule in result["rules"] if rule["learnt"]]
    weights = [getattr(item, "weight", None) or item.penalty for item in again]
    assert [weight for weight in weights if weight != float("inf")] == learnt
    assert "never more than nine dates" in {item.name for item in again}
    assert (again.fields, again.title) == (load_rules("rules.toml").fields, "References")
    assert again.source.startswith("by hand; rules learnt by ilpinfer ")
    assert "from 24 sequences (" in again.source and "scored by hmm trained without each part" in again.source
    assert again.source.endswith("prune True, seed 0")
    text = Path("learnt.toml").read_text()
    assert "# left out: all names in one (changes none of 24 sequences in which it could be broken)\n" in text
    assert f"learnt.toml: {result['chosen']}, {len(learnt)} of 8 rules and features kept" in err
    cli.done("train train.tsv --output hmm.json")
    cli.done("decode more.tsv --model hmm.json --rules learnt.toml --output o.jsonl")
    assert sorted(path.name for path in folder.iterdir() if path.name.startswith("learnt")) == ["learnt.toml"]


def test_what_is_shown(folder, cli):
    options = "--measure spans --epochs 3 --folds 3 --rate 0.5"
    lines = cli.done(learn(f"--kind hmm --update counts {options}")).out.splitlines()
    source = load_rules("learnt.toml").source
    said = (": given: counts, from 24", "measure spans", "epochs 3", "folds 3", "rate 0.5")
    assert all(text in source for text in said)
    assert lines[0].split("  ")[0].startswith("tried on folds")
    assert any(line.startswith("no rules") for line in lines)
    assert any(line.startswith("given: counts") and " chosen" in line for line in lines)
    assert any(line.startswith("years are dates") and " 3.00 " in line for line in lines)


def test_the_same_seed_gives_the_same_bytes_in_every_process(folder):
    for name, hashes, seed in (("a", "1", 0), ("b", "2", 0), ("c", "1", 4)):
        command = f"-m ilpinfer {learn()} --kind hmm --epochs 3 --output {name}.toml --seed {seed}"
        python(*command.split(), variables={"PYTHONHASHSEED": hashes}, check=True)
    assert Path("a.toml").read_bytes() == Path("b.toml").read_bytes() != Path("c.toml").read_bytes()


def test_a_model_of_other_sequences_scores(folder, cli):
    cli.done("train more.tsv --output hmm.json")
    assert "was trained on" not in cli.done(learn("--model hmm.json")).err
    assert "scored by a model (" in load_rules("learnt.toml").source


@pytest.mark.parametrize("change", ["none", "order", "name", "scheme", "layout"])
def test_a_model_that_was_trained_on_the_sequences_is_recognised(folder, cli, change):
    cli.done("train train.tsv --output hmm.json --option alike=true")
    source, model = "train.tsv", "hmm.json"
    if change == "order":
        Path(source).write_text("\n\n".join(reversed(references(24).strip().split("\n\n"))) + "\n")
    elif change == "name":
        source, model = "copy.tsv", "other.json"
        Path("train.tsv").rename(source)
        Path("hmm.json").rename(model)
    elif change == "scheme":
        cli.done(f"train train.tsv --output {model} --scheme iobes --option alike=true")
    elif change == "layout":
        Path(model).write_text(json.dumps(json.loads(Path(model).read_text())))
    err = cli.done(learn(f"--model {model}", source=source)).err
    others = "models of the same kind are trained on parts of it, and score the other parts"
    assert f"{model} was trained on {source}: {others}" in err
    assert "scored by hmm (alike=True) trained without each part" in load_rules("learnt.toml").source


def test_a_recognised_model_is_as_its_kind(folder, cli):
    cli.done("train train.tsv --output hmm.json")
    cli.done(learn("--model hmm.json"))
    first = Path("learnt.toml").read_bytes()
    cli.done(learn("--kind hmm"))
    assert Path("learnt.toml").read_bytes() == first


@pytest.mark.parametrize("made", [None, 5, {}, {"kind": ["hmm"]}, "missing"])
def test_a_model_that_does_not_say_what_it_was_trained_on(folder, cli, made):
    cli.done("train train.tsv --output hmm.json")
    record = json.loads(Path("hmm.json").read_text())
    if made == {"kind": ["hmm"]}:
        record["made"].update(made)
    elif made == "missing":
        del record["made"]["data"]
    else:
        record["made"] = made
    Path("hmm.json").write_text(json.dumps(record))
    assert training_record("hmm.json") is None
    assert load_model("hmm.json").labels.scheme == "bio"
    err = cli.done(learn("--model hmm.json")).err
    assert "hmm.json has no record of its training sequences; if train.tsv is among them, use --kind" in err


@pytest.mark.parametrize("scheme", ["bio", "iobes"])
def test_gold_in_another_scheme_than_the_models(folder, cli, scheme):
    Path("gold.tsv").write_text(references(24, scheme=scheme))
    cli.done("train more.tsv --output hmm.json --scheme iobes")
    out = cli.done(learn("--model hmm.json --json", source="gold.tsv")).out
    none = json.loads(out)["tried"][0]
    assert none["name"] == "no rules" and none["accuracy"] > 0.6


def test_one_label_only(folder, cli):
    Path("train.tsv").write_text("a\tx\n\nb\tx\n\na\tx\n")
    Path("rules.toml").write_text(FIELDS + SOFT.replace("date", "x"))
    cli.done(learn("--kind hmm"))
    assert len(load_rules("learnt.toml")) <= 1


def test_scores_of_the_sequences_themselves(folder, cli):
    Path("scored.jsonl").write_text(scored_lines(references(30, scheme="plain")))
    assert "is not used" not in cli.done(learn(source="scored.jsonl")).err
    first = Path("learnt.toml").read_bytes()
    assert b", with scores)" in first
    cli.done("train more.tsv --output hmm.json")
    err = cli.done(learn("--model hmm.json", source="scored.jsonl")).err
    assert "scored.jsonl contains scores, so hmm.json is not used" in err
    assert Path("learnt.toml").read_bytes() == first


def test_rules_of_several_files_and_gold_labels_that_the_model_lacks(folder, cli):
    Path("gold.tsv").write_text(references(12) + "\nWorld\tB-note\n1999\tB-date\n")
    Path("notes.toml").write_text(rule_text("at_most_runs", field="note", penalty=2.0))
    cli.done("train more.tsv --output hmm.json")
    err = cli.done(learn("--model hmm.json --rules notes.toml", source="gold.tsv")).err
    assert "9 of 9 rules and features kept" in err
    assert "note" in load_rules("learnt.toml").fields


def test_weights_at_the_cap_and_sequences_without_labelling_are_told(folder, cli):
    rules = """
fields = ["author", "note"]
[[rule]]
name = "some note"
template = "at_least_tokens"
field = "note"
n = 1
penalty = 1.0
[[rule]]
template = "at_least_tokens"
field = "author"
n = 3
"""
    Path("rules.toml").write_text(rules)
    lines = [json.loads(line) for line in scored_lines(references(14, scheme="plain")).splitlines()]
    for record in lines:
        record["labels"][-1] = "note"
    for key in ("emissions", "tokens", "labels"):
        lines[0][key] = lines[0][key][:2]
    Path("scored.jsonl").write_text("".join(json.dumps(record) + "\n" for record in lines))
    err = cli.done(learn("--quick --update perceptron", source="scored.jsonl")).err
    assert "penalties that reached the cap of 30 nats" in err and "at any penalty: some note\n" in err
    assert "1 of 14 sequences have no labelling under the hard rules" in err
    some, author = load_rules("learnt.toml")
    assert 15 < some.penalty < 30 and author.hard


FIELDS = 'fields = ["author", "title", "date", "pages", "x"]\n'
HARD = '[[rule]]\ntemplate = "at_most_tokens"\nfield = "date"\nn = 9\n'
SOFT = '[[rule]]\ntemplate = "at_most_runs"\nfield = "date"\npenalty = 1.0\n'
IMPOSSIBLE = SOFT + HARD.replace("9", "0") + '[[rule]]\ntemplate = "at_least_tokens"\nfield = "date"\nn = 1\n'


def test_hard_rules_that_no_labelling_keeps(folder, cli):
    Path("rules.toml").write_text(FIELDS + IMPOSSIBLE)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    message = "ilpinfer: rules.toml: no sequence has a labelling that keeps the hard rules"
    assert message in cli.failed(learn("--kind hmm"))
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_a_model_of_other_sequences_has_no_place_to_be_written_to(folder, cli):
    cli.done("train more.tsv --output hmm.json")
    said = cli.failed(learn("--model hmm.json --output-model m.json"))
    assert "--output-model m.json: the model has to be trained on the same sequences" in said


def test_no_rule_survives(folder, cli):
    weak = SOFT.replace("at_most_runs", "at_most_tokens").replace("1.0", "0.001") + "n = 0\n"
    Path("rules.toml").write_text(FIELDS + weak)
    err = cli.done(learn("--kind hmm --update perceptron --start 1 --rate 0.0001")).err
    assert "learnt.toml: given: perceptron, 0 of 1 rule and features kept" in err
    with pytest.warns(RuleNotice, match=r"learnt\.toml: no rule and no feature"):
        assert len(load_rules("learnt.toml")) == 0
    assert "# left out: at_most_tokens(date, 0) (changes none of 24 " in Path("learnt.toml").read_text()
    cli.done("train train.tsv --output hmm.json")
    cli.done("decode more.tsv --model hmm.json --rules learnt.toml --output o.jsonl")


ALL = "learn train.tsv --rules rules.toml --weights all --output-model m.json --output out.toml --kind "


@pytest.mark.parametrize("kind", ["hmm", "crf --option max_iterations=3"])
def test_all_weights_are_learnt_together(folder, cli, kind):
    options = kind + " --epochs 2 --folds 3 --update margin"
    _, out, err = cli.done(ALL + options)
    shown = [line.split("  ")[0] for line in out.splitlines()[1:]]
    assert shown == ["no rules", "all weights: margin"] and out.count(" chosen") == 1
    assert "m.json: " in err and "corrected together with the rules" in err
    model, rules = Path("m.json").read_bytes(), Path("out.toml").read_bytes()
    assert load_model("m.json").labels.scheme == "bio"
    made = json.loads(cli.done(ALL + options + " --json").out)
    assert (Path("m.json").read_bytes(), Path("out.toml").read_bytes()) == (model, rules)
    assert [each["name"] for each in made["tried"]] == ["no rules", "all weights: margin"]
    assert (made["unproved"], made["unscored"], made["rules"], made["corrected"]) == (0, 0, [], True)
    cli.done("decode train.tsv --model m.json --rules out.toml --output rows.jsonl")


def test_without_a_place_for_the_model_its_scores_stay_which_the_table_says(folder, cli):
    out = cli.done("learn train.tsv --kind hmm --output out.toml").out
    shown = {line.split("  ")[0]: line for line in out.splitlines()}
    assert {"no rules", "mined", "mined: risk"} <= {*shown}
    assert "not tried" in shown["all weights"] and "--output-model" in shown["all weights"]


def test_the_model_is_written_as_trained_where_its_scores_stay(folder, cli):
    cli.done("train train.tsv --output hmm.json")
    err = cli.done(learn("--model hmm.json --output-model m.json")).err
    assert "m.json: " in err and "as trained" in err
    assert Path("m.json").read_bytes() == Path("hmm.json").read_bytes()


def test_a_way_without_time_for_one_fold_is_told_and_not_taken(folder, cli):
    out = cli.done("learn train.tsv --kind hmm --output out.toml --seconds 1e-9").out
    mined = next(line for line in out.splitlines() if line.startswith("mined"))
    assert "0 of 5 folds in" in mined and "chosen" not in mined


def with_gaps(text: str) -> str:
    """Columns of which every third sequence has the labels `_` and `?` of unknown ones at two of three tokens."""
    blocks = text.strip().split("\n\n")
    for place, block in enumerate(blocks[::3]):
        rows = [row.split("\t")[0] for row in block.split("\n")]
        labels = [row.split("\t")[1] for row in block.split("\n")]
        hidden = [name if t % 3 == place % 3 else "_?"[t % 2] for t, name in enumerate(labels)]
        blocks[3 * place] = "\n".join(map("\t".join, zip(rows, hidden, strict=True)))
    return "\n\n".join(blocks) + "\n"


WHOLE_ONES = "each crf is trained on sequences in which all tokens have a label: 16 of 24"


@pytest.mark.parametrize(
    ("options", "said", "fits"),
    [
        ("--kind hmm", "", ["no rules", "given", "given: counts", "given: perceptron"]),
        ("--model hmm.json --quick", "hmm.json was trained on train.tsv", ["no rules", "given"]),
        ("--model other.json --quick", "", ["no rules", "given"]),
        ("--kind hmm --weights all --output-model m.json", "", ["no rules", "given"]),
        ("--kind crf --option max_iterations=3 --quick", WHOLE_ONES, ["no rules", "given"]),
    ],
)
def test_labels_of_some_tokens(folder, cli, options, said, fits):
    Path("train.tsv").write_text(with_gaps(Path("train.tsv").read_text()))
    for name, source in (("hmm", "train"), ("other", "more")):
        cli.done(f"train {source}.tsv --output {name}.json")
    _, out, err = cli.done(
        f"learn train.tsv --rules rules.toml --output learnt.toml --json --folds 2 --epochs 2 {options}"
    )
    result = json.loads(out)
    assert result["sequences"] == 24 and [each["name"] for each in result["tried"]][: len(fits)] == fits
    assert all(0 < each["accuracy"] <= 1 for each in result["tried"])
    assert "train.tsv: labels _ and ? are unknown: " in err and "in 8 sequences" in err and said in err
    assert WHOLE_ONES in err or "crf" not in options
    cli.done("decode more.tsv --model hmm.json --rules learnt.toml --output o.jsonl")


def test_labels_of_some_tokens_of_sequences_with_scores(folder, cli):
    lines = [json.loads(line) for line in scored_lines(references(24, scheme="plain")).splitlines()]
    for number, gap in ((0, None), (3, "_"), (5, "?")):
        lines[number]["labels"] = [gap, *lines[number]["labels"][1:]]
    Path("scored.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    _, out, err = cli.done(learn("--json --folds 2 --epochs 2", "scored.jsonl"))
    assert "scored.jsonl: labels _ and ? are unknown: 3 tokens in 3 sequences" in err
    assert json.loads(out)["sequences"] == 24


@pytest.mark.parametrize("scheme", ["bio", "plain"])
def test_labels_of_some_tokens_in_another_scheme_than_the_models(folder, cli, scheme):
    cli.done(f"train more.tsv --scheme {scheme} --output other.json")
    Path("train.tsv").write_text(with_gaps(Path("train.tsv").read_text()))
    made = json.loads(cli.done(learn("--model other.json --json --folds 2 --epochs 2")).out)
    assert made["sequences"] == 24 and made["tried"][0]["accuracy"] > 0.5


def test_labels_of_some_tokens_that_cannot_be_in_the_scheme_of_the_model(folder, cli):
    cli.done("train more.tsv --scheme iobes --output other.json")
    Path("train.tsv").write_text(with_gaps(Path("train.tsv").read_text()))
    ended = cli(learn("--model other.json"))
    assert ended.code == 2 and "train.tsv: labels of partly labelled sequences are bio" in ended.err


def test_without_labels_of_all_tokens_a_crf_has_nothing_to_be_trained_on(folder, cli):
    Path("gaps.tsv").write_text("Ada\tauthor\nNotes\t_\n\nBo\t?\n1843\tdate\n")
    said = cli.failed(learn("--kind crf", "gaps.tsv"))
    assert "gaps.tsv: each sequence has tokens without a label; a crf is trained on sequences" in said


def test_a_label_with_the_name_of_an_unknown_one_can_be_a_helper(folder, cli):
    Path("train.tsv").write_text(with_gaps(Path("train.tsv").read_text()))
    err = cli.done(learn("--kind hmm --never ? --never _ --folds 2 --epochs 2")).err
    assert "with the helper labels '?', '_'" in err and "unknown" not in err


@pytest.mark.parametrize("options", ["", "--weights all --output-model m.json"])
def test_quick_learning_without_rules_has_nothing_to_try(folder, cli, options):
    said = cli.refused(f"learn train.tsv --kind hmm --quick --output out.toml {options}")
    assert "nothing to try without rules with a penalty" in said and not Path("out.toml").exists()
