"""Labels that are numbers, as data sets of Hugging Face have them, by the names of their features or of the caller."""

import json
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ilpinfer.adapters.frames import sequences_of
from ilpinfer.corpus.logits import LogitsOptions
from ilpinfer.corpus.sequences import InputError, read

NAMES = ["O", "B-PER"]
RECORD = {"tokens": ["Ada", "slept"], "ner_tags": [1, 0]}
EXPECTED = (("Ada", "slept"), ("B-PER", "O"))
FEATURES = {"ner_tags": {"feature": {"names": NAMES, "_type": "ClassLabel"}, "_type": "Sequence"}}
METADATA = {b"huggingface": json.dumps({"info": {"features": FEATURES}}).encode()}


def found(path, **options):
    (example,) = read(path, column="ner_tags", **options)
    return example.tokens, example.labels


def table():
    schema = pa.schema(
        [("tokens", pa.list_(pa.string())), ("ner_tags", pa.list_(pa.int64()))], metadata=METADATA
    )
    return pa.Table.from_pylist([RECORD], schema)


@pytest.mark.parametrize("names", [NAMES, {"0": "O", "1": "B-PER"}])
def test_names_in_the_record(tmp_path, names):
    (tmp_path / "x.jsonl").write_text(json.dumps({**RECORD, "label_names": names}))
    assert found(tmp_path / "x.jsonl") == EXPECTED


def test_names_of_the_caller(tmp_path):
    (tmp_path / "x.jsonl").write_text(json.dumps(RECORD))
    assert found(tmp_path / "x.jsonl", reading=LogitsOptions(tuple(NAMES))) == EXPECTED
    with pytest.raises(
        InputError, match=r"labels: label 1 is a number, but label names are not given; give .*--label-names"
    ):
        found(tmp_path / "x.jsonl")
    with pytest.raises(InputError, match="labels: 1 is not the number of a label; expected 0 to 0"):
        found(tmp_path / "x.jsonl", reading=LogitsOptions(("O",)))


def test_names_of_features_in_tables(tmp_path):
    pq.write_table(table(), tmp_path / "x.parquet")
    assert found(tmp_path / "x.parquet") == EXPECTED
    folder = tmp_path / "saved"
    folder.mkdir()
    with (
        pa.OSFile(str(folder / "data-00000-of-00001.arrow"), "wb") as file,
        pa.ipc.new_stream(file, table().schema) as stream,
    ):
        stream.write_table(table())
    (folder / "state.json").write_text("{}")
    (folder / "dataset_info.json").write_text("{}")
    assert found(folder) == EXPECTED


def test_names_in_data_frames():
    frame = pd.DataFrame([RECORD])
    (example,) = sequences_of(frame, "tokens", "ner_tags", names=NAMES)
    assert (example.tokens, example.labels) == EXPECTED
    (example,) = sequences_of(table(), "tokens", "ner_tags")
    assert (example.tokens, example.labels) == EXPECTED
    with pytest.raises(
        InputError,
        match='column "ner_tags", row 0: label 1 is a number, but label names are not given; give names=',
    ):
        sequences_of(frame, "tokens", "ner_tags")


def test_every_command_takes_names(here, cli):
    Path("x.jsonl").write_text(2 * (json.dumps(RECORD) + "\n"))
    Path("names.json").write_text(json.dumps(NAMES))
    Path("rules.toml").write_text(
        'fields = ["PER"]\n[[rule]]\ntemplate = "at_most_runs"\nfield = "PER"\nn = 1\n'
    )
    how = "--column ner_tags --label-names names.json"
    cli.done(f"train x.jsonl --kind hmm --held-out x.jsonl --output m.json {how}")
    cli.done(f"check rules.toml x.jsonl {how}")
    cli.done(f"convert x.jsonl y.tsv {how}")
    assert Path("y.tsv").read_text() == "Ada\tB-PER\nslept\tO\n\nAda\tB-PER\nslept\tO\n"
    cli.done(f"decode x.jsonl --model m.json --output out.jsonl {how}")
    cli.done(f"evaluate out.jsonl x.jsonl {how}")
    cli.done(f"evaluate y.tsv x.jsonl {how}")
