"""Decoding for all adapters: the best labelling under rules, and the probabilities of its labels."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from formulations import Trellis
from formulations.automata.machine import TooManyStates
from formulations.dtypes import Floats, Integers
from formulations.errors import InferenceError
from formulations.messages import counted, suggestion
from formulations.problem.problem import NoTokens
from ilpinfer.decoding.decoder import Decoder

if TYPE_CHECKING:
    from ilpinfer.exact.marginals import Marginals

PROBABILITIES = ("rules", "model", "entity")
"""Kinds of scores of entities: means of the probabilities of their labels under the rules, or by the model alone, and the
probability of the entity as a whole under the rules."""


TOKENS_HINT = "give text= and offset_mapping=, or pieces="
"""Advice for `ilpinfer.adapters.huggingface.entities`; all other adapters have tokens."""


class AdapterError(InferenceError, ValueError):
    """Invalid input of an adapter; the message names the value, its place and a remedy."""


@dataclass(frozen=True, eq=False)
class Decision:
    ids: Integers  # (T,)
    probabilities: Floats  # (T,)


def best_ids(trellis: Trellis, decoder: Decoder) -> Integers:
    try:
        solution = decoder.decode(trellis)
    except NoTokens as error:
        raise AdapterError(str(NoTokens(error.rule, TOKENS_HINT))) from None
    if not solution.has_labelling or solution.score == -np.inf:
        what, reason = "infeasible", solution.reason
        if solution.status == "unknown" and not solution.error:
            what = f"{solution.method.partition(':')[0]} found no labelling that keeps the hard rules"
            reason = "give rules a penalty, or the method more time"
        raise AdapterError(
            f"sequence of {counted(len(trellis), 'token')} that begins with {trellis.tokens[0]!r:.40}: {what}; {reason}"
        )
    return solution.ids


def decide(trellis: Trellis, decoder: Decoder, score: str = "rules") -> Decision:
    """The best labelling under the decoder's rules, and the probabilities of its labels."""
    ids = best_ids(trellis, decoder)
    chances = _marginals(trellis, decoder, score)
    probabilities = np.asarray(chances.labels[np.arange(len(trellis)), ids])
    for _, begin, end, chance in chances.entities(ids) if score == "entity" else ():
        probabilities[begin:end] = chance
    return Decision(ids, probabilities)


def _marginals(trellis: Trellis, decoder: Decoder, score: str) -> "Marginals":
    from ilpinfer.exact.marginals import marginals

    if score == "model":
        return marginals(trellis)
    try:
        return marginals(trellis, decoder.rules)
    except TooManyStates as error:
        raise AdapterError(
            f"probabilities under these rules are too expensive ({error}); score='model' gives the model's probabilities"
        ) from None


def check_choice(what: str, value: object, known: tuple[str, ...]) -> str:
    if value not in known:
        raise AdapterError(f"no {what} {value!r}{suggestion(str(value), known)}")
    return str(value)
