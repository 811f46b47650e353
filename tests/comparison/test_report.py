"""The page of a comparison: it stands alone, says what is known, and holds whatever names and tokens hold."""

import math
import re
from base64 import b64decode
from collections import Counter
from html import unescape
from html.parser import HTMLParser
from random import Random

import pytest
from support.comparisons import ODD, SCRIPT, TOKENS, odd, ordinary, trellises

from formulations import constraints as C
from ilpinfer.comparison.comparison import Comparison, compare
from ilpinfer.comparison.disagreements import RowPair, choose, disagreements, window
from ilpinfer.comparison.plan import Case, plan_of
from ilpinfer.comparison.report import report_of
from ilpinfer.comparison.running import ComparisonRun, RowList
from ilpinfer.comparison.text import readable
from ilpinfer.core.rule_compiler import compiler_of

VOID = {"meta", "br", "link", "img"}


class Page(HTMLParser):
    """Elements, ids, references, and the text of each kind of element; an element that is not closed is an error."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open, self.tags, self.ids = [], Counter(), Counter()
        self.references, self.addresses, self.texts = [], [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.tags[tag] += 1
        for name, value in attributes:
            if name == "id":
                self.ids[value] += 1
            elif name in ("href", "xlink:href", "src", "srcset", "action", "data"):
                self.addresses.append(value)
            self.references += re.findall(r"url\(([^)]*)\)", value or "") if name != "xmlns" else []
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        self.handle_endtag(tag)

    def handle_endtag(self, tag):
        assert self.open and self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append((self.open[-1] if self.open else "", data))


@pytest.fixture(scope="module")
def text():
    return report_of(ordinary())


ADDRESS = "data:image/svg+xml;base64,"


def drawings(page):
    """The images of a page, each with its own ids."""
    return [
        b64decode(address.removeprefix(ADDRESS)).decode()
        for address in page.addresses
        if address.startswith(ADDRESS)
    ]


def table(text, name):
    """Cells of the table of one id, line by line."""
    (body,) = re.findall(rf'<table[^>]* id="{name}".*?</table>', text, re.S)
    lines = re.findall(r"<tr>(.*?)</tr>", body, re.S)
    return [
        [unescape(re.sub("<[^>]*>", "", cell)) for cell in re.findall(r"<t[hd].*?</t[hd]>", x)] for x in lines
    ]


def test_the_page_refers_to_nothing_outside_itself(text):
    page = Page(text)
    assert len(drawings(page)) == len(page.addresses) >= 5 and page.references == []
    assert max(page.ids.values()) == 1
    assert not re.search(r"https?:|//www|@import|<link|url\(|fetch\(|XMLHttp", text)
    for drawing in drawings(page):
        rest = re.sub(r'xmlns(:\w+)?="[^"]*"|<!DOCTYPE.*?>|<metadata>.*?</metadata>', "", drawing, flags=re.S)
        assert not re.search(r"https?:|//www|@import|<script|\bsrc=|url\((?!#)|href=\"(?!#)", rest)


def test_every_method_and_figure_of_the_summary_is_in_the_page(text):
    page = Page(text)
    shown = {data for _, data in page.texts}
    for line in ordinary().summary():
        assert line.method in shown
    assert {"Summary", "Errors by kind", "Pairs of methods", "Fields"} <= shown
    assert {"Pictures", "Single sequences", "About"} <= shown
    assert page.tags["table"] >= 5 and text.count("<figcaption>") == 4


def test_means_over_all_and_over_common_sequences_say_so():
    comparison = ordinary(methods=["auto"], predictions={"given": [None, *[[*"abccaaaaaa"]] * 3]})
    group = r'<th colspan="\d+" scope="colgroup" class="group">([^<]*)</th>'
    heads = re.findall(group, report_of(comparison))
    common = comparison.summary()[0].common
    assert heads[0] == "over all 4 with a proved optimum, missing ones at 50 nats"
    assert 0 < common < 4 and heads[1:3] == ["over those it solves", f"over the {common} solved by all"]


def test_names_and_tokens_are_text_and_nothing_else():
    text = report_of(odd())
    page = Page(text)
    assert page.tags["script"] == 1 and page.tags["i"] == 0
    shown = [data for _, data in page.texts]
    assert ODD in shown and SCRIPT in shown and f"rule {SCRIPT}" in " ".join(shown)
    drawn = {data for each in drawings(page) for tag, data in Page(each).texts if tag == "text"}
    assert drawn >= {readable(token, 16) for token in TOKENS if token}
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\ufffe]", text)
    assert not any("w" * 17 in name for name in (*shown, *drawn)) and "w" * 15 + "…" in drawn


@pytest.mark.parametrize(
    "options",
    [
        {"count": 1},
        {"gold": None},
        {"gold": [["a", "b", "c", "c", *"aaaaaa"], None, None, None]},
        {"methods": ["auto"], "predictions": {}},
        {"methods": ["viterbi"], "predictions": {}, "gold": None},
        {"methods": [], "predictions": {"nothing": [None] * 4}},
        {"methods": [], "predictions": {"nothing": [None] * 4}, "gold": None},
        {"seeds": 1, "cap": 0.5},
    ],
)
def test_the_page_is_whole_whatever_is_missing(options):
    text = report_of(ordinary(**options))
    page = Page(text)
    assert page.tags["html"] == page.tags["main"] == 1
    shown = re.sub(r"<script>.*?</script>", "", text, flags=re.S)
    assert not re.search(r"\bnan\b|\bNone\b|\binf\b|Undefined", shown)


def test_without_a_proof_the_page_says_that_gaps_are_unknown():
    predictions = {"one": [[*"aaaaaccccc"]] * 4, "two": [["c"] * 10] * 4}
    text = report_of(ordinary(methods=[], predictions=predictions, gold=None))
    assert "No method proved an optimum, so gaps are unknown. The method auto proves optima" in text
    assert "F1 of Viterbi without rules" not in text
    assert "mean gap<small>" not in text and "proved optimum, missing ones" not in text
    assert "Performance profile" not in text and "Trellis of sequence 0" in text


def test_sequences_without_a_labelling_are_named():
    rules = [C.at_least_tokens("a", 20)]
    comparison = compare(trellises(2), rules, ["auto", "viterbi"])
    text = report_of(comparison)
    line = ["sequences proved to have no labelling, left out of gaps and of the share solved", "2"]
    assert line in table(text, "input")
    assert "Every sequence is proved to have no labelling" in text and "No method proved" not in text
    Page(text)


def test_sequences_that_could_not_be_scored_are_named():
    cases = [Case(trellises(1)[0], None, "x:1"), Case(None, None, "x:2", ValueError("no scores"))]
    plan, rules, store = plan_of(["auto", "viterbi"]), compiler_of([]), RowList()
    baseline = ComparisonRun(cases, rules, plan).fill(store)
    comparison = Comparison(store, plan, cases, rules.rules, baseline, 50.0, {"source": "x", "version": "9"})
    text = report_of(comparison)
    assert ["sequences without scores, on which every method fails", "1"] in table(text, "input")
    assert "ilpinfer 9" in text and "<bdi>x</bdi>" in text
    Page(text)


def test_the_page_says_who_fails_and_what_viterbi_does_without_rules():
    text = report_of(ordinary())
    assert ["failing", "RuntimeError", "8"] in table(text, "failures"), "4 sequences with 2 seeds"
    before = compare(trellises(4), [], ["viterbi"], gold=[[*"abccaabaaa"]] * 4).summary()[0].f1
    assert ["F1 of Viterbi without rules", f"{100 * before:.1f} %"] in table(text, "input")
    assert ["tokens of a sequence", "10"] in table(text, "input")
    assert 'id="failures"' not in report_of(ordinary(methods=["auto"]))


def test_costs_of_broken_rules_add_up_to_the_difference_of_the_scores():
    comparison = ordinary(methods=["auto"], predictions={"given": [["c"] * 10] * 4})
    drawn = disagreements(comparison)
    assert len(drawn) == 4
    for each in drawn:
        for path in (each.best, each.other):
            broken = sum(cost.nats for cost in path.costs)
            assert path.worth.score == path.worth.model_score + path.worth.feature_score - broken
        assert each.best.worth.score > each.other.worth.score
        assert each.differing == tuple(t for t in range(10) if each.best.labels[t] != each.other.labels[t])


def test_a_labelling_that_breaks_hard_rules_is_drawn_with_them():
    (each,) = disagreements(ordinary(count=1, methods=["auto", "viterbi"], predictions={}))
    hard, soft = each.other.costs
    assert each.other.method == "viterbi" and math.isinf(hard.nats) and hard.violations == 2
    assert soft.nats == 0.75 and soft.violations == 1
    assert "breaks hard rules" in report_of(ordinary(count=1, methods=["auto", "viterbi"], predictions={}))


@pytest.mark.parametrize("seed", range(20))
def test_the_window_holds_as_many_differing_tokens_as_possible(seed):
    random = Random(seed)
    tokens, width = random.randint(1, 60), 12
    differing = sorted(random.sample(range(tokens), random.randint(1, tokens)))
    marked = random.sample(range(tokens), random.randint(0, tokens))

    def held(start):
        return tuple(sum(start <= t < start + width for t in some) for some in (differing, marked))

    start, end = window(differing, tokens, marked, width)
    assert 0 <= start <= end <= tokens and end - start == min(width, tokens)
    assert held(start) == max(held(s) for s in range(max(tokens - width, 0) + 1))


def test_the_window_leaves_something_to_read_on_both_sides():
    assert window([50], 100, [], 11) == (45, 56)
    assert window([99], 100, [], 11) == (89, 100)


def test_each_method_is_drawn_before_one_is_drawn_twice():
    ordered = [RowPair(9.0 - i, i, 0, 1, "bad") for i in range(6)] + [RowPair(1.0, 7, 0, 1, "good")]
    chosen = choose(ordered, 4)
    assert [candidate.sequence for candidate, _ in chosen] == [0, 1, 7, 3]
    assert chosen[-1][1].startswith("a typical gap")
    assert choose([]) == []


def test_a_notebook_shows_the_summary():
    shown = ordinary()._repr_html_()
    assert Page(shown).tags["table"] == 1 and "mean gap, all (nats)" in shown


def test_a_page_is_written_whole(tmp_path):
    comparison = ordinary(count=1)
    comparison.report(tmp_path / "new" / "report.html")
    assert (tmp_path / "new" / "report.html").read_text("utf-8") == report_of(comparison)
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["report.html"]
    with pytest.raises(ValueError, match="is a folder; name a file"):
        comparison.report(tmp_path)
