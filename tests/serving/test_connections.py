"""Limits on connections: headers, time, numbers, half-closed clients and those that hang up."""

import contextlib
import json
import re
import signal
import socket
import threading
import time

import httpx
import pytest
import uvicorn
from support.served import Served
from support.service import EDGES, GENEROUS, WaitingDecoder, service_of

from ilpinfer.cli.server import configuration
from ilpinfer.serving import Limits
from ilpinfer.serving.app import build

SLOW = b"GET /ready HTTP/1.1\r\nHost: x\r\n"
HEADERS = 8192


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    limits = ("--headers", str(HEADERS), "--headers-time", "1", "--idle", "3", "--idle-time", "2")
    with Served(tmp_path_factory.mktemp("served"), *limits) as service:
        yield service


def connected(served, first=b""):
    connection = socket.create_connection(served.address, GENEROUS)
    connection.sendall(first)
    return connection


def received(connection):
    """All bytes until the server closes; those before a reset."""
    data = b""
    with contextlib.suppress(ConnectionResetError):
        while more := connection.recv(65536):
            data += more
    return data


def answer_of(connection):
    """One answer in JSON; its head and its body may arrive apart."""
    data = b""
    while not data.endswith(b"}") and (more := connection.recv(65536)):
        data += more
    return data


def status(data):
    return int(data.split()[1]) if data else None


def request(body, path=b"/decode", more=b""):
    head = b"POST %s HTTP/1.1\r\nHost: x\r\n%sContent-Length: %d\r\n\r\n" % (path, more, len(body))
    return head + body


BODY = json.dumps(EDGES).encode()
CHUNKED = b"POST /decode HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"


