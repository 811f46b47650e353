"""A sequence that cannot be decoded is a row with its reason; the others are decoded, and the run exits 1."""

import json
import os
import pickle
import signal
from pathlib import Path

import numpy as np
import pytest
from support.command_line import SCORES, rows
from support.trellises import random_trellis

import ilpinfer
from formulations import Trellis
from formulations import constraints as C
from ilpinfer.decoding import runner, workers
from ilpinfer.solvers import SolverError

RULES = """
fields = ["title"]
[[rule]]
name = "costly"
template = "at_most_tokens"
field = "title"
n = 0
penalty = 3e8
"""


def long(T):
    return {**SCORES, "emissions": [[0, -1]] * T, "tokens": ["x"] * T}


@pytest.fixture
def mixed(folder):
    """Lines 2 and 5 of five are so long that the penalty may overflow."""
    Path("in.jsonl").write_text("".join(json.dumps(long(T)) + "\n" for T in (3, 9, 3, 4, 10)))
    Path("costly.toml").write_text(RULES)
    return folder


def check_mixed(result, err, code, method=""):
    assert code == 1
    assert err.count("\n") == 1
    assert err.startswith(f"ilpinfer: 2 sequences could not be decoded: first in.jsonl, line 2{method}: ")
    assert "lower the penalty" in err
    assert [row["sequence"] for row in result] == list(range(5))
    assert [row["status"] == "unknown" for row in result] == [False, True, False, False, True]
    for row in result:
        assert bool(row.get("error")) == (row["status"] == "unknown")
    assert result[1]["labels"] is None and result[1]["error"] == "ValueError"
    assert result[1].get("tokens", 9) in (["x"] * 9, 9)
    assert result[4]["reason"].startswith(f"in.jsonl, line 5{method}: ")


@pytest.mark.parametrize(
    "more", ["", "--top 2", "--tau 0.5", "--tau 0.5 --top 2", "--explain", "--trace", "--jobs 2"]
)
def test_the_run_goes_on_and_counts_them(mixed, cli, more):
    code, out, err = cli(f"decode in.jsonl --rules costly.toml {more}")
    check_mixed([row for row in rows(out) if row.get("rank", 1) == 1], err, code)
    if "--tau" in more:
        assert all({"floor", "cost_bound"} <= row.keys() for row in rows(out))


def test_a_resumed_run_counts_those_that_are_there(mixed, cli):
    arguments = "decode in.jsonl --rules costly.toml --output x.jsonl"
    assert cli(arguments)[0] == 1
    whole = Path("x.jsonl").read_text().splitlines(keepends=True)
    Path("x.jsonl").unlink()
    Path("x.jsonl.part").write_text("".join(whole[:3]))
    code, _, err = cli(arguments)
    check_mixed(rows(Path("x.jsonl")), err, code)


def test_a_comparison_goes_on_too(mixed, cli):
    code, out, err = cli("compare in.jsonl --rules costly.toml --methods auto,viterbi --output out")
    result = rows(Path("out/results.jsonl"))
    check_mixed(result[::2], err, code, ", method auto")
    assert [row["status"] for row in result[1::2]].count("unknown") >= 2
    assert "auto" in out and Path("out/report.html").exists()
    summary = json.loads(Path("out/summary.json").read_text())["methods"]
    assert summary[0]["failed"] == 2 and summary[0]["solved"] == summary[0]["proved"] == 0.6


def test_one_that_is_infeasible_is_said_beside(mixed, cli):
    impossible = {**long(3), "transitions": [[None, None], [None, None]]}
    with Path("in.jsonl").open("a") as lines:
        lines.write(json.dumps(impossible) + "\n")
    code, _, err = cli("decode in.jsonl --rules costly.toml")
    assert code == 1
    assert "2 sequences could not be decoded: first in.jsonl, line 2: " in err
    assert "; in.jsonl, line 6: infeasible: the scores themselves forbid every labelling" in err


def test_the_first_sequence_may_be_the_odd_one(mixed, cli):
    Path("in.jsonl").write_text("".join(json.dumps(long(T)) + "\n" for T in (9, 3)))
    code, out, err = cli("decode in.jsonl --rules costly.toml")
    assert code == 1 and err.startswith("ilpinfer: 1 sequence could not be decoded: in.jsonl, line 1: ")
    assert [row["status"] for row in rows(out)] == ["unknown", "optimal"]


