"""The workbench, driven in a browser without a window."""

import json

import pytest
from support.browser import BROWSER, NAMES, opened
from support.served import Served

from formulations import load_rules, parse_rules
from ilpinfer import Decoder
from ilpinfer.corpus import resumes
from ilpinfer.models.hmm import HMM

pytestmark = pytest.mark.skipif(BROWSER is None, reason=f"none of {', '.join(NAMES)} is installed")
LABELLED = (
    "document.querySelectorAll('.token').length > 0 && !document.getElementById('result').matches('.old')"
)
HOSTILE = '<img src=x onerror="document.title=1"> </textarea>'
RULE = "at most one description"


@pytest.fixture(scope="module")
def tagger():
    model = HMM.train([(item.tokens, item.labels) for item in resumes.items(200, 0)])
    return Decoder(load_rules("resume"), model=model)


@pytest.fixture(scope="module")
def item():
    """An item in which rules change the labelling."""
    return resumes.items(6, 1)[5].tokens


@pytest.fixture(scope="module")
def served(tmp_path_factory, tagger, item):
    folder = tmp_path_factory.mktemp("served")
    tagger.model.save(folder / "hmm.json")
    records = [{"tokens": item}, {"tokens": HOSTILE.split(), "id": HOSTILE}]
    (folder / "items.jsonl").write_text("".join(f"{json.dumps(record)}\n" for record in records))
    arguments = ("--model", "hmm.json", "--rules", "resume", "--examples", "items.jsonl", "--deadline", "20")
    with Served(folder, *arguments) as service:
        yield service


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    with opened(tmp_path_factory.mktemp("browser")) as page:
        yield page


@pytest.fixture
def page(browser, served):
    """The workbench with the first example; no test may leave problems."""
    browser.shape(1300, 900)
    browser.open(f"{served.client.base_url}")
    browser.until(f"document.readyState === 'complete' && {LABELLED}")
    yield browser
    assert browser.problems == []


def row(page, number):
    """The labels of all tokens in a row, 0 for Viterbi and 1 for the optimum."""
    told = page.run("[...document.querySelectorAll('.token')].map((each) => each.ariaLabel)")
    return [
        each.rpartition(", Viterbi ")[2].removesuffix(", known").split(", optimum ")[number] for each in told
    ]


def text_of(page, name):
    return page.run(f"document.getElementById('{name}').textContent")


def write(page, name, text, event="input"):
    """Give an element a value, and tell the page."""
    value = f"Object.assign(document.getElementById('{name}'), {{ value: {json.dumps(text)} }})"
    page.run(f"{value}.dispatchEvent(new Event('{event}'))")


def write_and_wait(page, name, text, event="input"):
    """Wait for the labelling, too."""
    write(page, name, text, event)
    page.run("new Promise((done) => setTimeout(done, 400))")
    page.until(LABELLED)


def words(page):
    return page.run("[...document.querySelectorAll('.word')].map((each) => each.textContent)")


def rules_text(page):
    return page.run("document.getElementById('toml').value")


def test_both_labellings_are_those_of_the_decoder(page, tagger, item):
    plain = Decoder([], model=tagger.model).decode_tokens(item)
    best = tagger.decode_tokens(item)
    assert (row(page, 0), row(page, 1)) == (plain.labels, best.labels)
    changed = sum(a != b for a, b in zip(plain.labels, best.labels))
    assert f"differs at {changed} tokens" in text_of(page, "summary") and changed > 0
    assert "proved optimal" in text_of(page, "summary") and "under the rules" in text_of(page, "shading")
    assert RULE in text_of(page, "broken")
    marks = "document.querySelector('.place').focus(), document.querySelectorAll('.marked').length"
    assert page.run(marks) > 0


def test_a_rule_is_switched_off_and_on_again(page, tagger, item):
    before = rules_text(page)
    page.run("document.getElementById('on-0').click()")
    page.until(f"document.querySelector('#switches li').matches('.off') && {LABELLED}")
    off = parse_rules(rules_text(page))
    assert [rule.title for rule in off.rules] == [] and len(off) == len(tagger.rules) - 1
    page.until(f"document.getElementById('broken').textContent.startsWith('Neither') && {LABELLED}")
    assert (
        row(page, 1) == tagger.with_rules(off).decode_tokens(item).labels != tagger.decode_tokens(item).labels
    )
    page.run("document.getElementById('on-0').click()")
    page.until(f"document.getElementById('broken').textContent.includes('{RULE}') && {LABELLED}")
    assert rules_text(page) == before and row(page, 1) == tagger.decode_tokens(item).labels


