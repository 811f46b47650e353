"""Files of sequences: columns of other separators and numbers, JSON of other forms, and what is refused by name."""

import json
from pathlib import Path

import pytest
from support.corpora import pairs, read_with_notices

from ilpinfer.corpus.sequences import InputNotice, read
from ilpinfer.corpus.writing import write

CONLL = """\
-DOCSTART- -X- -X- O

EU NNP B-NP B-ORG
rejects VBZ B-VP O

Peter NNP B-NP B-PER
"""
UNIVERSAL = "# text = Ada sleeps\n1\tAda\tPROPN\n2\tsleeps\tVERB\n\n# text = No\n1\tNo\tINTJ\n"


def result(tmp_path, text, column=""):
    """(tokens, labels) of each sequence, and the notices."""
    (tmp_path / "x").write_bytes(text.encode())
    examples, notices = read_with_notices(tmp_path / "x", column=column)
    return pairs(examples), notices


TWO = [(["Ada", "L."], ["B-a", "I-a"]), (["x"], ["O"])]
READ = [
    ("Ada\tB-a\nL.\tI-a\n\nx\tO\n", "", TWO, []),
    ("Ada\tB-a\r\nL.\tI-a\r\n\r\nx\tO\r\n", "", TWO, []),
    ("Ada B-a\nL.   I-a\n\n x O \n", "", TWO, ["x: no tabs; columns are separated by spaces"]),
    ("token\tlabel\nAda\tB-a\nL.\tI-a\n\nx\tO\n", "", TWO, ["x, line 1: 'token\\tlabel' is read as a header"]),
    (
        "Sentence #\tWord\tPOS\tTag\nSentence: 1\tAda\tNN\tB-a\n\tL.\tNN\tI-a\nSentence: 2\tx\tZ\tO\n", "", TWO,
        ["x, line 1: 'Sentence #\\tWord\\tPOS\\tTag' is read as a header"],
    ),
    (CONLL, "4", [(["EU", "rejects"], ["B-ORG", "O"]), (["Peter"], ["B-PER"])], ["x: no tabs; columns are separated by spaces"]),
    (CONLL, "2,3", [(["NNP", "VBZ"], ["B-NP", "B-VP"]), (["NNP"], ["B-NP"])], ["x: no tabs; columns are separated by spaces"]),
    (CONLL, "1,", [(["EU", "rejects"], None), (["Peter"], None)], ["x: no tabs; columns are separated by spaces"]),
    (CONLL.replace(" ", "\t"), "4", [(["EU", "rejects"], ["B-ORG", "O"]), (["Peter"], ["B-PER"])], []),
    (UNIVERSAL, "2,3", [(["Ada", "sleeps"], ["PROPN", "VERB"]), (["No"], ["INTJ"])], []),
    ("form\tupos\tner\nAda\tX\tB-a\nL.\tX\tI-a\n\nx\tX\tO\n", "NER", TWO, ["x, line 1: 'form\\tupos\\tner' is read as a header"]),
    (
        "token\tlabel\tner\nAda\tNN\tB-a\nL.\tNN\tI-a\n\nx\tO\tO\n", "", [(["Ada", "L."], ["NN", "NN"]), (["x"], ["O"])],
        ["x, line 1: 'token\\tlabel\\tner' is read as a header; labels are in column 2; --column 3 reads them from another"],
    ),
    (
        "token\tlabel\tlabel\nAda\tNN\tB-a\nL.\tNN\tI-a\n\nx\tO\tO\n", "3", TWO,
        ["x, line 1: 'token\\tlabel\\tlabel' is read as a header"],
    ),
    # one token a line
    ("Ada\nL.\n\n,\n", "", [(["Ada", "L."], None), ([","], None)], []),
    (",\n", "", [([","], None)], []),
    ("[1]\n", "", [(["[1]"], None)], []),
    ("[1]\nAda\n", "", [(["[1]", "Ada"], None)], []),
    ("1,234\nAda\nSmith,\n", "", [(["1,234", "Ada", "Smith,"], None)], []),
    (
        "New York\nis\na\nbig\nSan Jose\ntoo\n", "", [(["New York", "is", "a", "big", "San Jose", "too"], None)],
        ["x, line 1: no tabs; 'New York' is read as one token with a space in it, like 1 other line"],
    ),
    ("New York\tB-a\n,\tO\n", "", [(["New York", ","], ["B-a", "O"])], []),
    ("#\tO\nAda\tB-a\n", "", [(["#", "Ada"], ["O", "B-a"])], []),
    ("label\tO\ntoken\tlabel\n", "", [(["label", "token"], ["O", "label"])], []),
    ("token\tlabel\nlabel\tlabel\n", "", [(["token", "label"], ["label", "label"])], []),
    # JSON
    ('[{"tokens": ["Ada", "L."], "labels": ["B-a", "I-a"]},\n {"tokens": ["x"], "labels": ["O"]}]', "", TWO, []),
    ('{\n "tokens": ["x"],\n "labels": ["O"]\n}\n', "", TWO[1:], []),
    ("text\tlabel\nx\tO\n", "1,2", TWO[1:], ["x, line 1: 'text\\tlabel' is read as a header"]),
    ("gold\tlabel\nx\tlabel\n", "2", [(["gold", "x"], ["label", "label"])], []),
    ("Ada  \nL.\n\n x\n", "", [(["Ada", "L."], None), (["x"], None)], []),
    ("a,b\nc\n,\n|\n", "", [(["a,b", "c", ",", "|"], None)], []),
    ('{"tokens": ["x"], "labels": ["O"], "id": 7, "metadata": {"page": 3}}\n', "", TWO[1:], []),
]  # fmt: skip


