"""What the service answers to one request."""

import json

import pytest
from support.service import EDGES, post, service_of, talk

from formulations import constraints as C
from ilpinfer import Decoder
from ilpinfer.corpus.sequences import read
from ilpinfer.models.hmm import HMM
from ilpinfer.serving import Limits, create_app

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
    assert answer.pop("queue_seconds") >= 0
    times = {"seconds": 0, "warm_up_seconds": 0}
    assert answer | times == expected | times
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


def test_candidate_spans_are_chosen():
    spans = [[0, 2, "title", 0.9], [1, 2, "title", 0.8], [2, 3, "title", 0.7]]
    answer = post(Decoder(ONE_TITLE), "/decode", {"tokens": ["a", "b", "c"], "candidates": spans}).json()
    assert answer["spans"] == [{"start": 0, "end": 2, "label": "title", "score": 0.9}]
    refused = post(Decoder(ONE_TITLE), "/decode", {"tokens": ["a"], "candidates": [[0, 2, "title", 0.9]]})
    assert refused.status_code == 422 and "candidate 0: end 2" in refused.text


def test_the_best_few_and_certificates(decoder):
    answer = post(decoder, "/decode", {**EDGES, "top": 3, "certificate": True}).json()
    found = [answer, *answer["alternatives"]]
    assert [one["labels"] for one in found] == [["title", "title"], ["O", "O"], ["title", "O"]]
    assert all(one["certificate"]["kind"] == "exact" for one in found)
    assert "certificate" not in post(decoder, "/decode", EDGES).json()


@pytest.mark.parametrize("top", [None, 2])
def test_infeasible(top):
    decoder = Decoder([C.at_most_tokens("title", 0), C.at_least_tokens("title", 1)])
    response = post(decoder, "/decode", {**SCORES, "top": top})
    answer = response.json()
    assert response.status_code == 200
    assert (answer["status"], answer["labels"], answer["score"]) == ("infeasible", None, None)
    assert answer["reason"] and answer["infeasibility"]


BAD = [
    (b"", "not JSON"),
    (b"{", "not JSON"),
    (b"\xff{}", "0xff at 0 is not UTF-8"),
    (b"[1]", "body: [1]; expected an object"),
    (b"null", "body: null; expected an object"),
    (b'{"tokens": [], "tokens": []}', "given twice"),
    (b"[" * 100_000, "nested too deeply"),
    (b'{"tokens": ["a"], "deadline": NaN}', "deadline is NaN"),
    (b'{"tokens": ["a"], "deadline": 0}', "deadline is 0; expected seconds above 0"),
    (b'{"tokens": ["a"], "deadline": -1}', "deadline is -1; expected seconds above 0"),
    (b'{"tokens": ["a"], "deadline": 1e9}', "deadline is 1000000000.0; expected seconds above 0, at most 60"),
    (b'{"tokens": ["a"], "deadline": true}', "deadline is true"),
    (
        b'{"tokens": ["a"], "deadline": 1' + b"0" * 400 + b"}",
        "deadline is 1000000000000000000000000000000000000000…",
    ),
    (b'{"tokens": ["a"], "deadline": -1' + b"0" * 400 + b"}", "deadline is -100"),
    (b'{"tokens": ["a"], "deadline": 1e400}', "deadline is Infinity"),
    (b'{"emissions": [[0, 1' + b"0" * 400 + b']], "transitions": [[0, 0], [0, 0]]}', "beyond 2^31"),
    (b'{"tokens": ["a"], "deadline": "1"}', 'deadline is "1"'),
    (b'{"tokens": ["a"], "top": 0}', "top is 0; expected a whole number from 1 to 50"),
    (b'{"tokens": ["a"], "top": 51}', "top is 51"),
    (b'{"tokens": ["a"], "top": 1.0}', "top is 1.0"),
    (b'{"tokens": ["a"], "certificate": 1}', "certificate is 1; expected true or false"),
    (b'{"tokens": ["a"], "tokenz": 1}', 'no use for "tokenz"; did you mean "tokens"?'),
    (b'{"tokens": null}', "tokens is not a list of texts"),
    (b'{"tokens": ["a", null]}', "tokens is not a list of texts"),
    (b'{"tokens": []}', "an empty sequence"),
    (b'{"tokens": ["a"]}', "this service has no model"),
    (b'{"tokens": ["\\ud800"]}', "half of a surrogate pair"),
    (b'{"\\ud800": 1}', "no use for"),
    (b'{"emissions": [[0, NaN]], "transitions": [[0, 0], [0, 0]]}', "NaN"),
    (b'{"emissions": [[0, 1e300]], "transitions": [[0, 0], [0, 0]]}', "1e+300"),
    (b'{"emissions": [[0, 1]]}', "expected start and edges, or emissions and transitions"),
    (b'{"emissions": [[0, 1], [0]], "transitions": [[0, 0], [0, 0]]}', "emissions"),
    (b'{"emissions": 3, "transitions": 4}', "emissions is 3; expected a list"),
    (
        b'{"emissions": [[0, true]], "transitions": [[0, 0], [0, 0]]}',
        "emissions, item 1, item 2 is true; expected a number",
    ),
    (b'{"start": [0], "edges": [[["a"]]]}', 'edges, item 1, item 1, item 1 is "a"; expected a number'),
]


