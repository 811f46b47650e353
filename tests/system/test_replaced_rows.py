"""Rows that another content replaces in the end."""

import os
import stat

import pytest

from ilpinfer.system.checkpoint import RowCheckpoint, RowPosition


def position(row):
    return RowPosition(row["n"])


def test_content_takes_the_place_of_the_rows_and_their_permissions(tmp_path):
    (tmp_path / "x").write_text("before")
    (tmp_path / "x").chmod(0o640)
    with RowCheckpoint(tmp_path / "x", "job", position) as checkpoint:
        checkpoint.write([{"n": 0}])
        checkpoint.replace_by(b"whole")
        assert (tmp_path / "x").read_text() == "before"
    assert os.listdir(tmp_path) == ["x"]
    assert (tmp_path / "x").read_bytes() == b"whole"
    assert stat.S_IMODE((tmp_path / "x").stat().st_mode) == 0o640


def test_rows_are_kept_where_the_content_cannot_be_written(tmp_path, monkeypatch):
    def fail(number):
        raise OSError(28, "No space left on device")

    def run():
        with RowCheckpoint(tmp_path / "x", "job", position) as checkpoint:
            checkpoint.write([{"n": 0}])
            checkpoint.replace_by(b"whole")
            monkeypatch.setattr(os, "fsync", fail)

    with pytest.raises(ValueError, match="cannot be written: No space left on device"):
        run()
    monkeypatch.undo()
    assert os.listdir(tmp_path) == ["x.part"]
    with RowCheckpoint(tmp_path / "x", "job", position) as checkpoint:
        assert checkpoint.groups == 1
