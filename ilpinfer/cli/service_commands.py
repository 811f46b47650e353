"""The command that serves; the work is imported when it runs."""

from collections.abc import Callable, Mapping
from typing import Annotated, Any

import typer

from ilpinfer.cli.arguments import Reward, Rules, Scheme


def serve(
    model: Annotated[
        str | None,
        typer.Option(help="A file from `ilpinfer train`, or case-law; without it, requests have scores."),
    ] = None,
    rules: Rules = None,
    reward: Reward = None,
    scheme: Scheme = "",
    method: Annotated[str, typer.Option(help="See `ilpinfer methods`.")] = "auto",
    option: Annotated[
        list[str] | None, typer.Option(help="NAME=VALUE, of the method; may be repeated.")
    ] = None,
    host: Annotated[str, typer.Option(help="The address to listen at; 0.0.0.0 is every one.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes a free one.")] = 8000,
    workers: Annotated[int, typer.Option(min=1, max=1024, help="Threads that decode.")] = 2,
    deadline: Annotated[
        float, typer.Option(help="Seconds that a request has, waiting included, where it does not say so.")
    ] = 1.0,
    longest_deadline: Annotated[float, typer.Option(help="Seconds that a request may ask for.")] = 30.0,
    queue: Annotated[int, typer.Option(help="Requests that may wait for a thread.")] = 1000,
    body: Annotated[int, typer.Option(help="Bytes of a request.")] = 4 * 2**20,
    tokens: Annotated[int, typer.Option(help="Tokens of a sequence.")] = 1000,
    sequences: Annotated[int, typer.Option(help="Sequences of a batch.")] = 256,
    labels: Annotated[int, typer.Option(help="Labels of scores.")] = 200,
    top: Annotated[int, typer.Option(help="Labellings of a sequence.")] = 50,
    grace: Annotated[
        float,
        typer.Option(min=0, help="Seconds that requests have to finish when the service is told to stop."),
    ] = 30.0,
) -> None:
    """Decode over HTTP, with a deadline for each request; see docs/service.md."""
    from ilpinfer.cli.serving import ServeOptions, run_serve

    limits = {
        "deadline": deadline,
        "longest_deadline": longest_deadline,
        "queue": queue,
        "body": body,
        "tokens": tokens,
        "sequences": sequences,
        "labels": labels,
        "top": top,
    }
    run_serve(
        ServeOptions(
            model,
            rules or [],
            rewards=reward or [],
            scheme=scheme,
            method=method,
            option=option or [],
            host=host,
            port=port,
            workers=workers,
            limits=limits,
            grace=grace,
        )
    )


COMMANDS: Mapping[str, Callable[..., Any]] = {"serve": serve}
"""Functions by the names of their commands."""
