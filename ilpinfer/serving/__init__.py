"""A service over HTTP that decodes sequences, with a deadline for each request: `create_app` and `Limits`.

The web framework is optional: it comes with `pip install ilpinfer[serve]`.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ilpinfer.serving.limits import Limits
from ilpinfer.system.extras import require

if TYPE_CHECKING:
    from fastapi import FastAPI

    from ilpinfer.decoding.decoder import Decoder

__all__ = ["Limits", "create_app"]


def create_app(
    decoder: "Decoder",
    limits: Limits | None = None,
    *,
    scheme: str = "",
    examples: Iterable[dict[str, Any]] = (),
    rules_text: str = "",
) -> "FastAPI":
    """An ASGI application that decodes with a decoder, for any ASGI server.

    Parameters
    ----------
    decoder : Decoder
        Rules and method, and the model that scores tokens, if any; its time limit is replaced by the time left
        until the deadline of a request.
    limits : Limits, optional
        The defaults of `Limits` if not given.
    scheme : str, optional
        Scheme of the label names in requests; empty to infer it.
    examples : iterable of dict, optional
        Records that the workbench offers, such as ``{"tokens": ["Ada"]}``; some of its own if not given.
    rules_text : str, optional
        Text of the decoder's rules that the workbench shows; made from the rules if not given.

    Returns
    -------
    FastAPI
        With POST /decode, POST /batch, GET /ready, GET /metrics and GET /openapi.json, and the workbench at GET /.

    Raises
    ------
    MissingLibrary
        Without the extra `serve`; the message names it.

    Examples
    --------
    >>> import ilpinfer
    >>> from ilpinfer import constraints as C
    >>> app = create_app(ilpinfer.Decoder([C.at_most_runs("title", 1)]))
    >>> sorted(path for path in app.openapi()["paths"])
    ['/batch', '/decode', '/metrics', '/ready']
    """
    require("the service", "serve", "fastapi", "prometheus_client")
    from ilpinfer.serving.app import Service, build

    return build(Service(decoder, limits or Limits(), scheme), examples, rules_text)
