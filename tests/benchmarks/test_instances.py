"""The hard instances as files."""

import json

import pytest

from benchmarks.__main__ import main
from benchmarks.studies.hard import known as instances
from benchmarks.study import Disagreement
from formulations import load_rules


def test_instances_are_files_with_the_committed_digests(tmp_path, capsys):
    assert main(["instances", str(tmp_path)]) == 0
    known = json.loads((tmp_path / instances.INDEX).read_text())
    assert f"{len(known)} instances" in capsys.readouterr().out
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == sorted(
        [instances.INDEX, *(f"{name}.{end}" for name in known for end in ("jsonl", "toml"))]
    )
    name = min(known, key=lambda each: len(known[each]["path"] or [0] * 999))
    assert len(json.loads((tmp_path / f"{name}.jsonl").read_text())["tokens"]) == len(known[name]["path"])
    assert len(load_rules(tmp_path / f"{name}.toml"))
    (tmp_path / f"{name}.toml").write_text("fields = []\n")
    with pytest.raises(Disagreement, match=f"{name}: the digest of its files is "):
        instances.check_files(tmp_path)


def test_a_folder_that_cannot_be_made_is_bad_input(tmp_path, capsys):
    (tmp_path / "file").write_text("")
    assert main(["instances", str(tmp_path / "file")]) == 2
    assert "file: File exists" in capsys.readouterr().err
