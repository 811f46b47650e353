"""The study of the searches, on the parts that need no corpora."""

import json
from pathlib import Path

import pytest
from support.effort import STRICT

from benchmarks import __main__ as program
from benchmarks.journal import Journal
from benchmarks.searches.summary import CAP, Outcome, borders, gap_at, line

ARGUMENTS = ["run", "searches", "--scale", "smoke", "--parts", "generator,rates", "--output"]


@pytest.fixture(scope="module")
def output(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("searches")
    assert program.main([*ARGUMENTS, str(folder)]) == 0
    return folder


def rows(folder: Path) -> list[dict]:
    lines = [json.loads(line) for line in (folder / "rows.jsonl").read_text("utf-8").splitlines()]
    assert lines[0]["settings"]["study"] == "searches"
    return [line for line in lines[1:] if line["method"] is not None]


def test_no_search_passes_the_optimum_and_the_engine_reaches_it(output: Path) -> None:
    result = [row for row in rows(output) if row["data"] != "rates"]
    best = {(r["data"], r["item"]): r["score"] for r in result if r["method"] == "optimum"}
    assert len(best) == 4
    reached = []
    for row in result:
        optimum = best[row["data"], row["item"]]
        assert row["score"] is None or row["score"] <= optimum + 1e-9
        if row["method"] == "exact engine":
            reached.append(row["score"] == optimum)
    assert all(reached) if STRICT else any(reached)
    assert {row["limit"] for row in result} == {None, 0.005, 0.02}


def test_tables_and_pictures_come_from_the_rows_alone(output: Path) -> None:
    names = ("results.txt", "gaps.svg", "anytime.svg", "length.svg")
    before = {name: (output / name).read_bytes() for name in names}
    for name in names:
        (output / name).unlink()
    assert program.main(["report", "searches", "--output", str(output)]) == 0
    assert {name: (output / name).read_bytes() for name in names} == before
    text = before["results.txt"].decode()
    assert "exact engine" in text and "millions a second" in text and "best border" in text


def test_an_interrupted_run_goes_on(output: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = output / "rows.jsonl"
    lines = path.read_text("utf-8").splitlines()
    path.write_text("\n".join(lines[:-30]) + "\n" + lines[-30][:20], "utf-8")
    assert program.main([*ARGUMENTS, str(output)]) == 0
    assert len(path.read_text("utf-8").splitlines()) == len(lines)
    assert path.read_text("utf-8").splitlines()[:-30] == lines[:-30]


def test_studies_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert program.main(["list"]) == 0
    assert {"engine", "searches"} <= set(capsys.readouterr().out.split())


def outcome(T: int, gap: float | None, trace: tuple[tuple[float, float], ...] = ()) -> Outcome:
    return Outcome(("data", str(T)), T, gap, 0, None, 0.1, trace[0][0] if trace else None, trace)


def test_gaps_count_missing_labellings() -> None:
    result = line([outcome(5, 0.0), outcome(5, None), outcome(5, 2 * CAP), outcome(5, 1.0)])
    assert (result.optimal, result.none) == (0.25, 0.25)
    assert result.capped_gap == (0 + CAP + CAP + 1) / 4
    assert result.gap == pytest.approx((0 + 2 * CAP + 1) / 3)


def test_the_best_border_takes_the_first_search_up_to_it() -> None:
    short = [outcome(10, 0.0), outcome(20, 4.0)]
    long = [outcome(10, 2.0), outcome(20, 1.0)]
    assert borders(short, long) == {0: 1.5, 10: 0.5, 20: 2.0}


def test_a_gap_at_a_moment_is_that_of_the_best_so_far() -> None:
    one = outcome(5, 1.0, ((0.1, 7.0), (0.3, 1.0)))
    assert [gap_at([one], t) for t in (0.05, 0.2, 0.4)] == [CAP, 7.0, 1.0]


def test_tuning_goes_on_with_the_trials_that_are_there(tmp_path: Path) -> None:
    pytest.importorskip("optuna", reason="optuna is not installed; it comes with the extra `bench`")
    arguments = ["run", "tuning", "--scale", "smoke", "--data", str(tmp_path), "--output", str(tmp_path)]
    assert program.main(arguments) == 0
    path = tmp_path / "rows.jsonl"
    lines = path.read_text("utf-8").splitlines()
    trials = [json.loads(line) for line in lines[1:] if '"trials"' in line]
    assert [trial["item"] for trial in trials] == ["0", "1", "2"]
    assert trials[0]["options"]["mutation_rate"] == 0.25
    path.write_text("\n".join(lines[:3]) + "\n", "utf-8")
    assert program.main(arguments) == 0
    again = path.read_text("utf-8").splitlines()
    assert again[:3] == lines[:3] and len(again) == len(lines)
    assert "share of what matters" in (tmp_path / "results.txt").read_text("utf-8")


def test_methods_that_run_again_leave_the_rows_of_others(tmp_path):
    """Only where the code has changed, so that what was interrupted goes on."""

    def row(method, code):
        return {"data": "d", "item": "i", "method": method, "code": code}

    def opened(code, again=(), scale="full"):
        settings = {"study": "s", "scale": scale, "code": code}
        return Journal(tmp_path / "rows.jsonl", settings, f"machine {code}", again)

    journal = opened("old")
    for method in ("a", "b, published"):
        journal.add(row(method, "old"))
    journal.close()
    journal = opened("new", ["b, published"])
    assert [kept["method"] for kept in journal.rows.values()] == ["a"]
    assert journal.about == "machine old\nagain, b, published: machine new"
    journal.add(row("b, published", "new"))
    journal.close()
    journal = opened("new", ["b, published"])
    assert {kept["method"]: kept["code"] for kept in journal.rows.values()} == {
        "a": "old",
        "b, published": "new",
    }
    journal.close()
    journal = opened("new", ["a"], scale="quick")
    assert not journal.rows
    journal.close()
