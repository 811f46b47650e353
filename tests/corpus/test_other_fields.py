"""Files of other fields: slots and intents, numbered labels, nested columns, marked ends, XML, FASTA, CRFsuite, CoNLL-2012."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.corpora import pairs, read_with_notices

from ilpinfer.corpus.column_labels import joined, labels_of_brackets
from ilpinfer.corpus.logits import LogitsOptions
from ilpinfer.corpus.sequences import InputError, read

BROADCAST = """\
#begin document (bc/x); part 000
bc/x   0   0   Ada    NNP  (TOP(S(NP*   -  -  -  Sp  (PERSON*   (A0*   *    (1
bc/x   0   1   L.     NNP  *)           -  -  -  Sp  *)         *)     *    1)
bc/x   0   2   slept  VBD  (VP*)))      -  -  -  Sp  *          (V*)   *    -

bc/x   0   0   Rome   NNP  (TOP(NP*))   -  -  -  Sp  (GPE)   -

#end document
"""
PLACES = [(["Ada", "L.", "slept"], ["B-PERSON", "I-PERSON", "O"]), (["Rome"], ["B-GPE"])]
TREES = [["B-TOP/B-S/B-NP", "I-TOP/I-S/I-NP", "I-TOP/I-S/B-VP"], ["B-TOP/B-NP"]]
NESTED = "1\tBank\tB-org\tO\n2\tof\tI-org\tO\n3\tRome\tI-org\tB-place\n\n1\tyes\tO\tO\n"
LEVELS = [(["Bank", "of", "Rome"], ["B-org", "I-org", "I-org/B-place"]), (["yes"], ["O"])]
ENDS = "Ada\tB-a\tSpace\nL.\tI-a\tEnd|Space\nx\tO\t_\ny\tO\tEnd\n"
TWO = [(["Ada", "L."], ["B-a", "I-a"]), (["x", "y"], ["O", "O"])]
NAMES = """\
<?xml version="1.0"?>
<Names>
  <Item><Name><Given>Ann Mary</Given> <Last>Lee</Last></Name>, Dr.</Item>
  <Item>Bob &amp; x<b/></Item>
