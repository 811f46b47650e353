"""Columns beside token and label, such as parts of speech: from files and JSON to the features of a model."""

import copy
import json
import pickle
from pathlib import Path

import pytest
from support.command_line import rows, rule_text

import ilpinfer
from ilpinfer.corpus.sequences import read, require_labels
from ilpinfer.corpus.tokens import Token, column, column_names, with_columns
from ilpinfer.models.crf import CRF
from ilpinfer.models.crf.templates import load_template
from ilpinfer.models.files import load_model
from ilpinfer.models.training import train
from ilpinfer.pipelines.cross_validation import predict

CONLL = """\
-DOCSTART- -X- -X- O

Ada NNP B-NP B-PER
Lovelace NNP I-NP I-PER
wrote VBD B-VP O
notes NNS B-NP O
. . O O

the DT B-NP O
engine NN I-NP O
ran VBD B-VP O

Grace NNP B-NP B-PER
slept VBD B-VP O
"""
NEW = "Maria NNP B-NP\nSol NNP I-NP\nsang VBD B-VP\n\nbirds NNS B-NP\nflew VBD B-VP\n"
TEMPLATE = """
features = ["pos[-1..1]", "pos & chunk", "next-pos"]
[columns]
pos = "2"
chunk = 3
[around]
next-pos = { attribute = "pos", in = "after" }
"""
POS = ("NNP", "VBD")
EXPECTED = [["B-PER", "I-PER", "O"], ["O", "O"]]


@pytest.fixture
def folder(here):
    Path("train.txt").write_text(CONLL)
    Path("new.txt").write_text(NEW)
    Path("pos.toml").write_text(TEMPLATE)
    return here


TRAIN = "train train.txt --column 1,4 --kind crf --option template=pos.toml --option c2=0.01"


def quiet(text):
    pass


@pytest.mark.parametrize(
    ("text", "named", "expected"),
    [
        (CONLL, "1,4", {"2": POS, "3": ("B-NP", "B-VP")}),
        (CONLL.replace(" ", "\t"), "4", {"2": POS, "3": ("B-NP", "B-VP")}),
        (CONLL, "1,", {"2": POS, "3": ("B-NP", "B-VP"), "4": ("B-PER", "O")}),
        ("word\tpos\tner\nGrace\tNNP\tB-PER\nslept\tVBD\tO\n", "word,ner", {"pos": POS, "2": POS}),
        ("Sentence #\tWord\tPOS\tTag\n1\tGrace\tNNP\tB-PER\n\tslept\tVBD\tO\n", "", {"POS": POS, "3": POS}),
        ("1\tGrace\tPROPN\t_\n2\tslept\tVERB\t\n", "2,3", {"1": ("1", "2"), "4": ("_", "")}),
        ("Grace\tB-PER\nslept\tO\n", "", {}),
        ("Grace\nslept\n", "", {}),
    ],
)
def test_what_stands_beside_token_and_label_is_read(tmp_path, text, named, expected):
    (tmp_path / "x").write_text(text)
    example = read(tmp_path / "x", column=named, notify=quiet)[-1]
    assert example.tokens == ("Grace", "slept") and example.columns == expected


def test_a_token_is_its_text():
    tokens = with_columns(["Ada", "slept"], {"pos": ["NNP", "VBD"], "3": ["a", "b"]})
    assert tokens == ("Ada", "slept") and {tokens[0]: 1}["Ada"] == 1
    assert json.dumps(tokens) == '["Ada", "slept"]'
    for other in (pickle.loads(pickle.dumps(tokens)), copy.deepcopy(tokens), tuple(list(tokens)[:])):
        assert column_names(other) == ("pos", "3") and column(other, "pos") == ["NNP", "VBD"]
    assert column_names([*tokens, "x"]) == () and column_names([]) == ()
    assert Token("x").columns == {} and with_columns(["x"], {}) == ("x",)
    for columns in ({"pos": ["NNP"]}, {"pos": "NV"}, {"pos": ["NNP", 3]}):
        with pytest.raises(ValueError, match="column 'pos'"):
            with_columns(["Ada", "slept"], columns)


def test_templates_name_columns():
    template = load_template({"features": ["pos[-1..0]", "pos & lower"], "columns": {"pos": "upos"}})
    tokens = with_columns(["Ada", "slept", "."], {"upos": ["NNP", "VBD", ""]})
    assert template.features(tokens) == [
        ["pos[0]=NNP", "pos[0]=NNP & lower[0]=ada"],
        ["pos[-1]=NNP", "pos[0]=VBD", "pos[0]=VBD & lower[0]=slept"],
        ["pos[-1]=VBD"],
    ]
    message = r"token 0, 'Ada', has no column \"upos\", .*; there is none beside token and label"
    with pytest.raises(ValueError, match=message):
        template.features(["Ada"])
    with pytest.raises(ValueError, match=r'no column "upos", .*; did you mean "pos"'):
        template.features(with_columns(["Ada"], {"pos": ["NNP"]}))
    with pytest.raises(ValueError, match="token 1, 'x', has no column"):
        template.features([*tokens[:1], "x"])


