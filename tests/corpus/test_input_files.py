"""Files of sequences: columns of other separators and numbers, JSON of other forms, and what is refused by name."""

import json
from pathlib import Path

import pytest
from support.corpora import pairs, read_with_notices

from ilpinfer.corpus.sequences import InputError, InputNotice, read

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
    ("Ada\tB-a\rL.\tI-a\r\rx\tO\r", "", TWO, []),
    ("Ada B-a\nL.   I-a\n\n x O \n", "", TWO, ["x: no tabs; columns are separated by spaces"]),
    ("token\tlabel\nAda\tB-a\nL.\tI-a\n\nx\tO\n", "", TWO, ["x, line 1: 'token\\tlabel' is read as a header"]),
    (
        "Word,Tag\nAda,B-a\n\"L.\",I-a\n\nx,O\n", "", TWO,
        ["x: no tabs; columns are separated by commas", "x, line 1: 'Word,Tag' is read as a header"],
    ),
    (
        "Sentence #;Word;POS;Tag\nSentence: 1;Ada;NN;B-a\n;L.;NN;I-a\nSentence: 2;x;Z;O\n", "", TWO,
        ["x: no tabs; columns are separated by semicolons", "x, line 1: 'Sentence #;Word;POS;Tag' is read as a header"],
    ),
    ("Ada,B-a\nL.,I-a\n\nx,O\n", "2", TWO, ["x: no tabs; columns are separated by commas"]),
    ("\",\",O\n", "1,2", [([","], ["O"])], ["x: no tabs; columns are separated by commas"]),
    (CONLL, "4", [(["EU", "rejects"], ["B-ORG", "O"]), (["Peter"], ["B-PER"])], ["x: no tabs; columns are separated by spaces"]),
    (CONLL, "2,3", [(["NNP", "VBZ"], ["B-NP", "B-VP"]), (["NNP"], ["B-NP"])], ["x: no tabs; columns are separated by spaces"]),
    (CONLL, "1,", [(["EU", "rejects"], None), (["Peter"], None)], ["x: no tabs; columns are separated by spaces"]),
    (CONLL.replace(" ", "\t"), "4", [(["EU", "rejects"], ["B-ORG", "O"]), (["Peter"], ["B-PER"])], []),
    (UNIVERSAL, "2,3", [(["Ada", "sleeps"], ["PROPN", "VERB"]), (["No"], ["INTJ"])], []),
    ("form\tupos\tner\nAda\tX\tB-a\nL.\tX\tI-a\n\nx\tX\tO\n", "NER", TWO, ["x, line 1: 'form\\tupos\\tner' is read as a header"]),
    # one token a line
    ("Ada\nL.\n\n,\n", "", [(["Ada", "L."], None), ([","], None)], []),
    (",\n", "", [([","], None)], []),
    ("[1]\n", "", [(["[1]"], None)], []),
    ("[1]\nAda\n", "", [(["[1]", "Ada"], None)], []),
    ("1,234\nAda\nSmith,\n", "", [(["1,234", "Ada", "Smith,"], None)], []),
    (
        "New York\nis\na\nbig\nSan Jose\ntoo\n", "", [(["New York", "is", "a", "big", "San Jose", "too"], None)],
        ["x, line 1: no tabs; 'New York' is read as one token with a space in it, as 1 more are"],
    ),
    ("New York\tB-a\n,\tO\n", "", [(["New York", ","], ["B-a", "O"])], []),
    ("#\tO\nAda\tB-a\n", "", [(["#", "Ada"], ["O", "B-a"])], []),
    ("label\tO\ntoken\tlabel\n", "", [(["label", "token"], ["O", "label"])], []),
    ("token\tlabel\nlabel\tlabel\n", "", [(["token", "label"], ["label", "label"])], []),
    # JSON
    ('[{"tokens": ["Ada", "L."], "labels": ["B-a", "I-a"]},\n {"tokens": ["x"], "labels": ["O"]}]', "", TWO, []),
    ('{\n "tokens": ["x"],\n "labels": ["O"]\n}\n', "", TWO[1:], []),
    ("text,label\nx,O\n", "1,2", TWO[1:], ["x: no tabs; columns are separated by commas", "x, line 1: 'text,label' is read as a header"]),
    ("gold\tlabel\nx\tlabel\n", "2", [(["gold", "x"], ["label", "label"])], []),
    ("Ada  \nL.\n\n x\n", "", [(["Ada", "L."], None), (["x"], None)], []),
    ("a,b\nc\n,\n|\n", "", [(["a,b", "c", ",", "|"], None)], []),
    ('{"tokens": ["x"], "labels": ["O"], "id": 7, "metadata": {"page": 3}}\n', "", TWO[1:], []),
]  # fmt: skip


