"""Rules first, then the model: what rules have settled gets no features, and the decoder walks the rest.

Liao et al. 2009, section 2, third method, and section 3.1. Between tokens that are open the chain leads through the
labels that rules have fixed, so that the rest of the labelling is the best beside them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from formulations import Rule, Trellis
from formulations.compiled.lattice import Lattice
from formulations.grid import FORBIDDEN, Grid, add, snap
from ilpinfer.models.crf import CRF
from ilpinfer.models.token_rules import Allowed, TokenRules

Floats = NDArray[np.float64]
Path = NDArray[np.int64]

REMEMBERED = 256
"""How many passages between open tokens are kept."""


@dataclass(frozen=True)
class RulesFirst:
    """A conditional random field behind hard rules on single tokens; without rules, the field by itself.

    Parameters
    ----------
    model : scores what the rules leave open; it keeps line breaks
    rules : as `TokenRules` takes them
    valid : whether steps that the labels' scheme rules out are forbidden, so that rules reach neighbours, too

    Raises
    ------
    ValueError
        as `TokenRules`, and for a model that takes line breaks out.
    """

    model: CRF
    rules: tuple[Rule, ...] = ()
    valid: bool = True

    def __post_init__(self) -> None:
        if self.model.without_line_breaks:
            raise ValueError("rules that come first need a model that keeps line breaks")
        self.token_rules  # noqa: B018 - raises for rules that do not fit

    @cached_property
    def token_rules(self) -> TokenRules:
        """The rules, read for the model's labels."""
        return TokenRules(self.model.labels, self.rules, self.valid)

    def ids(self, tokens: Sequence[str]) -> Path:
        """Label ids (T,) of the best labelling that keeps the rules.

        Raises
        ------
        ValueError
            where no labelling does.
        """
        allowed = self.token_rules.allowed(tokens)
        at = open_tokens(allowed)
        return self.best(allowed, at, self.emissions(tokens, at))

    def labels(self, tokens: Sequence[str]) -> list[str]:
        """Names of the best labelling that keeps the rules; see `ids`."""
        names = self.model.labels.names
        return [names[k] for k in self.ids(tokens).tolist()]

    def emissions(self, tokens: Sequence[str], at: Sequence[int]) -> Floats:
        """(n, K) scores of the tokens `at`, in nats; features of others are not worked out."""
        if self.model.template is None:
            raise ValueError("this model has no template for features: rules that come first need one")
        features = self.model.template.features(tokens, at)
        return self.model.emissions([features[t] for t in at])

    def best(self, allowed: Allowed, at: Sequence[int], emissions: Floats) -> Path:
        """Label ids (T,) of the best labelling, given what is left to each token and the scores (n, K) of open ones."""
        from ilpinfer.exact.viterbi import viterbi

        found = np.array([labels.bit_length() - 1 for labels in allowed], np.int64)
        if at:
            found[list(at)] = viterbi(self.lattice(allowed, at, emissions))[1]
        return found

    def lattice(self, allowed: Allowed, at: Sequence[int], emissions: Floats) -> Lattice:
        """The lattice of the open tokens `at`; edges lead through the first and last label fixed between two of them.

        What lies between those is the same for all labellings, and left out.
        """
        left = np.stack([self.token_rules.mask(allowed[t]) for t in at])
        node = np.where(left, snap(emissions), FORBIDDEN)
        fixed = [labels.bit_length() - 1 for labels in allowed]
        if at[0] > 0:
            node[0] = add(node[0], self._transitions[fixed[at[0] - 1]])
        if at[-1] + 1 < len(fixed):
            node[-1] = add(node[-1], self._transitions[:, fixed[at[-1] + 1]])
        passages = [(fixed[s + 1], fixed[t - 1]) if t > s + 1 else None for s, t in pairwise(at)]
        kinds = list(dict.fromkeys(passages)) or [None]
        step = np.array([kinds.index(passage) for passage in passages], np.int64)
        return Lattice(node, np.stack([self._edges(kind) for kind in kinds]), step)

    def _edges(self, passage: tuple[int, int] | None) -> Grid:
        """(K, K) scores of steps from one open token to the next, through the first and last label between them."""
        if passage is None:
            return self._transitions
        known = self._passages.get(passage)
        if known is None:
            if len(self._passages) >= REMEMBERED:
                self._passages.clear()
            first, last = passage
            known = add(self._transitions[:, first][:, None], self._transitions[last][None, :])
            self._passages[passage] = known
        return known

    @cached_property
    def _passages(self) -> dict[tuple[int, int], Grid]:
        return {}

    @cached_property
    def _transitions(self) -> Grid:
        scores = snap(self.model.learnt.transitions)
        return np.where(self.model.labels.invalid[0][1:], FORBIDDEN, scores) if self.valid else scores

    def trellis(self, tokens: Sequence[str]) -> Trellis:
        """All T tokens, for further rules and any decoder: clamped ones score 0, labels ruled out are forbidden."""
        allowed = self.token_rules.allowed(tokens)
        at = open_tokens(allowed)
        scores = np.zeros((len(tokens), len(self.model.labels)))
        if at:
            scores[at] = self.emissions(tokens, at)
        scores[~np.stack([self.token_rules.mask(labels) for labels in allowed])] = -np.inf
        return Trellis.from_emissions(
            scores, self.model.learnt.transitions, labels=self.model.labels, tokens=tokens
        )


def open_tokens(allowed: Allowed) -> list[int]:
    """Positions of the tokens that have more than one label left."""
    return [t for t, labels in enumerate(allowed) if labels & (labels - 1)]


def overwritten(path: Path, allowed: Allowed, emissions: Floats, transitions: Floats) -> Path:
    """A labelling with what rules do not allow written over (Liao et al. 2009, section 2, second method).

    From left to right, a token gets the label, of those left to it, that scores best between its neighbours as they
    then are; nothing else moves.

    Parameters
    ----------
    path : (T,) label ids
    allowed : what is left to each token
    emissions : (T, K) nats
    transitions : (K, K) nats
    """
    found = path.copy()
    for t, labels in enumerate(allowed):
        if labels >> int(found[t]) & 1:
            continue
        scores = emissions[t].copy()
        if t > 0:
            scores += transitions[found[t - 1]]
        if t + 1 < len(found):
            scores += transitions[:, found[t + 1]]
        found[t] = max((k for k in range(len(scores)) if labels >> k & 1), key=scores.__getitem__)
    return found
