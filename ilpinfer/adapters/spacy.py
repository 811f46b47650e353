"""The component `ilpinfer_ner` of spaCy: entities of a document under rules."""

import json
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from formulations import LabelSet, RuleSet, Trellis, dump_rules, parse_rules
from formulations.errors import RuleNotice, stack_level
from formulations.files import write_whole
from formulations.labels.schemes import OUTSIDE
from formulations.messages import suggestion
from ilpinfer.adapters import spacy_sources as sources
from ilpinfer.adapters.decisions import PROBABILITIES, AdapterError, best_ids, check_choice, decide
from ilpinfer.adapters.spacy_options import DEFAULTS, NAME, SAVED
from ilpinfer.core.rule_compiler import Rules
from ilpinfer.corpus.logits import SCALES
from ilpinfer.decoding.decoder import Decoder
from ilpinfer.evaluation.counts import FieldTable


class ConstrainedNER:
    """Component that sets `doc.ents` to the best entities under rules.

    `nlp.add_pipe("ilpinfer_ner", config={…})` makes it. Labels follow each other as their scheme allows. The
    component replaces entities that an earlier component has set. It does not change `doc.spans`, except for
    `spans_key`.

    Parameters
    ----------
    nlp : Language
        Pipeline, in which a source finds other components.
    name : str, default "ilpinfer_ner"
        Name of the component.
    **config : dict of str to object
        Options of the component; see Notes.

    Raises
    ------
    AdapterError
        For an unknown option, and for a source, a scale or labels that do not fit.

    Notes
    -----
    The options of `config` are:

    - source : str or callable, default "user_data:ilpinfer_scores". Scores (T, K) in nats from `doc.user_data[KEY]`
      ("user_data:KEY"), from `doc._.NAME` ("extension:NAME") or from a function of a document, registered as `@misc`; spans,
      which may overlap, with probabilities in `attrs["scores"]`, as from `spancat` ("spans:KEY"); or the beam of an entity
      recognizer of the pipeline, which is decoded again ("beam:NAME").
    - rules : str, default "". The name of a catalogue entry, the path of a rule file, or TOML text. As a saved pipeline contains
      its rules, a path that does not exist raises an error only at the first document.
    - labels : list of str, default []. Names of the K labels of scores, in order; with spans, further fields that a document may lack,
      in addition to the declared fields of the rules. A beam has the labels of its recognizer.
    - scheme : str, default "". Scheme of the labels; inferred from their names if empty.
    - never : list of str, default []. Labels that are never predicted, such as `[PAD]`; the scheme is that of the others.
    - scale : {"log-softmax", "raw"}. Normalisation of scores; see `ilpinfer.models.external.from_logits`.
    - method : str, default "auto". "auto", or a name from `ilpinfer.methods()`.
    - time_limit : float or None, default None. Time limit in seconds for each document.
    - spans_key : str or None, default None. Key of `doc.spans` for the entities, with their scores in `attrs["scores"]`.
    - score : {"rules", "model", "entity"}. Scores of entities: the mean probability of the labels of their tokens, under the rules or
      or by the scores alone, or the probability of the whole entity under the rules.
    - beam_width, beam_density : int and float, default 16 and 0. As in `EntityRecognizer.beam_parse`.
    - smoothing : float, default 1e-4. Probability that is added to each label at each token of a beam.

    Examples
    --------
    >>> import numpy as np, spacy
    >>> from ilpinfer import constraints as C
    >>> nlp = spacy.blank("en")
    >>> component = nlp.add_pipe("ilpinfer_ner", config={"labels": ["O", "B-PER", "I-PER"]})
    >>> component.set_rules([C.at_most_runs("PER", 1)])
    >>> doc = nlp.make_doc("Ada met Bob Byron")
    >>> doc.user_data["ilpinfer_scores"] = np.array([[0, 2, 0], [2, 0, 0], [0, 3, 0], [0, 0, 1]], float)
    >>> [(ent.text, ent.label_) for ent in nlp(doc).ents]
    [('Bob Byron', 'PER')]
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
        """Names of the labels in `config`."""
        return tuple(self._options["labels"])

    @property
    def rules(self) -> RuleSet:
        """The rules in use."""
        return self._decoder.rules

    def set_rules(self, rules: Rules) -> None:
        """Replace the rules.

        Parameters
        ----------
        rules : Rules, str or Path
            Rules and features, a rule set, the name of a catalogue entry, the path of a rule file, or TOML
            text.

        Raises
        ------
        ValueError
            For invalid rules, and, if labels are known, for rules that do not fit them.
        """
        options = self._options
        known = self._label_set() if sources.is_tokens(self.source) else None
        self._decoder = Decoder(
            rules, known, method=options["method"], time_limit=options["time_limit"], never=options["never"]
        )
        if known is not None and known.notice:
            warnings.warn(f"{self.name}: {known.notice}", RuleNotice, stacklevel=stack_level())

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
            decision = decide(trellis, self._decoder, self._options["score"])
            ids, probabilities = decision.ids, decision.probabilities
        spans = self._spans(doc, trellis.labels, ids)
        doc.set_ents(spans)
        if probabilities is not None:
            from spacy.tokens import SpanGroup

            scores = [float(probabilities[span.start : span.end].mean()) for span in spans]
            doc.spans[key] = SpanGroup(doc, name=key, spans=spans, attrs={"scores": scores})
        return doc

    def score(self, examples: Iterable[Any], **_: Any) -> dict[str, Any]:
        """Precision, recall and F1 of the entities of examples, for `nlp.evaluate`.

        Parameters
        ----------
        examples : iterable of Example
            Examples of spaCy, with predicted and reference documents.
        **_ : object
            Further arguments of spaCy, which have no effect.

        Returns
        -------
        dict of str to object
            `ents_p`, `ents_r`, `ents_f` and `ents_per_type`.
        """
        from spacy.scorer import get_ner_prf

        return dict(get_ner_prf(examples))

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        """Rules and options as bytes; the source is part of the pipeline's config.

        Parameters
        ----------
        exclude : iterable of str, optional
            Argument of spaCy, without effect.

        Returns
        -------
        bytes
            JSON text in UTF-8.
        """
        return json.dumps({"rules": dump_rules(self.rules), **self._options}).encode()

    def from_bytes(self, data: bytes, *, exclude: Iterable[str] = ()) -> "ConstrainedNER":
        """Restore the rules and options of `to_bytes`.

        Parameters as for `to_bytes`, and one more.

        Parameters
        ----------
        data : bytes
            Bytes from `to_bytes`.

        Returns
        -------
        ConstrainedNER
            The component itself.

        Raises
        ------
        AdapterError
            For other bytes.
        """
        try:
            saved = json.loads(data)
            rules = parse_rules(saved.pop("rules"), self.name)
            self._take({"never": [], "score": "rules", **saved})
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            raise AdapterError(f"{self.name}: saved rules and options cannot be read: {error}") from None
        self._missing = ""
        self.set_rules(rules)
        return self

    def to_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> None:
        """Write `rules.toml` and `options.json` to a folder, which is created if it does not exist.

        Parameters as for `from_disk`.
        """
        folder = Path(path)
        folder.mkdir(parents=True, exist_ok=True)
        write_whole(folder / "rules.toml", dump_rules(self.rules).encode())
        write_whole(folder / "options.json", f"{json.dumps(self._options, indent=2)}\n".encode())

    def from_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> "ConstrainedNER":
        """Restore the rules and options of `to_disk`.

        Parameters
        ----------
        path : str or Path
            Path of the folder.
        exclude : iterable of str, optional
            Argument of spaCy, without effect.

        Returns
        -------
        ConstrainedNER
            The component itself.

        Raises
        ------
        AdapterError
            For a file with other content.
        OSError
            For a file that cannot be read.
        """
        folder = Path(path)
        options = json.loads((folder / "options.json").read_text("utf-8"))
        rules = (folder / "rules.toml").read_text("utf-8")
        return self.from_bytes(json.dumps({**options, "rules": rules}).encode())

    def _take(self, options: dict[str, Any]) -> None:
        check_choice("scale", options["scale"], SCALES)
        check_choice("score", options["score"], PROBABILITIES)
        for each in ("beam_width", "smoothing"):
            sources.check_positive(each, options[each])
        self._options = {each: options[each] for each in SAVED}

    def _label_set(self) -> LabelSet:
        if not self.labels:
            raise AdapterError(
                f"{self.name}: labels is empty; expected the names of the K labels of the scores"
            )
        return LabelSet(self.labels, self._options["scheme"], never=frozenset(self._options["never"]))

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
        """The entities of a labelling; only the outermost of nested entities."""
        from spacy.tokens import Span

        nested = [name for name in labels.fields if labels.scheme == "paths" and "/" in name]
        table = FieldTable.of(labels, nested)
        found = sorted((first, last, table.names[f]) for f, first, last in table.spans(np.asarray(ids)))
        return [Span(doc, first, last + 1, label=field) for first, last, field in found]
