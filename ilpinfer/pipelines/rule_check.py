"""Whether rules can be stated for the labels of sequences."""

from collections.abc import Iterable

from formulations import RuleSet
from formulations.labels.label_set import LabelSet
from formulations.labels.schemes import remark
from formulations.problem.compiled_rules import notices
from ilpinfer.core.rule_compiler import compiler_of
from ilpinfer.corpus.examples import InputError
from ilpinfer.errors import describe
from ilpinfer.pipelines.trellises import ScoredSequence

TRIED = 3
"""Sequences of one set of labels for which rules are stated before they are said not to fit."""

Kind = tuple[LabelSet, bool]
"""Labels, and whether there are tokens."""


class RuleCheck:
    """Checks of rules against a stream of sequences.

    Rules fit a set of labels if they can be stated for one of the first sequences that have it: errors of a single
    sequence, such as a token that a pattern takes too long on, are found when it is decoded. Sequences without tokens
    are tried apart.

    Attributes
    ----------
    remarks : remarks on unusual labels, and on rules for these labels
    """

    def __init__(self, rules: RuleSet) -> None:
        self._rules = rules
        self._odd: dict[str, None] = {}
        self._tried: dict[Kind, list[InputError]] = {}
        self._fitting: set[Kind] = set()

    @property
    def remarks(self) -> list[str]:
        """Remarks on unusual labels, and on rules for these labels."""
        return [text for text in self._odd if text]

    @property
    def settled(self) -> bool:
        """Whether the rules fit all labels that were met."""
        return self._tried.keys() <= self._fitting

    def add(self, item: ScoredSequence) -> None:
        """Look at a sequence; InputError where the rules do not fit its labels, nor several others that have them."""
        if item.trellis is None:
            return
        kind = (item.trellis.labels, any(item.trellis.tokens))
        if kind in self._fitting:
            return
        self._odd.update(dict.fromkeys([_remark(kind[0]), *notices(self._rules, kind[0])]))
        try:
            compiler_of(self._rules).quietly(item.trellis)
            self._fitting.add(kind)
        except (ValueError, MemoryError, RecursionError) as error:
            tried = self._tried.setdefault(kind, [])
            tried.append(InputError(f"{item.example.where}: {describe(error)}"))
            if len(tried) == TRIED:
                self.finish()

    def finish(self) -> None:
        """Raise InputError where rules fit no sequence of some labels."""
        for kind, errors in self._tried.items():
            if kind not in self._fitting:
                raise errors[0]


def check_rules(scored: Iterable[ScoredSequence], rules: RuleSet) -> list[str]:
    """Notices about labels and rules, once every sequence's labels are known to fit them; InputError where they do not."""
    check = RuleCheck(rules)
    for item in scored:
        check.add(item)
    check.finish()
    return check.remarks


def _remark(labels: LabelSet) -> str:
    """Remarks on unusual labels. Models also have the scheme plain if it was inferred."""
    return labels.notice or (remark(labels.names, "plain") if labels.scheme == "plain" else "")
