"""`ilpinfer export` and `ilpinfer import-solution`, with real solvers in between."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from support import cbc as cbc_binary
from support.command_line import SCORES, run

import ilpinfer
from formulations import Trellis, load_rules

MODEL = ["--model", "hmm.json", "--rules", "rules.toml"]
HIGHS = """
import sys
from highspy import Highs
for name in sys.argv[2:]:
    solver = Highs()
    solver.setOptionValue("output_flag", False)
    solver.setOptionValue("mip_rel_gap", 0.0)
    solver.readModel(name)
    solver.run()
    solver.writeSolution(name.rpartition(".")[0] + ".sol", int(sys.argv[1]))
"""


def cbc(files):
    for file in files:
        cbc_binary.run(file, file.with_suffix(".sol"))


def highs(files, style):
    command = [sys.executable, "-c", HIGHS, str(style), *map(str, files)]
    subprocess.run(command, check=True, capture_output=True)


SOLVERS = {"cbc": cbc, "highs": lambda files: highs(files, 0), "highs table": lambda files: highs(files, 1)}


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize(
    "options",
    [
        [],
        ["--format", "mps", "--units", "grid"],
        ["--program", "hard", "--folded"],
        ["--program", "two-phase", "--tau", "0.95", "--format", "mps"],
        ["--program", "shortest-path", "--units", "grid"],
    ],
)  # fmt: skip
def test_programs_go_to_solvers_and_come_back(folder, capsys, solver, options):
    arguments = ["export", "train.tsv", *MODEL, "--output", "out", *options]
    code, out, err = run(arguments, capsys)
    assert (code, out) == (0, "") and "out: 2 programs" in err
    end = "mps" if "mps" in options else "lp"
    files = sorted(Path("out").glob(f"*.{end}"))
    assert [file.name for file in files] == [f"0001.{end}", f"0002.{end}"]
    SOLVERS[solver](files)
    same = [word for word in options if word not in ("--format", "mps", "--units", "grid")]
    back = ["import-solution", "train.tsv", "out", *MODEL, *same]
    code, out, err = run([*back, "--output", "back.jsonl"], capsys)
    assert (code, out) == (0, ""), err
    rows = [json.loads(line) for line in Path("back.jsonl").read_text().splitlines()]
    assert [row["sequence"] for row in rows] == [0, 1]
    for row in rows:
        assert row["claim_agrees"] is True
        assert row["objective_gap"] == pytest.approx(0, abs=1e-5)
        assert len(row["labels"]) == len(row["tokens"])
        assert row["score"] == pytest.approx(row["model_score"] + row["feature_score"] - row["penalty"])
    if "--program" not in options:
        assert all(row["status"] == "optimal" and row["gap"] == 0 for row in rows)
        assert all(row["violations"].keys() == {"one title"} for row in rows)
    code, out, err = run(back, capsys)
    assert code == 0 and "0001.sol" in out and "claim agrees" in out and "no:" not in out


def test_the_map_reads_a_solution_back_without_the_trellis(folder, capsys):
    assert run(["export", "scores.jsonl", "--rules", "rules.toml", "--output", "out"], capsys)[0] == 0
    cbc([Path("out/0001.lp")])
    about = json.loads(Path("out/0001.columns.json").read_text())
    assert about["tokens"] == SCORES["tokens"] and about["labels"] == SCORES["label_names"]
    assert (about["program"], about["format"], about["units"], len(about["digest"])) == (
        "soft",
        "lp",
        "nats",
        64,
    )
    columns = {column["file"]: column for column in about["columns"]}
    taken = [
        line.split()[1]
        for line in Path("out/0001.sol").read_text().splitlines()[1:]
        if float(line.split()[2])
    ]
    steps = [columns[name] for name in taken if columns[name]["kind"] == "path"]
    labels = [step["labels"][1] for step in sorted(steps, key=lambda step: step["token"])]
    trellis = Trellis.from_emissions(
        [[x if x is not None else float("-inf") for x in row] for row in SCORES["emissions"]],
        SCORES["transitions"],
        labels=SCORES["label_names"],
        tokens=SCORES["tokens"],
    )
    assert labels == [*ilpinfer.decode(trellis, load_rules("rules.toml")).labels, "END"]
    assert about["digest"] in Path("out/0001.lp").read_text()
    first = columns["x.0.START.title"]
    assert first == {
        **first,
        "name": "x[0,START,title]",
        "token": 0,
        "labels": ["START", "title"],
        "rule": None,
    }


def test_odd_names_of_labels_and_rules_go_through_a_solver(folder, capsys):
    names = ["a b", 'say "hi"', "x[1]", "<é>", "日本", "e5", "END"]
    scores = {
        "emissions": [[0, -1, 0, 0.5, 0, 0, 0]] * 3,
        "transitions": [[0.1] * 7] * 7,
        "label_names": names,
    }
    Path("odd.jsonl").write_text(json.dumps({**scores, "tokens": ["a", "b", "c"]}))
    Path("odd.toml").write_text(
        f'fields = {json.dumps(names, ensure_ascii=False)}\n[[rule]]\nname = "no <é> [here] \\"ever\\""\n'
        'template = "at_most_tokens"\nfield = "<é>"\nn = 1\npenalty = 2.5\n',
        "utf-8",
    )
    own = ["odd.jsonl", "--rules", "odd.toml", "--scheme", "plain"]
    code, _, err = run(["export", *own, "--output", "out"], capsys)
    assert code == 0, err
    assert Path("out/0001.lp").read_bytes().isascii()
    highs([Path("out/0001.lp")], 1)
    code, _, err = run(
        ["import-solution", own[0], "out/0001.sol", *own[1:], "--output", "back.jsonl"], capsys
    )
    assert code == 0, err
    row = json.loads(Path("back.jsonl").read_text())
    assert row["status"] == "optimal" and row["violations"] == {'no <é> [here] "ever"': 0}
    assert row["labels"].count("<é>") == 1


def exported(capsys, *more):
    assert run(["export", "train.tsv", *MODEL, "--output", "out", *more], capsys)[0] == 0
    files = sorted(Path("out").glob("*.lp"))
    highs(files, 0)
    return files


BAD = [
    (["export", "train.tsv", *MODEL, "--output", "out", "--format", "cip"], 'no format "cip"'),
    (["export", "train.tsv", *MODEL, "--output", "out", "--units", "bits"], 'no units "bits"'),
    (["export", "train.tsv", *MODEL, "--output", "out", "--program", "softer"], 'no program "softer"; did you mean "soft"?'),
    (["export", "train.tsv", *MODEL, "--output", "out", "--tau", "0.5"], "--tau 0.5: is for --program two-phase"),
    (["export", "train.tsv", *MODEL, "--output", "out", "--bound", "odds"], "--bound odds: is for --program two-phase"),
    (["export", "train.tsv", *MODEL, "--output", "out", "--program", "two-phase", "--tau", "2"], "tau is 2.0"),
    (["export", "train.tsv", *MODEL, "--output", ""], "--output is empty"),
    (["export", "train.tsv", *MODEL, "--output", "train.tsv"], "cannot be written"),
    (["export", "train.tsv", "--rules", "rules.toml", "--output", "out"], "no scores; name a model"),
    (["import-solution", "train.tsv", "nowhere.sol", *MODEL], "nowhere.sol: the name does not say which sequence it belongs to"),
    (["import-solution", "train.tsv", "0001.sol", *MODEL], "0001.sol: cannot be read: No such file"),
    (["import-solution", "train.tsv", "0003.sol", *MODEL], "there is no sequence 3; the input has 2"),
    (["import-solution", "train.tsv", "0001.sol", "1.sol", *MODEL], "belongs to the same sequence"),
    (["import-solution", "train.tsv", ".", *MODEL], ".: contains no solution file; expected files such as 0001.sol"),
    (["import-solution", "train.tsv", "0001.sol", *MODEL, "--format", "cip"], 'no format "cip"'),
    (["import-solution", "train.tsv", "0001.sol", *MODEL, "--output", "train.tsv"], "is an input of this command"),
]  # fmt: skip


@pytest.mark.parametrize("arguments, message", BAD)
def test_bad_arguments_are_one_clear_line(folder, capsys, arguments, message):
    code, out, err = run(arguments, capsys)
    lines = [line for line in err.splitlines() if "notice" not in line]
    assert (code, out, len(lines)) == (2, "", 1) and message in lines[0]
    assert not list(Path().glob("**/*.part"))


def test_solutions_that_do_not_fit_are_refused(folder, capsys):
    one, two = exported(capsys)
    back = ["import-solution", "train.tsv", "out", *MODEL, "--output", "back.jsonl"]
    solution = one.with_suffix(".sol")
    text = solution.read_text()

    def refused(arguments=back):
        code, out, err = run(arguments, capsys)
        lines = [line for line in err.splitlines() if "notice" not in line]
        assert (code, out, len(lines)) == (2, "", 1) and not Path("back.jsonl").exists()
        return lines[0]

    for damaged in (text[: len(text) // 2], text[: text.index("# Columns")], "garbage\n"):
        solution.write_text(damaged)
        assert str(solution) in refused()
    solution.write_text(two.with_suffix(".sol").read_text())
    assert "another program" in refused()
    solution.write_text(text)
    assert "belongs to another program than this input" in refused([*back, "--program", "hard"])
    for table in Path("out").glob("*.columns.json"):
        table.unlink()
    assert "another program" in refused([*back, "--program", "hard"])
    assert run(back, capsys)[0] == 0
    Path("out/0001.columns.json").write_text("{}")
    Path("back.jsonl").unlink()
    assert "is not a table of columns from `ilpinfer export`" in refused()


def test_a_false_claim_is_said(folder, capsys):
    one, _ = exported(capsys)
    solution = one.with_suffix(".sol")
    lines = solution.read_text().splitlines()
    place = next(i for i, line in enumerate(lines) if line.startswith("Objective "))
    lines[place] = "Objective 99"
    solution.write_text("\n".join(lines))
    code, out, _ = run(["import-solution", "train.tsv", str(solution), *MODEL], capsys)
    assert code == 0 and "no: 99" in out
    run(["import-solution", "train.tsv", str(solution), *MODEL, "--output", "back.jsonl"], capsys)
    row = json.loads(Path("back.jsonl").read_text())
    assert (row["claim_agrees"], row["claimed_objective"]) == (False, 99)


def test_a_worse_labelling_has_a_gap(folder, capsys):
    assert run(["export", "scores.jsonl", "--rules", "rules.toml", "--output", "out"], capsys)[0] == 0
    columns = json.loads(Path("out/0001.columns.json").read_text())["columns"]
    path = ["START", "title", "O", "title", "title", "END"]
    taken = {f"x[{t},{path[t]},{path[t + 1]}]" for t in range(5)} | {'sigma["one title"]'}
    values = "".join(f"{c['file']} {int(c['name'] in taken)}\n" for c in columns)
    Path("mine.sol").write_text(f"# Solution file\n{values}")
    own = ["import-solution", "scores.jsonl", "mine.sol", "--rules", "rules.toml"]
    code, _, err = run([*own, "--output", "back.jsonl"], capsys)
    assert code == 0, err
    row = json.loads(Path("back.jsonl").read_text())
    assert row["status"] == "feasible" and row["violations"] == {"one title": 1} and row["penalty"] == 2.5
    assert row["gap"] == row["objective_gap"] > 1 and row["claim_agrees"] is None
    assert row["score"] == row["objective"] == row["best_objective"] - row["objective_gap"]


def test_infeasible_sequences_are_exported_all_the_same(folder, capsys):
    Path("hard.toml").write_text(
        'fields = ["title"]\n[[rule]]\ntemplate = "at_least_tokens"\nfield = "title"\nn = 99\n'
    )
    for program in ("soft", "two-phase"):
        own = ["--rules", "hard.toml", "--program", program, "--output", program]
        code, _, err = run(["export", "scores.jsonl", *own], capsys)
        assert code == 0, err
        cbc([Path(program, "0001.lp")])
        back = ["import-solution", "scores.jsonl", f"{program}/0001.sol", *own[:4]]
        code, _, err = run(back, capsys)
        assert code == 2 and "it holds no solution: the solver says 'Infeasible'" in err
