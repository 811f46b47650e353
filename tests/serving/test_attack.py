"""The service under attack, for a short time."""

import subprocess
import sys

import pytest
from support.places import ROOT


@pytest.mark.slow
def test_others_are_answered_while_the_service_is_attacked():
    command = [sys.executable, "-m", "stress.service", "--minutes", "0.5"]
    path = f"{ROOT}:{ROOT / 'tests'}"
    done = subprocess.run(
        command, cwd=ROOT / "tests", env={"PYTHONPATH": path}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
