"""Rules first, then the model: only tokens that rules leave open get features and are decoded.

Liao et al. 2009, section 2, third method, and section 3.1. Between tokens that are open the chain leads through the
labels that rules have fixed, so that the rest of the labelling is the best beside them. Several sequences are one
chain, with edges of score 0 from each to the next.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, islice

import numpy as np

from formulations import LabelSet, Rule, RuleSet, Trellis
from formulations.automata.lattice import Lattice
from formulations.constraints.scheme import ValidScheme
from formulations.dtypes import Booleans, Floats, Integers
from formulations.grid import FORBIDDEN, Grid, add, snap
from ilpinfer.models.crf import CRF
from ilpinfer.models.crf.token_rules import Allowed, TokenRules, is_token_rule
from ilpinfer.models.sequence_model import SequenceModel

BATCH = 64
"""How many sequences are decoded together."""


@dataclass(frozen=True)
class OpenTokens:
    """What rules leave of several sequences with N tokens in all.

    Parameters
    ----------
    allowed : N sets of labels
    fixed : (N,) the label of each token that has one left
    at : (n,) places of the tokens that are open
    first, last : (n,) whether an open token is the first or last one that is open in its sequence
    before, after : (N,) whether a token has others of its sequence before and after it
    """

    allowed: Allowed
    fixed: Integers
    at: Integers
    first: Booleans
    last: Booleans
    before: Booleans
    after: Booleans

    @classmethod
    def of(cls, allowed: Sequence[Allowed]) -> "OpenTokens":
        """From what is left to the tokens of each sequence."""
        lengths = np.array([len(a) for a in allowed])
        together = list(chain.from_iterable(allowed))
        ends = np.cumsum(lengths)
        before, after = np.ones(len(together), bool), np.ones(len(together), bool)
        before[ends - lengths] = after[ends - 1] = False
        at = np.array([t for t, labels in enumerate(together) if labels & (labels - 1)], np.int64)
        owner = np.repeat(np.arange(len(lengths)), lengths)[at]
        first = np.append(True, owner[1:] != owner[:-1])[: len(at)]
        last = np.append(first[1:], True)[: len(at)]
        fixed = np.array([labels.bit_length() - 1 for labels in together], np.int64)
        return cls(together, fixed, at, first, last, before, after)


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
        as `TokenRules`, and for a model that takes line breaks out or has no template.
    """

    model: CRF
    rules: tuple[Rule, ...] = ()
    valid: bool = True

    def __post_init__(self) -> None:
        if self.model.without_line_breaks or self.model.template is None:
            raise ValueError("rules that come first need a model that has a template and keeps line breaks")
        self.token_rules  # noqa: B018 - raises for rules that do not fit

    @cached_property
    def token_rules(self) -> TokenRules:
        """The rules, read for the model's labels."""
        return TokenRules(self.model.labels, self.rules, self.valid)

    def labels(self, tokens: Sequence[str]) -> list[str]:
        """Names of the best labelling that keeps the rules.

        Raises
        ------
        ValueError
            where none does, or there are no tokens.
        """
        return next(self.labels_of_many([tokens]))

    def labels_of_many(self, sequences: Iterable[Sequence[str]]) -> Iterator[list[str]]:
        """The labels of each sequence, in order, decoded some at a time; see `labels`."""
        names = self.model.labels.names
        for some in _batches(sequences):
            open_tokens = self.apply_rules(some)
            ids = iter(
                self.best(open_tokens, self.model.emissions(self.features(some, open_tokens))).tolist()
            )
            for tokens in some:
                yield [names[next(ids)] for _ in tokens]

    def apply_rules(self, sequences: Sequence[Sequence[str]]) -> OpenTokens:
        """What the rules leave of the sequences."""
        if not all(sequences):
            raise ValueError("an empty sequence has no labelling: expected at least one token")
        return OpenTokens.of([self.token_rules.allowed(tokens) for tokens in sequences])

    def features(self, sequences: Sequence[Sequence[str]], open_tokens: OpenTokens) -> list[list[str]]:
        """Features of the tokens that are open."""
        assert self.model.template is not None
        result: list[list[str]] = []
        at, begin, done = open_tokens.at.tolist(), 0, 0
        for tokens in sequences:
            end, start = begin + len(tokens), done
            while done < len(at) and at[done] < end:
                done += 1
            here = [t - begin for t in at[start:done]]
            if here:
                features = self.model.template.features(tokens, here)
                result += [features[t] for t in here]
            begin = end
        return result

    def best(self, open_tokens: OpenTokens, emissions: Floats) -> Integers:
        """Label ids (N,) of the best labellings, given the scores (n, K) of open tokens."""
        from ilpinfer.exact.viterbi import viterbi

        result = open_tokens.fixed.copy()
        if len(open_tokens.at):
            result[open_tokens.at] = viterbi(self.lattice(open_tokens, emissions))[1]
        return result

    def lattice(self, open_tokens: OpenTokens, emissions: Floats) -> Lattice:
        """The lattice of the n open tokens; edges lead through the first and last label fixed between two of them.

        What lies between those is the same for all labellings, and left out.
        """
        at, fixed, K = open_tokens.at, open_tokens.fixed, len(self.model.labels)
        left = np.stack([self.token_rules.mask(open_tokens.allowed[t]) for t in at.tolist()])
        node = np.where(left, snap(emissions), FORBIDDEN)
        entered = open_tokens.first & open_tokens.before[at]
        node[entered] = add(node[entered], self._transitions[fixed[at[entered] - 1]])
        left_again = open_tokens.last & open_tokens.after[at]
        node[left_again] = add(node[left_again], self._transitions.T[fixed[at[left_again] + 1]])
        here, there = at[:-1], at[1:]
        ways = fixed[np.minimum(here + 1, there)] * K + fixed[there - 1]
        ways[there == here + 1] = -1
        ways[open_tokens.first[1:]] = -2
        kinds, step = np.unique(ways, return_inverse=True)
        pool = np.stack([self._edges(kind) for kind in kinds.tolist()] or [self._transitions])
        return Lattice(node, pool, step.astype(np.int64))

    def _edges(self, way: int) -> Grid:
        """(K, K) scores of steps from one open token to the next.

        Through first·K + last, the labels fixed next to them; -1 is right to the next one, -2 into another sequence.
        """
        if way == -1:
            return self._transitions
        K = len(self.model.labels)
        if way == -2:
            return np.zeros((K, K), np.int64)
        first, last = divmod(way, K)
        return add(self._transitions[:, first][:, None], self._transitions[last][None, :])

    @cached_property
    def _transitions(self) -> Grid:
        scores = snap(self.model.learnt.transitions)
        return np.where(self.model.labels.invalid[0][1:], FORBIDDEN, scores) if self.valid else scores

    def trellis(self, tokens: Sequence[str]) -> Trellis:
        """All T tokens, for further rules and any decoder: clamped ones score 0, labels ruled out are forbidden."""
        open_tokens = self.apply_rules([tokens])
        scores = np.zeros((len(tokens), len(self.model.labels)))
        scores[open_tokens.at] = self.model.emissions(self.features([tokens], open_tokens))
        scores[~np.stack([self.token_rules.mask(labels) for labels in open_tokens.allowed])] = -np.inf
        return Trellis.from_emissions(
            scores, self.model.learnt.transitions, labels=self.model.labels, tokens=tokens
        )


