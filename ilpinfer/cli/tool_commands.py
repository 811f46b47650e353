"""The service and the tools; the work is imported when a command runs."""

from typing import Annotated, Any

import typer

from ilpinfer.cli.arguments import AsJson, MethodName, MethodOption, Reward, Rules, Scheme, model_option
from ilpinfer.cli.registration import Panel

panel = Panel("Services and tools")


def _limit(metavar: str, help_text: str) -> Any:
    return typer.Option(metavar=metavar, help=help_text, rich_help_panel="Limits")


@panel.command("serve", "ilpinfer serve --model hmm.json --rules citations --port 8000 --workers 4")
def _serve(
    model: Annotated[
        str | None,
        model_option(
            "Model that scores texts: a file from `ilpinfer train`, or case-law. Without it, requests contain scores.",
        ),
    ] = None,
    rules: Rules = None,
    reward: Reward = None,
    scheme: Scheme = "",
    method: MethodName = "auto",
    option: MethodOption = None,
    host: Annotated[
        str, typer.Option(metavar="ADDRESS", help="Address to listen at; 0.0.0.0 for all addresses.")
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(min=0, max=65535, metavar="NUMBER", help="Port to listen at; 0 for a free one.")
    ] = 8000,
    workers: Annotated[int, typer.Option(min=1, max=1024, metavar="NUMBER", help="Threads that decode.")] = 2,
    deadline: Annotated[
        float,
        _limit("SECONDS", "Time of a request, waiting included, where the request names none, in seconds."),
    ] = 1.0,
    longest_deadline: Annotated[
        float, _limit("SECONDS", "Longest time that a request may name, in seconds.")
    ] = 30.0,
    queue: Annotated[int, _limit("NUMBER", "Requests that may wait for a thread.")] = 1000,
    body: Annotated[int, _limit("BYTES", "Largest size of a request, in bytes.")] = 4 * 2**20,
    tokens: Annotated[int, _limit("NUMBER", "Most tokens of a sequence.")] = 1000,
    sequences: Annotated[int, _limit("NUMBER", "Most sequences of a request.")] = 256,
    labels: Annotated[int, _limit("NUMBER", "Most labels of scores in a request.")] = 200,
    top: Annotated[int, _limit("NUMBER", "Most labellings of a sequence.")] = 50,
    headers: Annotated[int, _limit("BYTES", "Largest size of the headers of a request, in bytes.")] = 32
    * 2**10,
    headers_time: Annotated[
        float, _limit("SECONDS", "Time in which headers must arrive, in seconds.")
    ] = 10.0,
    connections: Annotated[int, _limit("NUMBER", "Most connections.")] = 1000,
    idle: Annotated[int, _limit("NUMBER", "Most connections without a request.")] = 500,
    idle_time: Annotated[float, _limit("SECONDS", "Time that they are kept, in seconds.")] = 60.0,
    grace: Annotated[
        float,
        typer.Option(
            min=0,
            metavar="SECONDS",
            help="Seconds that running requests may take after the service is told to stop.",
            rich_help_panel="Limits",
        ),
    ] = 30.0,
) -> None:
    """Serve decoding over HTTP, with a deadline for each request."""
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
        "headers": headers,
        "headers_time": headers_time,
        "connections": connections,
        "idle": idle,
        "idle_time": idle_time,
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


@panel.command("methods", "ilpinfer methods", "ilpinfer methods --json")
def _methods(as_json: AsJson = False) -> None:
    """List the decoding methods, exact and heuristic, with their options."""
    from ilpinfer.cli.show import show_methods

    show_methods(as_json)


@panel.command("schema", "ilpinfer schema >rules.schema.json")
def _schema() -> None:
    """Print the JSON Schema of rule files, for editors."""
    from ilpinfer.cli.explaining import print_schema

    print_schema()


@panel.command("warm-up", "ilpinfer warm-up")
def _warm_up(as_json: AsJson = False) -> None:
    """Compile the kernels in advance and store them, so that the first decoding does not wait for them."""
    from ilpinfer.cli.warming import warm_up

    warm_up(as_json)