@pytest.mark.parametrize(("text", "column", "expected", "notices"), READ)
def test_what_is_common_is_read_and_what_was_inferred_is_said(tmp_path, text, column, expected, notices):
    assert result(tmp_path, text, column) == (expected, notices)


def test_a_guess_is_a_warning_for_callers(tmp_path):
    (tmp_path / "x").write_text("a O\nb B-x\n")
    with pytest.warns(InputNotice, match="columns are separated by spaces") as caught:
        read(tmp_path / "x")
    assert caught[0].filename == __file__


def test_tokens_of_white_space_are_written_as_they_were_read(tmp_path):
    text = "10\u00a0000\tO\n\u00a0\tB-a\n\u200b\tO\n \tO\n\n\u2028x\tO\n"
    (tmp_path / "x.tsv").write_bytes(text.encode())
    write(read(tmp_path / "x.tsv"), tmp_path / "y.tsv")
    assert (tmp_path / "y.tsv").read_bytes() == text.encode()


def test_rows_of_decode_are_read_whatever_fields_they_have(tmp_path):
    row = {"sequence": 0, "tokens": ["a"], "status": "optimal", "labels": ["O"], "score": 1.5}
    row |= {"method": "auto", "more": 1}
    assert result(tmp_path, json.dumps({**row, "rank": 2, "start": 1}))[0] == [(["a"], ["O"])]


COMMANDS = [
    "decode x.conll --model hmm.json",
    "compare x.conll --model hmm.json --methods viterbi --output out",
    "train x.conll --output m.json",
    "train train.tsv --held-out x.conll --output m.json",
    "check rules.toml x.conll",
    "evaluate x.conll x.conll",
]


@pytest.mark.parametrize("arguments", COMMANDS)
def test_every_command_that_reads_a_corpus_takes_a_column(folder, cli, arguments):
    four = Path("train.tsv").read_text().replace("\t", " X Y ")
    Path("x.conll").write_text("-DOCSTART- -X- O O\n\n" + four)
    err = cli.refused(arguments)
    assert "has 4 columns separated by spaces" in err and "--column 1,4" in err
    if "train.tsv" in arguments:
        return
    err = cli.done(f"{arguments} --column 4").err
    assert "ilpinfer: notice: x.conll: no tabs; columns are separated by spaces" in err


@pytest.mark.parametrize("arguments", ["check rules.toml x.jsonl", "train x.jsonl --output m.json"])
def test_labels_without_tokens_are_refused_where_tokens_are_needed(folder, cli, arguments):
    Path("x.jsonl").write_text(
        '{"start": [0, 1], "edges": [], "label_names": ["title", "O"], "labels": ["title"]}\n'
    )
    assert cli.refused(arguments) == 'ilpinfer: x.jsonl, line 1: labels without tokens; add "tokens"\n'
    cli.done("evaluate x.jsonl x.jsonl")


@pytest.mark.parametrize("line", ["3", '"abc"', "// a comment", "[[[["])
def test_a_file_of_json_is_no_columns(folder, cli, line):
    Path("in.jsonl").write_text(f'{line}\n{{"tokens": ["a"]}}\n')
    code, out, err = cli("convert in.jsonl - --to json")
    assert (code, out) == (2, "") and err.startswith("ilpinfer: in.jsonl, line 1: "), err
