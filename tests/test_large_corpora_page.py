"""The functions of the page on large corpora label what they are given."""

import re
import warnings
from pathlib import Path

import pytest
from support.command_line import folder  # noqa: F401
from support.places import ROOT

import ilpinfer
from formulations import load_rules
from ilpinfer.models.files import load_model

PAGE = ROOT / "docs" / "large-corpora.md"
pytestmark = pytest.mark.filterwarnings("default")


def block(kind=""):
    """The code of a kind."""
    heading = f"```python {kind}\n" if kind else "```python\n"
    return re.search(rf"{heading}(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)[1]


@pytest.fixture
def names(folder):  # noqa: F811
    """What the first block defines."""
    result: dict = {}
    exec(block(), result)
    return result


def wanted():
    decoder = ilpinfer.Decoder(load_rules("rules.toml"), model=load_model("hmm.json"))
    return decoder.decode_tokens(["Ada", "Notes", "1843"])


def test_a_batch(names):
    result = names["labelled"]([["Ada", "Notes", "1843"]] * 2)
    assert result == {"labels": [wanted().labels] * 2, "score": [wanted().score] * 2, "proved": [True] * 2}


def test_hugging_face(names, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    pytest.importorskip("datasets")
    exec(block("hugging face"), names)
    assert names["dataset"]["labels"][:] == [wanted().labels] * 8


def test_dask(names):
    pytest.importorskip("distributed")
    with warnings.catch_warnings(action="ignore"):
        exec(block("dask"), names)
    assert [each["labels"] for each in names["results"]] == [[wanted().labels] * 4] * 2


def test_ray(names, monkeypatch):
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    ray = pytest.importorskip("ray")
    ray.init(num_cpus=2, include_dashboard=False, _node_ip_address="127.0.0.1", log_to_driver=False)
    try:
        exec(block("ray"), names)
    finally:
        ray.shutdown()
    assert [list(row["labels"]) for row in names["rows"]] == [wanted().labels] * 8


def test_fsspec(folder, capsys):  # noqa: F811
    fsspec = pytest.importorskip("fsspec")
    page = PAGE.read_text("utf-8")
    expected = re.search(r"```python fsspec\n.*?```\n\n```text\n(.*?)```", page, re.S)[1]
    try:
        exec(block("fsspec"), {})
    finally:
        fsspec.filesystem("memory").store.clear()
    assert capsys.readouterr().out == expected


def test_a_decoder_is_cheap_to_send(names):
    import pickle

    model = len(pickle.dumps(names["decoder"].model))
    assert len(pickle.dumps(names["decoder"])) - model < 4096
    again = pickle.loads(pickle.dumps(names["decoder"]))
    assert again.decode_tokens(["Ada"]).labels == names["decoder"].decode_tokens(["Ada"]).labels
    assert Path("hmm.json").exists()
