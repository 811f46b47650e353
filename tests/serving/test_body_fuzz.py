"""Whatever a body is, the answer is a result or one message, never a failure of the service."""

import asyncio
import json

import httpx
from hypothesis import given, settings
from hypothesis import strategies as st
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
RECORDS = (EDGES, SCORES, SECOND, LOGITS)
KEYS = sorted(
    {key for record in RECORDS for key in record} | {"deadline", "top", "certificate", "labels", "end"}
)

plain = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=3),
    st.sampled_from([0, -1, 1e308, 5e-324, 2**70, "a", [], {}, [[]], [[0, 0]]]),
)
values = st.recursive(
    plain,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=2),
    max_leaves=8,
)


@st.composite
def records(draw):
    """A sound record with some values replaced, dropped or added."""
    record = json.loads(json.dumps(draw(st.sampled_from(RECORDS))))
    for _ in range(draw(st.integers(0, 2))):
        key = draw(st.sampled_from(KEYS))
        if draw(st.booleans()):
            record.pop(key, None)
        elif isinstance(record.get(key), list) and record[key] and draw(st.booleans()):
            record[key][draw(st.integers(0, len(record[key]) - 1))] = draw(values)
        else:
            record[key] = draw(values)
    return record


bodies = st.one_of(
    st.binary(max_size=40),
    values.map(lambda value: json.dumps(value).encode()),
    records().map(lambda record: json.dumps(record).encode()),
    st.lists(records(), max_size=3).map(lambda each: json.dumps({"sequences": each}).encode()),
)


def test_no_body_makes_the_service_fail():
    decoder = Decoder([C.at_most_runs("title", 1), C.at_least_tokens("title", 2, penalty=0.5)])
    app = build(service_of(decoder, deadline=60.0))
    seen = set()
    with asyncio.Runner() as runner:
        client = httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://service")

        @settings(max_examples=300, derandomize=True)
        @given(st.sampled_from(["/decode", "/batch"]), bodies)
        def check(path, body):
            response = runner.run(client.post(path, content=body))
            answer = response.json()
            seen.add(response.status_code)
            assert response.status_code in (200, 413, 422, 503), answer
            if response.status_code != 200:
                assert answer["detail"] and "\n" not in answer["detail"]
            assert response.status_code != 503 or "deadline" in json.loads(body)
            for one in answer.get("results", []):
                assert one.get("error", "InputError") in ("InputError", "LimitError", "ValueError"), one

        check()
        runner.run(client.aclose())
    assert {200, 422} <= seen
