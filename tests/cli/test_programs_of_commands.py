"""`ilpinfer export`, real solvers, and `ilpinfer export --check`."""

import gzip
import json
from itertools import product
from pathlib import Path

import pytest
from support import cbc as cbc_binary
from support.command_line import SCORES, rule_text
from support.processes import python
from support.wcsp import Wcsp

import ilpinfer
from formulations import Trellis, load_rules

EXPORT = "export train.tsv --model hmm.json --rules rules.toml --output out"
CHECK = "export train.tsv --model hmm.json --rules rules.toml --check"
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
    python("-c", HIGHS, style, *files, check=True)


SOLVERS = {"cbc": cbc, "highs": lambda files: highs(files, 0), "highs table": lambda files: highs(files, 1)}


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize(
    "options",
    [
        "",
        "--format mps --units grid",
        "--program hard --folded",
        "--program two-phase --tau 0.95 --format mps",
        "--program shortest-path --units grid",
    ],
)
def test_programs_go_to_solvers_and_come_back(folder, cli, solver, options):
    _, out, err = cli.done(f"{EXPORT} {options}")
    assert out == "" and "out: 2 programs" in err
    end = "mps" if "mps" in options else "lp"
    files = sorted(Path("out").glob(f"*.{end}"))
    assert [file.name for file in files] == [f"0001.{end}", f"0002.{end}"]
    SOLVERS[solver](files)
    back = f"{CHECK} out {options.replace('--format mps', '').replace('--units grid', '')}"
    found = json.loads(cli.done(f"{back} --json").out)
    assert [row["sequence"] for row in found] == [0, 1]
    for row in found:
        assert row["claim_agrees"] is True
        assert row["objective_gap"] == pytest.approx(0, abs=1e-5)
        assert len(row["labels"]) == len(row["tokens"])
        assert row["score"] == pytest.approx(row["model_score"] + row["feature_score"] - row["penalty"])
    if "--program" not in options:
        assert all(row["status"] == "optimal" and row["gap"] == 0 for row in found)
        assert all(row["violations"].keys() == {"one title"} for row in found)
    out = cli.done(back).out
    assert "0001.sol" in out and "claim agrees" in out and "no:" not in out


@pytest.mark.parametrize("form", ["lp", "mps"])
def test_programs_are_compressed_and_have_a_start(folder, cli, form):
    cli.done(f"{EXPORT} --format {form} --gzip --start beam:width=5")
    names = [f"000{n}.{end}" for n in (1, 2) for end in ("columns.json", f"{form}.gz", "mst")]
    assert sorted(path.name for path in Path("out").iterdir()) == sorted(names)
    cli.done(f"{EXPORT}2 --format {form}")
    for number in ("0001", "0002"):
        packed, plain = Path("out", f"{number}.{form}.gz"), Path("out2", f"{number}.{form}")
        assert gzip.decompress(packed.read_bytes()) == plain.read_bytes()
        about = json.loads(Path("out", f"{number}.columns.json").read_text())
        files = {column["file"] for column in about["columns"]}
        start = Path("out", f"{number}.mst").read_text().splitlines()[1:]
        assert len(start) == len(about["tokens"]) + 1 and {line.split()[0] for line in start} <= files


@pytest.mark.parametrize("options", ["", "--program hard", "--program shortest-path", "--folded"])
def test_a_network_goes_out_and_its_solution_comes_back(folder, cli, options):
    source = f"export scores.jsonl --rules rules.toml {options}"
    cli.done(f"{source} --format wcsp --output out")
    file, about = (Path("out", name).read_text() for name in ("0001.wcsp", "0001.columns.json"))
    file, about = Wcsp(file), json.loads(about)
    assert [each["values"] for each in about["variables"]] == file.sizes
    assert [each["name"] for each in about["variables"][:2]] == ["label[0]", "label[1]"]
    T, K = len(about["tokens"]), len(about["labels"])
    cost, values = min(file.completed(labels) for labels in product(range(K), repeat=T))
    solution = Path("out/0001.sol")
    solution.write_text(" ".join(map(str, values)))
    (row,) = json.loads(cli.done(f"{source} --check {solution} --json").out)
    assert (row["solver"], row["status"], row["gap"]) == ("toulbar2", "optimal", 0)
    assert row["objective"] == row["best_objective"] == (about["best_score_units"] - cost) / 2**20
    for damaged, message in (
        (values[:-1], "it is cut off, or a solution of another program"),
        ([99, *values[1:]], "variable 0 has the value 99; expected one below 2"),
        (["name", *values[1:]], "is no list of values"),
        ([], "0 values for"),
    ):
        solution.write_text(" ".join(map(str, damaged)))
        assert message in cli.refused(f"{source} --check {solution}")


def test_a_network_is_compressed_and_has_no_start(folder, cli):
    cli.done(f"{EXPORT} --format wcsp --gzip")
    cli.done(f"{EXPORT}2 --format wcsp")
    for number in ("0001", "0002"):
        packed, plain = Path("out", f"{number}.wcsp.gz"), Path("out2", f"{number}.wcsp")
        assert gzip.decompress(packed.read_bytes()) == plain.read_bytes()
    assert "--start auto: is for --format lp and mps" in cli.refused(f"{EXPORT} --format wcsp --start auto")
    two_phase = cli.refused(f"{EXPORT} --format wcsp --program two-phase")
    assert "--program two-phase: has no cost network; take --format lp or mps" in two_phase


