"""Without an extra, what needs it says which one to install, and the rest works."""

import pytest
from support.processes import python

from ilpinfer.system.extras import MissingLibrary, require

LEAN = """
import sys

MISSING = "matplotlib jinja2 tabulate pyarrow fastapi distributed sklearn spacy fsspec narwhals".split()

class Missing:
    def find_spec(self, name, *_):
        if name.partition(".")[0] in MISSING:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

import importlib.util
found = importlib.util.find_spec
sys.meta_path.insert(0, Missing())

def find_spec(name, package=None):
    try:
        return found(name, package)
    except ModuleNotFoundError:
        return None

importlib.util.find_spec = find_spec
"""
"""The beginning of a program in which no optional library can be imported."""
COMMAND = f"{LEAN}from ilpinfer.cli import main\nsys.exit(main(sys.argv[1:]))"


def lean(folder, *arguments):
    run = python("-c", COMMAND, *arguments, cwd=folder)
    assert "Traceback" not in run.stderr
    return run.returncode, run.stdout, run.stderr


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("lean")
    (place / "some.tsv").write_text("Knuth\tB-author\nTrees\tB-title\n\nAda\tB-author\nLoops\tB-title\n")
    assert lean(place, "train", "some.tsv", "--kind", "hmm", "--output", "hmm.json")[0] == 0
    return place


def test_a_missing_library_is_an_import_error():
    with pytest.raises(
        MissingLibrary, match=r"^a table needs no_such_library, .*'ilpinfer\[plots\]'"
    ) as raised:
        require("a table", "plots", "numpy", "no_such_library")
    assert isinstance(raised.value, ImportError)
    assert raised.value.name == "no_such_library"


def test_decoding_needs_no_extra(folder):
    code, out, _ = lean(folder, "decode", "some.tsv", "--model", "hmm.json", "--rules", "bio")
    assert code == 0
    assert out.count('"optimal"') == 2


def test_a_comparison_leaves_its_report_out(folder):
    code, out, err = lean(
        folder, "compare", "some.tsv", "--model", "hmm.json", "--rules", "bio", "--output", "DIR"
    )
    assert code == 0, err
    assert "auto" in out
    assert "report.html needs jinja2, which is not installed; pip install 'ilpinfer[compare]'" in err
    assert sorted(path.name for path in (folder / "DIR").iterdir()) == ["results.jsonl", "summary.json"]


@pytest.mark.parametrize(
    "command, extra",
    [
        ("evaluate some.tsv some.tsv --picture confusion.svg", "plots"),
        ("reprocess some.tsv --model hmm.json --rules bio --output OUT", "parquet"),
        ("compare some.tsv --model hmm.json --rules bio --output OUT --format markdown", "compare"),
        ("compare some.tsv --model hmm.json --rules bio --output OUT --format latex", "compare"),
        ("serve --model hmm.json --rules bio", "serve"),
        ("decode some.parquet --model hmm.json --rules bio", "parquet"),
        ("decode memory://some.tsv --model hmm.json --rules bio", "fsspec"),
    ],
)
def test_a_command_names_the_extra_that_it_needs(folder, command, extra):
    (folder / "some.parquet").write_bytes(b"PAR1")
    before = sorted(folder.iterdir())
    code, out, err = lean(folder, *command.split())
    assert code == 2
    assert f"pip install 'ilpinfer[{extra}]'" in err
    assert out == ""
    assert sorted(folder.iterdir()) == before


@pytest.mark.parametrize(
    ("code", "what", "extra"),
    [
        ("import ilpinfer.adapters.sklearn", "ilpinfer.adapters.sklearn needs sklearn", "sklearn"),
        ("import ilpinfer.adapters.spacy, ilpinfer.adapters.spacy_factory as f; f.register()", "the component ilpinfer_ner needs spacy", "spacy"),
        ("from ilpinfer.adapters.frames import sequences_of; sequences_of({})", "a data frame needs narwhals", "frames"),
        ("from ilpinfer.adapters.frames import with_solutions; with_solutions({}, [])", "a data frame needs narwhals", "frames"),
    ],
)  # fmt: skip
def test_an_adapter_names_the_extra_that_it_needs(code, what, extra):
    said = python("-c", f"{LEAN}{code}").stderr.splitlines()[-1]
    assert said.startswith(f"ilpinfer.system.extras.MissingLibrary: {what}, which is not installed; ")
    assert said.endswith(f"pip install 'ilpinfer[{extra}]'")
