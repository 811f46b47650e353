"""spaCy's DocBin: documents and their entities, checked against spaCy itself."""

import sys

import pytest
from support.corpora import pairs

from ilpinfer.corpus.examples import Example, InputError
from ilpinfer.corpus.sequences import read
from ilpinfer.corpus.streams import CorpusForm, open_stream
from ilpinfer.corpus.writing import WriteOptions, write
from ilpinfer.system.extras import MissingLibrary


def test_without_spacy_it_says_what_to_install(here, monkeypatch, cli):
    monkeypatch.setitem(sys.modules, "spacy", None)
    (here / "x.spacy").write_bytes(b"")
    message = r"new\.spacy needs spacy, which .*; pip install 'ilpinfer\[spacy\]'"
    with pytest.raises(MissingLibrary, match=message):
        write([Example(("Ada",), ("O",), "x")], here / "new.spacy")
    code, out, err = cli("train x.spacy --output m.json")
    message = "ilpinfer: x.spacy needs spacy, which is not installed; pip install 'ilpinfer[spacy]'\n"
    assert (code, out, err) == (2, "", message)


@pytest.fixture
def nlp():
    return pytest.importorskip("spacy").blank("xx")


def saved(path, docs):
    from spacy.tokens import DocBin

    DocBin(docs=docs, store_user_data=True).to_disk(path)
    return path


def loaded(path, nlp):
    from spacy.tokens import DocBin

    return list(DocBin().from_disk(path).get_docs(nlp.vocab))


def annotated(nlp):
    """A document with two entities and white space, one without any, and one that nobody annotated."""
    first = nlp("Ada Lovelace\nwrote  Notes.")
    first.ents = [first.char_span(0, 12, label="name"), first.char_span(20, 25, label="title")]
    first.user_data["page"] = 3
    second = nlp("Nothing here")
    second.set_ents([], default="outside")
    return [first, second, nlp("Grace slept")]


WANTED = [
    (["Ada", "Lovelace", "wrote", "Notes", "."], ["B-name", "I-name", "O", "B-title", "O"]),
    (["Nothing", "here"], ["O", "O"]),
    (["Grace", "slept"], None),
]


def test_documents_are_sequences_and_entities_labels(tmp_path, nlp):
    path = saved(tmp_path / "x.spacy", annotated(nlp))
    examples = read(path)
    assert pairs(examples) == WANTED
    assert [each.where for each in examples] == [f"{path}, document {n}" for n in (1, 2, 3)]
    assert [each.passage.tokens for each in examples] == [each.tokens for each in examples]


def test_entities_next_to_each_other_and_over_white_space(tmp_path, nlp):
    doc = nlp("New\nYork Ada")
    doc.ents = [doc.char_span(0, 8, label="x"), doc.char_span(9, 12, label="x")]
    (example,) = read(saved(tmp_path / "x.spacy", [doc]))
    assert example.labels == ("B-x", "I-x", "B-x")
    assert example.passage.spans(example.labels, "bio")[0].end == 8


def test_tokens_without_a_word_about_entities_are_told(tmp_path, nlp):
    from spacy.tokens import Span

    doc = nlp("Ada slept")
    doc.set_ents([Span(doc, 0, 1, label="name")], default="missing")
    path, notices = saved(tmp_path / "x.spacy", [doc]), []
    (example,) = read(path, notify=notices.append)
    assert example.labels == ("B-name", "O")
    assert notices == [
        f"{path}: tokens without a word about entities, beside others, are read as outside of them: "
        f"{path}, document 1: 'slept'"
    ]


def test_what_was_read_is_written_as_it_was_with_other_entities(tmp_path, nlp):
    examples = read(saved(tmp_path / "x.spacy", annotated(nlp)))
    new = [("O", "B-name", "O", "B-a", "I-a"), None, ("B-name", "O")]
    write([each.with_labels(labels) for each, labels in zip(examples, new)], tmp_path / "y.spacy")
    first, second, third = loaded(tmp_path / "y.spacy", nlp)
    assert [(ent.text, ent.label_) for ent in first.ents] == [("Lovelace", "name"), ("Notes.", "a")]
    assert first.text == "Ada Lovelace\nwrote  Notes." and first.user_data["page"] == 3
    assert not second.has_annotation("ENT_IOB")
    assert [(ent.text, ent.label_) for ent in third.ents] == [("Grace", "name")]
    assert [each.labels for each in read(tmp_path / "y.spacy")] == new
    assert pairs(examples) == WANTED


def test_sequences_of_other_files_become_documents(tmp_path, nlp):
    text = tmp_path / "a.txt"
    text.write_text("Ada  Lovelace wrote Notes.\n")
    (tmp_path / "a.ann").write_text("T1\tname 0 13\tAda  Lovelace\n")
    examples = [*read(text), Example(("Yes", "!"), ("B-x", "O"), "x"), Example(("No",), None, "x")]
    write(examples, tmp_path / "out.spacy")
    docs = loaded(tmp_path / "out.spacy", nlp)
    assert [doc.text for doc in docs] == ["Ada  Lovelace wrote Notes.", "Yes !", "No"]
    assert [(ent.start_char, ent.end_char, ent.label_) for ent in docs[0].ents] == [(0, 13, "name")]
    assert pairs(read(tmp_path / "out.spacy")) == pairs(examples)


def test_any_scheme_becomes_entities(tmp_path, nlp):
    examples = [Example(("a", "b", "c"), ("B-x", "E-x", "S-y"), "x")]
    write(examples, tmp_path / "out.spacy")
    (doc,) = loaded(tmp_path / "out.spacy", nlp)
    assert [(ent.text, ent.label_) for ent in doc.ents] == [("a b", "x"), ("c", "y")]
    message = "x: labels of scheme paths are nested; take the innermost fields with"
    with pytest.raises(InputError, match=message):
        write([Example(("a",), ("B-x/B-y",), "x")], tmp_path / "new.spacy")
    write([Example(("a",), ("B-x/B-y",), "x")], tmp_path / "new.spacy", WriteOptions(scheme="plain"))


def test_long_documents_are_rejected_and_empty_ones_are_empty(tmp_path, nlp):
    path = saved(tmp_path / "x.spacy", [nlp("a b c"), nlp("\n"), nlp("a")])
    with open_stream(path, CorpusForm(longest=2), print) as stream:
        long, empty, good = stream
    assert (long.message, long.line) == (f"{path}, document 1: a sequence of more than 2 tokens", 1)
    assert empty.tokens == ()
    assert good.tokens == ("a",)


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 no"])
def test_what_is_no_docbin_is_refused(here, nlp, content, cli):
    (here / "x.spacy").write_bytes(content)
    assert cli.refused("train x.spacy --output m.json").startswith(
        "ilpinfer: x.spacy: damaged, or no DocBin: "
    )


def test_files_without_documents_or_that_are_missing(tmp_path, nlp):
    with pytest.raises(InputError, match=r"x\.spacy: no document"):
        read(saved(tmp_path / "x.spacy", []))
    with pytest.raises(InputError, match=r"y\.spacy: cannot be read: No such file"):
        read(tmp_path / "y.spacy")


def test_a_binary_format_is_not_printed(tmp_path, nlp):
    with pytest.raises(InputError, match="format spacy is binary; name a file for the output"):
        write([Example(("Ada",), ("O",), "x")], "-", WriteOptions("spacy"))
