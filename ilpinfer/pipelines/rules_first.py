"""Rules first, then the model: only tokens that rules leave open get features and are decoded (Liao et al. 2009, 2 and 3.1)."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

import numpy as np

from formulations import LabelSet, Rule, Trellis
from formulations.automata.lattice import Lattice
from formulations.constraints.patterns import ValidScheme
from formulations.dtypes import Floats, Integers
from formulations.grid import FORBIDDEN, Grid, snap_scores
from formulations.problem.token_scores import empty_trellis
from formulations.rulefiles.loading import rule_set
from ilpinfer.core.rule_compiler import Rules
from ilpinfer.models.crf import CRF
from ilpinfer.models.crf.token_rules import Allowed, TokenRules, is_token_rule
from ilpinfer.models.sequence_model import SequenceModel
from ilpinfer.pipelines.open_tokens import OpenTokens

BATCH = 64


@dataclass(frozen=True)
class RulesFirst:
    """A conditional random field whose labels hard rules on single tokens restrict first.

    Only tokens with more than one possible label get features and are decoded. Without rules, the labellings are those of the
    field itself.

    Parameters
    ----------
    model : CRF
        Model that scores the undecided tokens; it must not remove line breaks.
    rules : tuple of Rule, optional
        Hard rules on single tokens; see `TokenRules`.
    valid : bool, default True
        Whether steps that the labels' scheme excludes are forbidden, so that rules also restrict neighbouring
        tokens.

    Raises
    ------
    ValueError
        As for `TokenRules`, and for a model that removes line breaks or has no template.

    Examples
    --------
    >>> from formulations import constraints as C
    >>> from ilpinfer.models.crf import CRF
    >>> crf = CRF.train([(["Ada", "1815"], ["name", "year"]), (["Alan", "1912"], ["name", "year"])])
    >>> first = RulesFirst(crf, (C.tag_at("year", token_class="year"),))
    >>> first.labels(["Grace", "1906"])
    ['name', 'year']
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
        """Label names of the best labelling that keeps the rules.

        Parameters
        ----------
        tokens : sequence of str
            T texts.

        Returns
        -------
        list of str
            T label names.

        Raises
        ------
        ValueError
            If no labelling keeps the rules.
        """
        return next(self.labels_of_many([tokens]))

    def labels_of_many(self, sequences: Iterable[Sequence[str]]) -> Iterator[list[str]]:
        """Label many sequences lazily, in batches; see `labels`.

        Parameters as for `apply_rules`.

        Yields
        ------
        list of str
            The labels of each sequence, in order.
        """
        names = self.model.labels.names
        for some in _batches(sequences):
            scored = [tokens for tokens in some if tokens]
            open_tokens = self.apply_rules(scored)
            emissions = self.model.learnt.emissions(self.features(scored, open_tokens), notice=False)
            ids = iter(self.best(open_tokens, emissions).tolist())
            for tokens in some:
                yield [names[next(ids)] for _ in tokens]

    def apply_rules(self, sequences: Sequence[Sequence[str]]) -> OpenTokens:
        """The sets of labels that the rules allow at each token.

        Parameters
        ----------
        sequences : sequence of sequence of str
            Texts of each sequence.

        Returns
        -------
        OpenTokens
            Allowed labels, and the tokens with more than one.
        """
        return OpenTokens.of([self.token_rules.allowed(tokens) for tokens in sequences])

    def features(self, sequences: Sequence[Sequence[str]], open_tokens: OpenTokens) -> list[list[str]]:
        """Features of the undecided tokens.

        Parameters as for `apply_rules`, and one more.

        Parameters
        ----------
        open_tokens : OpenTokens
            Result of `apply_rules`.

        Returns
        -------
        list of list of str
            One list for each of the n undecided tokens.
        """
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
        """The best labellings of all N tokens.

        Parameters
        ----------
        open_tokens : OpenTokens
            Result of `apply_rules`.
        emissions : ndarray of float, shape (n, K)
            Scores of the undecided tokens.

        Returns
        -------
        ndarray of int, shape (N,)
            Label ids.
        """
        from ilpinfer.exact.viterbi import viterbi

        result = open_tokens.fixed.copy()
        if len(open_tokens.at):
            result[open_tokens.at] = viterbi(self.lattice(open_tokens, emissions))[1]
        return result

    def lattice(self, open_tokens: OpenTokens, emissions: Floats) -> Lattice:
        """The lattice of the n undecided tokens; see `OpenTokens.lattice`. Parameters as for `best`.

        Returns
        -------
        Lattice
            The lattice.
        """
        left = np.stack([self.token_rules.mask(open_tokens.allowed[t]) for t in open_tokens.at.tolist()])
        return open_tokens.lattice(
            np.where(left, snap_scores(emissions, "emissions"), FORBIDDEN), self._transitions
        )

    @cached_property
    def _transitions(self) -> Grid:
        scores = snap_scores(self.model.learnt.transitions, "transitions")
        return np.where(self.model.labels.invalid[0][1:], FORBIDDEN, scores) if self.valid else scores

    def trellis(self, tokens: Sequence[str]) -> Trellis:
        """A trellis of all tokens. Decided tokens score 0, and labels that rules exclude are forbidden.

        Parameters as for `labels`.

        Returns
        -------
        Trellis
            The trellis, for further rules and any decoder.
        """
        if not tokens:
            return empty_trellis(self.model.labels)
        open_tokens = self.apply_rules([tokens])
        scores = np.zeros((len(tokens), len(self.model.labels)))
        scores[open_tokens.at] = self.model.learnt.emissions(
            self.features([tokens], open_tokens), notice=False
        )
        scores[~np.stack([self.token_rules.mask(labels) for labels in open_tokens.allowed])] = -np.inf
        return Trellis.from_emissions(
            scores, self.model.learnt.transitions, labels=self.model.labels, tokens=tokens
        )


