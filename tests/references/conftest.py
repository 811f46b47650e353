import sys

import pytest

from ilpinfer import checker


@pytest.fixture
def checked(capsys, monkeypatch):
    """Runs the checker of references as its command does: the code, and what it prints."""

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["checker", *map(str, arguments)])
        return checker.main(), *capsys.readouterr()

    return run