@pytest.mark.parametrize("body, message", BAD)
def test_bad_requests_get_one_message(body, message, decoder):
    response = post(decoder, "/decode", body)
    assert response.status_code == 422
    assert message.lower() in response.json()["detail"].lower()
    assert "\n" not in response.json()["detail"]


def test_labels_that_are_not_the_models_are_named(tagger):
    response = post(tagger, "/decode", SCORES)
    assert response.status_code == 422
    assert "body: the rules are compiled for the labels O, author, title (plain)" in response.json()["detail"]


def test_rules_that_do_not_fit_the_scores():
    response = post(Decoder([C.at_most_runs("venue", 1)]), "/decode", SCORES)
    assert response.status_code == 422 and "venue" in response.json()["detail"]


@pytest.mark.parametrize(
    "path, body, limits, message",
    [
        ("/decode", {"tokens": ["a" * 100]}, {"body": 50}, "at most 50 are accepted"),
        ("/decode", {"tokens": ["a"] * 11}, {"tokens": 10}, "body: 11 tokens; at most 10"),
        ("/decode", SCORES, {"tokens": 3}, "body: 4 tokens; at most 3"),
        ("/decode", EDGES, {"tokens": 1}, "body: 2 tokens; at most 1"),
        ("/decode", SCORES, {"labels": 1}, "scores of 2 labels; at most 1"),
        ("/decode", EDGES, {"labels": 1}, "scores of 2 labels; at most 1"),
        ("/batch", {"sequences": [SCORES] * 3}, {"sequences": 2}, "3 sequences; at most 2"),
    ],
)
def test_too_large(path, body, limits, message, decoder):
    response = post(decoder, path, body, **limits)
    assert response.status_code == 413
    assert message in response.json()["detail"]


def test_a_body_without_its_length_is_cut_off(decoder):
    async def endless():
        while True:
            yield b" " * 64

    async def conversation(client):
        return await client.post("/decode", content=endless())

    response = talk(service_of(decoder, body=1000), conversation)
    assert response.status_code == 413 and "at most 1000 are accepted" in response.json()["detail"]


def test_a_batch_has_a_result_for_each_sequence(decoder):
    bad, long = {"tokens": 3}, {**SCORES, "tokens": ["x"] * 6}
    records = [SCORES, bad, EDGES, SCORES, long]
    for workers in (1, 2, 7):
        response = post(decoder, "/batch", {"sequences": records, "top": 2}, workers=workers, tokens=5)
        assert response.status_code == 200
        first, second, third, fourth, fifth = response.json()["results"]
        assert [one["status"] for one in (first, third, fourth)] == ["optimal"] * 3
        assert first["labels"] == fourth["labels"] and len(third["labels"]) == 2
        assert (second["status"], second["error"], second["labels"]) == ("unknown", "InputError", None)
        assert second["reason"] == "sequences, item 2: tokens is not a list of texts"
        assert fifth["error"] == "LimitError"
        assert fifth["reason"].startswith("sequences, item 5: 6 tokens;")


