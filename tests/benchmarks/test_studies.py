"""Every study at the smallest scale on made-up corpora, and what the program does around them."""

import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from support.family import wait_until
from support.places import ROOT

from benchmarks import __main__ as program
from benchmarks.data.corpora import split, train_and_dev
from benchmarks.journal import Journal, code_digest
from benchmarks.optimum import recheck, take_counts
from benchmarks.report import Report, number, percent, signed
from benchmarks.study import (
    SCALES,
    Cell,
    Disagreement,
    Missing,
    Row,
    SecondDraw,
    Sources,
    Study,
    first_draw,
    grid,
    names,
    study_named,
)
from formulations import LabelSet, RuleSet, Trellis
from ilpinfer.decoding.decode import decode

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning")


@pytest.mark.parametrize("name", names())
def test_a_study_runs_and_reports(name: str, corpora: Path, tmp_path: Path, capsys) -> None:
    rows, output = tmp_path / "rows", tmp_path / "output"
    command = [name, "--smoke", "--rows", str(rows), "--output", str(output), "--data", str(corpora)]
    code = program.main(["run", *command])
    said = " ".join(capsys.readouterr().err.split())
    assert "not there" not in said, "made-up corpora have a file for every part"
    if code == 2 and "is not installed" in said:
        pytest.skip(said)
    assert code == 0
    text = (output / name / "results.md").read_text("utf-8")
    summary = json.loads((output / name / "summary.json").read_text("utf-8"))
    assert text.startswith(f"# {study_named(name).title}\n") and "nan" not in text.lower().split()
    pictures = re.findall(r"\]\((\w+\.svg)\)", text)
    assert len(pictures) <= 3
    for picture in pictures:
        assert 1000 < (output / name / picture).stat().st_size < 400_000
    assert set(summary["parts"]) <= set(study_named(name).parts)
    [file] = rows.glob("*.jsonl")
    before = file.read_bytes()
    assert program.main(["run", *command]) == 0, "everything is there"
    assert file.read_bytes() == before
    assert (output / name / "results.md").read_text("utf-8") == text, "rows alone decide"


@pytest.mark.parametrize(
    "rows", sorted(program.RESULTS.glob("*/rows.jsonl.gz")), ids=lambda path: path.parent.name
)
def test_committed_rows_make_the_committed_page(rows: Path, tmp_path: Path) -> None:
    name, output = rows.parent.name, tmp_path / "output"
    assert program.main(["report", name, "--rows", str(tmp_path / "none"), "--output", str(output)]) == 0
    for committed in (path for path in rows.parent.iterdir() if path.suffix in (".md", ".json")):
        assert (output / name / committed.name).read_text("utf-8") == committed.read_text("utf-8")
    assert Journal(output / name / rows.name).all_lines() == Journal(rows).all_lines()
    assert rows.stat().st_size < 1_000_000


@pytest.mark.parametrize("name", names())
def test_scales_and_protocol(name: str, corpora: Path) -> None:
    study = study_named(name)
    assert all(text.strip() for text in study.protocol.values())
    for part in study.parts:
        counts = []
        for scale in SCALES:
            try:
                cells = list(study.cells_of(Sources(corpora, scale), part))
            except Missing:
                continue
            assert len(set(cells)) == len(cells) and {cell.part for cell in cells} <= {part}
            counts.append(len(cells))
        assert counts == sorted(counts), "a larger scale has at least as many cells"


def test_a_headline_is_repeated_on_a_second_draw(tmp_path: Path) -> None:
    reported = list[list[Row]]()
    study = Study(
        title="t",
        summary="s",
        **dict.fromkeys(("corpus", "model", "rules", "methods", "measures"), "x"),
        parts=("one",),
        cells=lambda sources, part: grid(part, place=range(3)),
        measure=lambda sources, cell: [{"seed": sources.seed(cell.place)}],
        page=lambda rows, report: reported.append(list(rows)),
        second=SecondDraw("others", ("place",), {"seed": lambda x: str(x.seed.iloc[0])}, lambda c: c.place),
    )
    sources = Sources(tmp_path)
    cells = list(study.cells_of(sources, "one"))
    assert [cell.part for cell in cells] == ["one"] * 5 and len(set(cells)) == 5
    rows = [row for cell in cells for row in study.rows_of(sources, cell)]
    page = Report(tmp_path)
    study.write(rows, page)
    assert reported == [[{"part": "one", "place": n, "seed": n} for n in range(3)]] == [first_draw(rows)]
    assert "others" in page.markdown()
    table = [re.split(r" *\| *", line)[1:-1] for line in page.markdown().splitlines()[-4:]]
    assert table[0] == ["place", "seed, first", "seed, second"]
    assert table[2:] == [["1", "1", "1001"], ["2", "2", "1002"]]


