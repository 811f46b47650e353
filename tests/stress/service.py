"""The service under attack, on loopback: `python -m stress.service --minutes 10`.

A process of its own attacks the service, which has 128 file descriptors, by 200 slow clients, floods of headers, new label sets,
garbage, slow bodies, half-closed clients and clients that hang up. Meanwhile clients ask for decodings with deadlines. The program
fails if these are not answered in time, if the memory of the service grows by more than 100 MB, or if it prints anything.
"""

import argparse
import contextlib
import json
import random
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from support.served import Served
from support.service import EDGES as SCORES

from formulations import RuleSet, dump_rules
from stress.label_sets import problem, resident, rules

EDGES = {**SCORES, "tokens": ["a", "b"]}
DESCRIPTORS, SLOW, WORKERS = 128, 200, 4
"""File descriptors of the service, slow clients, and clients that want answers."""
DEADLINE, TOLERANCE = 5.0, 0.5
"""Deadline of a request, and what the way there and back may take on a busy machine, in seconds."""
LEAST_ANSWERED, MOST_MEGABYTES = 0.99, 100.0
PAUSE = 0.02
"""Seconds between two acts of an attacker, so that the machine is not what is tested."""

Address = tuple[str, int]


def request(record: object, more: str = "") -> bytes:
    body = json.dumps(record).encode()
    return f"POST /decode HTTP/1.1\r\nHost: x\r\n{more}Content-Length: {len(body)}\r\n\r\n".encode() + body


def send(
    address: Address, data: bytes, *, half: bool = False, reset: bool = False, read: bool = True
) -> bytes:
    """What the service answers to bytes; the connection may be closed for writing, or reset without reading."""
    with socket.create_connection(address, 10.0) as connection:
        connection.sendall(data)
        if half:
            connection.shutdown(socket.SHUT_WR)
        if reset:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        return connection.recv(1 << 16) if read and not reset else b""


def slow_clients(address: Address, chance: random.Random) -> None:
    """Two hundred clients that send a byte now and then."""
    clients: list[tuple[socket.socket, bytes]] = []
    while True:
        if len(clients) < SLOW:
            connection = socket.create_connection(address, 10.0)
            connection.setblocking(False)
            clients.append((connection, chance.choice([b"GET /ready HTTP/1.1\r\nx: ", request(EDGES)])))
        at = chance.randrange(len(clients))
        connection, rest = clients[at]
        try:
            connection.send(rest[:1] or b"a")
            clients[at] = connection, rest[1:]
        except OSError:
            connection.close()
            clients.pop(at)
        time.sleep(PAUSE / 10)


def floods(address: Address, chance: random.Random) -> None:
    """Headers, trailers and chunks without an end."""
    begin = chance.choice(
        ["x: ", "Transfer-Encoding: chunked\r\n\r\n1;", "Transfer-Encoding: chunked\r\n\r\n0\r\nx: "]
    )
    with socket.create_connection(address, 10.0) as connection:
        connection.sendall(f"POST /decode HTTP/1.1\r\nHost: x\r\n{begin}".encode())
        for _ in range(100):
            connection.sendall(b"a" * 65536)


def label_sets(address: Address, chance: random.Random) -> None:
    """Decoding with labels that no other request has."""
    send(address, request({**problem(chance.randrange(10**9), 100), "deadline": 2.0}))


def garbage(address: Address, chance: random.Random) -> None:
    noise = chance.randbytes(chance.randrange(1, 5000))
    send(address, chance.choice([noise, request(EDGES)[:-9] + noise[:9], request({"deadline": 10**400})]))


def half_closed(address: Address, chance: random.Random) -> None:
    """A whole request, or a part of one, and the end of what the client sends."""
    data = request(EDGES)
    answer = send(address, data, half=True)
    assert answer.startswith(b"HTTP/1.1 "), answer
    send(address, data[: chance.randrange(len(data))], half=True)


def hang_ups(address: Address, chance: random.Random) -> None:
    """Clients that are gone before the answer."""
    data = request(EDGES) * chance.choice([1, 1, 20])
    send(address, data[: chance.randrange(1, len(data))], reset=chance.random() < 0.5, read=False)