@dataclass(frozen=True)
class RulesFirstModel:
    """A conditional random field behind rules as a model of trellises, for any rules and decoders."""

    first: RulesFirst

    @property
    def labels(self) -> LabelSet:
        """K labels."""
        return self.first.model.labels

    def trellis(self, tokens: Sequence[str]) -> Trellis:
        """Scores of T tokens, in nats; see `RulesFirst.trellis`."""
        return self.first.trellis(tokens)


def rules_first(model: SequenceModel | None, rules: RuleSet) -> RulesFirstModel:
    """A model that looks for features only where the hard rules on single tokens leave a choice.

    Under the same rules its best labellings are those of the model itself. Their scores lack those of the tokens that rules
    decide.

    Raises
    ------
    ValueError
        for another model than a conditional random field with a template that keeps line breaks, and where no rule is hard
        and about single tokens.
    """
    if not isinstance(model, CRF):
        raise ValueError("rules first need a conditional random field, from train --kind crf")
    chosen = tuple(rule for rule in rules.rules if rule.hard and is_token_rule(rule))
    if not chosen:
        raise ValueError("rules first need a hard rule on single tokens, such as tag_at; there is none")
    valid = any(rule.hard and isinstance(rule.statement, ValidScheme) for rule in rules.rules)
    return RulesFirstModel(RulesFirst(model, chosen, valid))


def _batches(sequences: Iterable[Sequence[str]]) -> Iterator[list[Sequence[str]]]:
    remaining = iter(sequences)
    while some := list(islice(remaining, BATCH)):
        yield some


def overwrite(path: Integers, allowed: Allowed, emissions: Floats, transitions: Floats) -> Integers:
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
    result = path.copy()
    for t, labels in enumerate(allowed):
        if labels >> int(result[t]) & 1:
            continue
        scores = emissions[t].copy()
        if t > 0:
            scores += transitions[result[t - 1]]
        if t + 1 < len(result):
            scores += transitions[:, result[t + 1]]
        result[t] = max((k for k in range(len(scores)) if labels >> k & 1), key=scores.__getitem__)
    return result