@pytest.mark.parametrize(("text", "column", "expected", "notices"), READ)
def test_what_is_common_is_read_and_what_was_inferred_is_said(tmp_path, text, column, expected, notices):
    assert result(tmp_path, text, column) == (expected, notices)


REFUSED = [
    (CONLL, "", "x, line 3: 'EU NNP B-NP B-ORG' has 4 columns separated by spaces, as all lines have; name those of tokens and labels with --column 1,4"),
    ("a\tX\tO\nb\tX\tO\n", "", "x, line 1: 'a\\tX\\tO' has 2 tabs; expected token<TAB>label, or --column 3 for a column of labels"),
    ("Ada,B-a\nL.,I-a\n", "", "x, line 1: 'Ada,B-a' has 2 columns separated by commas, as all lines have; name those"),
    ("Ada,B-a\nL.,I-a\n,,O\n", "", "x, line 1: 'Ada,B-a' has 2 parts between commas, but line 3, ',,O', has 3: neither"),
    ("-DOCSTART- -X- O\n\n", "", "x: no sequence, but a header or borders only; expected token<TAB>label lines"),
    ("token\tlabel\n", "", "x: no sequence, but a header or borders only"),
    ("Ada|B-a\nL.|I-a\n", "", "x, line 1: 'Ada|B-a' has 2 parts between vertical bars: neither a token a line nor"),
    ("Ada\xa0B-a\nL.\xa0I-a\n", "", "has 2 parts between no-break spaces"),
    ("text,label\nAda,B-a\n", "", "name those of tokens and labels with --column text,label, or"),
    ("token,x,entity\nAda,1,B-a\n", "", "with --column token,entity, or"),
    ('<?xml version="1.0"?>\n<a>\n<b/>\n</a>\n', "", "x: XML or HTML, by its first line; expected token<TAB>label"),
    ("<!DOCTYPE html>\n", "", "x: XML or HTML"),
    ("Ada B-a\nL. I-a x\n.  O\n", "", "x, line 2: 'L. I-a x' has 3 parts between spaces, but line 1 has 2: neither a token a line nor columns; write token<TAB>label, or"),
    ("The quick brown fox\njumps over the\n", "", 'give tokens that hold spaces or commas as JSON lines, {"tokens": ["New York"]}'),
    ("Ada B-a\nL.\tI-a\n", "", "x, line 1: 'Ada B-a' has no tab; expected token<TAB>label, as on other lines"),
    ("Ada\tB-a\nL.\tI-a\tx\n", "", "x, line 2: 'L.\\tI-a\\tx' has 2 tabs; expected token<TAB>label, as on line 1"),
    ("token,label\nAda,B-a\nL.\n", "", "x, line 3: 'L.' has 1 column separated by commas, but line 1 has 2"),
    ("token,label\nAda,\n", "", "x, line 2: 'Ada,' has an empty label"),
    (CONLL, "9", "x, line 3: 'EU NNP B-NP B-ORG': no column \"9\"; expected a number from 1 to 4"),
    (CONLL, "ner", 'no column "ner"; expected a number from 1 to 4'),
    (CONLL, "4,4", "column 4 for both tokens and labels"),
    (CONLL, "1,2,3", "--column 1,2,3: expected LABEL, or TOKEN,LABEL"),
    (CONLL, ",3", "--column ,3: expected LABEL, or TOKEN,LABEL"),
    ("form\tupos\tner\nAda\tX\tB-a\n", "form,nerr", 'no column "nerr"; did you mean "ner"?'),
    ("Ada\nL.\n", "2", "x: no columns for --column 2: it has a token a line"),
    ('["Ada", "L."]\n', "", "x, item 1: expected a JSON object, not a text; expected an object such as"),
    ('["Ada", "L."]\n["x"]\n', "", "x: a list on each line; expected an object such as"),
    ('[["Ada"]]', "", "x, item 1: expected a JSON object, not a list"),
    ("[]", "", "x: an empty list; expected"),
    ('[{"tokens": ["Ada"]}, {"tokens": []}]', "", "x, item 2: an empty sequence"),
    ('[{"tokens": ["Ada"]}', "", "x: not JSON: "),
    ("a\0b\0\n", "", "x, line 1: byte 0x00, which does not occur in text; save it as UTF-8"),
    # JSON keys
    ('{"emissions": [[0, 1]], "transitions": [[0, 0], [0, 0]], "ennd": [0, 5]}', "", 'x, line 1: no use for "ennd"; did you mean "end"?'),
    ('{"start": [0, 1], "edges": [], "labelnames": ["a", "b"]}', "", 'no use for "labelnames"; did you mean "label_names"?'),
    ('{"tokens": ["a"], "weight": [NaN]}', "", "x, line 1: 'weight' has NaN, an infinity or half of a surrogate pair; write null, or a text"),
    ('{"tokens": ["a"], "metadata": "\\ud800"}', "", "'metadata' has NaN, an infinity or half of a surrogate pair"),
    ('{"tokens": ["a"], "x\\ud800": 1}', "", "'x\\ud800' has NaN, an infinity or half of a surrogate pair"),
    ('{"tokens": ["a"], "label": ["O"]}', "", 'no use for "label"; did you mean "labels"?'),
    ('{"tokens": ["a"], "Tokens": ["O"]}', "", 'no use for "Tokens"; did you mean "tokens"? name it as the column of tokens, or put a note with such a name under "metadata"'),
    ('{"tokens": ["a"], "status": "new"}', "", 'no use for "status"; rows of results or requests use this name, put a note under "metadata"'),
    ('{"tokens": ["a"], "best_score": 1}', "", 'x, line 1: no use for "best_score"; rows of results or requests use this name'),
    ('{"tokens": ["a"], "tokenz": 1}', "", 'no use for "tokenz"; did you mean "tokens"?'),
    ('{"words": ["a"], "tags": ["O"]}', "words,tag", 'x, line 1: no key "tag" for the column, but "words", "tags"'),
    ('{"tokens": ["a"], "labels": ["O"]}', "1,2", 'x, line 1: no key "1" for the column'),
    ('{"words": ["a"], "tags": ["O"]}', "a,b,c", "--column a,b,c: expected LABEL, or TOKEN,LABEL"),
    ('{"tokens": ["a"], "words": ["a"]}', "", 'no use for "words"; did you mean "tokens"?'),
    ('{"tokens": ["a"], "ner_tags": [0]}', "", 'no use for "ner_tags"; did you mean "labels"?'),
    ('{"start": [0, 1], "start": [0, 5], "edges": []}', "", "x, line 1: 'start' is given twice in one object; give it once"),
    ('{"tokens": ["a"], "tokens": ["b"]}', "", "'tokens' is given twice"),
    ('{"start": [0], "edges": [], "transitions": [[0]]}', "", "transitions does not go with edges; leave it out"),
    ('{"logits": [[0, 1]], "first": [[0]]}', "", "first does not go with logits; leave it out"),
    ('{"logits": [[0, 1]], "edges": []}', "", "has both logits and edges; give one of them"),
    ('{"tokens": ["a"], "word_ids": [0]}', "", "word_ids goes with logits"),
    ('{"tokens": ["a"], "rank": [1]}', "", "rank is a list; expected a whole number"),
    ('{"logits": [[0, 1]], "label_names": ["a", 1]}', "", "label_names is not a list of texts"),
    ('{"logits": [[' + "9" * 400 + ', 1]]}', "", "x, line 1: logits must hold numbers in rows of equal length: int too large"),
    ('{"logits": [[0, 1]], "word_ids": [' + "9" * 400 + "]}", "", "word_ids must be a list of whole numbers"),
    ('{"logits": [[0, 1]], "label_names": {"' + "9" * 400 + '": "a", "1": "b"}}', "", "none with id 0"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "column", "message"), REFUSED)
def test_the_rest_is_refused_by_what_was_found_with_a_way_out(tmp_path, text, column, message):
    with pytest.raises(InputError) as caught:
        result(tmp_path, text, column)
    said = str(caught.value).replace(str(tmp_path / "x"), "x")
    assert message in said
    assert "\n" not in said and len(said) < 500


def test_a_guess_is_a_warning_for_callers(tmp_path):
    (tmp_path / "x").write_text("a O\nb B-x\n")
    with pytest.warns(InputNotice, match="columns are separated by spaces") as caught:
        read(tmp_path / "x")
    assert caught[0].filename == __file__


def test_a_device_without_an_end_is_refused_at_its_first_bytes():
    with pytest.raises(InputError, match="/dev/zero, line 1: byte 0x00"):
        read("/dev/zero")


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
