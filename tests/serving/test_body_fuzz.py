"""Whatever a body is, the answer is a result or one message, never a failure of the service."""

import asyncio
import json
from copy import deepcopy

import httpx
from hypothesis import given, settings
from hypothesis import strategies as st
from stress import mutations
from support.service import EDGES, service_of

from formulations import constraints as C
from ilpinfer import Decoder
from ilpinfer.serving.app import build

SCORES = {
    "label_names": ["title", "O"],
    "tokens": ["x", "y"],
    "emissions": [[0, -1], [-1, 0]],
    "transitions": [[0, -0.5], [-0.5, 0]],
}
SECOND = {"label_names": ["title", "O"], "emissions": [[0, 1]] * 3, "transitions": [[[0, 1], [1, 0]]] * 2}
LOGITS = {"tokens": ["x"], "logits": [[0, 1]], "label_names": ["title", "O"]}
OPTIONS = {"deadline": 60.0, "top": 2, "certificate": True, "labels": ["O", "title"], "end": [0, 1], "id": 1}
RECORDS = (EDGES, SCORES, SECOND, LOGITS, EDGES | OPTIONS)
RANDOM = st.randoms(use_true_random=False)


def changed(record, rng):
    """A sound record with some values replaced, dropped or added."""
    record = deepcopy(record)
    for _ in range(rng.randint(0, 2)):
        record = mutations.value(record, rng)
    return record


def body(record):
    return json.dumps(record).encode()


records = st.builds(changed, st.sampled_from(RECORDS), RANDOM)
bodies = st.one_of(
    st.binary(max_size=40),
    st.sampled_from(mutations.VALUES).map(body),
    st.builds(mutations.text, records.map(body), RANDOM),
    records.map(body),
    st.lists(records, max_size=3).map(lambda each: body({"sequences": each})),
)


def test_no_body_makes_the_service_fail():
    decoder = Decoder([C.at_most_runs("title", 1), C.at_least_tokens("title", 2, penalty=0.5)])
    app = build(service_of(decoder, deadline=60.0))
    seen = set()
    with asyncio.Runner() as runner:
        client = httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://service")

        @settings(max_examples=300, derandomize=True)
        @given(st.sampled_from(["/decode", "/batch"]), bodies)
        def check(path, content):
            response = runner.run(client.post(path, content=content))
            answer = response.json()
            seen.add(response.status_code)
            assert response.status_code in (200, 413, 422, 503), answer
            if response.status_code != 200:
                assert answer["detail"] and "\n" not in answer["detail"]
            assert response.status_code != 503 or "deadline" in json.loads(content)
            for one in answer.get("results", []):
                assert one.get("error", "InputError") in ("InputError", "LimitError", "ValueError"), one

        check()
        runner.run(client.aclose())
    assert {200, 422} <= seen