@pytest.mark.parametrize(
    "flood",
    [
        b"GET /" + b"a" * 2**16,
        b"GET / HTTP/1.1\r\nx: " + b"a" * 2**16,
        b"GET / HTTP/1.1\r\n" + b"a: b\r\n" * 2**14,
        b"\r\n" * 2**15,
        CHUNKED + b"0\r\n" + b"a: b\r\n" * 2**14,
        CHUNKED + b"1;" + b"a" * 2**16,
        b"GET / HTTP/1.1\r\nContent-Length: 5\r\nx: " + b"a" * 2**20,
    ],
    ids=["path", "value", "fields", "lines", "trailers", "extension", "much"],
)
def test_headers_have_a_largest_size(flood, served):
    with connected(served) as connection:
        with pytest.raises(ConnectionError):
            connection.sendall(flood * (100 * 2**20 // len(flood)))  # 100 MB; the system buffers some
        answer = b""
        with contextlib.suppress(ConnectionError):
            answer = received(connection)
    assert status(answer) in (431, None)
    assert served.client.get("/ready").status_code == 200


def test_headers_that_are_too_large_are_told(served):
    with connected(served, b"GET / HTTP/1.1\r\nx: " + b"a" * (2 * HEADERS)) as connection:
        answer = received(connection)
    assert status(answer) == 431
    said = f"headers: at most {HEADERS} bytes are accepted; send less"
    assert json.loads(answer.partition(b"\r\n\r\n")[2]) == {"detail": said}


def test_headers_just_below_the_limit_are_accepted(served):
    response = served.client.post("/decode", json=EDGES, headers={"x": "a" * (HEADERS - 1000)})
    assert response.status_code == 200


def test_a_body_in_small_chunks_is_accepted(served):
    response = served.client.post("/decode", content=(BODY[n : n + 1] for n in range(len(BODY))))
    assert response.status_code == 200


def test_headers_have_a_time_limit(served):
    with connected(served, SLOW) as silent, connected(served) as nothing, connected(served) as trickling:
        with contextlib.suppress(ConnectionError):
            for byte in SLOW + b"x: " + b"a" * 100:
                trickling.sendall(bytes([byte]))
                time.sleep(0.05)
        answer = received(silent)
        assert status(answer) == 408 and b"headers: not complete after 1 s" in answer
        assert received(nothing) == b""
        assert status(received(trickling)) in (408, None)


def test_a_half_closed_client_is_answered(served):
    for body, code in ((BODY, 200), (b"{", 422)):
        with connected(served, request(body)) as connection:
            connection.shutdown(socket.SHUT_WR)
            answer = received(connection)
        assert status(answer) == code


def test_a_half_closed_client_with_several_requests_is_answered(served):
    with connected(served, request(BODY) * 3) as connection:
        connection.shutdown(socket.SHUT_WR)
        assert received(connection).count(b"HTTP/1.1 200") == 3


def test_half_a_request_of_a_half_closed_client_ends(served):
    for part in (SLOW, request(BODY)[:-5]):
        with connected(served, part) as connection:
            connection.shutdown(socket.SHUT_WR)
            assert received(connection) == b""


def test_requests_in_advance_are_answered_in_order_and_have_a_limit(served):
    with connected(served, (request(b"{") + request(BODY)) * 2) as connection:
        connection.shutdown(socket.SHUT_WR)
        assert re.findall(rb"HTTP/1.1 (\d+)", received(connection)) == [b"422", b"200"] * 2
    with connected(served, SLOW + b"\r\n" + request(BODY) * 1000) as connection:
        assert b"HTTP/1.1 400" in received(connection)


def test_garbage_gets_one_answer(served):
    with connected(served, b"\x16\x03\x01 hello\r\n\r\n") as connection:
        answer = received(connection)
    assert status(answer) == 400 and answer.count(b"HTTP/1.1 ") == 1


def test_idle_connections_have_a_limit(served):
    kept = [connected(served, SLOW + b"\r\n") for _ in range(5)]
    try:
        for connection in kept:
            assert status(answer_of(connection)) == 200
        assert [received(connection) for connection in kept[:2]] == [b"", b""]
        kept[4].sendall(SLOW + b"\r\n")
        assert status(answer_of(kept[4])) == 200
        assert received(kept[4]) == b""  # after the idle time
    finally:
        for connection in kept:
            connection.close()


def count(served, name):
    lines = served.client.get("/metrics").text.splitlines()
    return sum(float(line.split()[-1]) for line in lines if line.startswith(name))


def test_clients_that_hang_up_are_no_failures(tmp_path):
    with Served(tmp_path) as served:
        gone = 'ilpinfer_refused_total{reason="gone"}'
        for number in range(1, 4):
            connected(served, request(BODY)[:-5]).close()
            served.until(lambda number=number: count(served, gone) == number)
        for _ in range(10):
            connected(served, request(BODY)).close()
            connected(served, request(BODY) * 5).close()
            connected(served, SLOW).close()
        assert served.client.post("/decode", json=EDGES).status_code == 200
        assert count(served, 'ilpinfer_requests_total{path="/decode",status="500"}') == 0
        served.process.send_signal(signal.SIGTERM)
        assert served.ended() == (0, "")


@pytest.mark.parametrize(
    "first", [b"G", b"", request(BODY)[:-5], SLOW + b"\r\n"], ids=["head", "nothing", "body", "idle"]
)
def test_slow_clients_at_few_descriptors_leave_room_for_others(first, tmp_path):
    with Served(tmp_path, descriptors=128) as served:
        slow = []
        try:
            for _ in range(200):
                with contextlib.suppress(ConnectionError):
                    slow.append(connected(served, first))
            for _ in range(20):
                assert httpx.get(f"{served.client.base_url}/ready", timeout=GENEROUS).status_code == 200
                answer = httpx.post(f"{served.client.base_url}/decode", json=EDGES, timeout=GENEROUS)
                assert answer.status_code == 200
            served.process.send_signal(signal.SIGTERM)
            assert served.ended() == (0, "")
        finally:
            for connection in slow:
                connection.close()


def test_connections_with_a_request_in_work_are_kept():
    decoder = WaitingDecoder()
    app = build(service_of(decoder, workers=2))
    listening = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(configuration(app, GENEROUS, Limits(), 2))
    thread = threading.Thread(target=server.run, args=([listening],))
    thread.start()
    address = listening.getsockname()
    working = []
    for number in (1, 2):
        working.append(socket.create_connection(address, GENEROUS))
        working[-1].sendall(request(BODY))
        end = time.monotonic() + GENEROUS
        while len(decoder.begun) < number and time.monotonic() < end:
            time.sleep(0.001)
    with socket.create_connection(address, GENEROUS) as third:
        answer = received(third)
    assert status(answer) == 503 and b"2 connections have requests in work" in answer
    decoder.permits.release(2)
    for connection in working:
        assert status(answer_of(connection)) == 200
        connection.close()
    server.should_exit = True
    thread.join(GENEROUS)
    assert not thread.is_alive()
