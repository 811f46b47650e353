"""The factory of spaCy's component `ilpinfer_ner`. spaCy loads this entry point even to list it: spaCy and rules are imported late."""

from collections.abc import Callable
from typing import Any

from ilpinfer.adapters.spacy_options import DEFAULTS, NAME
from ilpinfer.system.extras import require


def register() -> Callable[..., Any]:
    require("the component ilpinfer_ner", "spacy", "spacy")
    from spacy.language import Language

    def make_component(
        nlp: Language,
        name: str,
        source: str | Callable[..., Any],
        rules: str,
        labels: list[str],
        scheme: str,
        never: list[str],
        scale: str,
        method: str,
        time_limit: float | None,
        spans_key: str | None,
        score: str,
        beam_width: int,
        beam_density: float,
        smoothing: float,
    ) -> Any:
        config = {key: value for key, value in locals().items() if key in DEFAULTS}
        from ilpinfer.adapters.spacy import ConstrainedNER

        return ConstrainedNER(nlp, name, **config)

    globals()["make_component"] = (
        make_component  # before spaCy looks for it, by the entry point that leads here
    )
    Language.factory(
        NAME,
        default_config=DEFAULTS,
        assigns=["doc.ents", "token.ent_iob", "token.ent_type"],
        default_score_weights={"ents_f": 1.0, "ents_p": 0.0, "ents_r": 0.0, "ents_per_type": None},
        func=make_component,
    )
    return make_component


def __getattr__(name: str) -> Any:
    """Register the factory `make_component` with spaCy at first access."""
    if name != "make_component":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return register()
