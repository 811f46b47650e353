"""Figures in README and docs are cells of committed results.

A figure with a comment, and a table between comments, are those of the cells that these name. Other numbers of a section that links to
results stand in the text of these results, such as the protocol; those of their tables do not count.
"""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.places import ROOT

from benchmarks import figures
from benchmarks.figures import CELLS, FIGURE, NUMBER, PAGES, TABLE, NoCell, written
from benchmarks.study import names

LINK = re.compile(r"\((?:\.\./)*benchmarks/results/([\w/-]+\.(?:md|svg|txt))(?:#[\w-]+)?\)")
MEASURE = re.compile(
    r"\d ?(?:%|×|times\b|points\b|ms\b|µs\b|s\b|minutes\b|MB\b|MiB\b|nats\b|tokens a second\b)"
)
RESULTS = Path(ROOT) / "benchmarks" / "results"


def sections(text: str) -> Iterator[str]:
    """The sections of a page, without code, and without marked figures, tables and the numbers that these have."""
    text = re.sub(r"^(```+|:::+).*?^\1", "", text, flags=re.MULTILINE | re.DOTALL)
    for section in re.split(r"^#+ .*$", text, flags=re.MULTILINE):
        tables = [match[0] for marked in (TABLE, CELLS) for match in marked.finditer(section)]
        section = FIGURE.sub("", CELLS.sub("", TABLE.sub("", section)))
        for number in sorted(numbers(" ".join(tables)), key=len, reverse=True):
            section = re.sub(rf"(?<![\w.]){re.escape(number)}(?![\w.]*\d)", "", section)
        yield re.sub(r"`[^`]*`", "", section)


def numbers(text: str) -> set[str]:
    """Every number of a text, in one notation and without signs, but those in link targets, years and parts of names."""
    text = re.sub(r"\]\([^)]*\)", "]", text)
    text = re.sub(r"\b(?:19|20)\d\d[ab]?\b", "", text)
    whole = re.compile(rf"(?<![\w.^−-])(?:{NUMBER.pattern})(?![\w.]*\w)")
    return {re.sub(r"[ \u202f+−-]", "", number) for number in whole.findall(text)}


def pages() -> list[str]:
    docs = [path for path in (ROOT / "docs").rglob("*.md") if not {"_build", "studies"} & set(path.parts)]
    return ["README.md", *sorted(path.relative_to(ROOT).as_posix() for path in docs)]


def prose(name: str) -> str:
    """The text of a page of results, without the bodies of its tables."""
    text = (RESULTS / name).read_text("utf-8")
    return re.sub(r"^(\|.*\n\|:?-.*\n)(?:\|.*\n)+", r"\1", text, flags=re.MULTILINE)


@pytest.mark.parametrize("page", pages())
def test_marked_figures_and_tables_are_those_of_the_results(page: str) -> None:
    text = (ROOT / page).read_text("utf-8")
    assert written(text) == text, "`python -m benchmarks.figures` writes them"
    assert bool(FIGURE.search(text)) <= (page in PAGES)


@pytest.mark.parametrize("page", pages())
def test_other_numbers_stand_in_the_text_of_linked_results(page: str) -> None:
    for section in sections((ROOT / page).read_text("utf-8")):
        linked = sorted({re.sub(r"[\w-]+\.svg$", "results.md", name) for name in LINK.findall(section)})
        if linked:
            known = set().union(*(numbers(prose(name)) for name in linked))
            unknown = numbers(section) - known
            assert not unknown, (
                f"{page}: name the cells of {sorted(unknown)} in the results of {', '.join(linked)}"
            )


@pytest.mark.parametrize("page", PAGES)
def test_a_section_with_measures_links_to_results(page: str) -> None:
    for section in sections((ROOT / page).read_text("utf-8")):
        assert LINK.search(section) or not MEASURE.search(section), section.strip()[:300]


@pytest.mark.parametrize(
    "text, expected",
    [
        ("1.4 times, 96 % and 1 570 000 tokens", {"1.4", "96", "1570000"}),
        ("−0.25 (Chang et al. 2007), 0.1 to 0.3; see [12](a/b13.md)", {"0.25", "0.1", "0.3", "12"}),
        ("CoNLL-2002, F1, 2^-20, HiGHS 1.12", {"2", "1.12"}),
        ("| 100 of 100 | 5.06 |", {"100", "5.06"}),
    ],
)
def test_numbers_of_a_text(text: str, expected: set[str]) -> None:
    assert numbers(text) == expected


