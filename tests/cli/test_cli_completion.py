"""Shell completion: the scripts, and the values that they ask for."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from support.command_line import run


def complete(words, position=None):
    """The values that bash would offer for the last word."""
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        "_ILPINFER_COMPLETE": "complete_bash",
        "COMP_WORDS": words,
        "COMP_CWORD": str(len(words.split(" ")) - 1),
    }
    command = [sys.executable, "-m", "ilpinfer"]
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")
    return ended.stdout.split()


@pytest.mark.parametrize(
    ("words", "values"),
    [
        ("ilpinfer rep", ["reprocess"]),
        ("ilpinfer reference ver", ["verify"]),
        ("ilpinfer decode --time", ["--time-limit"]),
        ("ilpinfer --config x.toml decode x.tsv --method be", ["beam", "best-first"]),
        ("ilpinfer compare x.tsv --methods auto,cb", ["auto,cbc"]),
        ("ilpinfer decode x.tsv --rules citations-", ["citations-order"]),
        ("ilpinfer explain ru", ["rules.toml"]),
        ("ilpinfer check rules.toml sc", []),
        ("ilpinfer explain citations --model h", ["hmm.json"]),
        ("ilpinfer serve --model case", ["case-law"]),
        ("ilpinfer train x --kind hm", ["hmm", "hmm2"]),
        ("ilpinfer decode x --scheme b", ["bio", "bilou", "bmes", "bioes", "biluo"]),
    ],
)
def test_values(folder, words, values):
    Path("ilpinfer.toml").write_text("not TOML")
    assert complete(words) == values


def test_files_of_other_folders(folder):
    Path("sub").mkdir()
    Path("sub/own.toml").write_text("")
    Path("sub/other.txt").write_text("")
    assert complete("ilpinfer explain su") == ["sub/"]
    assert complete("ilpinfer explain sub/o") == ["sub/own.toml"]


@pytest.mark.parametrize(
    ("shell", "words"),
    [
        ("bash", "complete -o default -F _ilpinfer_completion ilpinfer"),
        ("zsh", "#compdef ilpinfer"),
        ("fish", "complete --command ilpinfer"),
    ],
)
def test_scripts(shell, words, capsys, monkeypatch):
    monkeypatch.setattr("shellingham.detect_shell", lambda: (shell, f"/bin/{shell}"))
    with pytest.raises(SystemExit) as leaving:
        run(["--show-completion"], capsys)
    assert leaving.value.code == 0
    script = capsys.readouterr().out
    assert words in script and "_ILPINFER_COMPLETE=complete_" in script


def test_a_script_is_installed_for_the_shell(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr("shellingham.detect_shell", lambda: ("bash", "/bin/bash"))
    with pytest.raises(SystemExit) as leaving:
        run(["--install-completion"], capsys)
    assert leaving.value.code == 0
    assert "_ilpinfer_completion" in (tmp_path / ".bash_completions/ilpinfer.sh").read_text()
    assert "ilpinfer.sh" in (tmp_path / ".bashrc").read_text()
