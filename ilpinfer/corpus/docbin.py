"""spaCy's binary documents, `DocBin` in files that end in `.spacy`: a document is a sequence, its entities are spans."""

from collections.abc import Iterator, Sequence
from typing import Any

from formulations.labels.schemes import OUTSIDE
from formulations.messages import brief
from ilpinfer.corpus.examples import Example, InputError, Notify, Rejection
from ilpinfer.corpus.passages import Doubts, Passage, Span
from ilpinfer.system.addresses import read_bytes
from ilpinfer.system.extras import require

SUFFIX = ".spacy"
MISSING = "tokens without a word about entities, beside others, are read as outside of them"


def read_docbin(path: str, notify: Notify) -> Iterator[Example | Rejection]:
    """The documents of a file; one without any entity annotation has no labels. Tokens of white space are left out."""
    spacy, tokens = _spacy(path)
    data = read_bytes(path, InputError)
    try:
        docs = list(tokens.DocBin().from_bytes(data).get_docs(spacy.blank("xx").vocab))
    except MemoryError:
        raise
    except Exception as error:  # of zlib, msgpack or spaCy, whichever meets the damage
        words = brief(" ".join(str(error).split()), quoted=False)
        raise InputError(f"{path}: damaged, or no DocBin: {words}") from None
    if not docs:
        raise InputError(f"{path}: no document")
    doubts = Doubts(path)
    for number, doc in enumerate(docs, 1):
        yield _example(doc, path, number, doubts)
    doubts.tell(notify)


def _spacy(path: str) -> tuple[Any, Any]:
    require(path, "spacy", "spacy")
    import spacy
    import spacy.tokens

    return spacy, spacy.tokens


def _example(doc: Any, path: str, number: int, doubts: Doubts) -> Example | Rejection:
    where = f"{path}, document {number}"
    words = [token for token in doc if not token.is_space]
    offsets = tuple((token.idx, token.idx + len(token)) for token in words)
    passage = Passage(doc.text, offsets, "", "spacy", doc)
    labels = None
    if doc.has_annotation("ENT_IOB"):
        labels = tuple(_labels(words))
        for token in words:
            if not token.ent_iob:
                doubts.add(MISSING, f"{where}: {brief(token.text)}")
    return Example(passage.tokens, labels, where, file=path, line=number, passage=passage)


def _labels(words: Sequence[Any]) -> Iterator[str]:
    """BIO labels; a token of white space within an entity does not end it."""
    inside = ""
    for token in words:
        field = token.ent_type_ if token.ent_iob_ in ("B", "I") else ""
        if not field:
            yield OUTSIDE
        else:
            yield f"{'I' if token.ent_iob_ == 'I' and field == inside else 'B'}-{field}"
        inside = field


def docbin_bytes(examples: Sequence[Example], spans: Sequence[list[Span] | None], path: str) -> bytes:
    """Sequences as documents: those that were read of such a file with other entities, others made of their tokens."""
    spacy, tokens = _spacy(path)
    vocab = spacy.blank("xx").vocab
    docs = []
    for example, found in zip(examples, spans, strict=True):
        passage = example.passage
        assert passage is not None
        known = passage.format == "spacy"
        doc = passage.record.copy() if known else _new(tokens, vocab, passage)
        if found is None:
            doc.set_ents([], default="missing")
        else:
            shift = 0 if known else passage.offsets[0][0]
            entities = [
                doc.char_span(span.begin - shift, span.end - shift, label=span.label) for span in found
            ]
            doc.set_ents(entities, default="outside")
        docs.append(doc)
    return bytes(tokens.DocBin(docs=docs, store_user_data=True).to_bytes())


def _new(tokens: Any, vocab: Any, passage: Passage) -> Any:
    """A document of the passage's tokens; text between them, such as line breaks, becomes tokens, too."""
    text, offsets = passage.text, passage.offsets
    words, spaces, end = list[str](), list[bool](), offsets[0][0]
    for begin, stop in offsets:
        gap = text[end:begin]
        if gap and words:
            spaces[-1] = gap[0] == " "
            gap = gap.removeprefix(" ")
        if gap:
            words.append(gap)
            spaces.append(False)
        words.append(text[begin:stop])
        spaces.append(False)
        end = stop
    return tokens.Doc(vocab, words=words, spaces=spaces)
