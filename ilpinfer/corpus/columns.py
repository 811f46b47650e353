"""Sequences as columns: a token a line, with its label in another column, and an empty line between sequences.

Cells of further columns go with their token, under the number of the column and its name in a header.

Columns are separated by tabs. Where a file has none, commas or spaces are taken for separators if every line has the same
number of columns, and a notice says so.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from formulations.messages import suggestion
from ilpinfer.corpus.examples import Example, InputError, Notify, Rejection
from ilpinfer.corpus.lines import Lines
from ilpinfer.corpus.separators import SEPARATORS, UNREAD, Cells, excerpt, first_line, is_border, split, width
from ilpinfer.corpus.tokens import with_columns

TOKEN_NAMES = ("token", "tokens", "word", "words", "form")
LABEL_NAMES = ("label", "labels", "tag", "tags", "ner", "ner_tag", "ner_tags", "gold")
SEQUENCE_NAMES = ("sentence", "sentence #", "sentence_id", "sent_id", "sequence", "sequence_id")
"""Names of columns in headers, in lower case. A sequence begins where the cell of a sequence column changes."""
AS_JSON = 'give tokens that hold spaces or commas as JSON lines, {"tokens": ["New York"]}'

Row = tuple[int, Cells]
"""Number of a line, and its cells; no cells for a border between sequences."""
AHEAD = 2**20
"""Bytes of a stream that separators and headers are inferred from."""


@dataclass(frozen=True)
class ColumnNames:
    """Columns that a user names, each by its number from 1 or by its name in the header.

    Parameters
    ----------
    label : empty where there are no labels, or for the second of two columns
    token : empty for the first column, or the one that a header calls so
    unlabelled : whether labels are left out
    """

    label: str = ""
    token: str = ""
    unlabelled: bool = False

    @classmethod
    def read(cls, text: str) -> "ColumnNames":
        """From `LABEL`, `TOKEN,LABEL`, or `TOKEN,` to leave labels out.

        Raises
        ------
        InputError
            for another form.
        """
        texts = [part.strip() for part in text.split(",")]
        if len(texts) > 2 or (len(texts) == 2 and not texts[0]) or (text and not texts[0]):
            raise InputError(f"--column {text}: expected LABEL, or TOKEN,LABEL, or TOKEN, for no labels")
        return cls(texts[0]) if len(texts) == 1 else cls(texts[1], texts[0], not texts[1])

    def __bool__(self) -> bool:
        return bool(self.label or self.token)

    def occur_in(self, cells: Cells) -> bool:
        """Whether the cells name the columns that are looked for."""
        low = [cell.strip().lower() for cell in cells]
        own = [name for name in (self.token, self.label) if name and not name.isdecimal()]
        if own:
            return any(name.lower() in low for name in own)
        token, label = (any(cell in known for cell in low) for known in (TOKEN_NAMES, LABEL_NAMES))
        return token and (label or self.unlabelled)


@dataclass(frozen=True)
class Places:
    """The columns of tokens, labels and sequence numbers; None for a missing column. Names of further ones, and where they are."""

    token: int
    label: int | None
    sequence: int | None = None
    further: tuple[tuple[str, int], ...] = ()

    def with_further(self, count: int, header: Cells) -> "Places":
        """With all other columns of a file, each under its number and under its name in the header."""
        others = [at for at in range(count) if at not in (self.token, self.label, self.sequence)]
        names = [(header[at].strip(), at) for at in others if header and header[at].strip()]
        return replace(self, further=tuple({**dict(names), **{str(at + 1): at for at in others}}.items()))


def columns(
    lines: Lines, column: str, notify: Notify, most: int | None = AHEAD, longest: int | None = None
) -> Iterator[Example | Rejection]:
    """The sequences of lines; a sequence with a line that cannot be read is rejected as a whole.

    Parameters
    ----------
    lines : of the file
    column : which columns hold labels and tokens, as `ColumnNames.read` takes it; empty where that need not be said
    notify : receives what was inferred
    most : bytes to infer separator and header from; None for the whole file. Of a pipe no more is waited for than a line
        with tabs
    longest : tokens of a sequence; longer ones are rejected, and None is for any

    Raises
    ------
    InputError
        for columns that have to be named.
    """
    names, name = ColumnNames.read(column), lines.name
    head = lines.ahead(most, lambda texts: any("\t" in text for text in texts))
    separator = _separator(head, name, names, notify)
    rows = _rows(lines, head, separator)
    first = None
    for row in rows:
        if isinstance(row, Rejection):
            yield row
        elif row[1]:
            first = row
            break
    if first is None:
        return
    whole = lines.ended
    header = first[1] if _is_header(first, head, separator, names) else []
    if header:
        notify(f"{name}, line {first[0]}: {excerpt(head[first[0] - 1])} is read as a header")
    places = _places(first, header, names, name, separator).with_further(len(first[1]), header)
    if header and not whole and places.label is not None and not names:
        rows = _without_header(rows, first, places.label, name)
    yield from _sequences(rows if header else chain([first], rows), places, separator, name, longest)


def _separator(lines: list[str], name: str, names: ColumnNames, notify: Notify) -> str:
    """The separator of columns; empty where each line is a token."""
    if any("\t" in line for line in lines):
        return "\t"
    at = first_line(lines)
    for separator in ",;":
        cells = split(lines[at - 1], separator)
        if len(cells) > 1 and names.occur_in(cells):
            notify(f"{name}: no tabs; columns are separated by {SEPARATORS[separator]}")
            return separator
    separator, count = next(((each, result) for each in ",; " if (result := width(lines, each)) > 1), ("", 1))
    if not separator:
        _check_tokens(lines, name, names, notify)
        return ""
    has_names = names or names.occur_in(split(lines[at - 1], separator))
    if not has_names and (separator != " " or count > 2):
        raise InputError(
            f"{name}, line {at}: {excerpt(lines[at - 1])} has {count} columns separated by {SEPARATORS[separator]}, as all "
            f"lines have; name those of tokens and labels with --column {_column_hint(lines[at - 1], separator, count)}, or in a "
            f"header token,label; or {AS_JSON}"
        )
    notify(f"{name}: no tabs; columns are separated by {SEPARATORS[separator]}")
    return separator


def _column_hint(line: str, separator: str, count: int) -> str:
    """A value for --column that fits the first line."""
    cells = split(line, separator)
    low = [cell.strip().lower() for cell in cells]
    for known in (LABEL_NAMES, TOKEN_NAMES):
        at = next((place for place, cell in enumerate(low) if cell in known), None)
        if at is not None:
            token, label = (
                (0 if at else 1, at) if known is LABEL_NAMES else (at, count - 1 if at < count - 1 else 0)
            )
            return ",".join(excerpt(cells[place].strip())[1:-1] for place in (token, label))
    return f"1,{count}"


def _check_tokens(lines: list[str], name: str, names: ColumnNames, notify: Notify) -> None:
    """Raise InputError where lines are not a token each; a notice where a few hold spaces."""
    _check_separators(lines, name)
    texts = [(number, len(split(line, " "))) for number, line in enumerate(lines, 1)]
    texts = [(n, count) for n, count in texts if count and not is_border(split(lines[n - 1], ""))]
    spaced = [number for number, count in texts if count > 1]
    if 2 * len(spaced) > len(texts):
        (begin, usual), *_ = texts
        odd, other = next((n, count) for n, count in texts if count != usual)
        raise InputError(
            f"{name}, line {odd}: {excerpt(lines[odd - 1])} has {other} part{'s' * (other > 1)} between spaces, but line "
            f"{begin} has {usual}: neither a token a line nor columns; write token<TAB>label, or {AS_JSON}"
        )
    if names:
        raise InputError(
            f"{name}: no columns for --column {names.label or names.token}: it has a token a line"
        )
    if spaced:
        more = f", as {len(spaced) - 1} more are" if len(spaced) > 1 else ""
        notify(
            f"{name}, line {spaced[0]}: no tabs; {excerpt(lines[spaced[0] - 1])} is read as one token with a space in it{more}"
        )


def _check_separators(lines: list[str], name: str) -> None:
    """Raise InputError where most lines, and two at least, have something on both sides of one separator."""
    texts = [(n, line) for n, line in enumerate(lines, 1) if not is_border(split(line, ""))]
    for separator, called in UNREAD.items():
        inside = [n for n, line in texts if separator in line.strip()[1:-1]]
        if len(inside) > 1 and 2 * len(inside) > len(texts):
            widths = {n: len(split(line, separator)) for n, line in texts}
            odd = next((n for n, _ in texts if widths[n] != widths[inside[0]]), None)
            other = "" if odd is None else f", but line {odd}, {excerpt(lines[odd - 1])}, has {widths[odd]}"
            raise InputError(
                f"{name}, line {inside[0]}: {excerpt(lines[inside[0] - 1])} has {widths[inside[0]]} parts between {called}"
                f"{other}: neither a token a line nor columns that are read; write token<TAB>label, or {AS_JSON}"
            )


def _rows(lines: Lines, head: list[str], separator: str) -> Iterator[Row | Rejection]:
    """Lines as cells; each has as many as the first. Comments beside three and more columns are left out."""
    first: Row | None = None
    for number, line in lines:
        if isinstance(line, Rejection):
            yield line
            continue
        cells = split(line, separator)
        if is_border(cells):
            yield number, []
            continue
        if separator == "\t" and len(cells) == 1 and line.startswith("#") and _wide(first, head, number):
            continue
        what = _fault(line, cells, first, separator)
        if what:
            yield Rejection(lines.name, number, f"{lines.name}, line {number}: {excerpt(line)} {what}")
            continue
        first = first or (number, cells)
        yield number, cells


def _without_header(
    rows: Iterator[Row | Rejection], header: Row, label: int, name: str
) -> Iterator[Row | Rejection]:
    """Rows, as long as none has the header's word for a label, which then is no header."""
    number, cells = header
    for row in rows:
        if not isinstance(row, Rejection) and row[1] and row[1][label] == cells[label]:
            raise InputError(
                f"{name}, line {row[0]}: {cells[label]!r} is a label here, but line {number} was read as a header; take "
                "that line out, or put a line with this label near the beginning"
            )
        yield row