@dataclass(frozen=True)
class RulesFirstModel(SequenceModel):
    """A model of trellises in which hard rules on single tokens restrict a conditional random field.

    Parameters
    ----------
    first : RulesFirst
        Rules and field.

    Examples
    --------
    >>> from formulations import constraints as C
    >>> from ilpinfer.models.crf import CRF
    >>> crf = CRF.train([(["Ada", "1815"], ["name", "year"]), (["Alan", "1912"], ["name", "year"])])
    >>> model = RulesFirstModel(RulesFirst(crf, (C.tag_at("year", token_class="year"),)))
    >>> model.trellis(("Grace", "1906")).score(["name", "name"])
    -inf
    """

    first: RulesFirst

    @property
    def labels(self) -> LabelSet:
        return self.first.model.labels

    def trellis(self, tokens: Sequence[str]) -> Trellis:
        return self.first.trellis(tokens)


def rules_first(model: SequenceModel | None, rules: Rules) -> RulesFirstModel:
    """A model that computes features only where the hard rules on single tokens leave a choice.

    Under the same rules, its best labellings are those of the model itself. Their scores lack the scores of the tokens that
    rules decide.

    Parameters
    ----------
    model : SequenceModel or None
        A conditional random field with a template, which must not remove line breaks.
    rules : Rules
        A rule set with at least one hard rule on single tokens.

    Returns
    -------
    RulesFirstModel
        The model.

    Raises
    ------
    ValueError
        For another model, and for rules of which none is hard and about single tokens.

    Examples
    --------
    >>> from formulations import RuleSet, constraints as C
    >>> from ilpinfer.models.crf import CRF
    >>> crf = CRF.train([(["Ada", "1815"], ["name", "year"]), (["Alan", "1912"], ["name", "year"])])
    >>> rules_first(crf, RuleSet((C.tag_at("year", token_class="year"),))).labels.names
    ('name', 'year')
    """
    if not isinstance(model, CRF):
        raise ValueError("rules first need a conditional random field, from train --kind crf")
    rules = rule_set(rules)
    token_rules = tuple(rule for rule in rules.rules if rule.hard and is_token_rule(rule))
    if not token_rules:
        raise ValueError("rules first need a hard rule on single tokens, such as tag_at; there is none")
    valid = any(rule.hard and isinstance(rule.statement, ValidScheme) for rule in rules.rules)
    return RulesFirstModel(RulesFirst(model, token_rules, valid))


def _batches(sequences: Iterable[Sequence[str]]) -> Iterator[list[Sequence[str]]]:
    remaining = iter(sequences)
    while some := list(islice(remaining, BATCH)):
        yield some


def overwrite(path: Integers, allowed: Allowed, emissions: Floats, transitions: Floats) -> Integers:
    """Replace the labels of a labelling that rules forbid (Liao et al. 2009, section 2, second method).

    Tokens are visited from left to right. A token with a forbidden label gets the allowed label that scores best between its
    current neighbours. Other tokens keep their labels.

    Parameters
    ----------
    path : ndarray of int, shape (T,)
        Label ids.
    allowed : Allowed
        Allowed labels of each token.
    emissions : ndarray of float, shape (T, K)
        Scores of labels at tokens, nats.
    transitions : ndarray of float, shape (K, K)
        Scores of steps [from, to], nats.

    Returns
    -------
    ndarray of int, shape (T,)
        Label ids.

    Examples
    --------
    >>> import numpy as np
    >>> zeros = np.zeros((2, 2))
    >>> overwrite(np.array([0, 0]), [0b11, 0b10], zeros, zeros).tolist()
    [0, 1]
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
