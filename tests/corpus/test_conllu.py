"""CoNLL-U: words, labels of any column, and sentences written back with nothing else changed."""

import warnings

import pytest
from support.corpora import pairs, read_with_notices

from ilpinfer.corpus.examples import Example, InputError
from ilpinfer.corpus.sequences import read
from ilpinfer.corpus.writing import WriteOptions, write

SENTENCES = """\
# newdoc
# sent_id = 1
# text = Vamos al mar.
1	Vamos	ir	VERB	V	Mood=Ind|Number=Plur	0	root	_	_
2-3	al	_	_	_	_	_	_	_	_
2	a	a	ADP	P	_	4	case	_	_
3	el	el	DET	D	_	4	det	_	_
4	mar	mar	NOUN	N	Gender=Masc	1	obl	_	Gloss=sea|SpaceAfter=No
5	.	.	PUNCT	F	_	1	punct	_	_

# sent_id = 2
# text = Ana (nadó)
1	Ana	Ana	PROPN	N	_	2	nsubj	_	_
2	(	(	PUNCT	F	_	1	punct	_	SpaceAfter=No
3	nadó	nadar	VERB	V	_	0	root	_	SpaceAfter=No
3.1	ella	_	PRON	_	_	_	_	2:nsubj	_
4	)	)	PUNCT	F	_	1	punct	_	_

"""
FORMS = [["Vamos", "a", "el", "mar", "."], ["Ana", "(", "nadó", ")"]]
UPOS = [["VERB", "ADP", "DET", "NOUN", "PUNCT"], ["PROPN", "PUNCT", "VERB", "PUNCT"]]
ENTITIES = [["O", "O", "O", "B-sea", "O"], ["B-person", "O", "O", "O"]]


def file(folder, text=SENTENCES, name="x.conllu"):
    path = folder / name
    path.write_bytes(text.encode())
    return path


def found(path, column=""):
    """(tokens, labels) of each sentence, and the notices."""
    examples, notices = read_with_notices(path, column=column)
    return pairs(examples), notices


def test_words_are_tokens_and_parts_of_speech_labels(tmp_path):
    path = file(tmp_path)
    sentences, notices = found(path)
    assert sentences == list(zip(FORMS, UPOS))
    assert notices == ["x: labels are upos; --column names others, such as xpos or misc.KEY"]


@pytest.mark.parametrize(
    ("column", "labels"),
    [
        ("UPOS", UPOS),
        ("4", UPOS),
        ("xpos", [["V", "P", "D", "N", "F"], ["N", "F", "V", "F"]]),
        ("form,deprel", [["root", "case", "det", "obl", "punct"], ["nsubj", "punct", "root", "punct"]]),
        ("feats.Gender", [["O", "O", "O", "Masc", "O"], ["O"] * 4]),
        ("misc.Gloss", [["O", "O", "O", "sea", "O"], ["O"] * 4]),
        ("form,", [None, None]),
    ],
)
def test_labels_are_of_the_column_that_was_named(tmp_path, column, labels):
    assert found(file(tmp_path), column) == (list(zip(FORMS, labels)), [])


def test_further_columns_go_with_the_tokens_by_name_and_number(tmp_path):
    columns = read(file(tmp_path), column="upos")[0].columns
    assert columns["lemma"] == columns["3"] == ("ir", "a", "el", "mar", ".")
    assert columns["feats"][0] == "Mood=Ind|Number=Plur" and "upos" not in columns and "4" not in columns


def test_the_library_reads_the_same(tmp_path):
    conllu = pytest.importorskip("conllu")
    path = file(tmp_path)
    theirs = [[word for word in each if isinstance(word["id"], int)] for each in conllu.parse(SENTENCES)]
    assert [[word["form"] for word in each] for each in theirs] == FORMS
    assert [[word["upos"] for word in each] for each in theirs] == UPOS
    write(predicted(path), tmp_path / "out.conllu")
    theirs = conllu.parse((tmp_path / "out.conllu").read_text("utf-8"))
    words = [[word for word in each if isinstance(word["id"], int)] for each in theirs]
    assert [[(word["misc"] or {}).get("NER", "O") for word in each] for each in words] == ENTITIES
    assert theirs[0].metadata["sent_id"] == "1" and theirs[0][4]["misc"]["Gloss"] == "sea"


def predicted(path):
    examples = read(path, column="upos")
    return [each.with_labels(labels) for each, labels in zip(examples, ENTITIES)]


