"""What the study of penalties reports of its rows."""

from pandas import DataFrame
from support.tables import lines_of

from benchmarks.report import Report
from benchmarks.studies.penalties import BEST, HELD_OUT, MODELS, OWN, PENALTIES, report

LEVELS = ((70.0, 72.0, 71.0, 73.0, 74.0, 75.0, 76.0, 60.0), (80.0, 84.0, 79.0, 85.0, 86.0, 84.0, 83.0, 70.0))


def rows():
    for draw, levels in enumerate(LEVELS):
        for name, level in zip((*PENALTIES, BEST, HELD_OUT, OWN), levels, strict=True):
            row = {"model": next(iter(MODELS)), "size": 5, "draw": draw, "penalties": name}
            row |= {"tokens": level, "spans": 50.0, "whole": 10.0}
            if "learnt" in name:
                row |= {"algorithm": "perceptron", "left_out": draw, "rules": 11}
            if name in (BEST, HELD_OUT, OWN):
                row |= {"algorithm": ("apart", "margin")[draw], "left_out": 2 * draw}
            yield row


def test_gains_and_what_was_learnt(tmp_path):
    page = Report(tmp_path)
    report(DataFrame(rows()), page)
    text = "\n".join(lines_of(page))
    assert "| usual HMM, 5 | token accuracy | +3.0 ± 1.0 | +0.0 ± 1.0 | +4.0 ± 1.0 | +5.0 ± 1.0 |" in text
    assert (
        "perceptron in 2 of 2 draws; 0.5 of 11 rules left out in the mean. All weights: apart in 1, margin in 1; 1.0"
        in text
    )
    assert "| usual HMM, 5 | token accuracy | +1.0 ± 0.0 | +1.5 ± 1.5 | +1.5 ± 2.5 | −13.0 ± 1.0 |" in text
    assert (tmp_path / "gains.svg").exists()
