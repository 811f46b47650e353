"""Hard instances: the same bytes for the same name, and nothing that is known is lost or contradicted."""

import json
from random import Random

import numpy as np
import pytest

import ilpinfer
from benchmarks.__main__ import main
from benchmarks.data import draws
from benchmarks.data.hard import FAMILIES, UNIT, by_name, instance
from benchmarks.methods import Answer
from benchmarks.studies.hard import known, methods
from benchmarks.studies.hard.report import status_of, tables
from benchmarks.study import Disagreement
from formulations import load_rules
from formulations.problem.compiled_rules import compile_problem

KNOWN = json.loads(known.PATH.read_text("utf-8"))


@pytest.mark.parametrize("family", FAMILIES)
def test_instances_are_those_that_the_table_lists(family):
    one = instance(family, 0)
    assert one.digest == KNOWN[one.name]["digest"] and by_name(one.name).level == one.level


def test_bytes_depend_on_the_name_alone():
    digests = [instance("orders", number, smallest=True).digest for number in (0, 1, 0)]
    assert digests[0] == digests[2] != digests[1]
    with pytest.raises(ValueError, match="no instance 'orders-11-5-00'"):
        by_name("orders-11-5-00")


def test_draws_are_exact():
    values = draws.normal(Random(1), 50, 40)
    assert (values * 4096 == np.round(values * 4096)).all()
    assert abs(values.mean()) < 0.1
    assert abs(values.std() - 1) < 0.05
    assert draws.nats(Random(2), 0.5, 4.0) * 64 % 1 == 0
    assert sorted(draws.permutation(Random(3), "abcd")) == list("abcd")


@pytest.mark.parametrize("name", [name for name in KNOWN if KNOWN[name]["path"] and name.endswith("00")])
def test_known_incumbents_are_worth_what_is_said(name):
    one, record = by_name(name), KNOWN[name]
    value = compile_problem(one.trellis(), one.rules).value(np.array(record["path"]))
    assert value.score * UNIT == record["score"] <= record["bound"]


@pytest.mark.parametrize("family", ["implications", "consistency", "counts"])
def test_an_optimum_that_is_claimed_is_the_known_one(family):
    one = instance(family, 0)
    solution = ilpinfer.decode(one.trellis(), one.rules)
    assert solution.status == "optimal"
    assert known.is_proved(KNOWN[one.name])
    assert solution.score == KNOWN[one.name]["score"]


def record(score, bound, digest="d", by="earlier"):
    return {"digest": digest, "score": score, "score_by": by, "path": [1], "bound": bound, "bound_by": by}


def row(method, status, score, bound, **more):
    answer = {"status": status, "score": score, "bound": bound, "path": [2]}
    return {"name": "x", "method": method, **answer, **more}


def rows(known_record, *answers):
    return [
        {"name": "x", "method": "set", "digest": "d", "known": known_record, "viterbi": 1e-4},
        *({"seconds": 1.0, **answer} for answer in answers),
    ]


def test_a_run_never_loses_a_better_value():
    best = known.best_of(rows(record(5.0, 8.0))[0], [row("cbc", "feasible", 4.0, 7.0)])
    assert (best["score"], best["score_by"], best["path"]) == (5.0, "earlier", [1])
    assert (best["bound"], best["bound_by"]) == (7.0, "cbc")
    best = known.best_of(
        rows(None)[0], [row("scip", "unknown", None, 9.0), row("cbc", "feasible", 4.0, None)]
    )
    assert (best["score_by"], best["bound_by"]) == ("cbc", "scip")


def test_committed_values_are_merged_where_the_instance_is_the_same(monkeypatch):
    committed = {"x": record(5.0, 8.0), "y": record(1.0, 1.0), "z": record(5.0, 8.0)}
    monkeypatch.setattr(known, "_committed", lambda: committed)
    merged = known.everything({"x": record(4.0, 7.0, by="now"), "z": record(4.0, 9.0, digest="e")})
    assert (merged["x"]["score"], merged["x"]["bound"], merged["x"]["bound_by"]) == (5.0, 7.0, "now")
    assert merged["y"] == committed["y"]
    assert (merged["z"]["score"], merged["z"]["bound"]) == (4.0, 9.0)
    assert json.loads(known.text(merged)) == merged


