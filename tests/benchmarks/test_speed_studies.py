"""The arithmetic of the studies of speed and of the system."""

import os

import pytest
from pandas import DataFrame

from benchmarks import timing
from benchmarks.data.synthetic import document, labels_of_size
from benchmarks.studies import reprocess
from benchmarks.studies.compiled import each_sequence
from benchmarks.studies.reprocess import more_megabytes
from benchmarks.study import Disagreement
from benchmarks.timing import viterbi_calls
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


def test_multiples_are_those_of_each_sequence():
    each = each_sequence(DataFrame([{"way": "x", "bare": [1.0, 1.0, 4.0], "decoded": [2.0, 3.0, 4.0]}]))
    assert each.multiple.tolist() == [2.0, 3.0, 1.0]


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
