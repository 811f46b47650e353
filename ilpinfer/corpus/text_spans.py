"""Reading of texts with spans from Prodigy, doccano, Label Studio (JSON-MIN), spaCy and GLiNER, and writing of such records."""

from collections.abc import Iterator, Sequence
from typing import Any

from formulations.messages import brief
from ilpinfer.corpus.examples import Example, InputError, input_at
from ilpinfer.corpus.passages import Doubts, Offsets, Passage, Span, labels_of, token_offsets
from ilpinfer.corpus.record_keys import FORMS, about_of, check_values, is_output

TEXT, TOKENS, WORDS, OF_WORDS = "text", "tokens", "tokenized_text", "ner"
SPANS = ("spans", "label", "labels", "entities", "annotations", "ents")
BEGIN, END, LABEL = ("start", "start_offset"), ("end", "end_offset"), ("label", "labels")
"""Alternative names of each key; a span may also be a list `[begin, end, label]`."""
REFUSED = ("reject", "ignore")
"""Values of `answer` of tasks and spans that are not used."""

PASSED_OVER = "rejected and ignored tasks are skipped"
MORE_LABELS = "only the first label of a span with several labels is read"
HOW = 'give labels as "spans": [{"start": 0, "end": 3, "label": "name"}], or for each of "tokens"'


def has_spans(record: Any) -> bool:
    """Whether a record has a text or spans, and neither texts for tokens nor scores."""
    if (
        not isinstance(record, dict)
        or is_output(record)
        or not record.keys().isdisjoint(("candidates", *FORMS))
    ):
        return False
    tokens = record.get(TOKENS, [])
    without_words = isinstance(tokens, list) and all(isinstance(token, dict) for token in tokens)
    found = TEXT in record or SPANS[0] in record or {WORDS, OF_WORDS} <= record.keys()
    return (without_words and found) or _is_export(record)


def _is_export(record: dict[str, Any]) -> bool:
    """Whether a record is a task in the full JSON export of Label Studio."""
    return isinstance(record.get("data"), dict) and record.keys().isdisjoint((TEXT, TOKENS, WORDS))


def example(record: dict[str, Any], where: str, doubts: Doubts) -> Example | None:
    """The sequence of a record; None for a rejected or ignored record."""
    if _is_export(record):
        raise InputError(
            f'{where}: a task of Label Studio with "data"; export it as JSON-MIN, which has "text" and "label"'
        )
    if record.get("answer") in REFUSED:
        doubts.add(PASSED_OVER, "")
        return None
    with input_at(where):
        check_values(record)
    if WORDS in record:
        keys: Sequence[str] = (OF_WORDS,)
        passage = _words(record[WORDS], where)
    else:
        keys = SPANS[:1] if record.get(SPANS[0]) is not None else SPANS[1:]
        passage = _text(record, where)
    spans = _spans(record, keys, passage, where, doubts)
    labels = None if spans is None else labels_of(spans, passage.text, passage.offsets, doubts)
    used = (TEXT, WORDS, "answer", *keys)
    about = {key: each for key, each in about_of(record).items() if key not in used and key[:1] != "_"}
    return Example(passage.tokens, labels, where, passage=passage, about=about)


def _words(words: Any, where: str) -> Passage:
    if not isinstance(words, list) or not all(isinstance(word, str) and word for word in words):
        raise InputError(
            f'{where}: "{WORDS}" is {brief(words)}; expected a list of texts, none of them empty'
        )
    return Passage.of_tokens(words)


def _text(record: dict[str, Any], where: str) -> Passage:
    text = _string(record.get(TEXT), f'{where}: "{TEXT}"')
    offsets = _offsets(record[TOKENS], text, where) if record.get(TOKENS) else token_offsets(text)
    return Passage(text, offsets)


def _string(value: Any, what: str) -> str:
    if not isinstance(value, str) or not value:
        raise InputError(f"{what} is {brief(value)}; expected a text")
    return value


def _offsets(tokens: list[dict[str, Any]], text: str, where: str) -> Offsets:
    """The offsets of tokens, without white-space tokens."""
    result = list[tuple[int, int]]()
    for number, token in enumerate(tokens):
        what = f"{where}: token {number}"
        begin, end = _place(token, text, what)
        if result and begin < result[-1][1]:
            raise InputError(f"{what} begins at {begin}, before the end of the token before it")
        result.append((begin, end))
    return tuple((begin, end) for begin, end in result if not text[begin:end].isspace())


