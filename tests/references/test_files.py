"""Files of references, the command line, and checks without solvers."""

import gzip
import json
from pathlib import Path

import pytest
from support.processes import python

from formulations import Trellis
from formulations import constraints as C
from ilpinfer import checker
from ilpinfer.references.files import read, write
from ilpinfer.references.making import make
from ilpinfer.references.record import InvalidReference

TRELLIS = Trellis([0.0, -1.0], [[[0.0, -1.0], [-2.0, 0.5]]], labels=["a", "b"])
RULES = 'fields = ["x", "y"]\n[[rule]]\ntemplate = "at_most_runs"\nfield = "y"\npenalty = 0.5\n'
ROW = {"emissions": [[0, 1], [0.5, 0.2]], "transitions": [[0.1, 0.2], [-1, 0.3]], "label_names": ["x", "y"]}


@pytest.fixture
def references():
    return [make(TRELLIS, [C.requires_present("a", "b", penalty=p)], name=f"p = {p}") for p in (0.25, 0.75)]


@pytest.fixture
def made(tmp_path):
    (tmp_path / "rules.toml").write_text(RULES)
    (tmp_path / "in.jsonl").write_text("\n".join(json.dumps({**ROW, "tokens": ["u", w]}) for w in "vw"))
    return tmp_path, f"reference make {tmp_path}/in.jsonl --rules {tmp_path}/rules.toml --output"


@pytest.mark.parametrize("name", ["set.jsonl", "set.jsonl.gz"])
def test_sets_are_read_as_written(tmp_path, references, name):
    assert write(tmp_path / name, iter(references)) == 2
    assert list(read(tmp_path / name)) == references


@pytest.mark.parametrize("name", ["one.json", "one.json.gz"])
def test_a_single_reference(tmp_path, references, name):
    write(tmp_path / name, references[:1])
    assert list(read(tmp_path / name)) == references[:1]
    with pytest.raises(InvalidReference, match="holds one reference"):
        write(tmp_path / name, references)
    assert list(read(tmp_path / name)) == references[:1]
    assert sorted(path.name for path in tmp_path.iterdir()) == [name]


@pytest.mark.parametrize(
    "content",
    [b"{", b"[]", b"\xff", b"[" * 100_000, b"1" * 5000, b"{}\n{}", b'{"format": "ilpinfer reference 1"}'],
)
@pytest.mark.parametrize("name", ["bad.json", "bad.jsonl"])
def test_what_cannot_be_read_is_one_message(tmp_path, content, name, checked):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InvalidReference, match=r"bad\.json"):
        list(read(tmp_path / name))
    code, out, err = checked(tmp_path / name)
    assert code in (1, 2) and "bad.json" in out + err


def test_false_references_are_reported(made, cli, checked):
    folder, command = made
    output = folder / "out.jsonl"
    cli.done(f"{command} {output}")
    code, _, error = cli(f"reference verify {output} --max-steps 1")
    assert code == 1 and "2 of 2 references are not verified" in error
    rows = [json.loads(line) for line in output.read_text().splitlines()]
    rows[1]["rules"] = rows[1]["rules"].replace("0.5", "0.75")
    output.write_text("\n".join(map(json.dumps, rows)))
    code, said, error = cli(f"reference verify {output}")
    assert code == 1 and "reference 2" in said and "1 of 2" in error
    cli.done(f"reference verify {output} --depth tables")
    rows[0]["levels"][0]["score"] += 1
    output.write_text("\n".join(map(json.dumps, rows)))
    code, out, _ = checked(output)
    assert code == 1 and "reference 1" in out and "reference 2" not in out


def test_checks_need_no_solver(tmp_path, references):
    write(tmp_path / "set.jsonl", references)
    program = f"""
import sys
for name in ("ortools", "pulp", "highspy", "scipy"):
    sys.modules[name] = None
from ilpinfer.references.files import read
from ilpinfer.references.verification import verify
assert all(verify(each, depth) for each in read({str(tmp_path / "set.jsonl")!r}) for depth in ("tables", "meaning"))
"""
    python("-c", program, check=True)


def test_the_checker_imports_the_standard_library_alone(tmp_path, references):
    write(tmp_path / "set.jsonl", references)
    copy = tmp_path / "checker.py"
    copy.write_bytes(Path(checker.__file__).read_bytes())
    done = python("-I", "-S", copy, tmp_path / "set.jsonl")
    assert done.returncode == 0, done.stderr


def test_a_bomb_is_refused(tmp_path):
    path = tmp_path / "bomb.json.gz"
    with gzip.open(path, "wb") as stream:
        for _ in range(70):
            stream.write(b" " * 2**20)
    with pytest.raises(InvalidReference, match="bytes"):
        list(read(path))