RESULT = """# Made up

## Protocol

Limit 6 s.

## Times

| method | data | time | F1 |
|:--|:--|--:|--:|
| auto | a | 1 200 | 71.5 / 80.0 |
| beam | a | 7.5 | −2.25 ± 0.5 |
| beam | b | 9 | 3 |

12 of 12 optima are proved.
"""


@pytest.fixture
def made_up(tmp_path, monkeypatch):
    """A study of one page, `made-up`."""
    (tmp_path / "benchmarks" / "results" / "made-up").mkdir(parents=True)
    (tmp_path / "benchmarks" / "results" / "made-up" / "results.md").write_text(RESULT, "utf-8")
    monkeypatch.setattr(figures, "ROOT", tmp_path)
    figures.tables_of.cache_clear()
    figures._page.cache_clear()
    yield
    figures.tables_of.cache_clear()
    figures._page.cache_clear()


@pytest.mark.usefixtures("made_up")
@pytest.mark.parametrize(
    "place, expected",
    [
        ("auto | time", "1 200"),
        ("auto | F1 #2", "80.0"),
        ("beam / a | F1", "−2.25"),
        ("Times | beam / b | time", "9"),
        ('"12 of 12 optima" #2', "12"),
    ],
)
def test_a_figure_is_that_of_its_cell(place, expected):
    for number in ("?", "1", "−99.5", "1 000"):
        assert (
            written(f"in {number}<!-- made-up | {place} --> s")
            == f"in {expected}<!-- made-up | {place} --> s"
        )


@pytest.mark.usefixtures("made_up")
@pytest.mark.parametrize(
    "place, message",
    [
        ("beam | time", "2 different cells"),
        ("lds | time", "0 different cells"),
        ("auto | speed", "0 different cells"),
        ("auto | F1 #3", "no number 3"),
        ('"13 of 13 optima"', "no text"),
    ],
)
def test_a_figure_without_a_cell_is_an_error(place, message):
    with pytest.raises(NoCell, match=message):
        written(f"1<!-- made-up | {place} -->")


@pytest.mark.usefixtures("made_up")
@pytest.mark.parametrize(
    "heading, columns, expected",
    [
        ("Times", "time; F1 = F", "|  | time | F |\n| --- | ---: | ---: |\n| B | 9 | 3 |\n"),
        ("", "Times > F1 #1 = F", "|  | F |\n| --- | ---: |\n| B | 3 |\n"),
    ],
)
def test_a_table_is_made_of_cells(heading, columns, expected):
    begin = f"<!-- table: made-up | {heading} | {columns} | beam / b = B -->\n"
    assert written(f"{begin}\ntext") == f"{begin}\n{expected}text"
    assert written(f"{begin}\n| old |\n| --- |\n\ntext") == f"{begin}\n{expected}\ntext"


@pytest.mark.usefixtures("made_up")
def test_the_last_column_of_a_table_has_cells():
    begin = "<!-- cells: made-up | time | auto; beam / b -->\n\n"
    text = "| a | {} s |\n| b | – |\n| 4 | {} |\n"
    assert written(begin + text.format(0, "?")) == begin + text.format("1 200", 9)
    with pytest.raises(NoCell, match="not as many cells"):
        written(begin + "| a | 3 |\n")


@pytest.mark.parametrize("name", PAGES)
def test_figures_of_bold_sentences_stand_in_the_table_below(name):
    for section in re.split(r"^#+ .*$", (ROOT / name).read_text("utf-8"), flags=re.MULTILINE):
        bold = numbers(" ".join(re.findall(r"\*\*(.+?)\*\*", section, re.DOTALL)))
        assert bold <= numbers(" ".join(re.findall(r"^\|.*", section, re.MULTILINE))), section[:300]


def test_every_study_has_a_committed_result() -> None:
    assert {path.parent.name for path in RESULTS.glob("*/results.md")} == set(names())
