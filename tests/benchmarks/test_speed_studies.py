"""The arithmetic of the studies of speed and of the system."""

import os
from types import SimpleNamespace

import numpy as np
import pytest
from pandas import DataFrame
from support.tables import lines_of

import ilpinfer
from benchmarks import timing
from benchmarks.data import prepared
from benchmarks.data.synthetic import repeated
from benchmarks.report import Report
from benchmarks.studies import best_few, references, reprocess, rule_costs
from benchmarks.studies.compiled import calls
from benchmarks.studies.compiled.report import calls as calls_of
from benchmarks.studies.reprocess import commands, more_megabytes
from benchmarks.studies.serving import sentences
from benchmarks.studies.serving.load import Phase, quantile
from benchmarks.study import Disagreement
from benchmarks.timing import viterbi_calls
from formulations import RuleSet, load_rules
from formulations import constraints as C
from formulations.problem.compiled_rules import compile_problem
from ilpinfer.corpus.sequences import read
from ilpinfer.exact.viterbi import viterbi
from ilpinfer.models.files import load_model


def test_the_unit_is_the_best_value_of_the_folded_scores():
    documents = [prepared.document(30, 5, 1.9, seed).trellises[0] for seed in range(2)]
    rules = RuleSet((C.starts_with("field 0", penalty=2.0), C.forbidden_transition("field 1", "field 2")))
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


@pytest.mark.parametrize("first, clock", [(0.001, "perf_counter"), (0.1, "process_time")])
def test_short_work_is_timed_by_the_clock_and_long_work_by_processor_time(monkeypatch, first, clock):
    ticks = {
        "perf_counter": [0.0, first],
        "process_time": [],
    }
    ticks[clock] += [0.0, 100.0, 100.0, 103.0, 103.0, 104.0]
    sources = {name: iter(values) for name, values in ticks.items()}
    clocks = {name: lambda n=name: next(sources[n]) for name in sources}
    monkeypatch.setattr(timing, "time", SimpleNamespace(**clocks))
    assert timing.least(lambda: None, 2) == 1.0


def test_one_core_is_used_meanwhile():
    cores = os.sched_getaffinity(0)
    with timing.one_core():
        assert len(os.sched_getaffinity(0)) == 1
    assert os.sched_getaffinity(0) == cores


def test_multiples_are_those_of_each_sequence():
    each = calls_of(DataFrame([{"way": "x", "bare": [1.0, 1.0, 4.0], "decoded": [2.0, 3.0, 4.0]}]))
    assert each.multiple.tolist() == [2.0, 3.0, 1.0]


@pytest.mark.parametrize(
    ("method", "route"),
    [
        ("auto: viterbi", calls.NOTHING),
        ("auto: label setting over 2 machines", calls.COMPILED),
        ("auto: 5 multipliers, label setting over 24 machines", calls.COMPILED),
        ("auto: 3 multipliers", calls.COMPILED),
        ("auto: viterbi breaks 1 of 2 rules", calls.ENGINE),
    ],
)
def test_routes_tell_what_settled_a_sequence(method, route):
    class Solved:
        pass

    Solved.method = method
    assert calls.route(Solved) == route


def test_labels_with_more_than_one_run():
    assert repeated(np.array([0, 0, 1, 0, 2, 2, 1])) == 2
    assert repeated(np.array([2, 2, 0])) == 0


def test_lists_of_both_ways_are_compared():
    document = prepared.document(12, 3, 2.0, 0)
    row = best_few.lists(document, 3, 1)
    assert row["same"] == 1 and len(row["lists"]) == len(row["bare"]) == 1 and row["places"] == [0]
    few, other = (document.decoder.decode(document.trellises[0], top=top) for top in (2, 3))
    with pytest.raises(Disagreement, match="scores"):
        best_few._compare(few, other)


def test_growth_is_the_last_exponent():
    assert rule_costs.growth([50, 100, 200], [7.0, 10.0, 40.0]) == pytest.approx(2.0)
    assert rule_costs.growth([50, 100], [10.0, 20.0]) == pytest.approx(1.0)
    assert rule_costs.growth([50], [10.0]) is None
    assert rule_costs.growth([50, 100], [0.0, 0.0]) is None


