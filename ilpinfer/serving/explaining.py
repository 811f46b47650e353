"""What the request for one sequence may ask beside its solution."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from formulations import LabelSet, Trellis
from formulations.grid import FORBIDDEN
from ilpinfer.core.solution import Solution, finite
from ilpinfer.decoding.decode import decode
from ilpinfer.decoding.decoder import Decoder
from ilpinfer.decoding.explaining import Searches
from ilpinfer.exact.marginals import NoLabelling, marginals_within
from ilpinfer.pipelines.trellises import ScoredSequence
from ilpinfer.serving.requests import DecodeOptions

BUDGET = 200_000
"""Joint states of marginals: a twentieth of a second."""
DIGITS = 4
"""Of probabilities."""


def allowed(scored: ScoredSequence, forbidden: Mapping[str, Sequence[str]] | None) -> Trellis:
    """The trellis without labels that are forbidden at tokens; ValueError for unknown ones."""
    trellis = scored.trellis
    assert trellis is not None  # a single sequence without scores is an error already
    if not forbidden:
        return trellis
    places = {t: place for place, t in enumerate(_positions(scored, trellis))}
    lattice, node = trellis.lattice, trellis.lattice.node.copy()
    label = lattice.labels_of(np.arange(lattice.states))
    for position, names in forbidden.items():
        place = places.get(int(position)) if position.isdecimal() and len(position) < 10 else None
        if place is None:
            raise ValueError(
                f"forbidden: no token {position[:20]!r} has scores; positions are 0 to {max(places)}"
            )
        try:
            ids = trellis.labels.ids(names)
        except ValueError as error:
            raise ValueError(f"forbidden, {position}: {str(error).partition(': ')[2]}") from None
        node[place, np.isin(label, ids)] = FORBIDDEN
    result = Trellis._from(replace(lattice, node=node), trellis.labels, trellis.tokens, "")
    return result.with_given(trellis.given)


def further(
    decoder: Decoder,
    scored: ScoredSequence,
    trellis: Trellis,
    solution: Solution,
    options: DecodeOptions,
    left: Callable[[], float],
) -> dict[str, Any]:
    """The further keys of an answer that options ask for; DeadlinePassed where no time is left for them."""
    result: dict[str, Any] = {}
    if options.explain is not False:
        result["explanation"] = _explanation(decoder, scored, trellis, solution, left)
    if type(options.explain) is int and solution.has_labelling:
        result["explanation"]["change"] = _change(scored, trellis, solution, options.explain, left)
    if options.marginals:
        left()
        result["marginals"] = _marginals(decoder, scored, trellis, solution)
    if options.questions and solution.has_labelling:
        asked = replace(scored, trellis=trellis)
        try:
            result["questions"] = asked.questions(decoder.rules, options.questions, left())
        except NoLabelling:  # since no time was left to list some
            left()
            raise
    return result


def _explanation(
    decoder: Decoder,
    scored: ScoredSequence,
    trellis: Trellis,
    solution: Solution,
    left: Callable[[], float],
) -> dict[str, Any]:
    viterbi = decode(trellis, decoder.rules, method="viterbi", time_limit=left())
    positions, context = _positions(scored, trellis), viterbi.context
    assert context is not None

    def places(one: Solution) -> dict[str, list[list[int]]]:
        broken = {}
        for name, count in one.violations.items():
            if count and one.has_labelling:
                left()
                trials = context.broken(name, one.labels)
                broken[name] = [[positions[t] for t in trial.tokens] for trial in trials]
        return broken

    labels = trellis.labels
    rules = [(name, rule.penalty, rule.reason) for name, rule in context.named().items()]
    return {
        "label_names": list(labels.names),
        "fields": fields_of(labels),
        "rules": [{"name": name, "penalty": finite(penalty), "reason": why} for name, penalty, why in rules],
        "notices": list(context.rules.compiled(labels).notices),
        "places": places(solution),
        "viterbi": {
            **scored.row(viterbi.to_dict(certificate=False)),
            "places": places(viterbi),
        },
    }


def _change(
    scored: ScoredSequence, trellis: Trellis, solution: Solution, position: int, left: Callable[[], float]
) -> dict[str, Any]:
    """Why the token at a position has its label."""
    positions, context = list(_positions(scored, trellis)), solution.context
    assert context is not None
    if position not in positions:
        raise ValueError(f"explain: no token {position} has scores; positions are 0 to {max(positions)}")
    limited = replace(context, questions=Searches(left()))
    [change] = limited.questions.changes(limited, solution.ids, positions.index(position))
    moved: dict[str, Any] = {
        name: tuple(positions[t] for t in getattr(change, name)) for name in ("tokens", "differs")
    }
    if change.other is not None:
        other = dict(zip(positions, change.other, strict=True))
        moved["other"] = tuple(other.get(t, "") for t in range(max(positions) + 1))
    change = replace(change, **moved)
    return {**change.to_dict(), "words": str(change)}


def fields_of(labels: LabelSet) -> list[str]:
    """The field of each label, the innermost where there are several."""
    result = list(labels.names)
    for field in labels.fields.values():
        for k in np.flatnonzero(field.member).tolist():
            result[k] = field.name
    return result


def _marginals(
    decoder: Decoder, scored: ScoredSequence, trellis: Trellis, solution: Solution
) -> dict[str, Any]:
    """Probabilities under the rules, but for those that take too many states; None for tokens without scores."""
    known: dict[str, Any] = {"labels": None, "entities": [], "labelling": None}
    try:
        found, left_out = marginals_within(trellis, decoder.rules, BUDGET)
    except ValueError as error:
        return {**known, "constrained": False, "left_out": [], "reason": str(error)}
    positions = _positions(scored, trellis)
    rows: list[list[float] | None] = [None] * len(scored.example.tokens or trellis.tokens)
    for t, row in zip(positions, found.labels.round(DIGITS).tolist(), strict=True):
        rows[t] = row
    if solution.has_labelling:
        known["labelling"] = found.probability(solution.ids)
        known["entities"] = [
            {"field": name, "tokens": list(positions[begin:end]), "probability": round(chance, DIGITS)}
            for name, begin, end, chance in found.entities(solution.ids)
        ]
    constrained = not left_out or bool(found.problem.rules)
    reason = next(iter(left_out.values()), "")
    return {**known, "labels": rows, "constrained": constrained, "left_out": list(left_out), "reason": reason}


def _positions(scored: ScoredSequence, trellis: Trellis) -> Sequence[int]:
    return range(len(trellis)) if scored.positions is None else scored.positions
