"""`ilpinfer serve`."""

import os
import socket
import sys
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from formulations import RuleSet
from formulations.errors import RuleNotice
from formulations.files import read_text
from formulations.labels.schemes import scheme_of
from formulations.messages import counted
from formulations.problem.compiled_rules import notices
from formulations.problem.known_labels import plain_given
from formulations.rulefiles.loading import CATALOGUE, LARGEST, catalogue
from formulations.rulefiles.reader import read as read_rule_text
from ilpinfer.cli import arguments
from ilpinfer.cli.arguments import OPTIONS, OptionGroup, model_option
from ilpinfer.cli.command import command, common
from ilpinfer.cli.failure import Failure, about
from ilpinfer.cli.inputs import canonical_scheme, parameters, with_never
from ilpinfer.cli.python_rules import is_python
from ilpinfer.cli.rule_files import read_rules
from ilpinfer.cli.streams import notice, remark
from ilpinfer.corpus.examples import InputError
from ilpinfer.corpus.sequences import read
from ilpinfer.models.files import load_model
from ilpinfer.serving import Limits, create_app
from ilpinfer.system.extras import require

if TYPE_CHECKING:
    from fastapi import FastAPI

SWITCH_SECONDS = 0.001
"""Seconds after which a decoding thread releases the interpreter lock for the answering thread."""
RESERVED, RESERVED_EACH = 48, 8
"""File descriptors reserved for files, libraries and closing connections, and for the solver of each thread."""
LEAST_CONNECTIONS = 8
MOST_EXAMPLES = 50
LIMITS = OptionGroup("Limits")


@dataclass(frozen=True)
class ServeOptions:
    model: Annotated[
        str | None,
        model_option(
            "Model that scores texts: a file from `ilpinfer train`. Without it, requests contain scores."
        ),
    ] = None
    rules: arguments.Rules = ()
    scheme: arguments.Scheme = ""
    never: arguments.Never = ()
    method: arguments.MethodName = "auto"
    option: arguments.MethodOption = ()
    examples: str | None = OPTIONS.option(
        None,
        f"FILE: Sequences that the workbench shows as examples, at most {MOST_EXAMPLES}, in any form that "
        "decode reads.",
    )
    host: str = OPTIONS.option("127.0.0.1", "ADDRESS: Address to listen on; 0.0.0.0 for all addresses.")
    port: int = OPTIONS.option(8000, "NUMBER: Port to listen on; 0 for a free port.", min=0, max=65535)
    workers: int = OPTIONS.option(Limits.workers, "NUMBER: Number of decoding threads.", min=1, max=1024)
    deadline: float = LIMITS.option(
        Limits.deadline,
        "SECONDS: Time that a request may take, including waiting, unless the request sets its own deadline.",
    )
    longest_deadline: float = LIMITS.option(
        Limits.longest_deadline, "SECONDS: Longest deadline that a request may set, in seconds."
    )
    queue: int = LIMITS.option(Limits.queue, "NUMBER: Largest number of requests that wait for a thread.")
    body: int = LIMITS.option(Limits.body, "BYTES: Largest size of a request, in bytes.")
    tokens: int = LIMITS.option(Limits.tokens, "NUMBER: Largest number of tokens in a sequence.")
    sequences: int = LIMITS.option(Limits.sequences, "NUMBER: Largest number of sequences in a request.")
    labels: int = LIMITS.option(Limits.labels, "NUMBER: Largest number of labels in a request with scores.")
    top: int = LIMITS.option(
        Limits.top, "NUMBER: Largest number of labellings that a request may ask for, for each sequence."
    )
    rule_text: int = LIMITS.option(
        Limits.rule_text,
        "BYTES: Largest rule text in a request, in bytes; 0 to refuse rules in requests.",
        min=0,
    )
    headers: int = LIMITS.option(
        32 * 2**10, "BYTES: Largest size of the headers of a request, in bytes.", min=1
    )
    connections: int = LIMITS.option(1000, "NUMBER: Largest number of connections.", min=1)
    idle_time: float = LIMITS.option(60.0, "SECONDS: Close idle connections after this many seconds.", min=0)
    grace: float = LIMITS.option(
        30.0, "SECONDS: Time that running requests may still take when the service stops.", min=0
    )

    @property
    def limits(self) -> Limits:
        """The limits of requests; InputError for invalid ones."""
        try:
            return Limits(**common(self, Limits))
        except ValueError as error:
            raise InputError(f"--{str(error).replace('_', '-')}") from None