ERRORS = [
    (MemoryError(), "out of memory"),
    (SolverError("highs: its process ended by signal 9; try again"), "highs: its process ended by signal 9"),
    (OverflowError("int too large"), "OverflowError: int too large"),
    (RecursionError("maximum recursion depth exceeded"), "nested too deeply"),
    (OSError(28, "No space left on device"), "No space left on device"),
    (OSError(28, "No space left on device", "/tmp/x"), "/tmp/x: No space left on device"),
    (AssertionError(), "AssertionError"),
]


def failing_second(honest, error):
    calls = []

    def decode(trellis, *given, **more):
        calls.append(trellis)
        if len(calls) == 2:
            raise error
        return honest(trellis, *given, **more)

    return decode


@pytest.mark.parametrize(
    ("command", "error", "words"), [("compare", *ERRORS[0]), *(("decode", *each) for each in ERRORS)]
)
def test_whatever_is_raised(folder, cli, monkeypatch, error, words, command):
    Path("in.jsonl").write_text((json.dumps(SCORES) + "\n") * 3)
    monkeypatch.setattr("ilpinfer.core.request.Request.direct", False)
    monkeypatch.setattr(runner, "run_method", failing_second(runner.run_method, error))
    more = "--output x.jsonl" if command == "decode" else "--methods auto --output out"
    code, _, err = cli(f"{command} in.jsonl {more}")
    place = "in.jsonl, line 2" if command == "decode" else "in.jsonl, line 2, method auto"
    assert code == 1 and err.count("\n") == 1
    assert err.startswith(f"ilpinfer: 1 sequence could not be decoded: {place}: {words}")
    result = rows(Path("x.jsonl" if command == "decode" else "out/results.jsonl"))
    assert [row["status"] for row in result] == ["optimal", "unknown", "optimal"]
    assert result[1]["error"] == type(error).__name__
    assert result[1]["reason"].startswith(f"{place}: {words}")


def test_a_model_that_cannot_score_one_sequence(folder, cli, monkeypatch):
    from ilpinfer.models.hmm import HMM

    honest = HMM.trellis

    def trellis(self, tokens):
        if "Grace" in tokens:
            raise ValueError("pattern takes more than 1 s")
        return honest(self, tokens)

    monkeypatch.setattr(HMM, "trellis", trellis)
    decode = "decode train.tsv --model hmm.json"
    code, out, err = cli(decode)
    said = "train.tsv, line 11: pattern takes more than 1 s"
    assert (code, err) == (1, f"ilpinfer: 1 sequence could not be decoded: {said}\n")
    assert [row["status"] for row in rows(out)] == ["optimal", "unknown"]
    assert rows(out)[1]["tokens"][0] == "Grace"
    code, _, err = cli("compare train.tsv --model hmm.json --methods auto,viterbi --output out")
    assert code == 1 and "train.tsv, line 11" in err
    monkeypatch.setattr(HMM, "trellis", lambda *_: 1 / 0)
    assert cli.refused(decode).startswith("ilpinfer: train.tsv, line 1: ZeroDivisionError")


def test_a_killed_solver_costs_one_sequence(folder, cli, monkeypatch):
    from ilpinfer.solvers.pool import Worker

    honest, calls = Worker.solve, []

    def solve(self, *given):
        calls.append(self)
        if len(calls) == 2:
            os.kill(self.process.pid, signal.SIGKILL)
            self.process.wait()
        return honest(self, *given)

    monkeypatch.setattr(Worker, "solve", solve)
    Path("in.jsonl").write_text((json.dumps(SCORES) + "\n") * 3)
    code, out, err = cli("decode in.jsonl --method highs --rules rules.toml")
    assert code == 1
    assert "in.jsonl, line 2: highs: its process ended by signal 9" in err
    assert [row["status"] for row in rows(out)] == ["optimal", "unknown", "optimal"]


def test_an_interrupt_that_becomes_an_error_is_no_row(folder, cli, monkeypatch):
    def interrupted(*_, **__):
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt:
            raise SystemError("returned a result with an exception set") from None

    monkeypatch.setattr("ilpinfer.core.request.Request.direct", False)
    monkeypatch.setattr(runner, "run_method", interrupted)
    assert cli("decode scores.jsonl --output x.jsonl")[0] == 130
    assert not list(Path().glob("x.jsonl*"))


