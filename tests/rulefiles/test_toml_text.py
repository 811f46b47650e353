"""Places in TOML files, and TOML that is written."""

import tomllib

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from formulations.rulefiles.toml_text import KEY, NotToml, TextPosition, dumps, loads, locate

DOCUMENT = r'''title = "a # [b]"  # "c
fields = [  # ], "x"
  "author", 'date', "title", ]
dotted.a."b \u0041" = { x.y = [1, [2, 3]], "z" = """
  [[rule]]""" }
[groups]
"any title" = ["title", "booktitle"]
[[rule]]
[rule.to]
not = ["author"]
[[rule]] # second
	"日本" = {field = "author", to.not = ["x", "y"]}
[[rule.step]]
n = 1979-05-27 07:32:00
[empty . 'q"']
last = true'''
WRITTEN = r'''n = [-inf, nan, "\t\n"]

[groups]
any = [
  "ttttttttttttttt", "ttttttttttttttt", "ttttttttttttttt", "ttttttttttttttt", "ttttttttttttttt",
  [1.0, true],
]

[[rule]]
pattern = '\d'
to = {not = ["it's"], "any title" = []}
both = """it's "b" c"""
text = """
a
	"b"
"""
'''
PLACES = [(("title",), (1, 9)), (("title", KEY), (1, 1)), (("title", 0, "x"), (1, 9)), (("fields", 0), (3, 3)),
    (("fields", 2), (3, 21)), (("fields", 3), (2, 10)), (("fields", "x", 1), (2, 10)), (("dotted", "a"), (4, 8)),
    (("dotted", "a", "b A", KEY), (4, 10)), (("dotted", "a", "b A", "x"), (4, 25)),
    (("dotted", "a", "b A", "x", "y", 1, 1), (4, 39)), (("dotted", "a", "b A", "z"), (4, 50)),
    (("groups",), (6, 2)), (("groups", "any title", 1), (7, 25)), (("rule",), (8, 3)), (("rule", 0), (8, 3)),
    (("rule", 0, "to", "not", 0), (10, 8)), (("rule", 1, "name"), (11, 3)), (("rule", 9, "name"), (8, 3)),
    (("rule", 1, "日本"), (12, 9)), (("rule", 1, "日本", KEY), (12, 2)), (("rule", 1, "日本", "to"), (12, 28)),
    (("rule", 1, "日本", "to", "not", 1), (12, 43)), (("rule", 1, "step", 0, "n"), (14, 5)),
    (("empty", 'q"', "last"), (16, 8)), ((), None), ((KEY,), None), (("none", 1), None), ((0,), None)]  # fmt: skip
STRINGS = [r'"a\n\u00e4\"\U0001F600\\ x"', r"'a\n x'", '"""\n"q" \\\n\n   x\n""y\\"""""', "'''\n\\a'b\n''c''''", '""',
    '"""\\\n  ab"""', "''''a'''''", '"""\\\\\\\n \\\n  """', '"""\n\n\\t"""']  # fmt: skip
CARETS = [("\ta\tb", 4, "\t \t^"), ("日本 x", 4, "     ^"), ("e\u0301x", 3, " ^"), ("ab", 3, "  ^")]
SYNTAX = [("a=1\nb= = 2\n", 2, 4), ("\ufeffa=1\r\nb=[1,\r\n\r\n", 2, 6), ("a = 'x\n", 1, 7), ("a=1 2", 1, 3)]


@pytest.mark.parametrize("form", [str, lambda text: "\ufeff" + text.replace("\n", "\r\n")])
@pytest.mark.parametrize("path, place", PLACES)
def test_a_value_is_found(path, place, form):
    assert locate(form(DOCUMENT), path) == (
        place and TextPosition(*place, DOCUMENT.split("\n")[place[0] - 1])
    )


@pytest.mark.parametrize("value", STRINGS)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_an_offset_in_a_string_is_found_in_the_text(value, end):
    """What stands from the place on is what the value has from the offset on."""
    text = f"[t]\nk = {value}\n".replace("\n", end)
    parsed, lines = tomllib.loads(text)["t"]["k"], text.split(end)
    opening = value[:3] + "\n" if value.startswith(('"""', "'''")) else value[0]  # the newline is trimmed
    for offset in range(-1, len(parsed) + 3):
        place = locate(text, ("t", "k"), offset)
        rest = end.join([place.source_line[place.column - 1 :], *lines[place.line :]])
        assert tomllib.loads(f"k = {opening}{rest}")["k"] == parsed[max(offset, 0) :]


def test_carets():
    for line, column, caret in CARETS:
        assert TextPosition(1, column, line).caret() == f"{line}\n{caret}"
    for column in (1, 300, 1000):  # a long line is cut around the column
        line, caret = (
            TextPosition(1, column, "." * (column - 1) + "X" + "." * (1000 - column)).caret().split("\n")
        )
        assert line[caret.index("^")] == "X" and len(line) <= 102


@pytest.mark.parametrize("text, line, column", SYNTAX)
def test_syntax_errors(text, line, column):
    with pytest.raises(tomllib.TOMLDecodeError):
        tomllib.loads(text.removeprefix("\ufeff"))
    with pytest.raises(NotToml) as caught:
        loads(text.removeprefix("\ufeff"))
    place = caught.value.place
    assert str(caught.value).endswith(f" (line {line}, column {column})")
    assert (place.line, place.column) == (line, column)


TEXTS = st.text() | st.text(st.sampled_from("ab'\"\\\n\r\t \x00\x7f\u2028😀[]{},#="))
SCALARS = TEXTS | st.integers() | st.floats(allow_nan=False) | st.booleans()
VALUES = st.recursive(SCALARS, lambda more: st.lists(more) | st.dictionaries(TEXTS, more), max_leaves=15)


def leaves(value, path=()):
    inner = (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else None
    )
    below = (leaves(item, (*path, step)) for step, item in inner or ())
    return {path: value} if inner is None else dict(pair for result in below for pair in result.items())


@given(st.dictionaries(TEXTS, VALUES, max_size=6))
@example({"rule": [{"to": {"not": [{"a": "x" * 90}] * 2}, "n": -0.0}, {}], "a": {"b": {"c": "x" * 100}}})
@example({"a": [["x" * 60, [1, True, "y" * 90, []], {"": "'\"\\"}]], "t": {"x": [{"y": "z" * 99}, {}]}})
def test_what_is_written_is_read_again_and_found(document):
    again = tomllib.loads(text := dumps(document))
    assert again == document
    for path, value in leaves(document).items():
        assert repr(leaves(again)[path]) == repr(value)  # 1, 1.0 and True are equal
        place, written = locate(text, path), dumps({"k": value}).removeprefix("k = ").rstrip("\n")
        assert "\n" in written or place.source_line[place.column - 1 :].startswith(written)


def test_what_is_written_reads_well():
    assert dumps(tomllib.loads(WRITTEN)) == WRITTEN
