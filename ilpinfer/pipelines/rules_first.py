"""Rules first, then the model: only tokens that rules do not decide get features (Liao et al. 2009, sections 2 and 3.1)."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from formulations import LabelSet, Rule, Trellis
from formulations.constraints.patterns import ValidScheme
from formulations.problem.token_scores import empty_trellis
from formulations.rulefiles.loading import rule_set
from ilpinfer.core.rule_compiler import Rules
from ilpinfer.models.crf import CRF
from ilpinfer.models.crf.token_rules import TokenRules, is_token_rule
from ilpinfer.models.sequence_model import SequenceModel


@dataclass(frozen=True)
class RulesFirst(SequenceModel):
    """A conditional random field whose labels hard rules on single tokens restrict first.

    Only tokens with more than one allowed label get features. The best labellings are those of the model under the same
    rules. Their scores do not include the tokens that rules decide.

    Parameters
    ----------
    model : CRF
        Model that scores the undecided tokens.
    rules : tuple of Rule, optional
        Hard rules on single tokens; see `TokenRules`.
    valid : bool, default True
        Whether to forbid steps that the scheme excludes; rules then also restrict neighbouring tokens.

    Raises
    ------
    ValueError
        As for `TokenRules`, and for a model that has no template.

    Examples
    --------
    >>> import ilpinfer
    >>> from ilpinfer import constraints as C
    >>> from ilpinfer.models.crf import CRF
    >>> crf = CRF.train([(["Ada", "1815"], ["name", "year"]), (["Alan", "1912"], ["name", "year"])])
    >>> first = RulesFirst(crf, (C.tag_at("year", token_class="year"),))
    >>> ilpinfer.decode(first.trellis(["Grace", "1906"])).labels
    ['name', 'year']
    """

    model: CRF
    rules: tuple[Rule, ...] = ()
    valid: bool = True

    def __post_init__(self) -> None:
        if self.model.template is None:
            raise ValueError("rules first need a CRF with a feature template")
        self.token_rules  # noqa: B018 - raises for rules that do not fit

    @property
    def labels(self) -> LabelSet:
        return self.model.labels

    @cached_property
    def token_rules(self) -> TokenRules:
        """The rules, read for the model's labels."""
        return TokenRules(self.model.labels, self.rules, self.valid)

    def trellis(self, tokens: Sequence[str]) -> Trellis:
        """A trellis of all tokens. Decided tokens score 0, and labels that rules exclude are forbidden.

        Parameters
        ----------
        tokens : sequence of str
            T texts.

        Returns
        -------
        Trellis
            The trellis, for further rules and any decoder.

        Raises
        ------
        ValueError
            If no labelling keeps the rules.
        """
        model, template = self.model, self.model.template
        assert template is not None
        if not tokens:
            return empty_trellis(model.labels)
        allowed = self.token_rules.allowed(tokens)
        at = [t for t, labels in enumerate(allowed) if labels & (labels - 1)]  # more than one label
        features = template.features(tokens, at)
        scores = np.zeros((len(tokens), len(model.labels)))
        scores[at] = model.learnt.emissions([features[t] for t in at], notice=False)
        scores[~np.stack([self.token_rules.mask(labels) for labels in allowed])] = -np.inf
        return Trellis.from_emissions(scores, model.learnt.transitions, labels=model.labels, tokens=tokens)


def rules_first(model: SequenceModel | None, rules: Rules) -> RulesFirst:
    """A model that computes features only where the hard rules on single tokens leave a choice.

    Parameters
    ----------
    model : SequenceModel or None
        A conditional random field with a template.
    rules : Rules
        A rule set with at least one hard rule on single tokens.

    Returns
    -------
    RulesFirst
        The model.

    Raises
    ------
    ValueError
        For another model, and for rules without a hard rule on single tokens.

    Examples
    --------
    >>> from ilpinfer import RuleSet, constraints as C
    >>> from ilpinfer.models.crf import CRF
    >>> crf = CRF.train([(["Ada", "1815"], ["name", "year"]), (["Alan", "1912"], ["name", "year"])])
    >>> first = rules_first(crf, RuleSet((C.tag_at("year", token_class="year"),)))
    >>> first.trellis(("Grace", "1906")).score(["name", "name"])
    -inf
    """
    if not isinstance(model, CRF):
        raise ValueError("rules first need a CRF; train one with ilpinfer train --kind crf")
    rules = rule_set(rules)
    rules.check_unconditional()
    token_rules = tuple(rule for rule in rules.rules if rule.hard and is_token_rule(rule))
    if not token_rules:
        raise ValueError("rules first need a hard rule on single tokens, such as tag_at; add one")
    valid = any(rule.hard and isinstance(rule.statement, ValidScheme) for rule in rules.rules)
    return RulesFirst(model, token_rules, valid)