def deadly():
    """A trellis whose arrival ends a process."""
    given = random_trellis(0, 7)
    object.__setattr__(given, "bomb", Bomb())
    return given


class Bomb:
    def __reduce__(self):
        return eval, ("__import__('os').kill(__import__('os').getpid(), 9)",)


def test_a_process_that_dies_costs_the_sequence_that_it_had():
    rules = [C.at_most_runs("a", 1)]
    given = [random_trellis(n, 7) for n in range(11)]
    given[1], given[9] = deadly(), deadly()
    result = list(ilpinfer.decode_many(given, rules, n_jobs=2, on_error="row"))
    bad = [number for number, solution in enumerate(result) if solution.error]
    assert bad == [1, 9]
    assert {result[n].error for n in bad} == {"WorkerError"}
    assert all("signal 9" in result[n].reason for n in bad)
    for number, solution in enumerate(result):
        if number not in bad:
            assert solution.labels == ilpinfer.decode(given[number], rules).labels
    with pytest.raises(workers.WorkerError, match="signal 9"):
        list(ilpinfer.decode_many([deadly()], rules, n_jobs=2))


def test_so_on_the_command_line(folder, cli, monkeypatch):
    from ilpinfer.pipelines import scored_stream

    honest = scored_stream.score_example

    def score(example, *more):
        scored = honest(example, *more)
        if example.line == 2:
            object.__setattr__(scored.trellis, "bomb", Bomb())
        return scored

    monkeypatch.setattr(scored_stream, "score_example", score)
    Path("in.jsonl").write_text((json.dumps(SCORES) + "\n") * 4)
    code, out, err = cli("decode in.jsonl --jobs 2")
    assert code == 1 and err.count("\n") == 1
    assert err.startswith("ilpinfer: 1 sequence could not be decoded: in.jsonl, line 2: ")
    assert "signal 9" in err
    assert [row["status"] for row in rows(out)] == ["optimal", "unknown", "optimal", "optimal"]


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_in_python_errors_are_raised_unless_told_otherwise(n_jobs):
    rules = [C.at_most_tokens("a", 0, penalty=3e8)]
    short, over = (Trellis(np.zeros(2), np.zeros((n, 2, 2)), labels=["a", "b"]) for n in (2, 9))
    solutions = ilpinfer.decode_many([short, over, short], rules, n_jobs=n_jobs)
    assert next(solutions).status == "optimal"
    with pytest.raises(ValueError, match="lower the penalty"):
        next(solutions)
    result = list(ilpinfer.decode_many([short, over, short], rules, n_jobs=n_jobs, on_error="row"))
    assert [s.status for s in result] == ["optimal", "unknown", "optimal"]
    failed = result[1]
    assert not failed.has_labelling and failed.error == "ValueError" and "lower the penalty" in failed.reason
    assert (failed.score, failed.bound, failed.gap) == (-np.inf, np.inf, np.inf)
    assert pickle.loads(pickle.dumps(failed)).reason == failed.reason
    lists = ilpinfer.decode_many([short, over], rules, on_error="row", top=2)
    assert [[s.status for s in few] for few in lists] == [["optimal"] * 2, ["unknown"]]


def test_a_traceback_is_shown_where_it_is_asked_for(mixed, cli, monkeypatch):
    monkeypatch.setenv("ILPINFER_TRACEBACK", "1")
    err = cli.failed("decode in.jsonl --rules costly.toml")
    assert err.startswith("Traceback") and "check_totals" in err
    assert err.splitlines()[-1].startswith("ilpinfer: rule 'costly'")


def test_a_sequence_without_a_labelling_in_time_has_failed(folder, cli):
    Path("in.jsonl").write_text(json.dumps(SCORES) + "\n")
    code, out, err = cli("decode in.jsonl --rules rules.toml --time-limit 1e-9")
    assert (code, rows(out)[0]["status"]) == (1, "unknown")
    assert err.startswith(
        "ilpinfer: 1 sequence could not be decoded: in.jsonl, line 1: the method reached no"
    )