def test_errors_of_decoding_name_the_sequence_of_a_batch(decoder):
    twice = {"tokens": ["a", "b"], "label_names": ["x", "x"], "start": [0, 0], "edges": [[[0, 0], [0, 0]]]}
    results = post(decoder, "/batch", {"sequences": [EDGES, twice]}).json()["results"]
    assert results[1]["reason"].startswith("sequences, item 2: label 'x' is given twice")


def test_a_batch_of_nothing_that_can_be_decoded(decoder):
    response = post(decoder, "/batch", {"sequences": [{"tokens": ["a"]}, 3]})
    assert [one["error"] for one in response.json()["results"]] == ["InputError", "InputError"]


@pytest.mark.parametrize(
    "body, message",
    [
        ({"sequences": []}, "at least one sequence"),
        ({"sequences": {"tokens": ["a"]}}, "at least one sequence"),
        ({"tokens": ["a"]}, 'no use for "tokens"'),
        ({"sequences": [SCORES], "deadline": 0}, "deadline is 0"),
    ],
)
def test_bad_batches(body, message, decoder):
    response = post(decoder, "/batch", body)
    assert response.status_code == 422 and message in response.json()["detail"]


@pytest.mark.parametrize("kind", ["decoder", "tagger"])
def test_the_examples_of_the_description_decode(kind, request):
    service = service_of(request.getfixturevalue(kind))

    async def conversation(client):
        page = (await client.get("/docs")).text
        paths = (await client.get("/openapi.json")).json()["paths"]
        for path in ("/decode", "/batch"):
            content = paths[path]["post"]["requestBody"]["content"]["application/json"]
            assert content["examples"]
            for example in content["examples"].values():
                response = await client.post(path, json=example["value"])
                assert response.status_code == 200, response.text
                answers = response.json().get("results", [response.json()])
                assert {one["status"] for one in answers} == {"optimal"}
        return page

    page = talk(service, conversation)
    assert "Try /decode" in page and "http" not in page.replace("<!doctype html>", "")


def test_the_description_resolves_and_has_units(decoder):
    api = create_app(decoder).openapi()
    schemas = api["components"]["schemas"]
    named = {part.split('"')[0] for part in json.dumps(api).split("#/components/schemas/")[1:]}
    assert named <= schemas.keys() and {"DecodeRequest", "BatchRequest", "Solution", "Refused"} <= named
    assert "nats" in schemas["DecodeRequest"]["properties"]["emissions"]["description"]
    assert "Seconds" in schemas["DecodeRequest"]["properties"]["deadline"]["description"]


def test_paths_and_verbs_that_do_not_exist(decoder):
    async def conversation(client):
        return (await client.get("/decode")).status_code, (await client.post("/nothing")).status_code

    assert talk(service_of(decoder), conversation) == (405, 404)


@pytest.mark.parametrize(
    "name, value", [("deadline", 0.0), ("deadline", 99.0), ("queue", 0), ("tokens", 2.5)]
)
def test_limits_that_make_no_sense(name, value):
    with pytest.raises(ValueError, match=name):
        Limits(**{name: value})


def test_workers_that_make_no_sense(decoder):
    with pytest.raises(ValueError, match="workers is 0; expected a whole number from 1"):
        create_app(decoder, workers=0)


def test_known_labels_are_kept_and_bad_ones_refused(decoder, tagger):
    answer = post(decoder, "/decode", {**SCORES, "given": {"0": "O"}}).json()
    assert (answer["labels"][0], answer["given"]) == ("O", {"0": "O"})
    assert post(tagger, "/decode", {"tokens": ["Ada"], "given": {"0": "title"}}).json()["labels"] == ["title"]
    for given, words in (
        ({"4": "O"}, "given: a position is 4; expected a whole number from 0 to 3"),
        ({"0": "x"}, "given: token 0: no label 'x'"),
        ({"0": 1}, 'given["0"] is 1; expected a text'),
        (["O"], 'given is ["O"]; expected an object such as {"3": "title"}'),
    ):
        response = post(decoder, "/decode", {**SCORES, "given": given})
        assert response.status_code == 422 and words in response.text.replace('\\"', '"'), response.text
