"""`ilpinfer serve` as a process of its own, on loopback: clients, limits of the server, and signals."""

import json
import signal
import socket
import threading

import httpx
import pytest
from support.served import Served
from support.service import EDGES, GENEROUS

ENDLESS = ("--method", "evolutionary", "--option", "iterations=0")
"""Arguments for a search that goes on until its time limit."""
LONG = {
    "label_names": ["a", "b"],
    "emissions": [[0.0, -1.0]] * 500,
    "transitions": [[0.0, 0.0], [0.0, 0.0]],
    "deadline": 1.0,
}
CHUNKED = b"POST /decode HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
BODY = json.dumps(EDGES).encode()


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    limits = ("--headers", "8192", "--body", "100000", "--connections", "4", "--workers", "1")
    with Served(tmp_path_factory.mktemp("served"), *limits) as service:
        yield service


def request(body, more=b""):
    return b"POST /decode HTTP/1.1\r\nHost: x\r\n%sContent-Length: %d\r\n\r\n%s" % (more, len(body), body)


def connected(served, first=b""):
    connection = socket.create_connection(served.address, GENEROUS)
    connection.sendall(first)
    return connection


def status_of(connection):
    with connection:
        return int(connection.recv(65536).split()[1])


@pytest.mark.parametrize(
    "first, status",
    [
        (request(BODY, b"x: %s\r\n" % (b"a" * 7000)), 200),
        (b"GET / HTTP/1.1\r\nx: " + b"a" * 20000, 400),
        (b"\x16\x03\x01 hello\r\n\r\n", 400),
        (request(b" " * 100_001), 413),
        (CHUNKED + (b"1000\r\n" + b" " * 4096 + b"\r\n") * 30, 413),
    ],
    ids=["headers", "headers without an end", "no HTTP", "a body that is too large", "one without an end"],
)
def test_headers_and_bodies_have_a_largest_size(served, first, status):
    assert status_of(connected(served, first)) == status


def test_connections_have_a_largest_number(served):
    served.client.get("/ready")  # has one, which stays
    kept = [connected(served) for _ in range(3)]
    one_more = connected(served, request(BODY))
    assert status_of(one_more) == 503
    for each in kept:
        each.close()
    served.until(lambda: status_of(connected(served, request(BODY))) == 200)


def test_others_are_answered_while_clients_stop_reading_or_hang_up(served):
    record = {"sequences": [{**EDGES, "top": 2}] * 3, "certificate": True}
    large = json.dumps({**EDGES, "metadata": "x" * 90_000}).encode()
    silent = connected(served)
    silent.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    silent.setblocking(False)
    sent = 0
    data = request(large) * 200  # 18 MB of answers, which nobody reads
    try:
        while sent < len(data):
            sent += silent.send(data[sent : sent + 65536])
    except BlockingIOError:
        pass
    assert sent < len(data)
    for part in (request(BODY)[:-5], request(BODY), b"POST /decode HTTP/1.1\r\n"):
        connected(served, part).close()
    for _ in range(3):  # a busy machine may refuse some with 503
        served.until(lambda: served.client.post("/decode", json=EDGES).status_code == 200)
        served.until(lambda: len(served.client.post("/batch", json=record).json().get("results", ())) == 3)
    silent.close()
    assert 'path="/decode",status="500"' not in served.client.get("/metrics").text


def test_a_trained_model_is_served_and_sigterm_ends_it(folder):
    with Served(folder, "--model", "hmm.json", "--rules", "citations") as served:
        answer = served.client.post("/decode", json={"tokens": ["Ada", "Lovelace", ".", "Notes"]}).json()
        assert answer["status"] == "optimal"
        assert answer["labels"] == ["B-author", "I-author", "I-author", "B-title"]
        served.process.send_signal(signal.SIGTERM)
        assert served.ended() == (0, "")


def test_an_interrupt_ends_the_service_behind_the_request_in_work(tmp_path):
    with Served(tmp_path, *ENDLESS, "--workers", "1") as served:
        answers = []
        other = httpx.Client(base_url=served.client.base_url, timeout=GENEROUS)
        working = threading.Thread(target=lambda: answers.append(other.post("/decode", json=LONG)))
        working.start()
        served.until(served.working)
        served.process.send_signal(signal.SIGINT)
        working.join(GENEROUS)
        other.close()
        (answer,) = answers  # a search beyond its time limit on a busy machine gets the 503 of its deadline
        assert answer.status_code == 200 or answer.json()["detail"].startswith("the deadline of 1 s passed")
        assert served.ended() == (130, "ilpinfer: interrupted\n")
        with pytest.raises(httpx.ConnectError):
            httpx.get(served.client.base_url)


def test_a_second_signal_ends_it_at_once(tmp_path):
    with Served(tmp_path, *ENDLESS, "--longest-deadline", "600", "--grace", "600") as served:
        other = served.sent({**LONG, "deadline": 600.0})
        served.process.send_signal(signal.SIGTERM)
        served.until(lambda: refused(served))
        served.process.send_signal(signal.SIGTERM)
        assert served.ended() == (143, "ilpinfer: terminated\n")
        other.close()


def refused(served: Served) -> bool:
    """Whether new connections are."""
    try:
        socket.create_connection(served.address).close()
    except OSError:
        return True
    return False


def test_requests_beyond_the_grace_period_are_told(tmp_path):
    with Served(tmp_path, *ENDLESS, "--grace", "0") as served:
        other = served.sent(LONG)
        served.process.send_signal(signal.SIGTERM)
        assert served.ended() == (1, "ilpinfer: 1 request was not finished within --grace 0 s\n")
        other.close()


def test_a_port_in_use(folder, cli):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        err = cli.refused(f"serve --port {port}")
    assert f"--port {port}: cannot listen there: Address already in use; choose another port" in err