@command("ilpinfer serve --model hmm.json --rules citations --port 8000 --workers 4")
def serve(options: ServeOptions) -> None:
    """Serve decoding over HTTP, with a deadline for each request.

    The exit code is 0 after SIGTERM and 130 after an interrupt, both after running requests are answered. Errors of options and
    files are found before the service listens.
    """
    require("the service", "serve", "fastapi", "prometheus_client", "uvicorn")
    app = application(options)
    with _listening(options.host, options.port) as listening:
        host, port = listening.getsockname()[:2]
        most = _most_connections(options.connections, options.workers)
        shown = f"[{host}]" if ":" in host else host
        remark(f"ilpinfer: serving at http://{shown}:{port}, {counted(options.workers, 'thread')}")
        sys.setswitchinterval(SWITCH_SECONDS)
        _serve(app, listening, options, most)


def application(options: ServeOptions) -> "FastAPI":
    from ilpinfer.decoding.decoder import Decoder

    limits = options.limits
    scheme = canonical_scheme(options.scheme)
    own = parameters(options.option)
    for source in filter(is_python, options.rules):
        raise InputError(
            f"--rules {source}: the service takes no rules from Python; write them as a rule file"
        )
    rules = with_never(read_rules(options.rules), options.never)
    with about(options.model):
        model = load_model(options.model) if options.model else None
    if model is not None and scheme and scheme_of(scheme) != model.labels.scheme:
        raise InputError(
            f"{options.model}: its labels are {model.labels.scheme}, not {scheme}; leave --scheme out"
        )
    warnings.simplefilter("ignore", RuleNotice)
    if model is not None:
        for text in notices(rules, model.labels):
            notice(text)
    decoder = Decoder(rules, model=model, method=options.method, **own)
    examples = _examples(options.examples) if options.examples else ()
    text = "" if options.never else _text(options.rules, rules)
    return create_app(decoder, limits, scheme=scheme, examples=examples, rules_text=text)


def _text(sources: Sequence[str], rules: RuleSet) -> str:
    """The text of the only rule file, with comments; empty if the text alone does not give these rules."""
    if len(sources) != 1:
        return ""
    source = sources[0]
    path = CATALOGUE / f"{source}.toml" if source in catalogue() else Path(source)
    try:
        text = read_text(path, LARGEST)
        return text if read_rule_text(text, "rules", None).items == rules.items else ""
    except (OSError, ValueError):  # standard input, or words in files of their own
        return ""


def _examples(path: str) -> list[dict[str, Any]]:
    """The first sequences of a file as request records; InputError for a file without sequences."""
    found = []
    for each in read(path)[:MOST_EXAMPLES]:
        record = {**each.about, "tokens": list(each.tokens)}
        if each.columns:
            record["columns"] = {name: list(cells) for name, cells in each.columns.items()}
        if each.given:
            record["given"] = plain_given(each.given)
        found.append(record if each.scores is None else record | each.trellis().to_dict())
    return found


def _listening(host: str, port: int) -> socket.socket:
    """A listening socket; InputError if the address is not available."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, _, _, _, address = found[0]
        listening = socket.create_server(address[:2], family=family, backlog=2048)
    except (OSError, UnicodeError) as error:
        reason = "no such host"
        if isinstance(error, OSError) and not isinstance(error, socket.gaierror):
            reason = os.strerror(error.errno or 0)
        raise InputError(
            f"--host {host} --port {port}: cannot listen there: {reason}; choose another port, or 0 for a free one"
        ) from None
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # else headers wait 40 ms for the body
    return listening


def _most_connections(wanted: int, workers: int) -> int:
    """The number of connections that file descriptors allow; a notice if it is less than wanted."""
    try:
        import resource
    except ImportError:  # no such limit on this platform
        return wanted
    descriptors = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    if descriptors == resource.RLIM_INFINITY:
        return wanted
    most = max(LEAST_CONNECTIONS, descriptors - RESERVED - RESERVED_EACH * workers)
    if most >= wanted:
        return wanted
    notice(
        f"at most {most} connections, as there are {descriptors} file descriptors; raise ulimit -n for more"
    )
    return most


def _serve(app: "FastAPI", listening: socket.socket, options: ServeOptions, most: int) -> None:
    from ilpinfer.cli.server import Server, configuration

    grace = options.grace
    server = Server(configuration(app, options.headers, most, options.idle_time, grace))
    server.run(sockets=[listening])
    if server.unfinished:
        raise Failure(
            f"{server.unfinished} request{'s were' if server.unfinished > 1 else ' was'} not finished within --grace "
            f"{grace:g} s",
            1,
        )
    if server.interrupted:
        raise KeyboardInterrupt
