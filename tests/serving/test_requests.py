"""What the service answers to one request."""

import asyncio
import json
import time

import pytest
from support.service import EDGES, post, service_of, talk

from formulations import constraints as C
from formulations import parse_rules
from ilpinfer import Decoder
from ilpinfer.corpus.sequences import read
from ilpinfer.models.hmm import HMM
from ilpinfer.serving import create_app

SCORES = {
    "label_names": ["title", "O"],
    "emissions": [[0, -1], [-1, 0], [0, -1], [-3, None]],
    "transitions": [[0, -0.5], [-0.5, 0]],
}
ONE_TITLE = [C.at_most_runs("title", 1, penalty=2.5, name="one title")]
TAGGED = [(["Ada", ".", "Notes"], ["author", "O", "title"]), (["Grace", "."], ["author", "O"])]


@pytest.fixture(scope="module")
def decoder():
    return Decoder(ONE_TITLE)


@pytest.fixture(scope="module")
def tagger():
    return Decoder(ONE_TITLE, model=HMM.train(TAGGED))


def test_scores_are_decoded_as_the_decoder_does(decoder, tmp_path):
    (tmp_path / "one.jsonl").write_text(json.dumps(SCORES))
    expected = decoder.decode(read(tmp_path / "one.jsonl")[0].trellis()).to_dict(certificate=False)
    response = post(decoder, "/decode", SCORES)
    assert response.status_code == 200
    answer = response.json()
    assert answer | {"seconds": 0} == expected | {"seconds": 0}
    assert answer["status"] == "optimal" and answer["violations"] == {"one title": 0}


def test_tokens_are_decoded_unknown_ones_too(tagger):
    answer = post(tagger, "/decode", {"tokens": ["Ada", ".", "Flurb"]}).json()
    assert answer["status"] == "optimal"
    assert answer["labels"] == tagger.decode_tokens(["Ada", ".", "Flurb"]).labels


def test_notes_about_a_sequence_come_back(decoder):
    about = {"id": 7, "metadata": {"page": 3}, "doc_id": "d"}
    answer = post(decoder, "/decode", {**EDGES, **about}).json()
    assert {key: answer[key] for key in about} == about
    results = post(decoder, "/batch", {"sequences": [{**EDGES, "id": "a"}, EDGES]}).json()["results"]
    assert [each.get("id") for each in results] == ["a", None]


MISSPELT = {
    "deadline": ("dedline", "deadlien", "Deadline", "dead-line", "deadlines"),
    "top": ("tops", "tpo", "top_k", "TOP"),
    "certificate": ("certifcate", "certficat"),
    "rules": ("rulez", "rule", "ruels", "rullez"),
    "explain": ("explan", "eplain", "explains"),
    "marginals": ("marginal", "margnals", "maginal"),
    "given": ("gven", "givn"),
    "label_names": ("label_name", "labelNames"),
}


def test_a_misspelt_option_is_refused(decoder):
    pairs = [(key, option) for option, keys in MISSPELT.items() for key in keys]
    rows = post(decoder, "/batch", {"sequences": [{**EDGES, key: 1} for key, _ in pairs]}).json()["results"]
    for (key, option), row in zip(pairs, rows, strict=True):
        assert f'unknown key "{key}"; did you mean "{option}"?' in row["reason"]
    response = post(decoder, "/decode", {**EDGES, "dedline": 1})
    assert response.status_code == 422 and 'did you mean "deadline"?' in response.json()["detail"]


def test_notes_that_resemble_no_option_come_back(decoder):
    keys = ("doc", "type", "page", "source", "topic", "lang", "url", "split", "note", "year", "pos", "author")
    notes = {**dict.fromkeys(keys, 1), "metadata": {"dedline": 1, "top": 2}}
    answer = post(decoder, "/decode", {**EDGES, **notes}).json()
    assert {key: answer.get(key) for key in notes} == notes


@pytest.mark.filterwarnings("ignore::formulations.errors.RuleNotice")
def test_notices_about_rules_and_labels_are_told():
    rules = parse_rules(
        'fields = ["title", "venue"]\n[[rule]]\ntemplate = "at_most_runs"\nfield = "venue"\nn = 1\n'
    )
    notice = ["no label for venue: counted as absent"]
    assert post(Decoder(rules), "/decode", SCORES).json()["notices"] == notice
    (row,) = post(Decoder(rules), "/batch", {"sequences": [SCORES]}).json()["results"]
    assert row["notices"] == notice


def test_candidate_spans_are_chosen():
    spans = [[0, 2, "title", 0.9], [1, 2, "title", 0.8], [2, 3, "title", 0.7]]
    answer = post(Decoder(ONE_TITLE), "/decode", {"tokens": ["a", "b", "c"], "candidates": spans}).json()
    assert answer["spans"] == [{"start": 0, "end": 2, "label": "title", "score": 0.9}]