def _wide(first: Row | None, head: list[str], number: int) -> bool:
    """Whether lines with tabs have three columns or more, as files of the Universal Dependencies do."""
    if first is not None:
        return len(first[1]) > 2
    return next((line.count("\t") > 1 for line in head[number : number + 100] if "\t" in line), False)


def _fault(line: str, cells: Cells, first: Row | None, separator: str) -> str:
    """What is wrong with a line beside the first one; empty for nothing."""
    if separator != "\t" and "\t" in line:
        return "has a tab, but no line before has one; separate all columns by tabs"
    if separator == "\t" and len(cells) == 1:
        return "has no tab; expected token<TAB>label, as on other lines"
    return "" if first is None or len(cells) == len(first[1]) else _unequal(cells, first, separator)


def _unequal(cells: Cells, first: Row, separator: str) -> str:
    if separator == "\t" and len(first[1]) == 2:
        return f"has {len(cells) - 1} tabs; expected token<TAB>label, as on line {first[0]}"
    what = f"column{'s' * (len(cells) != 1)} separated by {SEPARATORS[separator]}"
    return f"has {len(cells)} {what}, but line {first[0]} has {len(first[1])}"


def _is_header(first: Row, lines: list[str], separator: str, names: ColumnNames) -> bool:
    """Whether the first line names the columns; by itself it does so only where its word for labels is no label."""
    number, cells = first
    places = list(range(len(cells)))
    if names.label.isdecimal():
        places = [place for place in places if str(place + 1) == names.label]
    at = next((place for place in places if cells[place].strip().lower() in LABEL_NAMES), None)
    if len(cells) < 2 or not (names.occur_in(cells) or (at is not None and names.label.isdecimal())):
        return False
    if at is None or (names and names.occur_in(cells)):
        return True
    again = (split(line, separator) for line in lines[number:])
    return not any(len(row) > at and row[at] == cells[at] for row in again)