def long_tokens(address: Address, chance: random.Random) -> None:
    record = {**EDGES, "tokens": [chance.randbytes(100_000).hex(), "b"]}
    send(address, request(record))


Act = Callable[[Address, random.Random], None]
ATTACKS: tuple[Act, ...] = (
    *(slow_clients, floods, *[label_sets] * 3, garbage, half_closed, hang_ups, long_tokens),
)


def attack(port: int, seed: int) -> None:
    """All attacks at once, until this process is ended; what they did is printed each second."""
    done: Counter[str] = Counter()

    def repeat(act: Act) -> None:
        chance = random.Random(f"{seed} {threading.get_ident()}")
        while True:
            try:
                act(("127.0.0.1", port), chance)
                done[act.__name__] += 1
            except AssertionError:
                done[f"{act.__name__} without answer"] += 1
            except OSError:
                done[f"{act.__name__} refused"] += 1
            time.sleep(PAUSE)

    for act in ATTACKS:
        threading.Thread(target=repeat, args=(act,), daemon=True).start()
    while True:
        time.sleep(1.0)
        print(json.dumps(done), flush=True)


def ask(address: Address, end: float, seen: Counter[str], times: list[float]) -> None:
    """Requests with a deadline, each on a connection of its own, until the end; counts of answers, and their seconds."""
    data = request({**EDGES, "deadline": DEADLINE}, "Connection: close\r\n")
    while time.monotonic() < end:
        for kind, sent in (("decode", data), ("ready", b"GET /ready HTTP/1.1\r\nHost: x\r\n\r\n")):
            began = time.monotonic()
            try:
                answer = send(address, sent)
                status = answer.split()[1].decode() if answer else "closed"
            except OSError as error:
                status = type(error).__name__
            times.append(time.monotonic() - began)
            seen[f"{kind} {status}"] += 1
            seen["late"] += times[-1] > DEADLINE + TOLERANCE
        time.sleep(PAUSE)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--attack", type=int, metavar="PORT", help="be the process that attacks")
    options = parser.parse_args(arguments)
    if options.attack:
        attack(options.attack, options.seed)
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "rules.toml").write_text(dump_rules(RuleSet(tuple(rules()))))
        return _defend(Path(folder), options.minutes, options.seed)


def _defend(folder: Path, minutes: float, seed: int) -> int:
    with Served(folder, "--rules", "rules.toml", descriptors=DESCRIPTORS) as served:
        address, memory = served.address, list[float]()
        for number in range(100):
            send(address, request({**problem(-number - 1 + 10**10, 100), "deadline": 20.0}))
        command = [sys.executable, "-m", "stress.service", "--attack", str(address[1]), "--seed", str(seed)]
        attacker = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        end = time.monotonic() + 60.0 * minutes
        seen, times, done = Counter[str](), list[float](), dict[str, int]()
        clients = [threading.Thread(target=ask, args=(address, end, seen, times)) for _ in range(WORKERS)]
        for client in clients:
            client.start()
        assert attacker.stdout is not None
        next_line = time.monotonic()
        while time.monotonic() < end:
            done = json.loads(attacker.stdout.readline())
            memory.append(resident(served.process.pid))
            if time.monotonic() >= next_line:
                next_line += 30.0
                print(f"{end - time.monotonic():5.0f} s left, {memory[-1]:.0f} MB, {dict(seen)}", flush=True)
        for client in clients:
            client.join()
        attacker.kill()
        attacker.communicate()
        served.process.send_signal(signal.SIGTERM)
        code, said = served.ended()
    good = seen["decode 200"] + seen["ready 200"]
    share, grown = good / max(1, len(times)), max(memory) - memory[0]
    print(f"attacks: {done}")
    print(f"answers: {dict(seen)}; {share:.2%} with 200; longest {max(times):.2f} s of {DEADLINE:g} s")
    print(
        f"memory: {memory[0]:.0f} MB at the start, {max(memory):.0f} MB at most, {memory[-1]:.0f} MB at the end"
    )
    print(f"after SIGTERM: exit code {code}, {said!r}")
    fails = share < LEAST_ANSWERED or seen["late"] or grown > MOST_MEGABYTES or code or said
    print("failed" if fails else "held")
    return int(bool(fails))


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        sys.exit(main())
