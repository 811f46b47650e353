"""The best labelling of a trellis under rules with the probabilities of its labels, for all adapters."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from formulations import Trellis, load_rules, parse_rules
from formulations.automata.machine import TooManyStates
from formulations.dtypes import Floats, Integers
from formulations.errors import InferenceError
from formulations.messages import suggestion
from formulations.problem.missing_tokens import NoTokens
from ilpinfer.core.rule_compiler import Rules
from ilpinfer.decoding.decoder import Decoder

PROBABILITIES = ("rules", "model")
"""Kinds of scores of entities: probabilities under the rules, or probabilities of the model alone."""


WITH_TOKENS = "give text= and offset_mapping=, or pieces="
"""How to give tokens to `ilpinfer.adapters.huggingface.entities`; all other adapters have tokens."""


class AdapterError(InferenceError, ValueError):
    """Input of an adapter that does not fit; the message names the value, the place and the way out."""


@dataclass(frozen=True, eq=False)
class Decision:
    """The best labelling of a trellis under rules.

    Parameters
    ----------
    ids : ndarray of int, shape (T,)
        Label of each token.
    probabilities : ndarray of float, shape (T,)
        Probability of that label.
    """

    ids: Integers
    probabilities: Floats


def best_ids(trellis: Trellis, decoder: Decoder) -> Integers:
    """The best labelling under a decoder's rules.

    Parameters
    ----------
    trellis : Trellis
        Scores of T tokens, nats.
    decoder : Decoder
        Rules, method and time limit.

    Returns
    -------
    ndarray of int, shape (T,)
        Label of each token.

    Raises
    ------
    AdapterError
        If no labelling keeps the hard rules, or none was found in time, and if rules look at tokens that are not
        known.
    """
    try:
        solution = decoder.decode(trellis)
    except NoTokens as error:
        raise AdapterError(str(NoTokens(error.rule, WITH_TOKENS))) from None
    if not solution.has_labelling or solution.score == -np.inf:
        found = "no labelling keeps the hard rules"
        if solution.status != "infeasible":
            found = f"{solution.method.partition(':')[0]} found no labelling that keeps the hard rules"
        reason = solution.reason or "give rules a penalty, or the method more time"
        raise AdapterError(f"{len(trellis)} tokens, {trellis.tokens[0]!r:.40} the first: {found}; {reason}")
    return solution.ids


def decide(trellis: Trellis, decoder: Decoder, score: str = "rules") -> Decision:
    """The best labelling under a decoder's rules, with the probability of each of its labels.

    Parameters
    ----------
    trellis : Trellis
        Scores of T tokens, nats.
    decoder : Decoder
        Rules, method and time limit.
    score : {"rules", "model"}, default "rules"
        Marginal probabilities under the rules, as `ilpinfer.marginals` defines them, or under the model
        alone.

    Returns
    -------
    Decision
        Labels and probabilities of the T tokens.

    Raises
    ------
    AdapterError
        If no labelling keeps the hard rules or none was found in time, and if probabilities under the rules
        need too many states.
    """
    ids = best_ids(trellis, decoder)
    chances = _marginals(trellis, decoder, score)
    return Decision(ids, np.asarray(chances[np.arange(len(trellis)), ids]))


def _marginals(trellis: Trellis, decoder: Decoder, score: str) -> Floats:
    from ilpinfer.exact.marginals import marginals

    if score == "model":
        return marginals(trellis).labels
    try:
        return decoder.marginals(trellis).labels
    except TooManyStates as error:
        raise AdapterError(
            f"probabilities under these rules are too expensive ({error}); score='model' gives those of the model"
        ) from None


def check_choice(what: str, value: object, known: tuple[str, ...]) -> str:
    """Check that a value is one of a few texts.

    Parameters
    ----------
    what : str
        Name of the option, for the message.
    value : object
        Value of the option.
    known : tuple of str
        Values that are allowed.

    Returns
    -------
    str
        The value.

    Raises
    ------
    AdapterError
        For another value.

    Examples
    --------
    >>> check_choice("score", "model", ("rules", "model"))
    'model'
    """
    if value not in known:
        raise AdapterError(f"no {what} {value!r}{suggestion(str(value), known)}")
    return str(value)


def as_rules(rules: Rules | str | Path) -> Rules:
    """Rules as they are, or those of a catalogue entry, a file, or TOML text.

    Parameters
    ----------
    rules : Rules, str or Path
        Rules and features, a rule set, the name of a catalogue entry, the path of a rule file, or TOML text,
        which has several lines.

    Returns
    -------
    Rules
        The rules.

    Raises
    ------
    RuleError
        For input that `formulations.load_rules` or `formulations.parse_rules` refuses.

    Examples
    --------
    >>> as_rules("citations")
    RuleSet('citations': 11 rules, 0 features, 13 fields)
    """
    if isinstance(rules, str) and "\n" in rules:
        return parse_rules(rules)
    return load_rules(rules) if isinstance(rules, str | Path) else rules
