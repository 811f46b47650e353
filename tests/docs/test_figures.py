"""Figures in README and docs are those of committed results: of the results that a section links to."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.places import ROOT

LINK = re.compile(r"\((?:\.\./)*benchmarks/results/([\w/-]+\.(?:md|svg|txt))(?:#[\w-]+)?\)")
NUMBER = re.compile(r"(?<![\w.^−-])[−-]?(?:\d{1,3}(?:[ \u202f]\d{3})+|\d+)(?:\.\d+)?(?![\w.]*\w)")
MEASURE = re.compile(
    r"\d ?(?:%|×|times\b|points\b|ms\b|µs\b|s\b|minutes\b|MB\b|MiB\b|nats\b|tokens a second\b)"
)
RESULTS = Path(ROOT) / "benchmarks" / "results"
MEASURED_PAGES = ("README.md", "docs/heuristics.md", "docs/measurements.md")
"""Pages whose figures are all measured; on others only sections that link to results are compared."""


def sections(text: str) -> Iterator[str]:
    """The sections of a page, without code, link targets and years."""
    text = re.sub(r"^(```+|:::+).*?^\1", "", text, flags=re.MULTILINE | re.DOTALL)
    for section in re.split(r"^#+ .*$", text, flags=re.MULTILINE):
        yield re.sub(r"`[^`]*`", "", section)


def figures(text: str) -> set[str]:
    """Every number of a text, in one notation."""
    text = re.sub(r"\]\([^)]*\)", "]", text)
    text = re.sub(r"\b(?:19|20)\d\d[ab]?\b", "", text)
    return {re.sub(r"[ \u202f]", "", number).replace("−", "-") for number in NUMBER.findall(text)}


def pages() -> list[str]:
    docs = [path for path in (ROOT / "docs").rglob("*.md") if not {"_build", "studies"} & set(path.parts)]
    return ["README.md", *sorted(path.relative_to(ROOT).as_posix() for path in docs)]


@pytest.mark.parametrize("page", pages())
def test_figures_are_those_of_the_linked_results(page: str) -> None:
    for section in sections((ROOT / page).read_text("utf-8")):
        names = sorted({re.sub(r"[\w-]+\.svg$", "results.md", name) for name in LINK.findall(section)})
        if names:
            known = set().union(*(figures((RESULTS / name).read_text("utf-8")) for name in names))
            unknown = figures(section) - known - {number.removeprefix("-") for number in known}
            assert not unknown, f"{page}: {sorted(unknown)} are not in the results of {', '.join(names)}"


@pytest.mark.parametrize("page", MEASURED_PAGES)
def test_a_section_with_measures_links_to_results(page: str) -> None:
    for section in sections((ROOT / page).read_text("utf-8")):
        assert LINK.search(section) or not MEASURE.search(section), section.strip()[:300]


@pytest.mark.parametrize(
    "text, expected",
    [
        ("1.4 times, 96 % and 1 570 000 tokens", {"1.4", "96", "1570000"}),
        ("−0.25 (Chang et al. 2007), 0.1 to 0.3; see [12](a/b13.md)", {"-0.25", "0.1", "0.3", "12"}),
        ("CoNLL-2002, F1, 2^-20, HiGHS 1.12", {"2", "1.12"}),
        ("| 100 of 100 | 5.06 |", {"100", "5.06"}),
    ],
)
def test_numbers_of_a_text(text: str, expected: set[str]) -> None:
    assert figures(text) == expected


def test_every_study_has_a_committed_result() -> None:
    from benchmarks.study import names

    assert {path.parent.name for path in RESULTS.glob("*/results.md")} == set(names())
