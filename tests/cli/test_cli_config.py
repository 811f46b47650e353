"""Defaults of options from ilpinfer.toml and pyproject.toml."""

import json
from pathlib import Path

import pytest
from support.command_line import rows

from ilpinfer.cli import config


def test_the_nearest_file_gives_defaults_and_the_command_line_beats_it(folder, cli):
    Path("ilpinfer.toml").write_text('[decode]\nrules = "rules.toml"\ntop = 3\ntrace = true\n')
    three = rows(cli.output("decode scores.jsonl"))
    assert [row["rank"] for row in three] == [1, 2, 3]
    assert all("trace" in row and "one title" in row["violations"] for row in three)
    (row,) = cli.rows("decode scores.jsonl --top 1 --no-trace")
    assert "trace" not in row
    (row,) = cli.rows("decode scores.jsonl --no-config")
    assert row["violations"] == {}


def test_relative_paths_are_those_of_the_file(folder, cli, monkeypatch):
    Path("ilpinfer.toml").write_text(
        '[decode]\nrules = ["rules.toml", "bio"]\nmodel = "hmm.json"\n[train]\nkind = "crf"\noption = ["template=t.toml"]\n'
    )
    Path("t.toml").write_text('features = ["word"]\n')
    Path("deep/er").mkdir(parents=True)
    monkeypatch.chdir("deep/er")
    assert "one title" in rows(cli.output("decode ../../train.tsv"))[0]["violations"]
    cli.done("train ../../train.tsv --output crf.json")
    assert json.loads(Path("crf.json").read_text())["made"]["options"] == {"template": "../../t.toml"}


def test_shared_options_and_groups_of_commands(folder, cli):
    Path("ilpinfer.toml").write_text('rules = "rules.toml"\n[reference.make]\noutput = "r.jsonl"\nties = 7\n')
    cli.done("reference make scores.jsonl")
    assert "one title" in Path("r.jsonl").read_text()
    assert "one title" in cli.rows("decode scores.jsonl")[0]["violations"]
    cli.done("check rules.toml")  # an option of others is none of its own


def test_a_table_of_pyproject(folder, cli):
    Path("pyproject.toml").write_text('[project]\nname = "x"\n[tool.ilpinfer.decode]\nrules = "rules.toml"\n')
    assert "one title" in cli.rows("decode scores.jsonl")[0]["violations"]
    Path("ilpinfer.toml").write_text("")
    assert cli.rows("decode scores.jsonl")[0]["violations"] == {}, "the program's own file goes first"


def test_a_pyproject_of_others_is_passed_over(folder, cli, monkeypatch):
    Path("ilpinfer.toml").write_text('[decode]\nrules = "rules.toml"\n')
    Path("sub").mkdir()
    monkeypatch.chdir("sub")
    for text in ('[project]\nname = "x"\n', "not TOML", '[project]\nname = "ilpinfer-rules"\n'):
        Path("pyproject.toml").write_text(text)
        assert "one title" in cli.rows("decode ../scores.jsonl")[0]["violations"]


def test_a_named_file_and_the_environment(folder, cli, monkeypatch):
    Path("ilpinfer.toml").write_text("[decode]\ntop = 2\n")
    Path("three.toml").write_text("[decode]\ntop = 3\n")
    decode = "decode scores.jsonl"

    def number(command):
        return len(cli.rows(command))

    assert number(decode) == 2
    assert number(f"{decode} --config three.toml") == number(f"--config three.toml {decode}") == 3
    assert number(f"--no-config {decode}") == number(f"{decode} --no-config") == 1
    monkeypatch.setenv(config.FILE_VARIABLE, "three.toml")
    assert number(decode) == 3
    monkeypatch.setenv(config.NO_FILE_VARIABLE, "1")
    assert number(decode) == 1
    assert number(f"{decode} --config ilpinfer.toml") == 2


def test_help_shows_the_defaults_of_the_file(folder, cli):
    Path("ilpinfer.toml").write_text(
        '[decode]\nmethod = "beam"\nrules = ["rules.toml", "bio"]\ntrace = true\n'
    )
    out = cli.done("decode --help").out
    shown = out.partition("Defaults from ilpinfer.toml:\n")[2].partition("\n\n")[0]
    defaults = dict(line.split(maxsplit=1) for line in shown.splitlines())
    assert defaults == {"--method": "beam", "--rules": "rules.toml, bio", "--trace": "yes"}
    assert "[default: beam]" in out
    assert "Defaults from" not in cli("methods --help")[1]


def test_a_manifest_records_the_values_of_the_file(folder, cli):
    pytest.importorskip("pyarrow")
    Path("ilpinfer.toml").write_text(
        '[reprocess]\nmethod = "beam"\noption = ["width=3"]\nshard-size = 5\ntime-limit = 2\noutput = "out"\njobs = 1\n'
    )
    cli.done("reprocess scores.jsonl")
    manifest = json.loads(Path("out/manifest.json").read_text())
    kept = json.dumps(manifest)
    assert '"method": "beam"' in kept and '"width=3"' in kept and '"shard_size": 5' in kept


def test_a_working_folder_that_was_removed(folder, monkeypatch):
    def removed():
        raise FileNotFoundError

    monkeypatch.setattr(Path, "cwd", removed)
    assert config.find() is None


def test_a_run_leaves_no_settings_to_the_next(folder, cli):
    Path("ilpinfer.toml").write_text("quiet = true\n")
    cli.output("train train.tsv --output m.json")
    Path("ilpinfer.toml").unlink()
    assert "first-order HMM" in cli.done("train train.tsv --output m.json").err
