"""Shell completion: the scripts, and the values that they ask for."""

from pathlib import Path

import pytest
from support.processes import python


def complete(words, position=None):
    """The values that bash would offer for the last word."""
    variables = {"COMP_WORDS": words, "COMP_CWORD": str(len(words.split(" ")) - 1)}
    ended = python("-m", "ilpinfer", variables={"_ILPINFER_COMPLETE": "complete_bash", **variables})
    assert (ended.returncode, ended.stderr) == (0, "")
    return ended.stdout.split()


@pytest.mark.parametrize(
    ("words", "values"),
    [
        ("ilpinfer rep", ["reprocess"]),
        ("ilpinfer reference ver", ["verify"]),
        ("ilpinfer decode --time", ["--time-limit"]),
        ("ilpinfer --config x.toml decode x.tsv --method pos", ["post-correction", "posterior"]),
        ("ilpinfer compare x.tsv --methods auto,cb", ["auto,cbc"]),
        ("ilpinfer decode x.tsv --rules citations-", ["citations-order"]),
        ("ilpinfer check ru", ["rules.toml"]),
        ("ilpinfer check rules.toml sc", []),
        ("ilpinfer check citations --model h", ["hmm.json"]),
        ("ilpinfer serve --model case", ["case-law"]),
        ("ilpinfer train x --kind hm", ["hmm", "hmm2"]),
        (
            "ilpinfer decode x --scheme b",
            ["bio", "bilou", "bmes", "bmewo", "bmewo+", "bioes", "biluo", "bmew"],
        ),
    ],
)
def test_values(folder, words, values):
    Path("ilpinfer.toml").write_text("not TOML")
    assert complete(words) == values


def test_files_of_other_folders(folder):
    Path("sub").mkdir()
    Path("sub/own.toml").write_text("")
    Path("sub/other.txt").write_text("")
    assert complete("ilpinfer check su") == ["sub/"]
    assert complete("ilpinfer check sub/o") == ["sub/own.toml"]


@pytest.mark.parametrize(
    ("shell", "words"),
    [
        ("bash", "complete -o default -F _ilpinfer_completion ilpinfer"),
        ("zsh", "#compdef ilpinfer"),
        ("fish", "complete --command ilpinfer"),
    ],
)
def test_scripts(shell, words, capsys, monkeypatch, cli):
    monkeypatch.setattr("shellingham.detect_shell", lambda: (shell, f"/bin/{shell}"))
    with pytest.raises(SystemExit) as leaving:
        cli("--show-completion")
    assert leaving.value.code == 0
    script = capsys.readouterr().out
    assert words in script and "_ILPINFER_COMPLETE=complete_" in script


def test_a_script_is_installed_for_the_shell(tmp_path, cli, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr("shellingham.detect_shell", lambda: ("bash", "/bin/bash"))
    with pytest.raises(SystemExit) as leaving:
        cli("--install-completion")
    assert leaving.value.code == 0
    assert "_ilpinfer_completion" in (tmp_path / ".bash_completions/ilpinfer.sh").read_text()
    assert "ilpinfer.sh" in (tmp_path / ".bashrc").read_text()
