"""Places in TOML files, and TOML that is written."""

import math
import tomllib

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from formulations.language.toml_text import KEY, Place, dumps, locate, syntax_place

DOCUMENT = r'''title = "a # [b]"  # "c
fields = [  # ], "x"
  "author", 'date',

  "title",
]
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
[[rule.step]]
n = 1979-05-27 07:32:00
[empty . 'q"']
last = true'''
WRITTEN = r'''n = -inf
tab = "\t\n"

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

[[rule]]
'''
# fmt: off
PLACES = [
    (("title",), (1, 9)), (("title", KEY), (1, 1)), (("title", 0, "x"), (1, 9)),
    (("fields", 0), (3, 3)), (("fields", 2), (5, 3)), (("fields", 3), (2, 10)), (("fields", "x", 1), (2, 10)),
    (("dotted", "a"), (7, 8)), (("dotted", "a", "b A", KEY), (7, 10)), (("dotted", "a", "b A", "x"), (7, 25)),
    (("dotted", "a", "b A", "x", "y", 1, 1), (7, 39)), (("dotted", "a", "b A", "z"), (7, 50)),
    (("groups",), (9, 2)), (("groups", "any title", 1), (10, 25)), (("rule",), (11, 3)), (("rule", 0), (11, 3)),
    (("rule", 0, "to", "not", 0), (13, 8)), (("rule", 1, "name"), (14, 3)), (("rule", 9, "name"), (11, 3)),
    (("rule", 1, "日本"), (15, 9)), (("rule", 1, "日本", KEY), (15, 2)), (("rule", 1, "日本", "to"), (15, 28)),
    (("rule", 1, "日本", "to", "not", 1), (15, 43)), (("rule", 1, "step", 1, "n"), (18, 5)),
    (("empty", 'q"', "last"), (20, 8)), ((), None), ((KEY,), None), (("none", 1), None), ((0,), None),
]
STRINGS = [
    r'"a\n\u00e4\"\U0001F600\\ x"', r"'a\n x'", '"""\n"q" \\\n\n   x\n""y\\"""""', "'''\n\\a'b\n''c''''", '""',
    '"""\\\n  ab"""', "''''a'''''", '"""\\\\\\\n \\\n  """', '"""\n\n\\t"""',
]
CARETS = [("\ta\tb", 4, "\t \t^"), ("日本 x", 4, "     ^"), ("e\u0301x", 3, " ^"), ("ab", 3, "  ^"), ("", 1, "^")]
SYNTAX = [("a = 1\nb = = 2\n", 2, 5), ("\ufeffa=1\r\nb=[1,\r\n\r\n", 2, 6), ("a = 'x\n", 1, 7), ("a = 1 2", 1, 7)]
# fmt: on


@pytest.mark.parametrize("form", [str, lambda text: "\ufeff" + text.replace("\n", "\r\n")])
@pytest.mark.parametrize("path, place", PLACES)
def test_a_value_is_found(path, place, form):
    assert locate(form(DOCUMENT), path) == (place and Place(*place, DOCUMENT.split("\n")[place[0] - 1]))


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


@pytest.mark.parametrize("line, column, caret", CARETS)
def test_carets(line, column, caret):
    assert Place(1, column, line).caret() == f"{line}\n{caret}"


@pytest.mark.parametrize("column", [1, 300, 1000])
def test_a_long_line_is_cut_around_the_column(column):
    line, caret = Place(1, column, "." * (column - 1) + "X" + "." * (1000 - column)).caret().split("\n")
    assert line[caret.index("^")] == "X" and len(line) <= 102


@pytest.mark.parametrize("text, line, column", SYNTAX)
def test_syntax_errors(text, line, column):
    with pytest.raises(tomllib.TOMLDecodeError) as caught:
        tomllib.loads(text.removeprefix("\ufeff"))
    message, place = syntax_place(caught.value, text)
    assert str(caught.value).startswith(f"{message} (at ") and (place.line, place.column) == (line, column)


TEXTS = st.text() | st.text(st.sampled_from("ab'\"\\\n\r\t \x00\x7f\u2028😀[]{},#="))
SCALARS = TEXTS | st.integers() | st.floats(allow_nan=False) | st.booleans()
VALUES = st.recursive(SCALARS, lambda more: st.lists(more) | st.dictionaries(TEXTS, more), max_leaves=15)


def leaves(value, path=()):
    """The paths to what is no list or table, with what is there."""
    if not isinstance(value, dict | list):
        return {path: value}
    inner = value.items() if isinstance(value, dict) else enumerate(value)
    return {full: leaf for step, item in inner for full, leaf in leaves(item, (*path, step)).items()}


@given(st.dictionaries(TEXTS, VALUES, max_size=6))
@example({"rule": [{"to": {"not": [{"a": "x" * 90}] * 2}, "n": -0.0}, {}], "a": {"b": {"c": "x" * 100}}})
@example({"a": [["x" * 60, [1, True, "y" * 90, []], {"": "'\"\\"}]], "t": {"x": [{"y": "z" * 99}, {}]}})
def test_what_is_written_is_read_again_and_found(document):
    text = dumps(document)
    again = tomllib.loads(text)
    assert again == document
    for path, value in leaves(document).items():
        assert repr(leaves(again)[path]) == repr(value)  # 1, 1.0 and True are equal
        place, written = locate(text, path), dumps({"k": value}).removeprefix("k = ").rstrip("\n")
        assert "\n" in written or place.source_line[place.column - 1 :].startswith(written)


def test_what_is_written_reads_well():
    assert dumps(tomllib.loads(WRITTEN)) == WRITTEN
    assert dumps({}) == "" and math.isnan(tomllib.loads(dumps({"x": math.nan}))["x"])
