"""The sentences of the study of entrances, the decoders written for it, and its page."""

import numpy as np
import pytest

from benchmarks import figures
from benchmarks.report import Report
from benchmarks.studies import doors
from benchmarks.studies.doors import calls, report, rivals
from benchmarks.studies.doors.tagger import LONGEST, RULES, rules_of, sentences
from benchmarks.study import Disagreement
from formulations import RuleSet
from formulations import constraints as C
from formulations.problem.compiled_rules import compile_problem

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning")


def test_planted_labels_keep_the_hard_rules():
    some = sentences(50)
    assert [each.tolist() for each in sentences(5).planted] == [each.tolist() for each in some.planted[:5]]
    rules = RuleSet((C.valid_scheme(), C.at_most_runs(C.EACH_FIELD, 1), C.max_run_length("date", LONGEST)))
    for trellis, ids in zip(some.trellises, some.planted):
        assert 8 <= len(ids) <= 32 and len(trellis.labels) == 9
        assert not any(compile_problem(trellis, rules).value(ids).violations.values())
    assert np.allclose(np.exp(some.transitions).sum(1), 1), "hmmlearn takes probabilities"
    assert some.padded.shape == (*some.mask.shape, 9)
    assert (some.padded[3][some.mask[3]] == some.emissions[3]).all()


@pytest.mark.parametrize("number", [0, 2, len(RULES)])
def test_every_way_ends_with_the_same_labels(number):
    some = sentences(6)
    found = [
        [np.asarray(ids)[: len(own)].tolist() for ids, own in zip(way(), some.planted)]
        for way in calls.ways(some, rules_of(number)).values()
    ]
    assert len(found) == len(report.PURPOSES) and all(each == found[0] for each in found)


@pytest.mark.parametrize("name", rivals.TAGGERS)
def test_programs_without_rules_have_the_optimum(name):
    packages, make = rivals.TAGGERS[name]
    if not rivals.installed(packages):
        pytest.skip(f"{name} is not installed")
    ways, trellises = make(sentences(70))
    for way in ways.values():
        assert rivals.most_lost(trellises, way()) <= (rivals.LOST if name == "pytorch-crf" else 1e-4)


def test_other_labels_are_a_disagreement():
    doors.check([{"data": "torch", "way": "torch", "lost": 0.001}])
    with pytest.raises(Disagreement, match="labels lose 1"):
        doors.check([{"data": "torch", "way": "torch", "lost": 1.0}])


def test_other_pages_quote_the_first_table(tmp_path, monkeypatch):
    timed = {"part": "batches", "sequences": 2, "tokens": 9, "nothing_broken": 1}
    rows = [
        timed | {"rules": rules, "way": way, "spent": spent * rules, "bare": 1.0}
        for rules in (2, 6)
        for way, spent in ((calls.BARE, 1.0), (calls.PADDED, 3.0))
    ]
    solved = {"part": "solvers", "data": "cbc", "rules": 2, "item": "0"}
    rows += [
        solved | {"method": method, "status": status, "seconds": seconds}
        for method, status, seconds in (
            ("auto", "optimal", 0.1),
            ("bare Viterbi pass", "without rules", 0.01),
            ("cbc", "optimal", 2.0),
        )
    ]
    page = Report(tmp_path)
    doors.STUDY.write(rows, page)
    assert "50 % of the sentences" in page.markdown()
    monkeypatch.setattr(figures, "_page", lambda study: page.markdown())
    figures.tables_of.cache_clear()
    chosen = f"{calls.PADDED} = a batch; CBC, same rules = CBC"
    table = figures.table("doors", report.SHORT, "µs a sequence; × bare pass", chosen)
    figures.tables_of.cache_clear()
    assert table.splitlines()[2:] == [
        "| a batch | 18 | 18 |",
        "| CBC | 2000000 | 200 |".replace("2000000", "2 000 000"),
    ]