def test_what_was_read_is_written_as_it_was(tmp_path):
    write(read(file(tmp_path), column="upos"), tmp_path / "same.conllu")
    assert (tmp_path / "same.conllu").read_text("utf-8") == SENTENCES


def test_labels_of_fields_are_written_beside_all_that_was_there(tmp_path):
    write(predicted(file(tmp_path)), tmp_path / "out.conllu")
    text = (tmp_path / "out.conllu").read_text("utf-8")
    changed = [(a, b) for a, b in zip(SENTENCES.splitlines(), text.splitlines()) if a != b]
    sea, ana = (
        "4	mar	mar	NOUN	N	Gender=Masc	1	obl	_	Gloss=sea|SpaceAfter=No",
        "1	Ana	Ana	PROPN	N	_	2	nsubj	_	",
    )
    assert changed == [(sea, f"{sea}|NER=B-sea"), (f"{ana}_", f"{ana}NER=B-person")]
    sentences, notices = found(tmp_path / "out.conllu")
    assert sentences == list(zip(FORMS, ENTITIES))
    assert "labels are misc.NER" in notices[0]


def test_labels_go_into_the_column_that_was_named(tmp_path):
    write(read(file(tmp_path), column="upos"), tmp_path / "out.conllu", WriteOptions(column="xpos"))
    assert found(tmp_path / "out.conllu", "xpos")[0] == list(zip(FORMS, UPOS))


def test_a_sentence_without_a_labelling_keeps_no_earlier_labels(tmp_path):
    write(predicted(file(tmp_path)), tmp_path / "one.conllu")
    first, second = read(tmp_path / "one.conllu", notify=print)
    write([first.with_labels(None), second], tmp_path / "two.conllu")
    text = (tmp_path / "two.conllu").read_text("utf-8")
    assert "NER=B-sea" not in text and "NER=B-person" in text and "Gloss=sea|SpaceAfter=No\n" in text


def test_sequences_of_other_files_become_sentences(tmp_path):
    pairs = [(("Ada", "L."), ("B-name", "I-name")), (("slept",), ("O",))]
    write([Example(tokens, labels, "x") for tokens, labels in pairs], tmp_path / "out.conllu")
    rows = ["1	Ada", "2	L."]
    assert (tmp_path / "out.conllu").read_text() == (
        f"# text = Ada L.\n{rows[0]}{'	_' * 7}	NER=B-name\n{rows[1]}{'	_' * 7}	NER=I-name\n\n"
        f"# text = slept\n1	slept{'	_' * 8}\n\n"
    )
    assert [(e.tokens, e.labels) for e in read(tmp_path / "out.conllu", notify=print)] == pairs
    plain = [Example(("Ada", "slept"), ("PROPN", "VERB"), "x")]
    write(plain, tmp_path / "plain.conllu")
    assert found(tmp_path / "plain.conllu")[0] == [(["Ada", "slept"], ["PROPN", "VERB"])]


def test_words_as_a_text(tmp_path):
    (first, second) = read(file(tmp_path), column="upos")
    assert first.passage.text == "Vamos a el mar." and second.passage.text == "Ana (nadó)"
    for each in (first, second):
        assert each.passage.tokens == each.tokens


def test_sentences_without_labels_are_unlabelled(here, cli):
    path = file(here, "1	Ada	_	_	_	_	_	_	_	_\n\n")
    assert found(path)[0] == [(["Ada"], None)]
    err = cli.failed("train x.conllu --output m.json")
    assert err.splitlines()[-1] == "ilpinfer: x.conllu, line 1: no labels; annotate it first"


PLUS = "# global.columns = FORM TAG SPAN\nAda	N	B-name\nslept	V	O\n\nYes	X	O\n"


def test_files_with_columns_of_their_own(tmp_path):
    path = file(tmp_path, PLUS, "x.conllup")
    assert found(path) == (
        [(["Ada", "slept"], ["B-name", "O"]), (["Yes"], ["O"])],
        ["x: labels are span; --column names others, such as xpos or misc.KEY"],
    )
    assert found(path, "tag")[0][0] == (["Ada", "slept"], ["N", "V"])
    write(read(path, notify=print), tmp_path / "out.conllu")
    assert (tmp_path / "out.conllu").read_text().rstrip() == PLUS.rstrip()


def test_labels_that_no_cell_can_hold(tmp_path):
    with pytest.raises(InputError):
        write([Example(("Ada",), ("B-a|b",), "x")], tmp_path / "out.conllu")
    assert not (tmp_path / "out.conllu").exists()
    with warnings.catch_warnings(action="error"):
        write([Example(("Ada",), ("O",), "x")], tmp_path / "out.conllu")
