"""Requests with rules of their own, explanations and probabilities, and the page that makes them."""

import asyncio
import itertools
import json
import re
from math import exp

import numpy as np
import pytest
from support.service import post, service_of, talk

from formulations import Trellis, load_rules, parse_rules
from formulations import constraints as C
from formulations.labels.selectors import Group
from ilpinfer import Decoder, marginals
from ilpinfer.cli.serve import MOST_EXAMPLES, ServeOptions, application
from ilpinfer.corpus.examples import InputError
from ilpinfer.models.hmm import HMM
from ilpinfer.serving import Limits, create_app
from ilpinfer.serving.decoding import MOST_RULE_TEXTS
from ilpinfer.serving.requests import DecodeRequest, LimitError
from ilpinfer.serving.rule_texts import with_rules

NAMES = ["title", "author", "O"]
TEXT = """fields = ["title", "author"]
[[rule]]
name = "one title"
template = "at_most_runs"
field = "title"
penalty = {penalty}
reason = "titles are whole"
[[rule]]
template = "requires_before"
earlier = "author"
field = "title"
penalty = 0.5
"""
SCORES = {
    "tokens": ["Trees", "by", "Knuth", "Graphs"],
    "label_names": NAMES,
    "emissions": [[2, 0, 0], [0, 0, 1], [0, 2, 0], [1.2, 0, 1]],
    "transitions": [[0, 0, 0]] * 3,
}


@pytest.fixture(scope="module")
def decoder():
    return Decoder([C.at_most_tokens("O", 0)])


def drawn(seed, order=1):
    """A record of random scores of four tokens, and its trellis."""
    rng = np.random.default_rng(seed)
    emissions = rng.normal(size=(4, 3)).round(2)
    transitions = rng.normal(size=(3,) * (order + 1)).round(2)
    record = {
        "label_names": NAMES,
        "emissions": emissions.tolist(),
        "transitions": transitions.tolist(),
        "tokens": list("abcd"),
    }
    return record, Trellis.from_emissions(emissions, transitions, labels=NAMES)


def values(trellis, rules):
    """The score under soft rules of each labelling."""
    result = {}
    for labels in itertools.product(NAMES, repeat=len(trellis)):
        broken = [rule.violations(labels, labels=trellis.labels) * rule.penalty for rule in rules]
        result[labels] = trellis.score(labels) - sum(broken)
    return result


@pytest.mark.parametrize("order, seed", [(1, 0), (1, 1), (1, 2), (2, 0), (2, 1)])
def test_rules_of_a_request_against_all_labellings(decoder, seed, order):
    record, trellis = drawn(seed, order)
    text = TEXT.format(penalty=0.75)
    asked = {**record, "rules": text, "explain": True, "marginals": True}
    answer = post(decoder, "/decode", asked).json()
    known = values(trellis, parse_rules(text).rules)
    assert answer["status"] == "optimal"
    assert answer["score"] == pytest.approx(max(known.values()), abs=1e-4)
    assert known[tuple(answer["labels"])] == max(known.values())
    viterbi = answer["explanation"]["viterbi"]
    assert viterbi["model_score"] == pytest.approx(max(values(trellis, []).values()), abs=1e-4)
    assert viterbi["score"] == pytest.approx(known[tuple(viterbi["labels"])], abs=1e-4)
    found = answer["marginals"]
    if order == 2:
        assert found["labels"] is None and "first-order" in found["reason"]
        return
    whole = sum(map(exp, known.values()))
    for t, k in itertools.product(range(4), range(3)):
        p = sum(exp(score) for labels, score in known.items() if labels[t] == NAMES[k]) / whole
        assert found["labels"][t][k] == pytest.approx(p, abs=1e-3)
    assert found["constrained"] and found["reason"] == "" and found["left_out"] == []


def test_an_explanation_names_rules_fields_and_places(decoder):
    answer = post(decoder, "/decode", {**SCORES, "rules": TEXT.format(penalty=0.1), "explain": True}).json()
    found = answer["explanation"]
    assert found["label_names"] == found["fields"] == NAMES
    assert [(rule["name"], rule["penalty"], rule["reason"]) for rule in found["rules"]] == [
        ("one title", 0.1, "titles are whole"),
        ("requires_before(author, title)", 0.5, ""),
    ]
    assert found["viterbi"]["labels"] == ["title", "O", "author", "title"]
    assert found["viterbi"]["violations"] == {"one title": 1, "requires_before(author, title)": 1}
    assert found["viterbi"]["places"]["requires_before(author, title)"] == [[0]]
    places = {name: found["places"].get(name, []) for name in answer["violations"]}
    assert {name: bool(where) for name, where in places.items()} == {
        name: count > 0 for name, count in answer["violations"].items()
    }