def _places(first: Row, header: Cells, names: ColumnNames, name: str, separator: str) -> Places:
    """Where a line's token and label are."""
    number, cells = first
    where = f"{name}, line {number}: {excerpt((separator or ' ').join(cells))}"
    if len(cells) == 1:
        return Places(0, None)
    if len(cells) > 2 and not (names or header):
        raise InputError(
            f"{where} has {len(cells) - 1} tabs; expected token<TAB>label, or --column {len(cells)} for a column of labels"
        )
    low = [cell.strip().lower() for cell in header]

    def index_of(known: Sequence[str]) -> int | None:
        return next((at for at, cell in enumerate(low) if cell in known), None)

    token = _column_index(names.token, cells, low, where) if names.token else index_of(TOKEN_NAMES) or 0
    if names.unlabelled:
        return Places(token, None, index_of(SEQUENCE_NAMES))
    label = _column_index(names.label, cells, low, where) if names.label else index_of(LABEL_NAMES)
    label = 1 if label is None else label
    if token == label:
        raise InputError(
            f"{where}: column {token + 1} for both tokens and labels; name both, --column TOKEN,LABEL"
        )
    return Places(token, label, index_of(SEQUENCE_NAMES))


def _column_index(name: str, cells: Cells, low: Cells, where: str) -> int:
    """The place of a column that a user names."""
    if name.lower() in low:
        return low.index(name.lower())
    if name.isdecimal() and name.isascii() and len(name) < 9 and 1 <= int(name) <= len(cells):
        return int(name) - 1
    hint = suggestion(name, cells) if low else f"; expected a number from 1 to {len(cells)}"
    raise InputError(f'{where}: no column "{name}"{hint}')


