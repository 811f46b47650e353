"""Versions, quiet runs, colours, and which stream receives which text."""

import importlib.metadata
import io
import itertools
import json
import re
import sys
import time
from pathlib import Path

import pytest
from support.command_line import SCORES, TRAIN, rows
from support.family import wait_until
from support.processes import python

from ilpinfer import __version__
from ilpinfer.cli import progress as cli_progress
from ilpinfer.cli import screen, settings
from ilpinfer.cli.progress import progress, rate_progress, status


def test_versions(cli):
    code, out, err = cli("--version")
    assert (code, err) == (0, "")
    assert out.splitlines()[0] == f"ilpinfer {__version__}"
    for name in ("numpy", "ortools", "highspy", "pulp"):
        assert importlib.metadata.version(name) in out
    for order in ("--version --json", "--json --version"):
        code, out, _ = cli(order)
        found = json.loads(out)
        assert code == 0 and found["ilpinfer"] == __version__
        assert list(found["solvers"]) == ["cbc", "cp-sat", "highs", "scip"]
        assert found["solvers"]["scip"].startswith("SCIP ")


def test_versions_are_those_that_solvers_state_with_their_answers():
    from ilpinfer.cli.app import versions
    from ilpinfer.solvers import cbc, cp_sat, highs, scip

    modules = {"cbc": cbc, "cp-sat": cp_sat, "highs": highs, "scip": scip}
    stated = {name: module.VERSION for name, module in modules.items()}
    assert versions()["solvers"] == stated


HEAVY = {"ilpinfer.kernels", "ortools", "scipy", "pandas", "matplotlib", "jinja2", "pycrfsuite", "rich"}


def test_help_and_versions_load_little():
    """A command loads the module of no other; none loads what decodes."""
    from ilpinfer.cli.app import GROUPS

    code = (
        "import sys; from ilpinfer.cli import main; main(['train', '--help'])\n"
        "print(*(name for name in sys.modules if name.startswith('ilpinfer.cli.')), file=sys.stderr)\n"
        "assert main(['--version']) == main(['--help']) == 0\n"
        "from ilpinfer.cli.app import group\n"
        "for names in [*((n,) for n in group().commands), *(('reference', n) for n in group().commands['reference'].commands)]:\n"
        "    assert main([*names, '--help']) == 0\n"
        "print(*{name.split('.')[0] for name in sys.modules}, file=sys.stderr)"
    )
    ended = python("-c", code)
    of_train, packages = map(str.split, ended.stderr.splitlines())
    modules = {f"ilpinfer.cli.{name}" for summaries in GROUPS.values() for name in summaries}
    assert modules & set(of_train) == {"ilpinfer.cli.train"}
    assert set(packages) & HEAVY == set() and ended.stdout.count("Usage: ") == 19


def test_decoding_loads_only_the_templates_of_its_rules_and_nothing_for_other_inputs(tmp_path):
    (tmp_path / "scores.jsonl").write_text(f"{json.dumps(SCORES)}\n" * 10)
    (tmp_path / "rules.toml").write_text(
        'fields = ["title"]\n[[rule]]\ntemplate = "at_most_runs"\nfield = "title"\nn = 1\n'
    )
    code = (
        "import sys; from ilpinfer.cli import main; main(sys.argv[1:]); print(*sys.modules, file=sys.stderr)"
    )
    ended = python("-c", code, "decode", "scores.jsonl", "--rules", "rules.toml", cwd=tmp_path, check=True)
    loaded = set(ended.stderr.split())
    assert ended.stdout.count("optimal") == 10 and "formulations.constraints.counting" in loaded
    others = ("defining", "formulas", "lexical", "local", "order", "patterns", "presence")
    assert loaded & {f"formulations.constraints.{name}" for name in others} == set()
    unused = ("logic.parser", "programs.formulation", "rulefiles.writer")
    assert loaded & {f"formulations.{name}" for name in unused} == set()
    unused = (
        "models.crf",
        "models.hmm",
        "exact.auto",
        "exact.infeasibility",
        "solvers",
        "evaluation.evaluation",
    )
    assert loaded & {f"ilpinfer.{name}" for name in unused} == set()
    assert {name.split(".")[0] for name in loaded} & (HEAVY - {"ilpinfer.kernels"}) == set()