def test_no_rules_hard_rules_and_no_labelling(decoder):
    answer = post(decoder, "/decode", {**SCORES, "rules": "", "explain": True}).json()
    assert answer["labels"] == ["title", "O", "author", "title"] and answer["explanation"]["rules"] == []
    rules = '[[rule]]\ntemplate = "at_most_tokens"\nfield = "O"\nn = 0'
    found = post(decoder, "/decode", {**SCORES, "rules": rules, "explain": True}).json()["explanation"]
    assert found["rules"][0]["penalty"] is None and found["viterbi"]["score"] is None
    assert found["viterbi"]["places"] == {"at_most_tokens(O, 0)": [[1]]}
    never = 'fields = ["title"]\n' + "".join(
        f'[[rule]]\ntemplate = "at_{kind}_tokens"\nfield = "title"\nn = {n}\n'
        for kind, n in (("most", 0), ("least", 1))
    )
    asked = {**SCORES, "rules": never, "explain": True, "marginals": True}
    answer = post(decoder, "/decode", asked).json()
    assert answer["status"] == "infeasible" and answer["explanation"]["places"] == {}
    assert answer["marginals"]["labels"] is None and "no labelling" in answer["marginals"]["reason"]


def test_rules_of_the_catalogue_and_fields_of_schemes():
    names = ["B-per", "I-per", "O"]
    tagger = Decoder([], model=HMM.train([(["Ada", "L", "."], ["B-per", "I-per", "O"])]))
    answer = post(tagger, "/decode", {"tokens": ["L", "."], "rules": "bio", "explain": True}).json()
    assert len(answer["explanation"]["rules"]) == len(load_rules("bio").rules)
    fields = dict(zip(answer["explanation"]["label_names"], answer["explanation"]["fields"]))
    assert fields == dict(zip(names, ["per", "per", "O"]))


def test_probabilities_of_the_model_where_rules_take_too_many_states(decoder):
    names = [f"f{n}" for n in range(12)]
    record = {"label_names": names, "emissions": [[0.0] * 12] * 20, "transitions": [[0.0] * 12] * 12}
    rules = '[[rule]]\ntemplate = "at_most_runs"\nfield = "each field"\nn = 1\npenalty = 1'
    found = post(decoder, "/decode", {**record, "rules": rules, "marginals": True}).json()["marginals"]
    assert not found["constrained"] and "states" in found["reason"]
    assert found["left_out"] == ["at_most_runs(each field, 1)"]
    assert np.allclose(found["labels"], 1 / 12, atol=1e-4)


def test_only_rules_with_too_many_states_are_left_out_of_probabilities(decoder):
    names, draw = [f"f{n}" for n in range(12)], np.random.default_rng(0)
    trellis = Trellis.from_emissions(draw.normal(0, 1, (20, 12)), draw.normal(0, 1, (12, 12)), labels=names)
    others = f"fields = {names}\n"
    others += '[[rule]]\ntemplate = "at_most_tokens"\nfield = "f0"\nn = 1\n'
    others += '[[rule]]\ntemplate = "at_least_tokens"\nfield = "f3"\nn = 2\npenalty = 0.5\n'
    large = '[[rule]]\nname = "once"\ntemplate = "at_most_runs"\nfield = "each field"\nn = 1\npenalty = 1\n'
    record = {**trellis.to_dict(), "rules": others + large, "marginals": True}
    answer = post(decoder, "/decode", record).json()
    found = answer["marginals"]
    assert found["constrained"] and found["left_out"] == ["once"] and "200000 joint states" in found["reason"]
    assert np.allclose(found["labels"], marginals(trellis, others).labels, atol=1e-4)
    assert not np.allclose(found["labels"], marginals(trellis).labels, atol=1e-2)
    runs = marginals(trellis, others).entities(answer["labels"])
    assert [
        (one["field"], *one["tokens"][:1], round(one["probability"], 4)) for one in found["entities"]
    ] == [(name, begin, round(chance, 4)) for name, begin, _, chance in runs]


def test_options_do_not_belong_to_the_sequences_of_a_batch(decoder):
    keys = ("rules", "explain", "marginals", "deadline", "top")
    rows = post(decoder, "/batch", {"sequences": [{**SCORES, key: None} for key in keys]}).json()["results"]
    for key, row in zip(keys, rows, strict=True):
        assert f'unknown key "{key}"' in row["reason"]
    assert post(decoder, "/batch", {"sequences": [SCORES], "rules": ""}).status_code == 422


def test_a_service_that_takes_no_rules(decoder):
    assert post(decoder, "/decode", SCORES, rule_text=0).status_code == 200


def test_the_latest_few_texts_are_kept(decoder):
    records = service_of(decoder).records

    def made(text):
        return records._decoder(DecodeRequest(rules=text), 3)

    first = made("")
    assert made("") is first and made(None) is decoder
    for penalty in range(1, MOST_RULE_TEXTS + 1):
        made(TEXT.format(penalty=penalty))
    assert made("") is not first


EXAMPLES = [
    {"tokens": ["Ada", "."], "id": 7, "given": {"0": "author"}},
    {"tokens": ["Ada", "."], "columns": {"pos": ["NNP", "."]}},
    {**SCORES, "metadata": {"page": 1}},
]


def page_of(app):
    """What the page of an application knows."""
    route = next(each for each in app.routes if each.path == "/")
    page = asyncio.run(route.endpoint()).body.decode()
    return json.loads(re.search('<script id="about" type="application/json">(.*)</script>', page)[1])


