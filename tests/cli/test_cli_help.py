"""Help: groups, examples that parse, a text for every option; and the page that is made from the same tree."""

import importlib.util
import re
import shlex
from pathlib import Path

import pytest
import typer
from support.processes import python

from ilpinfer.cli.app import GROUPS, group
from ilpinfer.cli.tree import COMMON, examples, option_groups

DOCS = Path(__file__).parents[2] / "docs"


def leaves(tree, names=()):
    """Every command with its names."""
    for name, command in tree.commands.items():
        if hasattr(command, "commands"):
            yield from leaves(command, (*names, name))
        else:
            yield (*names, name), command


TREE = group()
COMMANDS = dict(leaves(TREE))
by_name = pytest.mark.parametrize("names", list(COMMANDS), ids=" ".join)


def test_the_program_shows_its_commands_in_groups(cli):
    code, out, err = cli("")
    assert (code, err) == (0, "")
    assert (code, out, err) == cli("--help") == cli("-q")
    assert re.findall(r"^(\w[\w ]*):$", out, re.M)[:5] == [*GROUPS]
    for name, *rest in COMMANDS:
        assert rest or re.search(rf"^  {name}  ", out, re.M), name
    assert "..." not in out.replace("[ARGS]...", ""), "no sentence is cut"


def test_a_group_without_arguments_shows_its_help(cli):
    out = cli.output("reference")
    assert "verify" in out and "Examples:" in out
    assert cli("reference --help")[1] == out


@by_name
def test_every_command_says_what_it_does_with_options_in_groups(names, cli):
    command = COMMANDS[names]
    out = cli.output(f"{' '.join(names)} --help")
    assert out.startswith(f"Usage: ilpinfer {' '.join(names)} [OPTIONS]")
    assert cli.output(f"{' '.join(names)} -h") == out
    assert "{" not in out and command.help.endswith(".") and "  " not in command.help
    assert re.search(rf"^Examples?:\n(  .*ilpinfer {' '.join(names)}\b.*\n)+", out + "\n", re.M)
    titles = re.findall(r"^([A-Z][\w -]*):$", out, re.M)
    assert titles[-2] == COMMON
    context = typer.Context(command, info_name=names[-1])
    for title, rows in option_groups(command, context):
        assert title in titles
        for name, text in rows:
            assert text and not text.startswith("["), f"{name} has a text"
            assert "<" not in name.replace("<TAB>", ""), f"{name} has a placeholder of its own"


def test_the_program_lists_the_first_sentence_of_each_command():
    for summaries in GROUPS.values():
        for name, summary in summaries.items():
            assert summary == TREE.commands[name].get_short_help_str(200)


@by_name
def test_every_option_with_a_unit_or_a_number_names_it(names):
    for each in COMMANDS[names].params:
        if each.param_type_name == "option" and not each.is_flag:
            assert each.metavar or each.type_descriptor.choices, each.opts


@by_name
def test_examples_are_commands_that_exist(names, here):
    for line in examples(COMMANDS[names].epilog):
        own = next(part for part in re.split(r"[|]", line) if "ilpinfer" in part)
        words = shlex.split(re.split(r"[<>]", own)[0])
        assert words[: 1 + len(names)] == ["ilpinfer", *names]
        context = typer.Context(TREE, info_name="ilpinfer")
        for name in names[:-1]:
            context = typer.Context(TREE.commands[name], info_name=name, parent=context)
        with COMMANDS[names].make_context(names[-1], words[1 + len(names) :], parent=context):
            pass


def test_a_shell_completes_options():
    asked = {"COMP_WORDS": "ilpinfer decode --time", "COMP_CWORD": "2"}
    ended = python("-m", "ilpinfer", variables={"_ILPINFER_COMPLETE": "complete_bash", **asked})
    assert (ended.returncode, ended.stderr, ended.stdout.split()) == (0, "", ["--time-limit"])


def page():
    """The Sphinx extension."""
    place = DOCS / "_extensions" / "commands.py"
    spec = importlib.util.spec_from_file_location("commands_of_the_page", place)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_has_every_command_and_every_option():
    text = page().markdown()
    for names, command in COMMANDS.items():
        heading = f"{'#' * (3 + len(names))} ilpinfer {' '.join(names)}\n"
        assert text.count(heading) == 1
        section = text.partition(heading)[2].partition("\n####")[0]
        for each in command.params:
            if getattr(each, "rich_help_panel", None) != COMMON:
                long = each.metavar if each.param_type_name == "argument" else each.opts[0].removeprefix("--")
                assert long in section, (names, long)
        for line in examples(command.epilog):
            assert f"$ {line}\n" in section
    assert re.findall(r"^### (.*)$", text, re.M) == ["ilpinfer", *GROUPS]
    assert page().MARK in (DOCS / "command-line.md").read_text("utf-8")


def test_the_page_states_the_json_of_every_command_that_has_it():
    text = (DOCS / "command-line.md").read_text("utf-8")
    table = set(re.findall(r"^\| `([^`]+)` \| (?:object|list)", text, re.M))
    with_json = {
        " ".join(names)
        for names, command in COMMANDS.items()
        if any("--json" in p.opts for p in command.params)
    }
    assert table - {"--version", "reprocess --dry-run"} == with_json