def test_a_model_of_parts_of_speech_labels_words_that_it_has_never_seen(folder, cli):
    cli.done(f"{TRAIN} --output m.json --held-out train.txt")
    cli.done("decode new.txt --column 1, --model m.json --output o.jsonl")
    assert [row["labels"] for row in rows(Path("o.jsonl"))] == EXPECTED
    blocks = [[line.split() for line in block.splitlines()] for block in NEW.split("\n\n")]
    columns = [list(zip(*block, strict=True)) for block in blocks]
    records = [{"tokens": words, "columns": {"2": pos, "3": chunks}} for words, pos, chunks in columns]
    Path("new.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    cli.done("decode new.jsonl --model m.json --output p.jsonl")
    assert [row["labels"] for row in rows(Path("p.jsonl"))] == EXPECTED
    assert [row["score"] for row in rows(Path("p.jsonl"))] == [row["score"] for row in rows(Path("o.jsonl"))]


def test_the_same_in_python(folder):
    pairs = require_labels(read("train.txt", column="1,4", notify=quiet))
    crf = train("crf", pairs, template="pos.toml", c2=0.01, scheme="bio")
    crf.save("python.json")
    for model in (crf, CRF.train(pairs, "pos.toml", parameters={"c2": 0.01}), load_model("python.json")):
        for example, labels in zip(read("new.txt", column="1,", notify=quiet), EXPECTED, strict=True):
            assert ilpinfer.decode(model.trellis(example.tokens)).labels == labels
            assert ilpinfer.Decoder((), model=model).decode_tokens(list(example.tokens)).labels == labels
    assert [pair.predicted for pair in predict(crf, pairs)] == [pair.gold for pair in predict(crf, pairs)]


def test_input_without_the_column_is_refused_in_one_line(folder, cli):
    cli.done(f"{TRAIN} --output m.json")
    Path("two.tsv").write_text("Maria\tB-PER\nsang\tO\n")
    err = cli.refused("decode two.tsv --model m.json --output o.jsonl")
    assert "two.tsv, line 1: token 0, 'Maria', has no column \"2\", which the model looks at" in err
    assert not Path("o.jsonl").exists()
    err = cli.refused(f"{TRAIN.replace('train.txt --column 1,4', 'two.tsv')} --output n.json")
    assert "training sequence 0: token 0, 'Maria', has no column" in err
    Path("some.jsonl").write_text(
        '{"tokens": ["x"]}\n{"tokens": ["x"], "columns": {"2": ["NNP"], "3": ["B-NP"]}}\n'
    )
    assert cli("decode some.jsonl --model m.json --output o.jsonl")[0] == 1
    first, second = rows(Path("o.jsonl"))
    assert "some.jsonl, line 1: token 0" in first["reason"] and second["labels"] == ["B-PER"]


def test_an_unfinished_run_is_not_gone_on_with_when_a_column_has_changed(folder, cli):
    cli.done(f"{TRAIN} --output m.json")
    decode = "decode new.txt --column 1, --model m.json --output o.jsonl"
    Path("new.txt").write_text(NEW)
    cli.done(decode)
    Path("o.jsonl").rename("o.jsonl.part")
    Path("new.txt").write_text(NEW.replace("VBD", "NNP"))
    assert "o.jsonl.part: belongs to another run; delete it" in cli.failed(decode)
    Path("new.txt").write_text(NEW)
    cli.done(decode)


def test_rules_first_see_the_columns(folder, cli):
    Path("new.txt").write_text(NEW)
    decode = "decode new.txt --column 1, --model m.json --output o.jsonl"
    cli.done(f"{TRAIN} --output m.json")
    Path("rules.toml").write_text(rule_text("tag_at", fields=["PER"], field="O", words=["sang"]))
    cli.done(f"{decode} --rules rules.toml --rules-first")
    assert rows(Path("o.jsonl"))[1]["labels"] == EXPECTED[1]


@pytest.mark.parametrize(("column", "labels"), [("words,tags", ("B-a", "O")), ("words,", None)])
@pytest.mark.parametrize("kind", ["jsonl", "json", "parquet"])
def test_other_keys_of_tokens_and_labels_are_named_as_columns(tmp_path, kind, column, labels):
    record = {"words": ["Ada", "met"], "tags": ["B-a", "O"], "id": "x"}
    path = tmp_path / f"own.{kind}"
    if kind == "parquet":
        pandas = pytest.importorskip("pandas")
        pytest.importorskip("pyarrow")
        pandas.DataFrame([record]).to_parquet(path)
    else:
        path.write_text(json.dumps(record if kind == "jsonl" else [record]))
    (example,) = read(path, column=column)
    assert (example.tokens, example.labels, example.about) == (("Ada", "met"), labels, {"id": "x"})
