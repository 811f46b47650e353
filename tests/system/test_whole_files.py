"""Files that appear when they are complete, whoever else writes to the same place."""

import os
import stat

import pytest

from formulations.files import new_file, unfinished, write_whole


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
