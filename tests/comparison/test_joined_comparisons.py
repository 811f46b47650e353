"""Comparisons under other names, saved and loaded, and joined."""

from dataclasses import replace

import pandas as pd
import pytest
from support.comparisons import GOLD, RULES, TIMES, TRELLISES, poor

import ilpinfer
from ilpinfer.comparison.rows import Contradiction


def run(*methods, trellises=TRELLISES[:4], rules=RULES, gold=GOLD[:4], **options):
    return ilpinfer.compare(trellises, rules, methods, gold=gold, **options)


NAMES = {"beam:width=1": "Beam", "poor": "Plain O"}


def test_methods_have_the_names_that_are_given():
    result = run("auto", "beam:width=1", poor, names=NAMES)
    assert list(result.summary().method) == ["auto", "Beam", "Plain O", "bare Viterbi pass"]
    assert set(result.frame.method) == {"auto", "Beam", "Plain O"}
    assert result.about["limits"]["Beam"]["method"] == "beam:width=1"
    later = run("auto", "beam:width=1", poor).renamed(NAMES)
    pd.testing.assert_frame_equal(*(each.summary().drop(columns=TIMES) for each in (later, result)))
    assert later.about["limits"] == result.about["limits"]


def test_a_saved_comparison_is_loaded_as_it_was(tmp_path):
    def failing(trellis, rules, *, time_limit, seed):
        raise KeyError("nothing works")

    result = run("auto", poor, failing, on_error="record")
    result.save(tmp_path)
    again = ilpinfer.Comparison.load(tmp_path)
    pd.testing.assert_frame_equal(again.frame, result.frame)
    for name, table in result.lines().items():
        pd.testing.assert_frame_equal(again.lines()[name], table)
    assert repr(again) == repr(result)


def test_runs_on_the_same_sequences_are_joined(tmp_path):
    run("auto", "viterbi").save(tmp_path)
    one, other = ilpinfer.Comparison.load(tmp_path), run("auto", "beam:width=1", poor)
    both, whole = one + other, run("auto", "viterbi", "beam:width=1", poor)
    pd.testing.assert_frame_equal(*(each.summary().drop(columns=TIMES) for each in (both, whole)))
    assert both.frame.method.tolist() == whole.frame.method.tolist()
    assert both.about["limits"] == whole.about["limits"] and len(both.cases) == 4
    twice = other.renamed({"poor": "x", "beam:width=1": "y"}) + other
    assert list(twice.kinds) == ["auto", "y", "x", "beam:width=1", "poor"]
    assert list((run("viterbi") + run(poor)).kinds) == ["viterbi", "poor"], "without a reference"


@pytest.mark.parametrize(
    ("methods", "options", "words"),
    [
        (["auto"], {"trellises": TRELLISES[:3], "gold": GOLD[:3]}, "different numbers of sequences"),
        (
            ["auto"],
            {"trellises": TRELLISES[1:5], "gold": GOLD[1:5]},
            "sequence 0 differs between the comparisons",
        ),
        (["auto"], {"gold": [None, *GOLD[1:4]]}, "sequence 0 differs .* scores, tokens or gold labels"),
        (["auto"], {"rules": RULES[:1]}, "two comparisons with different rules"),
        (["auto"], {"cap": 3.0}, "the cap is 50 nats in one comparison and 3 in the other"),
        (["auto", poor], {}, "^poor: in both comparisons; give other names in one of them"),
        (["viterbi", poor], {}, "^poor: in both"),
    ],
)
def test_comparisons_of_different_things_are_not_joined(methods, options, words):
    with pytest.raises(ValueError, match=words):
        run("auto", poor) + run(*methods, **options)


def test_a_reference_with_other_results_is_not_joined():
    one, other = run("auto"), run("auto", "viterbi")
    less = other.frame.copy()
    less.loc[2, "score"] -= 1.0
    with pytest.raises(ValueError, match="sequence 1: auto has another result in the second comparison"):
        one + replace(other, frame=less)
    more = other.frame.copy()
    more.loc[3, "score"] = 1000.0
    with pytest.raises(Contradiction, match=r"sequence 1: viterbi found a labelling of score 1000\.0"):
        one + replace(other, frame=more)


@pytest.mark.parametrize(
    ("name", "change", "words"),
    [
        ("summary.json", lambda text: None, "cannot be read"),
        ("summary.json", lambda text: text[:-5], "cannot be read"),
        ("summary.json", lambda text: "[]", "cannot be read"),
        ("summary.json", lambda text: text.replace("rules_digest", "x"), "has no rules_digest"),
        ("results.jsonl", lambda text: None, "damaged after line 0"),
        ("results.jsonl", lambda text: text.replace("poor", "door"), "damaged after line 1"),
        ("results.jsonl", lambda text: text[: len(text) // 2], "damaged after line [34]"),
        ("results.jsonl", lambda text: "".join(text.splitlines(True)[:6]), "damaged after line 6"),
        ("results.jsonl", lambda text: text.replace('"digest"', '"d"'), "damaged after line 0"),
    ],
)
def test_a_damaged_folder_is_named(tmp_path, name, change, words):
    run("auto", poor).save(tmp_path)
    text = change((tmp_path / name).read_text())
    (tmp_path / name).unlink()
    if text is not None:
        (tmp_path / name).write_text(text)
    with pytest.raises(
        ValueError, match=f"{name}: {words}.*expected a folder that `ilpinfer compare --output`"
    ):
        ilpinfer.Comparison.load(tmp_path)