def _sequences(
    rows: Iterator[Row | Rejection], places: Places, separator: str, name: str, longest: int | None
) -> Iterator[Example | Rejection]:
    """Examples of the lines between borders; the first fault of a sequence stands for it."""
    block: list[Row] = []
    faulty = False
    for row in chain(rows, [(0, [])]):
        if isinstance(row, Rejection):
            fault: Rejection | None = row
        else:
            cells = row[1]
            if not cells or (block and _begins(cells, block[-1][1], places)):
                if block and not faulty:
                    yield _example(block, places, name)
                block, faulty = [], False
            if not cells:
                continue
            fault = _row_fault(row, places, separator, name)
            block.append(row)
            if longest is not None and len(block) > longest:
                fault = Rejection(
                    name, block[0][0], f"{name}, line {block[0][0]}: a sequence of more than {longest} tokens"
                )
        if fault is not None and not faulty:
            yield fault
        faulty = faulty or fault is not None
        if faulty:
            block = block[-1:]


def _row_fault(row: Row, places: Places, separator: str, name: str) -> Rejection | None:
    """The rejection of a row with an empty token or label."""
    number, cells = row
    for what, place in (("token", places.token), ("label", places.label)):
        if place is not None and not cells[place]:
            line = (separator or " ").join(cells)
            return Rejection(name, number, f"{name}, line {number}: {excerpt(line)} has an empty {what}")
    return None


def _begins(cells: Cells, before: Cells, places: Places) -> bool:
    """Whether the sequence number changes with this line; an empty cell continues the sequence."""
    at = places.sequence
    if at is None or not cells[at]:
        return False
    return cells[at] != before[at]


def _example(block: list[Row], places: Places, name: str) -> Example:
    texts = [cells[places.token] for _, cells in block]
    tokens = with_columns(texts, {key: [cells[at] for _, cells in block] for key, at in places.further})
    labels = None if places.label is None else tuple(cells[places.label] for _, cells in block)
    return Example(tokens, labels, f"{name}, line {block[0][0]}", file=name, line=block[0][0])