def test_the_best_few_and_certificates(decoder):
    answer = post(decoder, "/decode", {**EDGES, "top": 3, "certificate": True}).json()
    found = [answer, *answer["alternatives"]]
    assert [one["labels"] for one in found] == [["title", "title"], ["O", "O"], ["title", "O"]]
    assert all(one["certificate"]["kind"] == "exact" for one in found)
    assert "certificate" not in post(decoder, "/decode", EDGES).json()


def test_infeasible():
    decoder = Decoder([C.at_most_tokens("title", 0), C.at_least_tokens("title", 1)])
    for top in (None, 2):
        response = post(decoder, "/decode", {**SCORES, "top": top})
        answer = response.json()
        assert response.status_code == 200
        assert (answer["status"], answer["labels"], answer["score"]) == ("infeasible", None, None)
        assert answer["reason"] and answer["infeasibility"]


def test_after_a_list_that_is_empty_the_time_left_is_the_limit(decoder, monkeypatch):
    limits, with_limit, decode = [], Decoder.with_time_limit, Decoder.decode

    def late(self, trellis, *, top=None):
        if not top:
            return decode(self, trellis)
        time.sleep(0.1)
        return []

    monkeypatch.setattr(
        Decoder, "with_time_limit", lambda self, seconds: limits.append(seconds) or with_limit(self, seconds)
    )
    monkeypatch.setattr(Decoder, "decode", late)
    assert post(decoder, "/decode", {**SCORES, "top": 2, "deadline": 9}).json()["status"] == "optimal"
    assert len(limits) == 2 and limits[1] <= limits[0] - 0.1


def test_what_would_be_a_rule_is_no_note(decoder):
    response = post(decoder, "/decode", {**SCORES, "forbidden": [[0, "O"]]})
    assert response.status_code == 422 and "forbidden" in response.json()["detail"]


def test_a_body_without_its_length_or_its_end_is_cut_off(decoder):
    async def endless(pause):
        while True:
            yield b" " * 64
            await asyncio.sleep(pause)

    async def conversation(client):
        return [await client.post("/decode", content=endless(pause)) for pause in (0, 0.02)]

    service = service_of(decoder, body=1000, deadline=0.05, longest_deadline=0.05)
    large, slow = talk(service, conversation)
    assert large.status_code == 413 and "more than 1000 bytes" in large.json()["detail"]
    assert slow.status_code == 422 and slow.json()["detail"].startswith("body: not complete after 0.05 s")


def test_a_batch_has_a_result_for_each_sequence(decoder):
    bad, long = {"tokens": 3}, {**SCORES, "tokens": ["x"] * 6}
    twice = {"tokens": ["a", "b"], "label_names": ["x", "x"], "start": [0, 0], "edges": [[[0, 0], [0, 0]]]}
    records = [SCORES, bad, EDGES, SCORES, long, twice]
    response = post(decoder, "/batch", {"sequences": records, "top": 2}, tokens=5)
    assert response.status_code == 200
    first, second, third, fourth, fifth, sixth = response.json()["results"]
    assert [one["status"] for one in (first, third, fourth)] == ["optimal"] * 3
    assert first["labels"] == fourth["labels"] and len(third["labels"]) == 2
    assert (second["status"], second["error"], second["labels"]) == ("unknown", "InputError", None)
    assert second["reason"] == "sequences, item 2: tokens is 3; expected a list of texts"
    assert (fifth["error"], sixth["error"]) == ("LimitError", "InputError")
    assert fifth["reason"].startswith("sequences, item 5: 6 tokens;")
    assert sixth["reason"].startswith("sequences, item 6: label 'x' is given twice")
    assert post(decoder, "/batch", {"sequences": []}).json() == {"results": []}


def test_options_are_described():
    paths = create_app(Decoder([])).openapi()["paths"]
    for path, option in (("/decode", "marginals"), ("/batch", "sequences")):
        body = paths[path]["post"]["requestBody"]["content"]["application/json"]["schema"]
        assert {"deadline", "top", option} <= body["properties"].keys() and "$ref" not in str(body)


def test_known_labels_are_kept(decoder, tagger):
    answer = post(decoder, "/decode", {**SCORES, "given": {"0": "O"}}).json()
    assert (answer["labels"][0], answer["given"]) == ("O", {"0": "O"})
    answer = post(decoder, "/decode", {**SCORES, "given": {"0": ["O", "title"], "1": ["title"]}}).json()
    assert answer["labels"][1] == "title" and answer["given"] == {"0": ["title", "O"], "1": "title"}
    assert post(tagger, "/decode", {"tokens": ["Ada"], "given": {"0": "title"}}).json()["labels"] == ["title"]


@pytest.mark.filterwarnings("default")
def test_odd_scores_are_counted_in_the_answer(decoder):
    masked = {**SCORES, "emissions": [[0, -1e9], [-1, 0], [0, -1], [-1e30, 0]]}
    noted = ["scores at or below -1e8 nats, which are read as -inf: 2, the first is emissions[0, 1] = -1e+09"]
    assert post(decoder, "/decode", masked).json()["notices"] == noted
    results = post(decoder, "/batch", {"sequences": [masked, SCORES]}).json()["results"]
    assert [each.get("notices") for each in results] == [noted, None]
