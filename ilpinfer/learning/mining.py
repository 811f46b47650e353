"""Rules mined from labelled sequences (Fersini et al. 2014, section 3.1)."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Literal

import numpy as np

from formulations import LabelSet, RuleSet
from formulations.arguments import whole
from formulations.dtypes import Integers
from formulations.labels.schemes import OUTSIDE
from formulations.messages import brief, counted, suggestion
from ilpinfer.learning.labellings import LabelArrays
from ilpinfer.learning.measuring import GRID, choose_confidence, measure, without_contradictions
from ilpinfer.learning.mined_rules import DroppedCandidates, MinedRule, MinedRules
from ilpinfer.learning.rule_families import FAMILIES as PROPOSERS
from ilpinfer.learning.rule_pruning import prune
from ilpinfer.learning.sample import Sample, Thresholds
from ilpinfer.learning.wrong_labellings import (
    PredictionsError,
    WrongLabellings,
    prediction_errors,
    random_errors,
)
from ilpinfer.models.labelled_sequences import tokens_and_labels
from ilpinfer.models.sequences import Labelled, encode
from ilpinfer.pipelines.cross_validation import make_folds
from ilpinfer.system.files import digest

FAMILIES = tuple(PROPOSERS)
OTHER = ("conjunctions", "maximum-length", "alternation", "spacing")
"""Families that are mined only if named: useful for few kinds of data, or slow."""
USUAL = tuple(name for name in FAMILIES if name not in OTHER)
BLOCKS = 10
"""Number of blocks of neighbouring sequences per fold."""
PRUNING = ("cover", "none")
Watch = Callable[[str], None]
"""Receives the name of each finished step."""


@dataclass(frozen=True)
class RuleMiner:
    """Mine soft rules from labelled sequences (Fersini et al. 2014, section 3.1).

    The trials of a candidate are the places where its premise holds. Candidates with enough support, confidence and gain, also on
    held-out sequences, are pruned to the cheapest subset that separates right from wrong labellings as well as all of them.

    Parameters
    ----------
    families : sequence of str, optional
        Names from `FAMILIES`; if not given, all except "conjunctions", which takes several times as long, and "maximum-length",
        "alternation" and "spacing", which few fields need.
    support : int, default 10
        Least number of trials.
    confidence : float or {"cross-validated"}, default 0.95
        Least share of trials that keep a rule, above 0; or chosen by the number of wrong labellings of held-out sequences
        with a larger cost than the right ones.
    gain : float, default 5.0
        Least log-likelihood gain on the trials, nats, over independent fields and overall label frequencies.
    word_support : int, default 5
        Least number of trials of each word.
    smoothing : float, default 1.0
        Pseudo-count added to broken and to held trials in penalties.
    folds : int, default 5
        Number of folds; a rule has to hold in half of the folds in which it applies, and in at least one. 0 for none.
    pruning : {"cover", "none"}, default "cover"
        Whether redundant rules are left out.
    power : int, default 1
        Least number of wrong labellings that a rule detects and no earlier rule detects.
    most : int, optional
        Largest number of rules; the first ones are kept, None for all.
    seed : int, default 0
        Seed of folds, wrong labellings and the solver.

    Raises
    ------
    ValueError
        For an unknown family and for numbers out of range.

    Examples
    --------
    >>> pairs = [(["Ada", "Notes", str(year)], ["author", "title", "date"]) for year in range(1843, 1873)]
    >>> mined = RuleMiner(families=["precedence", "first-field"]).fit(pairs)
    >>> [mined_rule.rule.title for mined_rule in mined.entries]
    ['precedence(author, title)', 'starts_with(author)']
    >>> mined.entries[0].rule.reason
    'held 30, broken 0 of 30 (100.0 %), lift 2.0, 5 of 5 folds'
    """

    families: Sequence[str] = USUAL
    support: int = 10
    confidence: float | Literal["cross-validated"] = 0.95
    gain: float = 5.0
    word_support: int = 5
    smoothing: float = 1.0
    folds: int = 5
    pruning: Literal["cover", "none"] = "cover"
    power: int = 1
    most: int | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        families = (self.families,) if isinstance(self.families, str) else tuple(self.families)
        object.__setattr__(self, "families", families)
        for family in families:
            if family not in FAMILIES:
                raise ValueError(f"no family of rules {brief(family)}{suggestion(str(family), FAMILIES)}")
        if not families:
            raise ValueError(f"families is empty; choose some of {', '.join(FAMILIES)}")
        if self.pruning not in PRUNING:
            raise ValueError(f"pruning is {brief(self.pruning)}; expected cover or none")
        for name, least in (("support", 1), ("word_support", 1), ("folds", 0), ("power", 0), ("seed", 0)):
            whole(getattr(self, name), name, least)
        if self.most is not None:
            whole(self.most, "most", 1)
        if self.folds == 1:
            raise ValueError("folds is 1; expected 0 for none, or at least 2")
        if self.confidence != "cross-validated":
            _within("confidence", self.confidence, 0, 1, "a share above 0, up to 1, or cross-validated")
        elif not self.folds:
            raise ValueError('confidence is "cross-validated" but folds is 0; take at least 2 folds')
        _within("smoothing", self.smoothing, 0, float("inf"), "a finite number above 0")
        if not isinstance(self.gain, int | float) or not 0 <= self.gain < float("inf"):
            raise ValueError(f"gain is {brief(self.gain)}; expected nats, 0 or more")

    def fit(
        self,
        pairs: Iterable[Labelled],
        scheme: str = "",
        predictions: Sequence[Sequence[str] | None] | None = None,
        watch: Watch | None = None,
    ) -> MinedRules:
        """Mine rules from labelled sequences.

        Parameters
        ----------
        pairs : iterable of Labelled
            Tokens and labels of each sequence.
        scheme : str, optional
            Scheme of the labels; inferred if not given.
        predictions : sequence of sequence of str or None, optional
            Labelling of each sequence by a model trained without it, or None; rules have to separate wrong labellings from
            the labels. If not given, labels are changed at random.
        watch : Watch, optional
            Function that is called with the name of each finished step.

        Returns
        -------
        MinedRules
            The rules. If none survives, `remark` gives the reason.

        Raises
        ------
        ValueError
            For no sequences, a single label, labels that do not fit the scheme, and fewer sequences than
            folds.
        """
        examples = [(tuple(tokens), tuple(names)) for tokens, names in tokens_and_labels(pairs)]
        known = _names(examples, predictions)
        if predictions is not None:
            predictions = [own for (tokens, _), own in zip(examples, predictions, strict=True) if tokens]
        labels, texts, ids = encode(examples, scheme, known)
        examples = [pair for pair in examples if pair[0]]
        used = {name for _, names in examples for name in names}
        if len(used) == 1:
            raise ValueError(
                f"all tokens have the label {used.pop()!r}, so there is no rule to mine; check which column has "
                "the labels, or give sequences with other labels"
            )
        table = LabelArrays.of(labels, texts, ids)
        step = watch or (lambda name: None)
        fold = self._folds(len(texts))
        wrong = (
            random_errors(labels, ids, self.seed)
            if predictions is None
            else prediction_errors(labels, ids, predictions)
        )
        wrong_table = wrong.table(table)
        confidence = self._confidence(table, fold, wrong, wrong_table)
        measured, dropped = measure(
            self._sample(table, fold, confidence), self.families, self.smoothing, step
        )
        kept, more = without_contradictions(measured, labels.scheme == "paths")
        ordered = sorted(kept, key=lambda m: (-m.gain, m.statement.sentence))
        result, pruned, proved = [m.rule() for m in ordered], list[DroppedCandidates](), True
        if self.pruning == "cover":
            result, pruned, proved = prune(ordered, table, wrong, wrong_table, self.power, self.seed)
        step("pruning")
        most = self.most or len(result)
        cut = (
            [DroppedCandidates("beyond the number asked for", len(result) - most, tuple(result[most:]))]
            if len(result) > most
            else []
        )
        return MinedRules(
            entries=tuple(result[:most]),
            dropped=(*dropped, *more, *pruned, *cut),
            confidence=confidence,
            sequences=len(texts),
            tokens=int(table.lengths.sum()),
            wrong=len(wrong),
            proved=proved,
            rules=self._rule_set(result[:most], labels, texts, examples, confidence),
        )

    def _folds(self, sequences: int) -> Integers:
        """(M,) the fold of each sequence; neighbours, which may share a document, stay together."""
        fold = np.zeros(sequences, np.int64)
        if self.folds:
            together = max(1, sequences // (BLOCKS * self.folds))
            try:
                places = make_folds([m // together for m in range(sequences)], self.folds, self.seed)
            except ValueError:
                raise ValueError(
                    f"folds is {self.folds}, more than the {counted(sequences, 'sequence')}; take fewer folds, or 0 for none"
                ) from None
            for number, members in enumerate(places):
                fold[members] = number
        return fold

    def _sample(self, table: LabelArrays, fold: Integers, confidence: float) -> Sample:
        return Sample(table, fold, Thresholds(self.support, confidence, self.gain, self.word_support))

    def _confidence(
        self, table: LabelArrays, fold: Integers, wrong: WrongLabellings, wrong_table: LabelArrays
    ) -> float:
        if self.confidence != "cross-validated":
            return float(self.confidence)
        samples = {f"{confidence:g}": self._sample(table, fold, confidence) for confidence in GRID}
        return float(choose_confidence(samples, self.families, self.smoothing, wrong, wrong_table))

    def _rule_set(
        self,
        rules: Sequence[MinedRule],
        labels: LabelSet,
        texts: Sequence[Sequence[str]],
        examples: Sequence[Labelled],
        confidence: float,
    ) -> RuleSet:
        tokens = sum(map(len, texts))
        fields = tuple(sorted(name for name in labels.fields if name != OUTSIDE))
        chosen = " (cross-validated)" if self.confidence == "cross-validated" else ""
        made = (
            f"families {', '.join(self.families)}; support {self.support}, {self.word_support} of a word; confidence "
            f"{confidence:g}{chosen}; gain {self.gain:g} nats; smoothing {self.smoothing:g}; {counted(self.folds, 'fold')}; pruning "
            f"{self.pruning}; seed {self.seed}"
        )
        return RuleSet(
            items=tuple(mined.rule for mined in rules),
            fields=fields,
            title=f"Rules mined from {counted(len(texts), 'sequence')} of {tokens} tokens",
            source=f"ilpinfer {version('ilpinfer')}, mine: {made}; sha256 of the sequences {digest(labels.scheme, examples)}",
        )


def _names(
    examples: Sequence[Labelled], predictions: Sequence[Sequence[str] | None] | None
) -> list[str] | None:
    """All gold and predicted labels, sorted; None without predictions."""
    if predictions is None:
        return None
    if len(predictions) != len(examples):
        raise PredictionsError(
            f"{counted(len(predictions), 'prediction')} for {counted(len(examples), 'sequence')}; expected one each"
        )
    for number, ((tokens, _), labels) in enumerate(zip(examples, predictions, strict=True)):
        if labels is not None and len(labels) != len(tokens):
            raise PredictionsError(
                f"prediction {number} has {counted(len(labels), 'label')} for {counted(len(tokens), 'token')}"
            )
    labellings: list[Iterable[str]] = [labels for _, labels in examples]
    labellings += [labels for labels in predictions if labels is not None]
    return sorted({name for labels in labellings for name in labels})


def _within(name: str, value: object, low: float, high: float, expected: str) -> None:
    fits = isinstance(value, int | float) and not isinstance(value, bool) and low < value <= high
    if not fits or value == float("inf"):
        raise ValueError(f"{name} is {brief(value)}; expected {expected}")
