"""Labels of one scheme as labels of another."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import oracles
from support.command_line import rule_text

import ilpinfer
from formulations import LabelSet, Trellis
from formulations import constraints as C
from ilpinfer.corpus.conversion import convert, convert_all, shown_scheme
from ilpinfer.evaluation.counts import named_spans

MARKS = {"bio": "BI", "iob1": "BI", "iobes": "BIES", "bilou": "BILU", "bmes": "BMES"}


@pytest.mark.parametrize("target", MARKS)
@pytest.mark.parametrize("source", MARKS)
@given(data=st.data())
def test_fields_stay_the_same_and_the_scheme_is_kept(source, target, data):
    names = ["O", *(f"{mark}-{field}" for mark in MARKS[source] for field in "ab")]
    labels = data.draw(st.lists(st.sampled_from(names), min_size=1, max_size=8))
    result = convert(labels, source, target)
    assert named_spans(result, target) == named_spans(labels, source)
    if source == target:
        assert result == tuple(labels)
    else:
        assert oracles.valid_scheme(result, result, target) == 0
        known = LabelSet(tuple(dict.fromkeys(result)), target)
        assert C.valid_scheme().violations(result, labels=known) == 0
        assert convert(convert(result, target, source), source, target) == result


def test_plain_labels_have_no_prefix_and_no_other_ones_are_made_of_them():
    assert convert(["B-a", "E-a", "S-a", "O", "S-b"], "iobes", "plain") == ("a", "a", "a", "O", "b")
    for labels, source in ((["O"], "plain"), (["O"], "paths")):
        with pytest.raises(ValueError, match=f"{source} labels cannot be written as bio"):
            convert(labels, source, "bio")
    with pytest.raises(ValueError, match="label 'title' does not fit scheme bio"):
        convert(["title"], "bio", "iobes")


@pytest.mark.parametrize(
    ("labellings", "scheme"),
    [
        (["I-a I-a B-a O", "O I-b"], "iob1"),
        (["I-a O I-a"], "iob1"),
        (["B-a I-a", "I-b B-b"], "bio"),
        (["B-a I-a B-a O"], "bio"),
        (["O O"], "plain"),
        (["U-a O"], "bilou"),
        (["B-a/B-b I-a/I-b"], "paths"),
    ],
)
def test_the_scheme_that_labellings_show(labellings, scheme):
    assert shown_scheme([labels.split() for labels in labellings]) == scheme


@pytest.mark.parametrize(
    ("scheme", "expected"),
    [
        ("plain", ("a", "a", "O")),
        ("iobes", ("B-a", "E-a", "O")),
        ("", ("B-a", "I-a", "O")),
        ("bio", ("B-a", "I-a", "O")),
        ("iob1", ("I-a", "I-a", "O")),
        ("biluo", ("B-a", "L-a", "O")),
        ("bmes", ("B-a", "E-a", "O")),
    ],
)
def test_a_scheme_that_was_asked_for(scheme, expected):
    assert convert_all([("B-a", "I-a", "O")], scheme) == [expected]


def test_biluo_labels_keep_their_scheme():
    names = ("L-PER", "U-PER", "B-PER", "I-PER")
    trellis = Trellis.from_emissions(10 * np.eye(4), np.zeros((4, 4)), labels=names)
    assert tuple(ilpinfer.decode(trellis, []).labels) == names
    solution = ilpinfer.decode(trellis, [C.valid_scheme()])
    assert solution.status == "optimal" and tuple(solution.labels) != names
    assert oracles.valid_scheme(solution.labels, names, "bilou") == 0
    assert C.valid_scheme().violations(names) == 2


def test_a_field_that_never_begins_with_b_is_rewritten_all_the_same():
    labels = [("B-a", "I-a", "I-b", "O", "I-b", "I-b")]
    assert convert_all(labels, "iobes") == [("B-a", "E-a", "S-b", "O", "B-b", "E-b")]


def iob1(folder):
    """The training corpus in IOB1."""
    text = (folder / "train.tsv").read_text().replace("\tB-", "\tI-")
    Path("iob1.tsv").write_text(text)


def test_data_that_show_iob1_are_said_to(folder, cli):
    iob1(folder)
    said = "notice: labels are read as bio but look like iob1"
    err = cli.done("train iob1.tsv --output m.json").err
    assert said in err and "(io)" in err
    err = cli.done("train iob1.tsv --output m.json --scheme iob1").err
    assert said not in err and "(iob1)" in err
    Path("valid.toml").write_text('[[rule]]\ntemplate = "valid_scheme"\n')
    assert "no label marks the begin of a run" in cli.refused("check valid.toml iob1.tsv --json")
    _, out, err = cli.done("check valid.toml iob1.tsv --json --scheme iob1")
    assert err == "" and json.loads(out)[0]["violations"] == 0
    assert said in cli.done("evaluate iob1.tsv iob1.tsv").err
    assert "some labels look like bio, others like iob1" in cli.done("evaluate train.tsv iob1.tsv").err
    _, out, err = cli.done("evaluate train.tsv iob1.tsv --scheme bio")
    assert err == "" and "token accuracy 100.00 %" in out


def test_a_model_of_bio_is_compared_with_iob1_where_that_is_asked_for(folder, cli):
    iob1(folder)
    cli.done("train iob1.tsv --output m.json --scheme bio")
    arguments = "compare iob1.tsv --model m.json --methods auto --output"
    assert "look like iob1" in cli.done(f"{arguments} one").err
    assert "notice" not in cli.done(f"{arguments} two --scheme bio").err
    row = json.loads(Path("two/results.jsonl").read_text().splitlines()[0])
    assert row["correct"] == row["gold_tokens"]


def test_files_of_different_schemes_are_compared_in_one(folder, cli):
    for scheme in ("iobes", "biluo"):
        text = [line.split("\t") for line in Path("train.tsv").read_text().splitlines()]
        result = iter(convert_all([[row[1] for row in text if len(row) > 1]], scheme)[0])
        lines = [f"{row[0]}\t{next(result)}" if len(row) > 1 else "" for row in text]
        Path(f"{scheme}.tsv").write_text("\n".join(lines) + "\n")
    different = "notice: labels of different schemes, bilou and iobes: compared as bilou"
    ends = "labels of different schemes, bilou and bio: compared as bilou"
    pairs = {"iobes.tsv biluo.tsv": different, "train.tsv biluo.tsv": ends, "biluo.tsv train.tsv": ""}
    for files, said in pairs.items():
        _, out, err = cli.done(f"evaluate {files}")
        assert "token accuracy 100.00 %" in out
        assert said in err and "labels of different schemes" in err


def test_labels_that_fit_no_scheme_are_said_to_be_plain(folder, cli):
    Path("odd.tsv").write_text("a\tB-x\nb\tM-x\nc\tL-x\n")
    said = "labels begin with B-, L-, M-, which are not the prefixes of one scheme: each label is read"
    assert said in cli.done("train odd.tsv --output m.json").err
    Path("valid.toml").write_text('[[rule]]\ntemplate = "valid_scheme"\n')
    for command in ("decode odd.tsv --model m.json --rules valid.toml", "check valid.toml odd.tsv"):
        assert f"valid_scheme(): {said}" in cli.refused(command)
    Path("valid.toml").write_text('[[rule]]\ntemplate = "valid_scheme"\npenalty = 1.0\n')
    decode = "decode odd.tsv --model m.json --rules valid.toml"
    for command in (decode, "check valid.toml odd.tsv", "evaluate odd.tsv odd.tsv"):
        err = cli.done(command).err
        assert err.count(said) == 1 and err.count("\n") == 1


def test_a_model_is_tried_on_labels_of_another_scheme_not_without_a_word(folder, cli):
    iob1(folder)
    said = "compared unchanged; --scheme bio converts both"
    for one, other in (("train.tsv", "iob1.tsv"), ("iob1.tsv", "train.tsv")):
        arguments = f"train {one} --held-out {other} --output m.json"
        assert cli.done(arguments).err.count(said) == 1
        assert "notice" not in cli.done(f"{arguments} --scheme bio").err
    Path("one.tsv").write_text("Ada\tO\n")
    assert "from 1 sequence of 1 token\n" in cli.done("train one.tsv --output m.json").err


@pytest.mark.parametrize("scheme", ["iobes", "bilou", "BILUO", "bmes"])
def test_rules_are_checked_on_bio_in_a_scheme_that_marks_ends(scheme, folder, cli):
    Path("valid.toml").write_text('[[rule]]\ntemplate = "valid_scheme"\n')
    _, out, err = cli.done(f"check valid.toml train.tsv --json --scheme {scheme}")
    assert err == "" and json.loads(out)[0]["violations"] == 0


def test_a_slip_in_gold_is_an_error_and_not_rewritten(folder, cli):
    Path("slip.tsv").write_text(Path("train.tsv").read_text().replace("B-date", "S-date"))
    arguments = "--model hmm.json --methods auto --output out"
    assert "gold label 'S-date' does not fit scheme bio" in cli.refused(f"compare slip.tsv {arguments}")
    assert cli("train slip.tsv --scheme bio --output m.json")[0] == 2


def test_an_expression_that_can_match_nothing_is_a_notice(folder, cli):
    said = "can match nothing with these labels: every labelling breaks it"
    Path("never.toml").write_text(rule_text("matches", fields=["date", "none"], regex="none date"))
    err = cli.failed("decode train.tsv --model hmm.json --rules never.toml")
    assert said in err and "no labelling keeps rule" in err and "RuleNotice" not in err
    err = cli.done("check never.toml train.tsv").err
    assert said in err and "RuleNotice" not in err
    _, out, err = cli.done("check never.toml --model hmm.json")
    assert said in out and "RuleNotice" not in err