</Names>
"""
NAME = (
    ["Ann", "Mary", "Lee", ",", "Dr", "."],
    ["B-Name/B-Given", "I-Name/I-Given", "I-Name/B-Last", "O", "O", "O"],
)
READ = {
    "nested columns": (NESTED, "2,3+4", LEVELS),
    "nested columns by their roles": (NESTED, "token=2,label=3+4", LEVELS),
    "nested columns of a header": (f"#\ttoken\tne+\tne\n{NESTED}", "token,ne++ne", None),
    "a column with a plus in its name": ("token\ta+b\tx\nAda\tB-a\t1\n", "token,a+b", [(["Ada"], ["B-a"])]),
    "the inner level alone": ("x\tO\tB-a\n", "1,2+3", [(["x"], ["B-a"])]),
    "plain levels": ("x\tC\tmaj\ny\tD\tmin\n", "1,2+3", [(["x", "y"], ["C/maj", "D/min"])]),
    "ends by a mark": (ENDS, "token=1,label=2,end=3=End", TWO),
    "ends by any text": (ENDS.replace("Space\nL", "_\nL"), "token=1,label=2,end=3", TWO),
    "ends by a header": (
        "token\tlabel\tEOS\nAda\tB-a\t0\nL.\tI-a\t1\nx\tO\t-\ny\tO\t_\n", "", TWO,
    ),
    "ends beside empty lines": (ENDS.replace("x\tO", "\nx\tO"), "token=1,label=2,end=3=End", TWO),
    "a sequence column by its role": ("1\tAda\tB-a\n1\tL.\tI-a\n2\tx\tO\n2\ty\tO\n", "sequence=1,token=2,label=3", TWO),
    "brackets of CoNLL-2012": (BROADCAST, "", PLACES),
    "brackets of CoNLL-2012 between tabs": (BROADCAST.replace("   ", "\t").replace("  ", "\t"), "", None),
    "trees of CoNLL-2012": (BROADCAST, "4,6", [(tokens, tree) for (tokens, _), tree in zip(PLACES, TREES, strict=True)]),
    "words alone of CoNLL-2012": (BROADCAST, "4,", [(tokens, None) for tokens, _ in PLACES]),
    "brackets elsewhere": ("Ada (A0*\nL. *)\nslept (V*)\n", "", [(PLACES[0][0], ["B-A0", "I-A0", "B-V"])]),
    "XML": (NAMES, "", [NAME, (["Bob", "&", "x"], ["O", "O", "O"])]),
    "XML on one line": ("<a><b><c>Ada</c> x</b></a>", "", [(["Ada", "x"], ["B-c", "O"])]),
    "lines with elements": ("<a>Ada L</a> x\n\nno <b>y</b>\n", "", [(["Ada", "L", "x"], ["B-a", "I-a", "O"]), (["no", "y"], ["O", "B-b"])]),
    "FASTA with labels": (">P1 made up\nMKL\niMM\n\n>P2\nMK\nii\n", "", [(list("MKL"), list("iMM")), (list("MK"), list("ii"))]),
    "FASTA without labels": (">P1 made up\nMKL\n>P2\nMK\n", "", [(list("MKL"), None), (list("MK"), None)]),
    "data of CRFsuite": ("B-a\tw[0]=a\\:b\tcap\nO\tw[0]=x\n\nO\tw[0]=y\tq=2\n", "", [(["a:b", "x"], ["B-a", "O"]), (["y"], ["O"])]),
    "data of CRFsuite by an attribute": ("O\tw=a\tq=2\nO\tw=b\tq=3\n", "token=q", [(["2", "3"], ["O", "O"])]),
}  # fmt: skip


@pytest.mark.parametrize("name", [name for name, (_, _, found) in READ.items() if found])
def test_files_are_read(tmp_path, name):
    text, column, expected = READ[name]
    (tmp_path / "x").write_text(text)
    examples, _ = read_with_notices(tmp_path / "x", column=column)
    assert pairs(examples) == expected
    (tmp_path / "returns").write_bytes(text.replace("\n", "\r\n").encode())
    assert pairs(read_with_notices(tmp_path / "returns", column=column)[0]) == expected


def test_tabs_of_conll_2012(tmp_path):
    rows = ["\t".join(line.split()) if not line.startswith("#") else line for line in BROADCAST.split("\n")]
    (tmp_path / "x").write_text("\n".join(rows))
    assert pairs(read_with_notices(tmp_path / "x")[0]) == PLACES


REFUSED = {
    "a bracket that stays open": (BROADCAST.replace("*)         *)", "*          *)"), "", r"line 4: \(PERSON is not closed"),
    "a bracket that was not opened": ("Ada (A*)\nx *)\n", "1,2", "line 2: .*closes a bracket that is not open"),
    "many brackets": (f"Ada {'(a' * 60}*{')' * 60}\n", "1,2", "line 1: 60 brackets are open; expected 50 at most"),
    "a short row": (BROADCAST.replace("Sp  (GPE)   -", ""), "", "line 6: .* has 9 columns"),
    "an empty level": ("x\tO\tO\ny\tO\t \n", "1,2+3", "line 2: .* has an empty label"),
    "an unknown level": ("x\tO\tO\n", "1,2+4", 'line 1: .*no column "4"; expected a number from 1 to 3'),
    "an unknown role": ("x\tO\n", "tokens=1,label=2", 'no role "tokens"; did you mean "token"'),
    "a role twice": ("x\tO\n", "token=1,token=2", "a role is given twice"),
    "a role without a column": ("x\tO\n", "token=,label=2", "token has no column; write token=COLUMN"),
    "an end in JSON": ('{"tokens": ["a"]}', "token=tokens,end=x", "--column end=x: only files of columns have this role"),
    "no fields": ("<a>\n<b>x</b>\n</a>\n", "", "no element inside of an item; expected <ROOT><ITEM><FIELD>"),
    "XML that is cut": ("<a>\n<b><c>x</c></b>\n<d>\n</a>\n", "", "line 4: not well-formed XML: mismatched tag"),
    "a line with an open element": ("<a>x</a> y\n<a>x</a>\n<a>x\n", "", "line 3: not well-formed XML"),
    "an entity of one's own": ('<?xml version="1.0"?>\n<!DOCTYPE a [<!ENTITY e "x">]>\n<a><b><c>&e;</c></b></a>', "", "line 2: a document type; remove it"),
    "a text beside items": ("<a>\n<b><c>x</c></b> y\n</a>\n", "", "line 3: a text outside of the items"),
    "deep elements": ("<a>" + "<b>" * 60 + "x" + "</b>" * 60 + "</a>", "", "line 1: elements are nested too deeply"),
    "columns of XML": (NAMES, "1,2", "--column 1,2: a file of this format has no columns"),
    "fewer labels than residues": (">P1\nMKL\niii\n>P2\nMK\ni\n", "", "line 6: 1 label for 2 residues"),
    "a record without labels": (">P1\nMKL\niii\n>P2\nMK\n>P3\nMK\nii\n", "", "line 4: '>P2' has no labels"),
    "residues on two lines": (">P1\nMKL\n>P2\nMK\nLL\n", "", "line 5: 'LL' has no header; expected >NAME, then all residues"),
    "no attribute of the token": ("O\tf=1\tg=2\n", "", "line 1: no attribute of the token, but f, g; name it"),
    "a row without the token": ("O\tw=1\tg=2\nO\tg=2\n", "", 'line 2: .* has no attribute "w"'),
    "a row without a label": ("O\tw=1\tg=2\n\tw=2\tf\tg=3\n", "", "line 2: .*has an empty label"),
    "a column of labels of CRFsuite": ("O\tw=1\tg=2\nO\tw=2\n", "3", "labels are the first column of a data file"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_faults_have_their_file_and_line(tmp_path, name):
    text, column, said = REFUSED[name]
    (tmp_path / "x").write_text(text)
    with pytest.raises(InputError, match=said) as caught:
        read(tmp_path / "x", column=column, notify=str)
    assert len(str(caught.value).splitlines()) == 1


def test_notes_of_fasta_and_attributes_of_crfsuite(tmp_path):
    (tmp_path / "x").write_text(">P1 made up\nMK\nii\n>P2\nMK\nii\n")
    assert [dict(each.about) for each in read(tmp_path / "x")] == [
        {"id": "P1", "comment": "made up"},
        {"id": "P2"},
    ]
    (tmp_path / "x").write_text("O\tw=1\tg=2:0.5\nO\tw=2\tcap\n")
    (example,), notices = read_with_notices(tmp_path / "x")
    assert example.columns == {"g": ("2", ""), "cap": ("", "1")}
    assert notices == ["x, line 1: weights of attributes are left out, such as that of 'g=2:0.5'"]


def test_xml_has_places_in_its_text(tmp_path):
    (tmp_path / "x.xml").write_text(NAMES)
    for each in read(tmp_path / "x.xml"):
        assert each.passage.tokens == each.tokens
        assert each.passage.text == each.passage.text.strip()


SLOTS = {
    "seq.in": "to Rome now\n\nhi\n",
    "seq.out": "O B-city B-time\n\nO\n",
    "label": "flight\nnone\ngreet\n",
}


def slots(**changed):
    for name, text in SLOTS.items():
        Path(name).write_text(changed.get(name.replace(".", "_"), text))


def test_slots_and_intents(here):
    slots()
    first, empty, last = read("seq.in")
    assert first.tokens == ("to", "Rome", "now") and first.labels == ("O", "B-city", "B-time")
    assert first.about == {"metadata": {"intent": "flight"}} and last.about == {
        "metadata": {"intent": "greet"}
    }
    assert empty.tokens == empty.labels == ()
    assert [each.tokens for each in read(".")] == [each.tokens for each in read("seq.in")]
    Path("Makefile.in").write_text("all:\n")
    assert [each.tokens for each in read(".")] == [each.tokens for each in read("seq.in")]
    Path("seq.out").unlink()
    assert [each.labels for each in read("seq.in")] == [None] * 3
    Path("new.in").write_text("hi\n")
    Path("new.out").write_text("O\n")
    Path("new.intent").write_text("greet\n")
    assert read("new.in")[0].about == {"metadata": {"intent": "greet"}}
    Path("one.in").write_text("Ada\tO\n")
    assert pairs(read("one.in")) == [(["Ada"], ["O"])]


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"seq_out": "O O\n\nO\n"}, "seq.in, line 1: 3 tokens, but 2 labels in line 1 of seq.out"),
        ({"label": "flight\n"}, "label: 1 line, but seq.in has 3; expected one for each sequence"),
    ],
)
def test_slots_that_do_not_fit(here, changed, said):
    slots(**changed)
    with pytest.raises(InputError, match=said):
        read("seq.in")


def test_numbered_labels(here):
    Path("x.tsv").write_text("Ada\t1\t2\nx\t0\t0\n")
    names = LogitsOptions(("O", "B-a", "B-b"))
    assert pairs(read("x.tsv", names, "1,2+3")) == [(["Ada", "x"], ["B-a/B-b", "O"])]
    for text, said in (
        ("Ada\t3\n", "line 1: 3 is not the number of a label; expected 0 to 2"),
        ("Ada\t0\nx\tO\n", "line 2: label 'O' is no number"),
    ):
        Path("x.tsv").write_text(text)
        with pytest.raises(InputError, match=said):
            read("x.tsv", names)


LABEL = {"names": ["O", "B-a"], "_type": "ClassLabel"}
TAGS = {"feature": LABEL, "_type": "Sequence"}


@pytest.mark.parametrize(
    ("record", "column"),
    [
        (LABEL, ""),
        ({"features": {"tokens": {"_type": "Value"}, "tags": TAGS}}, ""),
        ({"features": {"pos": {"feature": {"names": ["X"]}}, "tags": TAGS}}, "--column tokens,tags"),
        ({"features": {"tags": {"names": {"0": "O", "1": "B-a"}}}}, ""),
    ],
)
def test_names_of_class_labels(here, cli, record, column):
    column = column or "--column tags"
    Path("x.jsonl").write_text('{"tokens": ["Ada", "x"], "tags": [1, 0]}\n')
    Path("names.json").write_text(json.dumps(record))
    cli.done(f"convert x.jsonl x.tsv {column} --label-names names.json")
    assert Path("x.tsv").read_text() == "Ada\tB-a\nx\tO\n"


def test_names_of_several_columns(here, cli):
    Path("x.tsv").write_text("Ada\t1\nx\t0\n")
    Path("names.json").write_text(json.dumps({"features": {"pos": LABEL, "tags": TAGS}}))
    said = "names.json: pos, tags have names of labels; name one of them with --column"
    assert said in cli.refused("convert x.tsv y.tsv --label-names names.json")


trees = st.recursive(
    st.lists(st.none(), min_size=1, max_size=3),
    lambda inner: st.lists(st.tuples(st.sampled_from("AB"), inner), min_size=1, max_size=3),
    max_leaves=6,
)


def walked(tree, path, cells, labels, opened):
    """Cells of brackets and labels of a tree, the one after the other."""
    for node in tree:
        if node is None:
            cells.append(["".join(f"({name}" for name in opened[0]), ""])
            fresh = len(path) - len(opened[0])
            marks = [f"{'I' if at < fresh else 'B'}-{name}" for at, name in enumerate(path)]
            labels.append("/".join(marks) or "O")
            opened[0] = []
        else:
            opened[0] = [*opened[0], node[0]]
            walked(node[1], [*path, node[0]], cells, labels, opened)
            cells[-1][1] += ")"


@given(st.lists(trees, min_size=1, max_size=3))
def test_brackets_are_the_labels_of_their_tree(forest):
    cells, labels = [], []
    for tree in forest:
        walked(tree, [], cells, labels, [[]])
    assert labels_of_brackets([f"{opened}*{closed}" for opened, closed in cells]) == labels
    assert (
        labels_of_brackets([f"{opened}{'' if opened else '*'}{closed}" for opened, closed in cells]) == labels
    )


@given(st.lists(st.tuples(*[st.sampled_from(["O", "B-a", "I-a", "B-b"])] * 3), min_size=1, max_size=4))
def test_levels_are_the_parts_of_a_label(rows):
    for row, label in zip(rows, joined(list(zip(*rows, strict=True))), strict=True):
        assert [part for part in label.split("/") if part != "O"] == [name for name in row if name != "O"]


EVERY = {
    "x.fasta": (">P1\nMK\nim\n>P2\nKM\nmi\n", ""),
    "x.xml": ("<a>\n<b><c>Ada</c> x</b>\n<b>y <c>Ada</c></b>\n</a>\n", ""),
    "x.crfsuite": ("B-c\tw=Ada\nO\tw=x\tf\n", ""),
    "x.gold_conll": (BROADCAST, ""),
    "x.tsv": (NESTED, "--column token=2,label=3+4"),
    "seq.in": (SLOTS["seq.in"].replace("\n\n", "\n"), ""),
}


@pytest.mark.parametrize("name", EVERY)
def test_every_command_reads_them(here, cli, name):
    text, column = EVERY[name]
    Path(name).write_text(text)
    Path("seq.out").write_text(SLOTS["seq.out"].replace("\n\n", "\n"))
    Path("rules.toml").write_text('[[rule]]\ntemplate = "consistent"\npenalty = 1.0\n')
    cli.done(f"train {name} --kind hmm --output m.json {column}")
    cli.done(f"decode {name} --model m.json --rules rules.toml --output out.jsonl {column}")
    cli.done(f"evaluate out.jsonl {name} {column}")
    cli.done(f"evaluate {name} {name} {column}")
    cli.done(f"check rules.toml {name} {column}")
    assert "no rule found in" in cli(f"mine {name} {column} --folds 0 --output mined.toml").err
    cli.done(f"convert {name} y.jsonl {column}")
    assert pairs(read("y.jsonl")) == pairs(read(name, column=column.partition(" ")[2]))
