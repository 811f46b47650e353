"""The study of equal words: which sentences are a document."""

from benchmarks.studies import names as study

DATELINE = ("Madrid", ",", "23", "may", "(", "EFECOM", ")", ".")


def test_a_document_begins_at_a_dateline():
    sentences = [
        (("before",), ("O",)),
        (DATELINE, ("O",) * 8),
        (("EFE", "says"), ("O", "O")),
        (DATELINE, ("O",) * 8),
    ]
    assert [len(document) for document in study.documents(sentences)] == [1, 2, 1]
    assert [pair for document in study.documents(sentences) for pair in document] == sentences
