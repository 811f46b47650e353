"""Labels of one scheme as labels of another."""

import json

import pytest
from command_line import run
from hypothesis import given
from hypothesis import strategies as st

from formulations import LabelSet
from ilpinfer.corpus.conversion import converted, iobes
from ilpinfer.evaluation.measures import fields


@pytest.mark.parametrize(
    ("bio", "expected"),
    [
        ("B-a I-a I-a", "B-a I-a E-a"),
        ("B-a B-a O I-b", "S-a S-a O S-b"),
        ("I-a I-b I-b B-b", "S-a B-b E-b S-b"),
        ("", ""),
    ],
)
def test_runs_get_an_end(bio, expected):
    assert iobes(bio.split()) == tuple(expected.split())


@given(st.lists(st.sampled_from(["O", "B-a", "I-a", "B-b", "I-b"]), min_size=1, max_size=8))
def test_fields_stay_the_same_and_the_scheme_is_kept(labels):
    converted = iobes(labels)
    assert fields(converted, "iobes") == fields(labels, "bio")
    names = LabelSet(tuple(dict.fromkeys(converted)), "iobes")
    step, last = names.invalid
    ids = names.ids(converted)
    assert not step[0, ids[0]] and not last[ids[-1]]
    assert not any(step[i + 1, j] for i, j in zip(ids, ids[1:]))


def test_other_labels_are_refused():
    with pytest.raises(ValueError, match="label 'title' does not fit scheme bio"):
        iobes(["title"])


@pytest.mark.parametrize(
    ("scheme", "expected"),
    [
        ("plain", ("a", "a", "O")),
        ("iobes", ("B-a", "E-a", "O")),
        ("", ("B-a", "I-a", "O")),
        ("bio", ("B-a", "I-a", "O")),
    ],
)
def test_a_scheme_that_was_asked_for(scheme, expected):
    assert converted([("B-a", "I-a", "O")], scheme) == [expected]


def test_models_of_iobes_labels_are_trained_on_and_compared_with_bio(folder, capsys):
    code, _, err = run(["train", "train.tsv", "--scheme", "iobes", "--output", "ends.json"], capsys)
    assert code == 0 and "(iobes)" in err
    code, out, _ = run(["decode", "train.tsv", "--model", "ends.json", "--rules", "iobes"], capsys)
    assert code == 0
    found = json.loads(out.splitlines()[0])
    assert found["labels"][:3] == ["B-author", "I-author", "E-author"]
    arguments = ["compare", "train.tsv", "--model", "ends.json", "--methods", "auto", "--output", "out"]
    assert run(arguments, capsys)[0] == 0
    row = json.loads((folder / "out" / "results.jsonl").read_text().splitlines()[0])
    assert row["gold"]["correct"] == row["gold"]["tokens"]
