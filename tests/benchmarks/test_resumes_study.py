"""The study of résumés: rewards, and its cells on made-up sections."""

import numpy as np
import pytest

import ilpinfer
from benchmarks.studies import resumes as study
from benchmarks.study import Missing, Sources
from formulations import LabelSet, Trellis


def test_the_reward_stands_on_each_beginning():
    given = study.rules([(("x", "y"), ("B-a", "B-b"))])
    labels = LabelSet(("B-a", "B-b", "I-a", "I-b", "O"))
    flat = Trellis.from_emissions(np.zeros((4, 5)), np.zeros((5, 5)), labels=labels)
    scores = [
        ilpinfer.evaluate_labelling(flat, rules, ["B-a", "I-a", "B-b", "O"]).score for rules in given.values()
    ]
    assert scores == pytest.approx([0.0, 2.0, 3.0, 4.0], abs=1e-4)


def test_sections_are_missing_where_the_corpus_is(tmp_path):
    with pytest.raises(Missing, match="experience_train"):
        list(study.cells(Sources(tmp_path, "smoke"), study.REWARDED))
