"""The service under attack, for a short time."""

import pytest
from support.places import ROOT
from support.processes import python


@pytest.mark.slow
def test_others_are_answered_while_the_service_is_attacked():
    done = python("-m", "stress.service", "--minutes", "0.5", cwd=ROOT / "tests")
    assert done.returncode == 0, done.stdout + done.stderr