@pytest.mark.parametrize(
    ("known_record", "answers"),
    [
        (None, [row("engine", "optimal", 5.0, 5.0), row("cbc", "feasible", 5.0 + UNIT, None)]),
        (None, [row("engine", "optimal", 5.0, 5.0), row("cbc", "optimal", 6.0, 6.0)]),
        (None, [row("engine", "infeasible", None, None), row("cbc", "feasible", 1.0, None)]),
        (record(5.0, 5.0), [row("engine", "optimal", 4.0, 4.0)]),
        (record(5.0, 5.0), [row("engine", "feasible", 6.0, 7.0)]),
    ],
)
def test_claims_that_cannot_all_be_right_are_disagreements(known_record, answers):
    with pytest.raises(Disagreement, match=r"x: .* claims that none is above"):
        known.check(rows(known_record, *answers))


def test_claims_that_fit_are_none():
    known.check(rows(record(5.0, 6.0), row("engine", "optimal", 5.5, 5.5), row("cbc", "unknown", None, 9.0)))
    known.check(rows(None, row("cbc", "feasible", 5.5, None), row("scip", "no form", None, None)))


@pytest.mark.parametrize(
    ("answers", "best", "status"),
    [
        ([row("engine", "optimal", 5.0, 5.0, seconds=0.5)], record(5.0, 5.0), "easy"),
        ([row("engine", "optimal", 5.0, 5.0, seconds=1.5)], record(5.0, 5.0), "hard"),
        ([row("engine", "feasible", 4.0, 6.0, seconds=3.0)], record(5.0, 5.0), "hard"),
        ([row("cbc", "feasible", 4.0, 6.0, seconds=0.1)], record(5.0, 5.0 + UNIT), "open"),
        ([row("cbc", "unknown", None, None, seconds=0.1)], record(None, None), "open"),
    ],
)
def test_statuses_are_those_of_published_sets(answers, best, status):
    assert status_of(answers, best) == status


def test_solvers_with_their_defaults_are_rivals():
    """Their labellings and bounds count for what is known."""
    given = rows(None, row("cp-sat", "feasible", 1.0, 9.0), row("cp-sat, defaults", "feasible", 4.0, 6.0))
    instances, answers = tables(given)
    assert list(answers.method) == ["cp-sat", "cp-sat, defaults"]
    assert (instances.best[0]["score"], instances.best[0]["bound"]) == (4.0, 6.0)


@pytest.mark.parametrize("labelled", [True, False])
@pytest.mark.parametrize(("proved", "grace"), [(True, 60.0), (True, -60.0), (False, 60.0)])
def test_what_toulbar2_claims_late_is_no_proof(labelled, proved, grace, monkeypatch):
    monkeypatch.setattr(methods, "GRACE", grace)
    monkeypatch.setattr(methods, "version", lambda package: "1")
    one = instance("implications", 0, smallest=True)
    best = ilpinfer.decode(one.trellis(), one.rules)
    answer = Answer(best.ids if labelled else None, best.score + 1.0, proved)
    monkeypatch.setattr(methods, "find_spec", lambda package: package)
    row = methods._by_toulbar2(one, 1.0, lambda trellis, rules, limit: answer)
    statuses = ("optimal", "feasible") if labelled else ("infeasible", "unknown")
    assert row["status"] == statuses[not proved or grace < 0]
    assert (row["score"], row["path"]) == ((best.score, best.ids.tolist()) if labelled else (None, None))
    assert row["bound"] == (best.score if row["status"] == "optimal" else None)


def test_instances_are_files_with_the_committed_digests(tmp_path, capsys, monkeypatch):
    few = {name: KNOWN[name] for name in ("orders-20-9-00", "gaps-40-9-00")}
    monkeypatch.setattr(known, "PATH", tmp_path / "best")
    known.PATH.write_text(json.dumps(few))
    tmp_path /= "instances"
    assert main(["instances", str(tmp_path)]) == 0
    index = json.loads((tmp_path / known.INDEX).read_text())
    assert f"{len(index)} instances" in capsys.readouterr().out
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == sorted([known.INDEX, *(f"{name}.{end}" for name in index for end in ("jsonl", "toml"))])
    name = min(index, key=lambda each: len(index[each]["path"] or [0] * 999))
    assert len(json.loads((tmp_path / f"{name}.jsonl").read_text())["tokens"]) == len(index[name]["path"])
    assert len(load_rules(tmp_path / f"{name}.toml"))
    (tmp_path / f"{name}.toml").write_text("fields = []\n")
    with pytest.raises(Disagreement, match=f"{name}: the digest of its files is "):
        known.check_files(tmp_path)


def test_a_folder_that_cannot_be_made_is_bad_input(tmp_path, capsys):
    (tmp_path / "file").write_text("")
    assert main(["instances", str(tmp_path / "file")]) == 2
    assert "file: File exists" in capsys.readouterr().err
