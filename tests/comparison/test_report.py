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
from support.effort import seeds
from support.golden import check_said
from support.places import GOLDEN

from formulations import constraints as C
from ilpinfer.comparison.columns import readable
from ilpinfer.comparison.comparison import Comparison, about_of
from ilpinfer.comparison.disagreements import disagreements, furthest, window
from ilpinfer.comparison.frame import frame_of
from ilpinfer.comparison.plan import plan_of
from ilpinfer.comparison.report import _parts
from ilpinfer.comparison.report import report_of as page_of
from ilpinfer.comparison.running import ComparisonRun, compare
from ilpinfer.core.rule_compiler import compiler_of
from ilpinfer.corpus.examples import Example
from ilpinfer.pipelines.trellises import ScoredExample


def report_of(comparison, **options):
    return page_of(comparison, comparison.lines(), **options)


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
    for method in ordinary().kinds:
        assert method in shown
    assert {"Summary", "Errors by kind", "Pairs of methods", "Fields"} <= shown
    assert {"Pictures", "Single sequences", "About"} <= shown
    assert page.tags["table"] >= 5 and text.count("<figcaption>") == 4


def test_means_over_all_and_over_common_sequences_say_so():
    comparison = ordinary(methods=["auto"], predictions={"given": [None, *[[*"abccaaaaaa"]] * 3]})
    group = r'<th colspan="\d+" scope="colgroup" class="group">([^<]*)</th>'
    heads = re.findall(group, report_of(comparison))
    common = comparison.summary().common[0]
    assert heads[0] == "over all 4 with a proved optimum, missing ones at 50 nats"
    assert 0 < common < 4 and {"over those it solves", f"over the {common} solved by all"} <= set(heads)


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
    assert "mean gap<small>" not in text and "proved optimum, missing ones" not in text
    assert "Performance profile" not in text and "Trellis of sequence" in text


def test_sequences_without_a_labelling_are_named():
    rules = [C.at_least_tokens("a", 20)]
    comparison = compare(trellises(2), rules, ["auto", "viterbi"])
    text = report_of(comparison)
    line = ["sequences proved to have no labelling, left out of gaps and of the share solved", "2"]
    assert line in table(text, "input")
    assert "Every sequence is proved to have no labelling" in text and "No method proved" not in text
    Page(text)


def test_sequences_that_could_not_be_scored_are_named():
    cases = [
        ScoredExample(trellises(1)[0], example=Example((), None, "x:1")),
        ScoredExample(None, example=Example((), None, "x:2"), error=ValueError("no scores")),
    ]
    plan, rules = plan_of(["auto", "viterbi"]), compiler_of([])
    made = frame_of(ComparisonRun(cases, rules, plan).new_rows())
    about = {**about_of("x", rules.rules, len(cases), plan), "version": "9"}
    comparison = Comparison(made, 50.0, about, cases, rules.rules)
    text = report_of(comparison)
    assert ["sequences without scores, on which every method fails", "1"] in table(text, "input")
    assert "ilpinfer 9" in text and "<bdi>x</bdi>" in text
    Page(text)


def test_the_page_says_who_fails_and_what_viterbi_does_without_rules():
    text = report_of(ordinary())
    assert ["failing", "RuntimeError", "8"] in table(text, "failures"), "4 sequences with 2 seeds"
    before = compare(trellises(4), [], ["viterbi"], gold=[[*"abccaabaaa"]] * 4).summary().f1[0]
    (bare,) = [line for line in table(text, "summary") if line[0] == "bare Viterbi pass"]
    assert f"{100 * before:.1f}" in [cell.partition(" ")[0] for cell in bare]
    assert ["tokens of a sequence", "10"] in table(text, "input")
    assert 'id="failures"' not in report_of(ordinary(methods=["auto"]))


def test_costs_of_broken_rules_add_up_to_the_difference_of_the_scores():
    given = {"c": [["c"] * 10] * 4, "b": [["b"] * 8 + ["c"] * 2] * 4}
    drawn = disagreements(ordinary(methods=["auto"], predictions=given))
    assert len(drawn) == 2
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


@seeds(20)
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


def test_each_method_is_drawn_where_it_is_furthest_below_the_best_one():
    comparison = ordinary()
    frame, pairs = comparison.frame, furthest(comparison.frame, comparison.cap)
    assert sorted(other.method for _, other in pairs) == sorted(
        set(frame.method[frame.labels.notna()]) - {"auto"}
    )
    for best, other in pairs:
        assert best.sequence == other.sequence and best.score == frame.optimum[other.Index]
        own = frame[frame.method == other.method]
        assert other.below == (own.optimum - own.score).fillna(comparison.cap)[own.labels.notna()].max()
    assert furthest(frame[frame.method == "auto"], comparison.cap) == []