def test_examples_of_a_file_are_requests(decoder, tmp_path):
    path = tmp_path / "examples.jsonl"
    path.write_text("".join(f"{json.dumps(record)}\n" for record in EXAMPLES * 20))
    shown = page_of(application(ServeOptions(examples=str(path))))["examples"]
    assert len(shown) == MOST_EXAMPLES and shown[:2] == EXAMPLES[:2]
    answers = [post(decoder, "/decode", record).json()["labels"] for record in (SCORES, shown[2])]
    assert answers[0] == answers[1] and shown[2]["metadata"] == {"page": 1}
    with pytest.raises(InputError, match="cannot be read"):
        application(ServeOptions(examples=str(tmp_path / "missing.tsv")))


@pytest.mark.filterwarnings("ignore::formulations.errors.RuleNotice")
@pytest.mark.parametrize("words, kept", [('["x"]', True), ('{ file = "words.txt" }', False)])
def test_the_text_of_a_rule_file_is_shown_with_its_comments(tmp_path, words, kept):
    (tmp_path / "words.txt").write_text("x\n")
    text = f'# why </script>\nfields = ["title"]\n[[rule]]\ntemplate = "tag_at"\nfield = "title"\nwords = {words}\n'
    (tmp_path / "rules.toml").write_text(text)
    for rules in ([str(tmp_path / "rules.toml")], [str(tmp_path / "rules.toml"), "citations"], ["citations"]):
        shown = page_of(application(ServeOptions(rules=rules)))["rules"]
        assert parse_rules(shown).items == load_rules(*rules).items
        assert (shown == text) == (kept and len(rules) == 1 and "rules.toml" in rules[0])


def test_rules_without_a_form_as_text_are_not_told(decoder):
    alike = [C.at_most_runs(Group("names", (field,)), 1) for field in ("title", "author")]
    assert page_of(create_app(Decoder(alike)))["rules"] is None
    about = page_of(create_app(decoder, Limits(rule_text=9)))
    assert parse_rules(about.pop("rules")).items == decoder.rules.items
    assert about == {"rule_text": 9, "examples": [], "model": False}


def test_the_page_and_its_files_are_served_and_name_no_other_host(decoder):
    async def conversation(client):
        page = await client.get("/")
        assert "default-src 'self'" in page.headers["content-security-policy"]
        names = re.findall(r'(?:href|src)="(pages/[^"]+)"', page.text)
        files = [await client.get(f"/{name}") for name in names]
        missing = [await client.get("/pages/../app.py"), await client.get("/pages/app.py")]
        return page, files, missing

    page, files, missing = talk(service_of(decoder), conversation)
    assert [each.status_code for each in (page, *files, *missing)] == [200, 200, 200, 404, 404]
    assert all(each.headers["content-type"].startswith("text/") for each in files)
    assert not any(re.search(r"https?://|//\w+\.", each.text) for each in (page, *files))


PAIRS = (
    '[[rule]]\ntemplate = "requires_before"\nearlier = "X"\nfield = "Y"\nscope = "each pair"\npenalty = 1\n'
)


def test_rules_that_fit_few_labels_do_not_fit_many(decoder):
    with_rules(decoder, PAIRS, 30, 1000)
    with pytest.raises(LimitError, match=r"1560 statements, .* at most 1000 are accepted for 40 labels"):
        with_rules(decoder, PAIRS, 40, 1000)


def test_known_labels_are_kept_by_both_labellings(decoder):
    asked = {**SCORES, "rules": "", "given": {"1": "author"}, "explain": True}
    answer = post(decoder, "/decode", asked).json()
    assert answer["labels"] == answer["explanation"]["viterbi"]["labels"]
    assert answer["labels"] == ["title", "author", "author", "title"]
    assert answer["given"] == {"1": "author"}


def test_a_token_is_explained_as_by_the_solution(decoder):
    rules = TEXT.format(penalty=0.75)
    answers = [post(decoder, "/decode", {**SCORES, "rules": rules, "explain": t}).json() for t in range(2)]
    for t, answer in enumerate(answers):
        change = answer["explanation"]["change"]
        assert t in change["tokens"] and change["labels"] == [answer["labels"][s] for s in change["tokens"]]
        assert change["viterbi"] == [answer["explanation"]["viterbi"]["labels"][s] for s in change["tokens"]]
        assert change["words"].startswith("token") and change["status"] in ("optimal", "infeasible")
        if change["labels"] == change["viterbi"]:
            known = values(
                Trellis.from_emissions(SCORES["emissions"], SCORES["transitions"], labels=NAMES),
                parse_rules(rules).rules,
            )
            other = max(score for labels, score in known.items() if labels[t] != answer["labels"][t])
            assert change["loss"] == pytest.approx(answer["score"] - other, abs=1e-4)
    said = post(decoder, "/decode", {**SCORES, "explain": 99}).json()["detail"]
    assert said == "body: explain: no token 99; tokens are 0 to 3"
