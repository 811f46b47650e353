"""The arithmetic of the studies of speed and of the system, and the decoders written for them."""

import os
import subprocess
import sys
from importlib.util import find_spec

import numpy as np
import pytest
from pandas import DataFrame
from support.tables import lines_of

from benchmarks import figures, timing
from benchmarks.data.synthetic import document, labels_of_size
from benchmarks.report import Report
from benchmarks.studies import doors, reprocess
from benchmarks.studies.doors import calls, corpora, rivals
from benchmarks.studies.doors.corpora import shuffled, with_words
from benchmarks.studies.doors.tagger import LONGEST, RULES, rules_of, sentences
from benchmarks.studies.reprocess import more_megabytes
from benchmarks.study import Disagreement
from benchmarks.timing import family_time, viterbi_calls
from formulations import RuleSet
from formulations import constraints as C
from formulations.problem.compiled_rules import compile_problem
from ilpinfer.exact.viterbi import viterbi


def test_the_unit_is_the_best_value_of_the_folded_scores():
    documents = [document(30, seed, labels_of_size(9), 1.9) for seed in range(2)]
    one, *_, other = (field.name for field in documents[0].labels.each_field)
    rules = RuleSet((C.starts_with(one, penalty=2.0), C.forbidden_transition(f"B-{one}", f"B-{other}")))
    values = [unit() for unit in viterbi_calls(documents, rules)]
    folded = [compile_problem(trellis, rules).fold() for trellis in documents]
    assert values == [viterbi(problem.lattice)[0] for problem in folded]


def test_ways_take_turns_in_both_orders():
    called = []
    works = {name: [lambda n=name: called.append(n)] * 2 for name in "ab"}
    assert {name: len(seconds) for name, seconds in timing.time_rounds(works, 2).items()} == {"a": 2, "b": 2}
    assert "".join(called) == "aabbbbaaaabb"


def test_the_first_round_is_not_timed():
    ticks = iter([0.0, 100.0, 100.0, 103.0, 103.0, 104.0, 104.0, 109.0])
    works = {"": [lambda: None]}
    assert timing.time_rounds(works, 3, lambda: next(ticks))[""].tolist() == [3.0]


def test_one_core_is_used_meanwhile():
    cores = os.sched_getaffinity(0)
    with timing.one_core():
        assert len(os.sched_getaffinity(0)) == 1
    assert os.sched_getaffinity(0) == cores


def test_memory_is_that_over_few_sequences():
    few, other, many = (
        {"part": part, "workers": 1, "sequences": size, "megabytes": peak}
        for part, size, peak in (("reprocess", 100, 80.0), ("other", 100, 10.0), ("reprocess", 20_000, 110.0))
    )
    more = more_megabytes(DataFrame([other, few, many])).more
    assert more.isna().tolist() == [True, True, False] and more.iloc[2] == 30.0


def test_other_content_is_a_disagreement():
    row = {"part": "reprocess", "number": 0, "sequences": 9, "shard": 3, "content": "a"}
    reprocess.check([row, row | {"part": "kills"}, row | {"shard": 4, "content": "b"}])
    with pytest.raises(Disagreement, match="reprocess 0 and kills 2 "):
        reprocess.check([row, row | {"part": "kills", "number": 2, "content": "b"}])


def test_runs_of_the_same_sequences_have_the_same_optima():
    row = {"part": "reprocess", "number": 0, "sequences": 9, "shard": 3, "optima": "a"}
    reprocess.check([row, row | {"shard": 4}])
    with pytest.raises(Disagreement, match="other optima"):
        reprocess.check([row, row | {"shard": 4, "optima": "b"}])


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
    assert len(found) == len(calls.PURPOSES) and all(each == found[0] for each in found)


@pytest.mark.parametrize("name", rivals.TAGGERS)
def test_programs_without_rules_have_the_optimum(name):
    packages, make = rivals.TAGGERS[name]
    if any(find_spec(package) is None for package in packages):
        pytest.skip(f"{name} is not installed")
    ways, trellises = make(sentences(70))
    for way in ways.values():
        assert rivals.most_lost(trellises, way()) <= (rivals.LOST if name == "pytorch-crf" else 1e-4)


def test_what_is_not_installed_is_said(tmp_path):
    assert not rivals.absent(["numpy"])
    assert rivals.absent(["numpy", "no_such_package"]) == "no_such_package is not installed"
    timed = {"part": "rivals", "sequences": 2, "bare": 2.0}
    rows = [
        {"part": "rivals", "data": "hmmlearn", "absent": "hmmlearn is not installed"},
        {"part": "rivals", "data": "torch", "absent": "torch is not installed"},
        timed | {"data": "torch", "absent": "", "way": "torch", "spent": 8.0, "lost": 0.0},
        {"part": "rivals", "data": "numpy", "absent": "", "failed": "ValueError: x"},
    ]
    page = Report(tmp_path)
    doors.STUDY.write(rows, page)
    text = page.markdown()
    assert text.count("- hmmlearn: not measured, hmmlearn is not installed.") == 1
    assert "torch: not" not in text and "- numpy: failed, ValueError: x" in text
    assert "1 of these programs failed" in text
    assert "| torch | torch | 0.016 | 8 | 4 | 0 |" in lines_of(page)


def test_other_labels_are_a_disagreement():
    doors.check([{"data": "torch", "way": "torch", "lost": 0.001}])
    with pytest.raises(Disagreement, match="labels lose 1"):
        doors.check([{"data": "torch", "way": "torch", "lost": 1.0}])


def test_new_words_look_like_the_known_ones():
    rng = np.random.default_rng(0)
    assert shuffled("pp", rng) == "pp" and shuffled("1994", rng) == "1994"
    word = shuffled("McCallum-2", rng)
    assert word != "McCallum-2" and sorted(word.lower()) == sorted("mccallum-2")
    assert [letter.isupper() for letter in word] == [letter.isupper() for letter in "McCallum-2"]
    trellis = sentences(1).trellises[0]
    other = with_words(trellis, ["x"] * len(trellis))
    assert other.tokens[0] == "x" and (other.lattice.node == trellis.lattice.node).all()


def test_the_table_of_corpora_has_means_and_lower_bounds(tmp_path, monkeypatch):
    timed = {"part": "corpora", "sequences": 2, "late": 0, "optimal": 1.0}
    rows = [
        timed | {"data": "Cora", "program": "CBC", "milliseconds": [100.0, 300.0]},
        timed | {"data": "UMass", "program": "CBC", "milliseconds": [3.0, 5.0], "late": 1, "optimal": 0.0},
        timed | {"data": "Cora", "program": corpora.CRFSUITE, "milliseconds": [1.0, 2.0], "optimal": None},
        timed | {"data": "UMass", "program": corpora.CRFSUITE, "milliseconds": [1.0, 4.0], "optimal": None},
    ]
    page = Report(tmp_path)
    doors.STUDY.write(rows, page)
    monkeypatch.setattr(figures, "_page", lambda study: page.markdown())
    figures.tables_of.cache_clear()
    table = figures.table("doors", "How fast is it?", "Cora; UMass", f"CBC; {corpora.CRFSUITE} = tagger")
    figures.tables_of.cache_clear()
    assert table.splitlines()[2:] == ["| CBC | 200 | > 4 |", "| tagger | 1.5 | 2.5 |"]
    assert {"| Cora | 50 |", "| UMass | 0 |"} <= set(lines_of(page))


def test_processor_time_counts_processes():
    work = "sum(range(4_000_000))"
    before = family_time()
    subprocess.run([sys.executable, "-S", "-c", work], check=True)
    assert family_time() > before