def test_a_second_draw_splits_the_same_sequences_anew(corpora: Path) -> None:
    one, other = (split(Sources(corpora, second=second), "cora") for second in (False, True))
    assert one == train_and_dev(corpora, "cora") and one[1] != other[1]
    assert list(map(len, one)) == list(map(len, other)) and sorted([*one[0], *one[1]]) == sorted(
        [*other[0], *other[1]]
    )


def test_a_killed_run_goes_on(corpora: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "benchmarks", "run", "umass-rules", "--smoke", "--data", str(corpora)]
    command += ["--rows", str(tmp_path / "rows"), "--output", str(tmp_path / "output")]
    process = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.DEVNULL)
    wait_until(lambda: sum(path.read_text().count("\n") for path in tmp_path.glob("rows/*.jsonl")) > 1)
    process.kill()
    process.wait()
    [file] = (tmp_path / "rows").glob("*.jsonl")
    with file.open("a") as stream:
        stream.write('{"key": "cut sho')
    kept = [json.loads(line) for line in file.read_text().splitlines()[:-1]]
    assert subprocess.run(command, cwd=ROOT, capture_output=True, check=False).returncode == 0
    after = [json.loads(line) for line in file.read_text().splitlines()]
    assert after[: len(kept)] == kept and len(after) > len(kept)
    keys = [line["key"] for line in after[1:]]
    assert len(set(keys)) == len(keys)


def test_wrong_names(capsys) -> None:
    assert program.main(["run", "lioa"]) == 2
    assert 'no study "lioa"' in capsys.readouterr().err
    assert program.main(["run", "liao", "--parts", "tabel"]) == 2
    assert "its parts are table" in capsys.readouterr().err
    assert program.main(["run", "liao", "all", "--parts", "table"]) == 2


def test_nothing_to_measure_or_report(tmp_path: Path, capsys) -> None:
    options = ["--smoke", "--rows", str(tmp_path / "rows"), "--output", str(tmp_path)]
    assert program.main(["run", "calibration", *options, "--data", str(tmp_path / "none")]) == 2
    assert "nothing to measure" in capsys.readouterr().err
    assert program.main(["report", "calibration", *options]) == 2
    assert "python -m benchmarks run calibration" in capsys.readouterr().err
    assert not (tmp_path / "calibration").exists()


def two_tokens(emissions: list[list[float]]) -> Trellis:
    return Trellis.from_emissions(np.array(emissions), np.zeros((2, 2)), labels=LabelSet(("A", "B")))


def test_an_optimum_that_its_certificate_does_not_prove() -> None:
    trellis, rules = two_tokens([[0.0, 1.0], [1.0, 0.0]]), RuleSet(())
    solution = decode(trellis, rules)
    take_counts()
    assert recheck(trellis, rules, solution) is solution
    with pytest.raises(Disagreement, match="not confirmed"):
        recheck(two_tokens([[0.0, 1.0], [1.0, 3.0]]), rules, solution)
    assert take_counts() == {"optima": 1, "open": 0}


def test_a_journal_goes_on_and_has_cells_in_their_order(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    for item in (1, 0):
        journal = Journal(path, "machine")
        journal.add(Cell(part="p", item=item), {"number": [0, item], "rows": [{"item": item}]})
        journal.close()
    again = Journal(path)
    assert [line["rows"] for line in again.all_lines()] == [[{"item": 0}], [{"item": 1}]]
    assert Cell(part="p", item=1) in again and Cell(part="p", item=2) not in again


def test_files_beside_the_rows_do_not_change_the_digest_of_the_code(tmp_path: Path, monkeypatch) -> None:
    for folder in ("formulations", "ilpinfer", "benchmarks/rows/instances"):
        (tmp_path / folder).mkdir(parents=True)
    monkeypatch.setattr("benchmarks.journal.ROOT", tmp_path)
    (tmp_path / "benchmarks" / "study.py").write_text("1")
    before = code_digest()
    (tmp_path / "benchmarks" / "rows" / "instances" / "a.toml").write_text("rule = 1")
    assert code_digest() == before
    (tmp_path / "benchmarks" / "study.py").write_text("2")
    assert code_digest() != before


def test_numbers_of_a_report(tmp_path: Path) -> None:
    assert [number(x) for x in (None, 0.12345, 2.0, -3.456, 123456.0, 1e-7)] == [
        "–",
        "0.123",
        "2",
        "−3.46",
        "123 000",
        "0.0000001",
    ]
    assert percent(0.98765) == "98.8" and percent(None) == "–" and signed(-0.25, 2) == "−0.25"
    report = Report(tmp_path)
    report.table(("name", "value"), [("a|b", "1.50"), ("c", 2)])
    with report.picture("lines", "two lines") as axes:
        axes.plot([0, 1], [1, 0])
    text = report.markdown()
    assert "a\\|b" in text and "1.50" in text and text.endswith("![two lines](lines.svg)\n")
    assert (tmp_path / "lines.svg").read_text("utf-8").startswith("<?xml")