@pytest.mark.parametrize("control, event", [("slider-0", "input"), ("number-0", "change")])
def test_a_penalty_is_moved(page, tagger, item, control, event):
    write_and_wait(page, control, "0.05", event)
    if event == "input":  # and let go
        page.run(f"document.getElementById('{control}').dispatchEvent(new Event('change'))")
    moved = parse_rules(rules_text(page))
    assert moved.rules[0].penalty == 0.05 and len(moved) == len(tagger.rules)
    assert row(page, 1) == tagger.with_rules(moved).decode_tokens(item).labels
    page.run("document.getElementById('hard-0').click()")
    page.until(f"document.getElementById('hard-0').checked && {LABELLED}")
    assert parse_rules(rules_text(page)).rules[0].hard


def test_an_error_of_the_rules_is_shown_at_its_place(page):
    before = rules_text(page)
    line = before.splitlines().index('field = "description"')
    write(page, "toml", before.replace('field = "description"', 'field = "descriptoin"'))
    page.until("!document.getElementById('rule-error').hidden")
    assert f'did you mean "description"? (line {line + 1}, column 9)' in text_of(page, "rule-error")
    assert page.run("document.getElementById('toml').style.getPropertyValue('--line')") == str(line)
    page.run("document.querySelector('#rule-error button').click()")
    chosen = "(({ value, selectionStart, selectionEnd }) => value.slice(selectionStart, selectionEnd))"
    assert page.run(f"{chosen}(document.activeElement)") == '"descriptoin"'
    page.run("document.getElementById('reset').click()")
    page.until(f"document.getElementById('rule-error').hidden && {LABELLED}")
    assert rules_text(page) == before


def test_keys_lead_to_a_token_and_why_it_has_its_label(page, served, item):
    page.run("document.querySelector('.token').focus()")
    for _ in range(3):
        page.press("ArrowRight", 39)
    page.press("Enter", 13)
    page.until("document.getElementById('why').textContent")
    answer = served.client.post("/decode", json={"tokens": item, "explain": 3}).json()
    lost = answer["explanation"]["change"]["loss"]
    assert f"scores {lost:.4g} nats less" in text_of(page, "why") and lost > 0
    assert item[3] in text_of(page, "token-title")
    page.press("ArrowLeft", 37)
    assert page.run("document.activeElement.ariaLabel").startswith(f"2: {item[2]}, ")


def test_a_label_is_made_known_by_a_click(page, item):
    page.run("document.querySelectorAll('.token')[5].click()")
    label = page.run("document.querySelectorAll('.choice')[1].dataset.label")
    assert row(page, 1)[5] != label
    page.run("document.querySelectorAll('.choice')[1].click()")
    page.until(f"document.querySelector('.token.known') && {LABELLED}")
    assert row(page, 0)[5] == row(page, 1)[5] == label
    page.until("document.getElementById('why').textContent === 'Its label is known.'")
    page.run("document.getElementById('forget').click()")
    page.until(f"!document.querySelector('.token.known') && {LABELLED}")
    assert row(page, 1)[5] != label


def test_words_that_mean_something_to_html_are_words(page):
    write_and_wait(page, "examples", "1", "change")
    assert (
        words(page) == HOSTILE.split() and page.run("document.querySelectorAll('#workbench img').length") == 0
    )


def test_a_text_is_split_and_an_empty_one_is_none(page):
    page.run("document.getElementById('split').value = 'words'")
    write_and_wait(page, "text", "Ada, 1815: a_b")
    assert words(page) == ["Ada", ",", "1815", ":", "a_b"]
    write(page, "text", " ")
    assert text_of(page, "summary") == "Write a text, or take an example."
    assert page.run("document.querySelectorAll('.token').length") == 0


def test_an_empty_text_and_an_error_leave_no_headings(page):
    write(page, "text", "")
    shown = "[...document.querySelectorAll('.labelled')].filter((each) => each.offsetParent).length"
    assert page.run(shown) == 0
    write(page, "text", '{"tokens": ["a", 1]}')
    page.until("document.getElementById('summary').matches('.error')")
    assert text_of(page, "summary").startswith("tokens[1] is 1; expected a text")
    assert page.run(shown) == 0


def test_a_problem_of_a_page_would_be_noticed(page):
    page.run("setTimeout(() => { missing(); }); void fetch('http://outside.test/').catch(() => 0)")
    page.run("new Promise((done) => setTimeout(done, 200))")
    told = " ".join(page.problems)
    page.problems.clear()
    assert "missing is not defined" in told and "outside.test" in told
