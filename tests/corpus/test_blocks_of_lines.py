"""Sequences that are read as blocks of lines are those that are read line by line."""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ilpinfer.corpus.column_names import ColumnNames
from ilpinfer.corpus.columns import columns
from ilpinfer.corpus.examples import Example, InputError, Rejection
from ilpinfer.corpus.lines import Lines

LINES = {
    "\t": [
        "Ada\tname",
        "1815\tyear",
        "Ada\tname\tmore",
        "Ada",
        "\tname",
        "Ada\t",
        "",
        "  ",
        "\t",
        "a b\tname",
    ],
    " ": ["Ada name", "1815  year", " Ada name", "Ada name more", "Ada", "", " ", "Ada\tname"],
    "": [
        "Ada",
        "1815",
        " Ada",
        "Ada ",
        "Ada name",
        "",
        " ",
        "\x0c",
        "\u2028",
        "\xa0",
        "\u200bAda",
        "Ada\tname",
    ],
}
ODD = ["-DOCSTART- -X-", "-DOCSTART-\tO", "# a comment", "Ada\tname\r", "\r", "\udcff\tname", "token\tlabel"]


class OneByOne(Lines):
    """Lines that offer no blocks."""

    def block(self) -> tuple[int, list[str]]:
        return self._number + 1, []


def read(kind: type[Lines], data: bytes, column: str, longest: int | None) -> list[object]:
    said: list[str] = []
    found: list[Example | Rejection | str] = []
    lines = kind(io.BytesIO(data), "refs.tsv")
    try:
        found.extend(columns(lines, ColumnNames.read(column), said.append, 40, longest))
    except InputError as error:
        found.append(str(error))
    return [*found, said, lines.taken]


@pytest.mark.parametrize("separator", LINES)
@given(st.data())
def test_blocks_are_read_as_lines_are(separator, data):
    usual = LINES[separator][:2]
    block = st.lists(st.sampled_from(usual), min_size=1, max_size=4).map(lambda lines: [*lines, ""])
    odd = st.lists(st.sampled_from([*LINES[separator], *ODD]), max_size=3)
    parts = data.draw(st.lists(st.one_of(block, block, odd), min_size=1, max_size=8))
    text = "\n".join(line for part in [[*usual, ""], *parts] for line in part)
    content = text.encode("utf-8", "surrogateescape")
    column, longest = (
        data.draw(st.sampled_from(["", "2", "label"] if separator else [""])),
        data.draw(st.sampled_from([None, 3])),
    )
    assert read(Lines, content, column, longest) == read(OneByOne, content, column, longest)


def test_a_block_is_taken_whole():
    lines = Lines(io.BytesIO(b"a\tX\nb\tY\n\nc\tX\n"), "refs.tsv")
    lines.ahead(None)
    number, texts = lines.block()
    assert (number, texts) == (1, ["a\tX", "b\tY"])
    lines.take(texts)
    assert next(lines) == (4, "c\tX")


def test_a_header_may_stand_beyond_the_lines_read_ahead():
    content = b"Ada name\n1815  year\n\n-DOCSTART-\tO\ntoken\tlabel\nAda\tname\n"
    found = read(Lines, content, "", None)
    assert found == read(OneByOne, content, "", None)
    assert "refs.tsv, line 5: 'token\\tlabel' is read as a header" in found[-2]