def test_what_rules_add_to_the_program():
    trellis = rule_costs.sequence(5, ())
    row = rule_costs.measured(trellis, RuleSet((C.at_most_runs("f1", 1, penalty=1.0),)))
    assert (row["rows"], row["columns"]) == (1, 1), "runs minus excess is at most 1"
    assert row["proved"] and min(row[key] for key in ("compile", "program", "path", "bare", "decode")) > 0


def test_the_ratio_of_references_is_that_of_means(tmp_path):
    rows = [
        {"tokens": 9, "labels": 3, "noise": 1.0, "leaves": 1, "bare": 1.0, "decode": d, "make": 1.0}
        | {"tables": t, "meaning": 3.0}
        for d, t in ((1.0, 10.0), (3.0, 30.0))
    ]
    report = Report(tmp_path)
    references.report(DataFrame(rows), report)
    assert "| 9 | 3 | 1.0 | 2 | 1 | 1 | 2 | 1 | 20 | 3 | 10 |" in lines_of(report)
    assert "slowest check from tables, in plain Python, takes 30 ms" in report.markdown()


def test_memory_is_that_over_few_sequences():
    few, other, many = (
        {"part": part, "workers": 1, "sequences": size, "megabytes": peak}
        for part, size, peak in (("decode", 100, 80.0), ("reprocess", 100, 10.0), ("decode", 20_000, 110.0))
    )
    more = more_megabytes(DataFrame([other, few, many])).more
    assert more.isna().tolist() == [True, True, False] and more.iloc[2] == 30.0


def test_other_content_is_a_disagreement():
    row = {"part": "reprocess", "number": 0, "victim": "", "sequences": 9, "shard": 3, "content": "a"}
    reprocess.check([row, row | {"part": "kills"}, row | {"shard": 4, "content": "b"}])
    with pytest.raises(Disagreement, match="reprocess 0  and kills 2 "):
        reprocess.check([row, row | {"part": "kills", "number": 2, "content": "b"}])


def test_answers_are_counted():
    phase = Phase("80 %", 4.0, took=2.0)
    for status, seconds in (("200", 0.1), ("200", 0.3), ("503", 0.01), ("lost", 2.0)):
        phase.add(status, seconds)
    row = phase.row(1.0)
    assert [row[key] for key in ("rate", "answered", "refused", "other", "missed")] == [1.0, 2, 1, 1, 1]
    assert row["refused_p99"] == pytest.approx(10.0) and row["slowest"] == pytest.approx(2000.0)
    assert row["late_p99"] is None
    capacity = row | {"rate": 200.0, "alone": 50.0}
    first, second = sentences([capacity, row, capacity | {"rate": 150.0}])
    assert "costs 100 times its decoding. After the other phases the capacity is 150;" in first
    assert "50.0 % of 4 requests are answered, 25.0 % refused, 1 end otherwise, 1 miss" in second


def test_quantiles_are_milliseconds():
    assert quantile([0.003, 0.001, 0.002], 0.5) == 2.0
    assert quantile([], 0.5) is None


def test_rows_of_a_command_have_to_be_certified_optima():
    with commands.workspace(3) as folder:
        model, rules = load_model(folder / "hmm.json"), load_rules(folder / "rules.toml")
        solutions = [ilpinfer.decode(model.trellis(one.tokens), rules) for one in read(folder / "corpus.tsv")]
        rows = [solution.to_dict() for solution in solutions]
        answers = list(commands.rechecked(folder, rows))
        assert answers == [(row["labels"], row["score"]) for row in rows]
        assert commands.digest(answers) != commands.digest([*answers[:2], (answers[2][0], 0.0)])
        wrong = {**rows[2], "score": rows[2]["score"] - 1.0}
        with pytest.raises(Disagreement, match="from the command"):
            list(commands.rechecked(folder, [*rows[:2], wrong]))


def test_runs_of_the_same_sequences_have_the_same_optima():
    row = {"part": "reprocess", "number": 0, "victim": "", "sequences": 9, "shard": 3, "optima": "a"}
    reprocess.check([row, row | {"shard": 4}])
    with pytest.raises(Disagreement, match="other optima"):
        reprocess.check([row, row | {"shard": 4, "optima": "b"}])
