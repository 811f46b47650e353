"""Fields that do not see line breaks, and labels that are put back."""

import pytest

import ilpinfer
from benchmarks.data import models
from benchmarks.data.line_breaks import features, trained_between_breaks, with_breaks

TEXTS = [
    ("1. @newline@ Facts @newline@ It rained .", "nr break title break text text text"),
    ("It rained @newline@ 2. @newline@ Law", "text text break nr break title"),
]


def test_a_field_of_the_tokens_between_line_breaks(tmp_path, monkeypatch):
    monkeypatch.setattr(models, "FOLDER", tmp_path)
    pairs = [(tuple(tokens.split()), tuple(labels.split())) for tokens, labels in TEXTS]
    model = trained_between_breaks(pairs, "general", c2=0.01)
    assert model.labels.names == ("nr", "text", "title")
    for tokens, labels in pairs:
        trellis = model.trellis(tokens)
        assert "@newline@" not in trellis.tokens
        assert with_breaks(tokens, ilpinfer.decode(trellis).labels, "break") == list(labels)
    first = features(model.template, pairs[0][0])[1]
    assert "line-start[0]" in first and any(name.startswith("lower[-1]=1.") for name in first)


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ("B-x I-x O", "B-x I-x I-x O"),
        ("I-x I-x O", "I-x I-x I-x O"),
        ("B-x B-x O", "B-x O B-x O"),
        ("I-y I-x O", "I-y O I-x O"),
        ("x x O", "x O x O"),
    ],
)
def test_line_breaks_inside_a_run_go_on_with_it(labels, expected):
    tokens = ["a", "@newline@", "b", "c"]
    assert with_breaks(tokens, labels.split(), "O") == expected.split()