@pytest.mark.parametrize("place", ["before", "after"])
def test_quiet_runs_say_errors_only(folder, cli, place):
    def quiet(command):
        return cli(f"-q {command}" if place == "before" else f"{command} --quiet")

    assert quiet("train train.tsv --output m.json") == (0, "", "")
    code, out, err = quiet("decode train.tsv --model hmm.json --rules citations")
    assert (code, err) == (0, "") and len(out.splitlines()) == 2
    code, out, err = quiet("check citations train.tsv --write new.toml")
    assert code == 0 and err == "" and "each field at most once" in out
    code, out, err = quiet("decode nowhere.tsv")
    assert (code, out) == (2, "") and err.count("\n") == 1
    impossible = {**SCORES, "transitions": [[None, None], [None, None]]}
    Path("x.jsonl").write_text(json.dumps(impossible) + "\n")
    code, _, err = quiet("decode x.jsonl")
    assert code == 2 and "infeasible" in err


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize("quiet", [False, True])
def test_progress_is_shown_on_a_terminal_unless_the_run_is_quiet(monkeypatch, quiet):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stderr", Terminal())
    settings.configure(quiet_run=quiet)
    try:
        with progress("decoding", 2) as advance:
            advance()
        with rate_progress("reprocessing", 10) as show:
            show(5, 1, 1)
            time.sleep(0.15)
        with status("learning") as update:
            assert (update is None) == quiet
        text = sys.stderr.getvalue()
        assert [word in text for word in ("decoding", "reprocessing", "50 % of the input", "learning")] == [
            not quiet
        ] * 4
    finally:
        settings.configure()


@pytest.mark.parametrize(
    ("quiet", "total", "tells"),
    [
        (False, 100, "1020 sequences, 200/s, 75.0 % proved, 75 % of the input read, about 1 s left"),
        (False, None, "1020 sequences, 200/s, 75.0 % proved"),
        (True, 100, None),
    ],
)
def test_outside_a_terminal_there_is_a_line_each_minute(monkeypatch, quiet, total, tells):
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    monkeypatch.setattr(cli_progress, "MINUTE", 0.05)
    times = iter([0.0, 50.0, 52.0])  # a slow start, and then rows of an earlier run with the first new one
    monkeypatch.setattr(cli_progress, "clock", lambda: next(times))
    settings.configure(quiet_run=quiet)
    try:
        with rate_progress("reprocessing", total) as show:
            show(25, 620, 465)
            show(75, 1020, 765)
            if not quiet:
                wait_until(lambda: "1020 sequences" in sys.stderr.getvalue())
        lines = sys.stderr.getvalue().splitlines()
        assert any(re.fullmatch(f"ilpinfer: reprocessing: {tells}", line) for line in lines) != quiet
        assert not (quiet and lines)
    finally:
        settings.configure()


@pytest.mark.parametrize(
    ("total", "tells"), [(40, "10 of 40 steps done, about 60 s left"), (None, "10 steps done, 0.5/s")]
)
@pytest.mark.parametrize("bar", [True, False])
def test_steps_have_lines_outside_a_terminal(monkeypatch, total, tells, bar):
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    monkeypatch.setattr(cli_progress, "MINUTE", 0.05)
    times = itertools.count(0, 2)
    monkeypatch.setattr(cli_progress, "clock", lambda: next(times))
    settings.configure()
    with progress("folds", total, bar=bar) as advance:
        for _ in range(10):
            advance()
        wait_until(lambda: "10 " in sys.stderr.getvalue())
    lines = sys.stderr.getvalue().splitlines()
    assert any(re.fullmatch(f"ilpinfer: folds: {tells}", line) for line in lines), lines


def test_learning_says_how_far_it_is(folder, cli, monkeypatch):
    monkeypatch.setattr(cli_progress, "LOG_SECONDS", 0.002)
    Path("in.tsv").write_text("\n".join([TRAIN] * 8))
    said = cli.done("learn in.tsv --rules rules.toml --kind hmm --output learnt.toml --log-json").err
    found = [each for each in rows(said) if each.get("task") == "learning"]
    assert found[-1]["done"] == found[-1]["total"] and found[-1]["rate"] > 0


@pytest.mark.parametrize("stderr", [False, True])
@pytest.mark.parametrize(
    ("variable", "option", "colored"),
    [("", None, True), ("1", None, False), ("1", True, True), ("", False, False), (None, None, True)],
)
def test_colours(monkeypatch, stderr, variable, option, colored):
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    if variable is not None:
        monkeypatch.setenv("NO_COLOR", variable)
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr" if stderr else "stdout", terminal)
    settings.configure(color=option)
    try:
        console = screen.console(stderr=stderr)
        shown = screen.table("heading")
        screen.add_row(shown, "cell", style="green")
        console.print(shown)
    finally:
        settings.configure()
    assert ("\x1b[" in terminal.getvalue()) == colored


def test_no_color_reaches_the_commands(folder, cli, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    assert "\x1b[" in cli("check rules.toml")[1]
    assert "\x1b[" not in cli("check rules.toml --no-color")[1]
    assert "\x1b[" not in cli("--no-color check rules.toml")[1]
    assert "\x1b[" in cli("--no-color check rules.toml --color")[1]
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[" not in cli("check rules.toml")[1]


def test_results_and_messages_have_their_own_streams(folder, cli):
    _, out, err = cli.done("train train.tsv --output m.json --held-out train.tsv")
    assert "held out" in out
    assert err == "m.json: first-order HMM, 8 labels (bio), 13 words, from 2 sequences of 19 tokens\n"
    _, out, err = cli.done("mine train.tsv --support 1 --output x.toml --folds 0 --gain 0")
    assert "rule" in out and "x.toml: " in err
