"""Files that appear when they are complete, whoever else writes to the same place, and rows of a run."""

import json
import os
import stat

import pytest

from formulations.files import new_file, unfinished, write_whole
from ilpinfer.system.checkpoint import RowCheckpoint


def test_two_runs_at_once_do_not_remove_each_other_s_content(tmp_path):
    target = tmp_path / "x.json"
    with new_file(target) as slow:
        slow.write(b"slow, ")
        with new_file(target) as fast:
            fast.write(b"fast")
        assert target.read_bytes() == b"fast"
        slow.write(b"and complete")
    assert target.read_bytes() == b"slow, and complete"
    assert os.listdir(tmp_path) == ["x.json"] and not unfinished


def test_a_run_that_fails_leaves_the_file_of_another_alone(tmp_path):
    target = tmp_path / "x.json"
    with new_file(target) as good:
        good.write(b"good")
        with pytest.raises(ZeroDivisionError), new_file(target) as bad:
            bad.write(b"half" + bytes(1 // 0))
        assert len(os.listdir(tmp_path)) == 1 and not target.exists()
    assert target.read_bytes() == b"good" and os.listdir(tmp_path) == ["x.json"]


def test_a_file_keeps_its_permissions_and_a_new_one_has_the_usual_ones(tmp_path):
    (tmp_path / "old").write_bytes(b"before")
    (tmp_path / "old").chmod(0o640)
    write_whole(tmp_path / "old", b"after")
    assert stat.S_IMODE((tmp_path / "old").stat().st_mode) == 0o640
    write_whole(tmp_path / "new", b"new")
    (tmp_path / "plain").write_bytes(b"plain")
    assert (tmp_path / "new").stat().st_mode == (tmp_path / "plain").stat().st_mode


def position(row):
    return (row["n"], 0, 1)


def test_rows_take_the_place_of_a_file_and_its_permissions(tmp_path):
    (tmp_path / "x").write_text("before")
    (tmp_path / "x").chmod(0o640)
    with RowCheckpoint(tmp_path / "x", "job", position) as checkpoint:
        checkpoint.write([{"n": 0}])
        assert (tmp_path / "x").read_text() == "before"
    assert os.listdir(tmp_path) == ["x"]
    assert json.loads((tmp_path / "x").read_text()) == {"n": 0, "job": "job"}
    assert stat.S_IMODE((tmp_path / "x").stat().st_mode) == 0o640


def test_rows_are_kept_where_the_file_cannot_be_written(tmp_path, monkeypatch):
    def fail(number):
        raise OSError(28, "No space left on device")

    def run():
        with RowCheckpoint(tmp_path / "x", "job", position) as checkpoint:
            checkpoint.write([{"n": 0}])
            monkeypatch.setattr(os, "fsync", fail)

    with pytest.raises(ValueError, match="cannot be written: No space left on device"):
        run()
    monkeypatch.undo()
    assert os.listdir(tmp_path) == ["x.part"]
    with RowCheckpoint(tmp_path / "x", "job", position) as checkpoint:
        assert checkpoint.groups == 1