def test_the_map_reads_a_solution_back_without_the_trellis(folder, cli):
    cli.done("export scores.jsonl --rules rules.toml --output out")
    cbc([Path("out/0001.lp")])
    about = json.loads(Path("out/0001.columns.json").read_text())
    assert about["tokens"] == SCORES["tokens"] and about["labels"] == SCORES["label_names"]
    assert (about["program"], about["format"], about["units"]) == ("soft", "lp", "nats")
    assert len(about["digest"]) == 64
    columns = {column["file"]: column for column in about["columns"]}
    values = [line.split() for line in Path("out/0001.sol").read_text().splitlines()[1:]]
    taken = [name for _, name, value, *_ in values if float(value)]
    steps = [columns[name] for name in taken if columns[name]["kind"] == "path"]
    labels = [step["labels"][1] for step in sorted(steps, key=lambda step: step["token"])]
    trellis = Trellis.from_dict({**SCORES, "scheme": "plain"})
    assert labels == [*ilpinfer.decode(trellis, load_rules("rules.toml")).labels, "END"]
    assert about["digest"] in Path("out/0001.lp").read_text()
    first = columns["x.0.START.title"]
    assert (first["name"], first["token"], first["rule"]) == ("x[0,START,title]", 0, None)
    assert first["labels"] == ["START", "title"]


@pytest.fixture
def exported(folder, cli):
    """Two programs with their solutions."""
    cli.done(EXPORT)
    files = sorted(Path("out").glob("*.lp"))
    highs(files, 0)
    return files


def test_solutions_that_do_not_fit_are_refused(exported, cli):
    one, two = exported
    back = f"{CHECK} out"
    solution = one.with_suffix(".sol")
    text = solution.read_text()

    def refused(command=back):
        return cli.refused(command)

    for damaged in (text[: len(text) // 2], text[: text.index("# Columns")], "garbage\n"):
        solution.write_text(damaged)
        assert str(solution) in refused()
    solution.write_text(two.with_suffix(".sol").read_text())
    assert "another program" in refused()
    solution.write_text(text)
    assert "belongs to another program than this input" in refused(f"{back} --program hard")
    for table in Path("out").glob("*.columns.json"):
        table.unlink()
    assert "another program" in refused(f"{back} --program hard")
    cli.done(back)
    Path("out/0001.columns.json").write_text("{}")
    assert "is not a table of columns from `ilpinfer export`" in refused()


def test_a_false_claim_is_said(exported, cli):
    solution = exported[0].with_suffix(".sol")
    lines = solution.read_text().splitlines()
    place = next(i for i, line in enumerate(lines) if line.startswith("Objective "))
    lines[place] = "Objective 99"
    solution.write_text("\n".join(lines))
    assert "no: 99" in cli.done(f"{CHECK} {solution}").out
    (row,) = json.loads(cli.done(f"{CHECK} {solution} --json").out)
    assert (row["claim_agrees"], row["claimed_objective"]) == (False, 99)


def test_a_worse_labelling_has_a_gap(folder, cli):
    made = json.loads(cli.done("export scores.jsonl --rules rules.toml --output out --json").out)
    assert made == {"output": "out", "programs": ["out/0001.lp"], "failures": []}
    columns = json.loads(Path("out/0001.columns.json").read_text())["columns"]
    path = ["START", "title", "O", "title", "title", "END"]
    taken = {f"x[{t},{path[t]},{path[t + 1]}]" for t in range(5)} | {'sigma["one title"]'}
    values = "".join(f"{c['file']} {int(c['name'] in taken)}\n" for c in columns)
    Path("mine.sol").write_text(f"# Solution file\n{values}")
    (row,) = json.loads(cli.done("export scores.jsonl --check mine.sol --rules rules.toml --json").out)
    assert row["labels"] == path[1:-1]
    assert (row["solver"], row["claimed_objective"]) == ("list", None)
    assert row["status"] == "feasible" and row["violations"] == {"one title": 1} and row["penalty"] == 2.5
    assert row["gap"] == row["objective_gap"] > 1 and row["claim_agrees"] is None
    assert row["certificate"]["kind"] == "exact"
    assert row["score"] == row["objective"] == row["best_objective"] - row["objective_gap"]


def test_infeasible_sequences_are_exported_all_the_same(folder, cli):
    Path("hard.toml").write_text(rule_text("at_least_tokens", field="title", n=99))
    for program in ("soft", "two-phase"):
        own = f"--rules hard.toml --program {program}"
        cli.done(f"export scores.jsonl {own} --output {program}")
        cbc([Path(program, "0001.lp")])
        err = cli.refused(f"export scores.jsonl --check {program}/0001.sol {own}")
        assert "it contains no solution: the solver says 'Infeasible'" in err