def sentences(text):
    """The sentence of each method, without markup."""
    (found,) = re.findall(r'<ul id="sentences">(.*?)</ul>', text, re.S)
    lines = (re.sub("<[^>]*>", "", line) for line in re.findall("<li>(.*?)</li>", found, re.S))
    return [" ".join(unescape(line).split()) for line in lines]


SENTENCES = GOLDEN / "sentences.txt"


@pytest.mark.parametrize(
    "block",
    SENTENCES.read_text("utf-8").strip().split("\n\n")[1:],
    ids=lambda block: block.partition("\n")[0],
)
def test_the_page_begins_with_what_each_method_loses(block):
    asked, _, said = block.partition("\n")
    options = {"support": 20, **eval(f"dict({asked})")}
    support = options.pop("support")
    text = report_of(ordinary(**options), support=support)
    check_said(SENTENCES, asked, said, "\n".join(sentences(text)))
    least = f"A sentence names a field only if it is in gold at least {support} times."
    assert (least in text) == ("gold" not in options)


def test_columns_with_one_value_for_all_are_a_line_of_text():
    text = report_of(ordinary(methods=["auto"], predictions={"given": [["c"] * 10] * 4}))
    (line,) = re.findall(r"<p class=\"note\">The same for all methods: (.*?)</p>", text)
    assert line.startswith("solved 100.0 %; ")
    heads = table(text, "summary")[0]
    assert "solved%" not in heads and heads[0] == "method"


def test_everything_but_sentences_picture_and_summary_unfolds(text):
    first = [text.index(mark) for mark in ('id="sentences"', "<img", '<table class="sortable" id="summary"')]
    assert first == sorted(first)
    before, *parts = text.split("<details")
    assert before.count("<table") == 2, "the summary, and who fails"
    titles = [re.search("<h2>(.*?)</h2>", part)[1] for part in parts]
    assert titles == [
        *("More of the summary", "Gaps", "Errors by kind", "Pairs of methods", "Rules that are broken"),
        *("Fields", "Pictures", "Single sequences", "About"),
    ]
    assert "corrected for the number of pairs by Holm's" in text.replace("\n", " ")


def test_a_loaded_comparison_has_no_single_sequences(tmp_path):
    comparison = ordinary(methods=["auto", "viterbi"])
    comparison.save(tmp_path)
    text = report_of(Comparison.load(tmp_path))
    assert "Pictures of single sequences are in the reports of the original runs" in text
    own = report_of(comparison)
    assert own[: own.index('<details id="single-part"')] == text[: text.index('<details id="single-part"')]


def test_a_notebook_shows_the_summary():
    shown = ordinary()._repr_html_()
    assert Page(shown).tags["table"] == 1 and "mean_gap" in shown


def test_a_page_is_written_whole(tmp_path):
    comparison = ordinary(count=1)
    comparison.report(tmp_path / "new" / "report.html")
    assert (tmp_path / "new" / "report.html").read_text("utf-8") == report_of(comparison)
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["report.html"]
    with pytest.raises(ValueError, match="is a folder; name a file"):
        comparison.report(tmp_path)


@pytest.mark.parametrize(
    ("ends", "expected"),
    [
        ((-0.005, -0.0003, 0.006), "shows no clear difference: 0.0 [-0.6, +0.5] points of token accuracy"),
        ((-0.006, 0.02, 0.05), "shows no clear difference: -2.0 [-5.0, +0.6] points of token accuracy"),
        ((-0.04, -0.02, 0.0), "shows no clear difference: +2.0 [0.0, +4.0] points of token accuracy"),
        ((-0.04, -0.02, -0.01), "gains 2.0 [1.0, 4.0] points of token accuracy"),
        ((0.01, 0.02, 0.04), "loses 2.0 [1.0, 4.0] points of token accuracy"),
    ],
)
def test_only_an_interval_without_0_is_a_gain_or_a_loss(ends, expected):
    line = dict.fromkeys(["f1_loss", "f1_loss_low", "f1_loss_high", "mean_gap_low"], 0.0)
    line |= {"f1": 0.5, "mean_gap": 0.1, "mean_gap_high": 0.2, "solved": 1.0, "kind": "heuristic"}
    line |= {"search_errors": 3, "model_errors": 2.5}
    line |= dict(zip(["accuracy_loss_low", "accuracy_loss", "accuracy_loss_high"], ends, strict=True))
    assert _parts(line, 9) == [
        "has 3 search errors and 2.5 model errors on 9 sequences with gold",
        "is 0.10 [0.00, 0.20] nats a sequence below the optimum",
        expected,
    ]
