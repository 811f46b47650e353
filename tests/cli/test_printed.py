"""What commands print: a golden file has it whole. UPDATE_GOLDEN=1 writes it anew."""

from pathlib import Path

import pytest
from support.golden import PROGRESS, check_said, commands_of, put
from support.places import GOLDEN

TEXT = GOLDEN / "printed.txt"


@pytest.mark.parametrize(
    ("files", "commands"),
    [pytest.param(files, commands, id=title) for title, files, commands in commands_of(TEXT, r"^## ")],
)
def test_what_is_printed(folder, cli, files, commands):
    put(files)
    for command, said in commands:
        if command.startswith("cat "):
            found = Path(command.removeprefix("cat ")).read_text()
        else:
            _, out, err = cli.done(command)
            found = out + PROGRESS.sub("", err)
        check_said(TEXT, f"$ {command}", said, found.rstrip("\n") + "\n")
