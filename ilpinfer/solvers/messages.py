"""Messages between this process and the process of a solver."""

import pickle
import time
from dataclasses import dataclass
from multiprocessing.connection import Connection

from formulations.programs.record import IntegerProgram
from ilpinfer.solvers.answer import Claim, Progress, SolverError

STOP = "stop"
"""Message that stops the running request."""
PIECE = 2**22
"""Number of bytes between two checks of the time."""


@dataclass(frozen=True)
class Request:
    program: IntegerProgram
    deadline: float  # a time of `time.monotonic()`, or inf
    threads: int
    folder: str  # for temporary files


Message = Progress | Claim | SolverError | str | int | None
"""From the solver's process: a text is an error message, a number the code of a process that exited without a claim, or the
negative of the signal that ended it, and None the reply to `STOP`."""


def send_request(pipe: Connection, request: Request) -> bool:
    """Send a request piece by piece; whether all of it is sent before the deadline."""
    buffers: list[pickle.PickleBuffer] = []
    head = pickle.dumps(request, pickle.HIGHEST_PROTOCOL, buffer_callback=buffers.append)
    arrays = [buffer.raw() for buffer in buffers]
    pipe.send((head, [len(array) for array in arrays]))
    for array in arrays:
        for first in range(0, len(array), PIECE):
            if time.monotonic() > request.deadline:
                pipe.send_bytes(b"")
                return False
            pipe.send_bytes(array[first : first + PIECE])
    return True


def receive_request(pipe: Connection) -> Request | None:
    """The next complete request; None for an incomplete one, and for a late stop."""
    message = pipe.recv()
    if message == STOP:
        return None
    head, sizes = message
    arrays = [bytearray(size) for size in sizes]
    for array in arrays:
        received = 0
        while received < len(array):
            size = pipe.recv_bytes_into(array, received)
            if not size:
                return None
            received += size
    request: Request = pickle.loads(head, buffers=arrays)
    return request
