"""Completion of partly labelled scored examples by the best labelling with the known labels."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from formulations import RuleSet, Trellis
from formulations import constraints as C
from formulations.arguments import instance, instances
from formulations.dtypes import Booleans
from formulations.messages import brief, counted
from formulations.time_limits import check
from ilpinfer.decoding.decoder import Decoder
from ilpinfer.learning.task import LARGEST, SECONDS
from ilpinfer.models.labelled_sequences import partly_labelled
from ilpinfer.pipelines.trellises import ScoredExample

EXPECTED = "a ScoredExample, such as ScoredExample(model.trellis(tokens), labels)"


def completed(
    examples: Sequence[ScoredExample], rules: RuleSet
) -> tuple[list[ScoredExample], list[Booleans]]:
    """Examples with gold labels at all tokens, and which of these labels are known (T,).

    Unknown labels come from the best labelling under the rules that has the known labels and keeps the scheme if they do.
    """
    read = _checked(examples)
    trellises = [trellis for trellis, _, unknown in read if unknown]
    marked = any(part.any() for trellis in trellises for part in trellis.labels.invalid)
    scheme = (C.valid_scheme(penalty=LARGEST, name="labels keep to their scheme"),) if marked else ()
    decoder = Decoder(replace(rules, items=(*rules.items, *scheme)), time_limit=SECONDS)
    result, known = list[ScoredExample](), list[Booleans]()
    for place, (example, (trellis, gold, unknown)) in enumerate(zip(examples, read, strict=True)):
        if unknown:
            check()
            gold = _completed(decoder, trellis, gold, unknown, place)
        result.append(replace(example, gold=gold))
        known.append(np.array([t not in unknown for t in range(len(gold))], bool))
    return result, known


def _checked(examples: Sequence[ScoredExample]) -> list[tuple[Trellis, tuple[str, ...], frozenset[int]]]:
    """Scores, gold labels and positions of unknown labels; ValueError for no examples, or if these do not fit together."""
    given = instances(examples, ScoredExample, "examples", EXPECTED)
    if not given:
        raise ValueError("no labelled sequences to learn from: expected at least one")
    result = list[tuple[Trellis, tuple[str, ...], frozenset[int]]]()
    for place, example in enumerate(given):
        trellis = instance(example.trellis, Trellis, f"sequence {place}: trellis", "a Trellis")
        gold, unknown = partly_labelled(example.gold, f"sequence {place}: gold", "label names")
        if len(gold) != len(trellis):
            raise ValueError(
                f"sequence {place}: {counted(len(gold), 'gold label')} for {counted(len(trellis), 'token')}; expected one for each"
            )
        result.append((trellis, gold, unknown))
        scheme = result[0][0].labels.notation
        if trellis.labels.notation != scheme:
            raise ValueError(
                f"sequence {place}: labels of the scheme {trellis.labels.notation}, but those of sequence 0 are {scheme}; "
                "score all by one model, or name the scheme"
            )
    return result


def _completed(
    decoder: Decoder, trellis: Trellis, gold: tuple[str, ...], unknown: frozenset[int], place: int
) -> tuple[str, ...]:
    """The labels, completed; a known label that the trellis lacks does not constrain the others."""
    names = {*trellis.labels.names}
    given = {t: name for t, name in enumerate(gold) if t not in unknown and name in names}
    found = decoder.decode(trellis, given=given)
    if not found.has_labelling:
        raise ValueError(
            f"sequence {place}, {brief(trellis.tokens)}, has no labelling with its known labels that keeps the hard rules; give these a penalty, correct the "
            "labels, or leave the sequence out"
        )
    return tuple(found.labels[t] if t in unknown else name for t, name in enumerate(gold))
