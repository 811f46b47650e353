"""The component `ilpinfer_ner` of spaCy: entities of a document under rules."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from formulations import LabelSet, RuleSet, Trellis, dump_rules, parse_rules
from formulations.labels.label_set import OUTSIDE
from formulations.messages import suggestion
from ilpinfer.adapters import spacy_sources as sources
from ilpinfer.adapters.decisions import AdapterError, as_rules, best_ids, check_choice, decide
from ilpinfer.adapters.spacy_options import DEFAULTS, NAME, SAVED
from ilpinfer.core.rule_compiler import Rules
from ilpinfer.corpus.logits import SCALES
from ilpinfer.decoding.decoder import Decoder
from ilpinfer.evaluation.counts import FieldTable


class ConstrainedNER:
    """Component that sets `doc.ents` to the best entities under rules; it is created by `nlp.add_pipe("ilpinfer_ner",
    config={…})`.

    Sequences of labels obey their scheme. Entities of earlier components are replaced. `doc.spans` are not changed, except for
    `spans_key`.

    Parameters
    ----------
    nlp : the pipeline, with the components that a source uses
    name : of the component
    source : "user_data:KEY" or "extension:NAME" for scores (T, K) in `doc.user_data[KEY]` or `doc._.NAME`; a function of a
        document that returns them, registered as `@misc`; "spans:KEY" for spans with their probabilities, which may
        overlap, in `doc.spans[KEY]` and its `attrs["scores"]`, as `spancat` writes them; "beam:NAME" for an entity
        recognizer of the pipeline, whose beam is searched again
    rules : the name of a catalogue entry, a path of a rule file, or TOML text; none if empty. A path that does not
        exist is an error at the first document only, since a saved pipeline contains its rules
    labels : names of the K labels of scores, in order; with spans, fields that a document may lack, beside those that the
        rules declare; a beam has those of its recognizer
    scheme : of the labels; inferred from their names where empty
    scale : "log-softmax" or "raw", of scores; see `ilpinfer.models.external.from_logits`
    method, time_limit : as in `ilpinfer.decode`
    spans_key : where given, entities also go to `doc.spans[spans_key]`, with their probabilities under the rules in
        `attrs["scores"]`: the mean marginal probability of the labels of their tokens
    beam_width, beam_density : of the beam, as in `EntityRecognizer.beam_parse`
    smoothing : number added to each label's probability from the parses of the beam

    Raises
    ------
    AdapterError
        for a source, a scale or labels that do not fit.
    """

    def __init__(self, nlp: Any, name: str = NAME, **config: Any) -> None:
        unknown = [each for each in config if each not in DEFAULTS]
        if unknown:
            raise AdapterError(f"{name} has no option {unknown[0]!r}{suggestion(unknown[0], DEFAULTS)}")
        options = {**DEFAULTS, **config}
        self.nlp, self.name = nlp, name
        self.source = sources.check_source(options["source"])
        self._missing: str = ""
        self._take({each: options[each] for each in SAVED})
        given = options["rules"]
        if (
            isinstance(given, str)
            and "\n" not in given
            and given.endswith(".toml")
            and not Path(given).exists()
        ):
            self._missing = given
            given = ()
        self.set_rules(given or ())

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels that were given."""
        return tuple(self._options["labels"])

    @property
    def rules(self) -> RuleSet:
        """The rules in use."""
        return self._decoder.rules

    def set_rules(self, rules: Rules | str | Path) -> None:
        """Set other rules: a list, a rule set, or a value of the option `rules`."""
        options = self._options
        known = self._label_set() if sources.is_tokens(self.source) else None
        self._decoder = Decoder(
            as_rules(rules), known, method=options["method"], time_limit=options["time_limit"]
        )

    def __call__(self, doc: Any) -> Any:
        """Set the entities of a document."""
        if self._missing:
            raise AdapterError(f"{self.name}: rules: no file {self._missing!r}, and no rules were loaded")
        if not len(doc):
            return doc
        trellis = self._trellis(doc)
        key = self._options["spans_key"]
        if key is None:
            ids, probabilities = best_ids(trellis, self._decoder), None
        else:
            decision = decide(trellis, self._decoder)
            ids, probabilities = decision.ids, decision.probabilities
        spans = self._spans(doc, trellis.labels, ids)
        doc.set_ents(spans)
        if probabilities is not None:
            from spacy.tokens import SpanGroup

            scores = [float(probabilities[span.start : span.end].mean()) for span in spans]
            doc.spans[key] = SpanGroup(doc, name=key, spans=spans, attrs={"scores": scores})
        return doc

    def score(self, examples: Iterable[Any], **_: Any) -> dict[str, Any]:
        """Precision, recall and F1 of the entities of examples, for `nlp.evaluate`."""
        from spacy.scorer import get_ner_prf

        return dict(get_ner_prf(examples))

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        """Rules and options; the source is part of the pipeline's config."""
        return json.dumps({"rules": dump_rules(self.rules), **self._options}).encode()

    def from_bytes(self, data: bytes, *, exclude: Iterable[str] = ()) -> "ConstrainedNER":
        """Take the rules and options that `to_bytes` has written."""
        try:
            saved = json.loads(data)
            rules = parse_rules(saved.pop("rules"), self.name)
            self._take(saved)
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            raise AdapterError(f"{self.name}: these are no saved rules and options: {error}") from None
        self._missing = ""
        self.set_rules(rules)
        return self

    def to_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> None:
        """Write `rules.toml` and `options.json` to a folder."""
        folder = Path(path)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "rules.toml").write_text(dump_rules(self.rules), "utf-8")
        (folder / "options.json").write_text(json.dumps(self._options, indent=2) + "\n", "utf-8")

    def from_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> "ConstrainedNER":
        """Read what `to_disk` has written."""
        folder = Path(path)
        options = json.loads((folder / "options.json").read_text("utf-8"))
        rules = (folder / "rules.toml").read_text("utf-8")
        return self.from_bytes(json.dumps({**options, "rules": rules}).encode())

    def _take(self, options: dict[str, Any]) -> None:
        check_choice("scale", options["scale"], SCALES)
        for each in ("beam_width", "smoothing"):
            sources.check_positive(each, options[each])
        self._options = {each: options[each] for each in SAVED}

    def _label_set(self) -> LabelSet:
        if not self.labels:
            raise AdapterError(
                f"{self.name}: labels is empty; expected the names of the K labels that scores are of"
            )
        return LabelSet(self.labels, self._options["scheme"])

    def _trellis(self, doc: Any) -> Trellis:
        options, source = self._options, self.source
        if callable(source) or sources.is_tokens(source):
            return sources.token_trellis(
                doc, sources.token_rows(doc, source), self._label_set(), options["scale"]
            )
        kind, _, name = source.partition(":")
        if kind == "spans":
            fields = [*self.labels, *(field for field in self.rules.fields if "/" not in field)]
            return sources.spans_trellis(doc, name, [field for field in fields if field != OUTSIDE])
        if name not in self.nlp.component_names:
            raise AdapterError(
                f"{self.name}: no component {name!r}{suggestion(name, self.nlp.component_names)}"
            )
        ner = self.nlp.get_pipe(name)
        labels = sources.beam_labels(ner, name)
        beam = (options["beam_width"], options["beam_density"], options["smoothing"])
        return sources.token_trellis(doc, sources.beam_rows(doc, ner, labels, *beam), labels, "log-softmax")

    def _spans(self, doc: Any, labels: LabelSet, ids: Any) -> list[Any]:
        """The entities of a labelling; of nested ones the outermost."""
        from spacy.tokens import Span

        nested = [name for name in labels.fields if labels.scheme == "paths" and "/" in name]
        table = FieldTable.of(labels, nested)
        found = sorted((first, last, table.names[f]) for f, first, last in table.spans(np.asarray(ids)))
        return [Span(doc, first, last + 1, label=field) for first, last, field in found]
