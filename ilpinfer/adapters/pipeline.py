"""The last step of a token-classification pipeline of transformers, under rules."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from inspect import signature
from typing import Any

import numpy as np

from formulations import LabelSet
from formulations.dtypes import Floats
from formulations.messages import counted
from formulations.score_numbers import one_notice, score_array
from ilpinfer.adapters.alignment import Key
from ilpinfer.adapters.decisions import AdapterError, decide
from ilpinfer.adapters.encoding import POOLS, grouping_labels, is_usual
from ilpinfer.adapters.windows import merge
from ilpinfer.corpus.logits import from_logits
from ilpinfer.decoding.decoder import Decoder

Piece = dict[str, Any]
"""The library's record of a piece: word, scores, start, end, index, is_subword."""


@dataclass(frozen=True, eq=False)
class PostProcessor:
    """The last step of a pipeline: from the logits of a text's windows to entities. Only labels and scores differ from the library's."""

    pipeline: Any
    decoder: Decoder
    labels: LabelSet
    score: str
    combine: str
    crf: Mapping[str, Any]

    @one_notice
    def __call__(
        self, outputs: Any, aggregation_strategy: Any = None, ignore_labels: Sequence[str] | None = None
    ) -> list[dict[str, Any]]:
        """The entities of one text; the arguments are those of the pipeline's `postprocess`."""
        windows = outputs if isinstance(outputs, list) else [outputs]
        if aggregation_strategy is None:
            default = signature(type(self.pipeline).postprocess).parameters["aggregation_strategy"]
            aggregation_strategy = default.default
        text = windows[0]["sentence"]
        rows = [_rows(each["logits"], w) for w, each in enumerate(windows)]
        known = [
            self._pieces(each, text, windows[0], row, aggregation_strategy)
            for each, row in zip(windows, rows, strict=True)
        ]
        pieces, scores = self._joined(known, rows, windows, text)
        if not pieces:
            return []
        labelled = self._labelled(pieces, scores, text, str(aggregation_strategy.value))
        ignored = ["O"] if ignore_labels is None else ignore_labels
        outside = self.labels.outside if "O" in ignored else None
        return [
            each
            for each in self._entities(labelled, aggregation_strategy)
            if each.get("entity") not in (*ignored, outside) and each.get("entity_group") not in ignored
        ]

    def _entities(self, labelled: list[Piece], strategy: Any) -> Iterable[dict[str, Any]]:
        """The entities of labelled pieces, grouped by the library. Labels of a scheme that marks ends are converted to BIO first."""
        name = str(strategy.value)
        if name == "none" or is_usual(self.labels.notation):
            entities: list[dict[str, Any]] = self.pipeline.aggregate(labelled, strategy)
            return entities
        units = (
            self.pipeline.aggregate_words(labelled, strategy)
            if name in POOLS
            else self.pipeline.aggregate(labelled, type(strategy)("none"))
        )
        labels = grouping_labels([unit["entity"] for unit in units], self.labels.notation)
        grouped: list[dict[str, Any]] = self.pipeline.group_entities(
            [{**unit, "entity": label} for unit, label in zip(units, labels, strict=True)]
        )
        return grouped

    def _pieces(self, window: Any, text: str, first: Any, rows: Floats, strategy: Any) -> list[Piece]:
        """The pieces of a window without special ones, read by the library."""
        offsets, more = window["offset_mapping"], {}
        if first.get("word_to_chars_map") is not None:
            more = {"word_ids": window.get("word_ids"), "word_to_chars_map": first["word_to_chars_map"]}
        result: list[Piece] = self.pipeline.gather_pre_entities(
            text,
            window["input_ids"][0],
            rows,
            None if offsets is None else offsets[0],
            np.asarray(window["special_tokens_mask"][0]),
            strategy,
            **more,
        )
        return result

    def _joined(
        self, known: list[list[Piece]], rows: list[Floats], windows: list[Any], text: str
    ) -> tuple[list[Piece], Floats]:
        """Merge the pieces of all windows; their scores are (S, K)."""
        if len(known) == 1:
            return known[0], rows[0][[each["index"] for each in known[0]]]
        keys = [
            [(p["start"], p["end"], int(window["input_ids"][0][p["index"]])) for p in pieces]
            for pieces, window in zip(known, windows, strict=True)
        ]
        kept = [row[[p["index"] for p in pieces]] for row, pieces in zip(rows, known, strict=True)]
        every: list[list[int]] = [list(range(len(pieces))) for pieces in known]
        scale = "log-softmax" if self.crf.get("transitions") is None else "raw"
        keyed: list[list[Key]] = [list(each) for each in keys]
        merged = merge(kept, keyed, every, text=text, combine=self.combine, scale=scale)
        owners = zip(merged.window.tolist(), merged.position.tolist(), strict=True)
        return [known[w][i] for w, i in owners], merged.logits

    def _labelled(self, pieces: list[Piece], rows: Floats, text: str, strategy: str) -> list[Piece]:
        """Pieces with scores in which the label of the best labelling has the largest score, its probability."""
        words = strategy in POOLS
        ids = np.cumsum([i > 0 and not (words and p["is_subword"]) for i, p in enumerate(pieces)]).tolist()
        groups = [
            [p for p, number in zip(pieces, ids, strict=True) if number == n] for n in range(ids[-1] + 1)
        ]
        tokens = [_text(group, text) for group in groups]
        trellis = from_logits(
            rows, self.labels, tokens=tokens, word_ids=ids, pool=POOLS.get(strategy, "first"), **self.crf
        )
        decision = decide(trellis, self.decoder, self.score)
        scores = np.full((len(trellis), len(self.labels)), -1.0)
        scores[np.arange(len(trellis)), decision.ids] = decision.probabilities
        return [{**piece, "scores": scores[number]} for piece, number in zip(pieces, ids, strict=True)]


def _text(pieces: Sequence[Piece], text: str) -> str:
    if pieces[0]["start"] is None:
        return "".join(piece["word"] for piece in pieces)
    return text[pieces[0]["start"] : pieces[-1]["end"]]


def _rows(logits: Any, window: int) -> Floats:
    """Logits (S, K) of a window's only sequence."""
    rows = logits[0]
    if len(logits) != 1:
        raise AdapterError(f"window {window} has logits of {counted(len(logits), 'sequence')}; expected one")
    return score_array(rows, f"logits of window {window}", 2)
