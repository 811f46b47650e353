"""CRFsuite data: one line per token with its label and attributes, separated by tabs; an empty line between sequences."""

import re
from collections.abc import Iterator, Sequence

from formulations.messages import brief, suggestion
from ilpinfer.corpus.column_form import excerpt
from ilpinfer.corpus.column_names import TOKEN_NAMES, ColumnNames
from ilpinfer.corpus.examples import Example, InputError, Notify, Rejection
from ilpinfer.corpus.lines import Lines, blocks, few
from ilpinfer.corpus.tokens import with_columns

SUFFIXES = (".crfsuite",)
WORDS = ("w[0]", "w0", "w", "word[0]", *TOKEN_NAMES)
"""Attributes whose value is the token, the likeliest first."""
LABEL = ("", "1", "label")
"""Names of the only label column."""

_NAMED = re.compile(r"[^\s=]+=")
_WEIGHT = re.compile(r"(?<!\\):(-?[0-9.]+(?:[eE][-+]?[0-9]+)?)$")
_ESCAPED = re.compile(r"\\([:\\])")


def is_crfsuite(lines: Sequence[str], names: ColumnNames) -> bool:
    """Whether most cells after the first are `NAME=VALUE`, in rows of different lengths if the label column is named."""
    rows = [line.rstrip("\r").split("\t")[1:] for line in few(lines)]
    if not rows or not all(rows) or max(map(len, rows)) < 2:
        return False
    cells = [cell for row in rows for cell in row]
    named = sum(_NAMED.match(cell) is not None for cell in cells)
    return 2 * named >= len(cells) and (len({*map(len, rows)}) > 1 or not names.label)


def read_crfsuite_data(
    lines: Lines, head: Sequence[str], names: ColumnNames, notify: Notify
) -> Iterator[Example | Rejection]:
    """The sequences of a file; attributes are columns of the tokens, and their weights are left out with a notice."""
    names.check_no_roles(lines.name)
    if names.label not in LABEL and not names.beside:
        raise InputError(
            f"{lines.name}: --column {names.label}: labels are the first column of a data file of CRFsuite; name that of the token "
            "as token=ATTRIBUTE"
        )
    number, first = next((number, line) for number, line in enumerate(head, 1) if line.strip())
    own = "" if names.beside else names.token
    word = own or _word(_row(first)[1], f"{lines.name}, line {number}")
    lines.resume()
    told = False
    for block in blocks(lines):
        if isinstance(block, Rejection):
            yield block
            continue
        rows = [(number, *_row(line)) for number, line in block]
        weighted = next(((number, cell) for number, _, _, cell in rows if cell and not told), None)
        if weighted:
            told = True
            number, cell = weighted
            notify(
                f"{lines.name}, line {number}: weights of attributes are left out, such as that of {brief(cell)}"
            )
        yield _example(rows, [line for _, line in block], word, names, lines.name)


def _row(line: str) -> tuple[str, dict[str, str], str]:
    """Label, attribute values by name, and an attribute with a weight, if there is one."""
    label, *cells = line.split("\t")
    values, weighted = dict[str, str](), ""
    for cell in filter(None, cells):
        plain = _WEIGHT.sub("", cell)
        weighted = weighted or (cell if plain != cell else "")
        name, equals, value = _ESCAPED.sub(r"\1", plain).partition("=")
        values.setdefault(name, value if equals else "1")
    return label.strip(), values, weighted


def _word(attributes: dict[str, str], where: str) -> str:
    found = next((name for name in WORDS if name in attributes), None)
    if found is None:
        shown = ", ".join(list(attributes)[:5])
        raise InputError(
            f"{where}: no attribute of the token, but {shown}; name it with --column token=ATTRIBUTE"
        )
    return found


def _example(
    rows: Sequence[tuple[int, str, dict[str, str], str]],
    texts: Sequence[str],
    word: str,
    names: ColumnNames,
    name: str,
) -> Example | Rejection:
    tokens, labels = list[str](), list[str]()
    for (number, label, attributes, _), text in zip(rows, texts, strict=True):
        where = f"{name}, line {number}: {excerpt(text)}"
        if not label:
            return Rejection(name, number, f"{where} has an empty label; write it, or take the line out")
        if not attributes.get(word):
            hint = suggestion(word, attributes)
            return Rejection(name, number, f'{where} has no attribute "{word}", which is the token{hint}')
        tokens.append(attributes[word])
        labels.append(label)
    others = dict.fromkeys(key for _, _, attributes, _ in rows for key in attributes if key != word)
    columns = {key: [attributes.get(key, "") for _, _, attributes, _ in rows] for key in others}
    begin = rows[0][0]
    return Example(
        with_columns(tokens, columns),
        None if names.unlabelled else tuple(labels),
        f"{name}, line {begin}",
        file=name,
        line=begin,
    )
