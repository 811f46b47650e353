"""The examples in docstrings run as they stand there."""

import subprocess
import sys

from support.places import ROOT


def test_the_examples_of_docstrings_run():
    packages = ["formulations", "ilpinfer"]
    command = [sys.executable, "-m", "pytest", "--doctest-modules", "-p", "no:cacheprovider", "-q", *packages]
    run = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert run.returncode == 0 and "[100%]" in run.stdout, run.stdout