def _spans(
    record: dict[str, Any], keys: Sequence[str], passage: Passage, where: str, doubts: Doubts
) -> list[Span] | None:
    """The spans under all of the keys; None if there is no such key."""
    listed = [(key, record[key]) for key in keys if record.get(key) is not None]
    if OF_WORDS in record and OF_WORDS not in keys:
        raise InputError(f'{where}: "{OF_WORDS}" counts tokens and needs "{WORDS}"; {HOW}')
    for key, spans in listed:
        if not isinstance(spans, list):
            raise InputError(f'{where}: "{key}" is {brief(spans)}; expected a list; {HOW}')
    values = [each for _, spans in listed for each in spans]
    result = []
    for number, value in enumerate(values):
        what = f"{where}: span {number}"
        if isinstance(value, list) and len(value) == 3:
            value = dict(zip((BEGIN[0], END[0], LABEL[0]), value, strict=True))
        if not isinstance(value, dict):
            raise InputError(f"{what} is {brief(value)}; {HOW}")
        begin, end = _of_words(value, passage, what) if WORDS in record else _place(value, passage.text, what)
        if value.get("answer") not in REFUSED:
            result.append(Span(begin, end, _label(value, what, doubts), what))
    return result if listed else None


def _label(span: dict[str, Any], what: str, doubts: Doubts) -> str:
    value = _first(span, LABEL)
    if isinstance(value, list) and value:
        if len(value) > 1:
            doubts.add(MORE_LABELS, f"{what}: {', '.join(map(str, value))}")
        value = value[0]
    return _string(value, f"{what}: label")


def _first(values: dict[str, Any], keys: Sequence[str]) -> Any:
    return next((values[key] for key in keys if key in values), None)


def _numbers(values: dict[str, Any], what: str) -> tuple[int, int]:
    begin, end = _first(values, BEGIN), _first(values, END)
    if type(begin) is not int or type(end) is not int:
        raise InputError(f'{what} has no whole numbers "start" and "end": {brief(values)}')
    return begin, end


def _of_words(span: dict[str, Any], passage: Passage, what: str) -> tuple[int, int]:
    """The character range of a token span, whose end is its last token."""
    first, last = _numbers(span, what)
    count = len(passage.offsets)
    if not 0 <= first <= last < count:
        raise InputError(f"{what} has the tokens {first} to {last}; expected 0 <= first <= last < {count}")
    return passage.offsets[first][0], passage.offsets[last][1]


def _place(values: dict[str, Any], text: str, what: str) -> tuple[int, int]:
    """Begin and end in characters; read as UTF-16 units if only these fit the text that a span or token repeats."""
    begin, end = _numbers(values, what)
    quoted = values.get(TEXT)
    fits = not isinstance(quoted, str) or _same(text[max(begin, 0) : max(end, 0)], quoted)
    units = None if fits else _from_utf_16(text, begin, end)
    if units and _same(text[slice(*units)], str(quoted)):
        return units
    if not 0 <= begin < end:
        raise InputError(f"{what} goes from {begin} to {end}; expected 0 <= start < end")
    if end > len(text):
        raise InputError(
            f"{what} goes from {begin} to {end}, beyond the text, which has {len(text)} characters"
        )
    if not fits:
        raise InputError(
            f"{what} is {brief(quoted)}, but the text at {begin}-{end} is {brief(text[begin:end])}; was another version of the "
            "text annotated?"
        )
    return begin, end


def _same(text: str, quoted: str) -> bool:
    """Whether texts are equal except for white space; line breaks may be escaped."""
    return text == quoted or text.split() == quoted.replace("\\n", "\n").split()


def _from_utf_16(text: str, begin: int, end: int) -> tuple[int, int] | None:
    data = text.encode("utf-16-le", "surrogatepass")
    if not 0 <= 2 * begin < 2 * end <= len(data):
        return None
    try:
        return len(data[: 2 * begin].decode("utf-16-le")), len(data[: 2 * end].decode("utf-16-le"))
    except UnicodeDecodeError:
        return None


def text_records(examples: Sequence[Example], spans: Sequence[list[Span] | None]) -> Iterator[dict[str, Any]]:
    """Records of sequences, which have a passage each, and their label spans, None without labels."""
    for example, found in zip(examples, spans, strict=True):
        assert example.passage is not None
        text, offsets = example.passage.text, example.passage.offsets
        yield {
            **example.about,
            TEXT: text,
            TOKENS: [
                {
                    TEXT: text[begin:end],
                    BEGIN[0]: begin,
                    END[0]: end,
                    "id": at,
                    "ws": text[end : end + 1].isspace(),
                }
                for at, (begin, end) in enumerate(offsets)
            ],
            **({} if found is None else {SPANS[0]: [_written(each, offsets) for each in found]}),
        }


def _written(span: Span, offsets: Sequence[tuple[int, int]]) -> dict[str, Any]:
    """A span with its first and last token, as in Prodigy."""
    first = next(at for at, (begin, _) in enumerate(offsets) if begin == span.begin)
    last = next(at for at, (_, end) in enumerate(offsets) if end == span.end)
    places = {BEGIN[0]: span.begin, END[0]: span.end, "token_start": first, "token_end": last}
    return {**places, LABEL[0]: span.label}
