"""From examples to trellises: a model's scores, or those that came with the input."""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from formulations import RuleSet, Trellis
from formulations.labels import schemes
from formulations.labels.label_set import LabelSet
from formulations.labels.scheme_notices import remark
from formulations.problem.compiled_rules import notices
from formulations.problem.problem import RuleNotice, WordNotice
from ilpinfer.core.rule_compiler import compiler_of
from ilpinfer.corpus.conversion import adapt, convert_all, shown_scheme, sound, strip
from ilpinfer.corpus.examples import Example, InputError
from ilpinfer.errors import describe, traceback_wanted
from ilpinfer.models.sequence_model import SequenceModel, restored, token_positions

TRIED = 3
"""Sequences of one set of labels for which rules are stated before they are said not to fit."""

Kind = tuple[LabelSet, bool]
"""Labels, and whether there are tokens."""


@dataclass(frozen=True)
class ScoredSequence:
    """A sequence ready to decode.

    Parameters
    ----------
    example : as it came
    trellis : its scores; None where the model could not score it
    gold : T label names to compare with, or None
    error : why there are no scores
    positions : of the tokens that the trellis and gold cover; None for all
    restore : gives all tokens labels, from those of the tokens at `positions`
    """

    example: Example
    trellis: Trellis | None
    gold: tuple[str, ...] | None
    error: Exception | None = None
    positions: tuple[int, ...] | None = None
    restore: Callable[[Sequence[str]], list[str]] = list

    @property
    def tokens(self) -> tuple[str, ...]:
        """T texts, of the tokens that the trellis covers."""
        return self.example.tokens if self.trellis is None else self.trellis.tokens

    @property
    def all_tokens(self) -> tuple[str, ...]:
        """Texts, with those that the trellis leaves out."""
        return self.tokens if self.positions is None else self.example.tokens

    def covered(self, labels: Sequence[str]) -> tuple[str, ...]:
        """Of the labels of all tokens those of the tokens that the trellis covers."""
        return tuple(labels) if self.positions is None else tuple(labels[t] for t in self.positions)


def score(examples: Sequence[Example], model: SequenceModel | None, scheme: str = "") -> list[ScoredSequence]:
    """Trellises of examples; `scheme="plain"` strips prefixes from gold labels and given label names.

    Gold labels are read in the scheme of the model's: without prefixes where its labels are plain, else rewritten. A
    sequence that the model cannot score keeps the error, so that others can be decoded.

    Raises
    ------
    InputError
        where scores are missing and there is no model, the model can score nothing, or a scheme does not fit.
    """
    scheme = schemes.scheme_name(scheme)
    if model is not None and scheme and scheme != model.labels.scheme:
        raise InputError(f"the model's labels are {model.labels.scheme}; train it with --scheme {scheme}")
    golden = _gold_labels(examples, scheme)
    labels_known = [labels for labels in golden if labels is not None]
    gold_scheme, rewrite = shown_scheme(labels_known), sound(labels_known)
    scored = []
    for example, gold in zip(examples, golden, strict=True):
        if example.scores is not None:
            trellis = (strip_prefixes(example) if scheme == "plain" else example).trellis(scheme)
        elif model is None:
            raise InputError(
                f"{example.where}: no scores; name a model with --model, or give scores as JSON lines"
            )
        else:
            try:
                trellis = model.trellis(example.tokens)
            except Exception as error:
                if traceback_wanted():
                    raise
                scored.append(ScoredSequence(example, None, None, error))
                continue
        item = ScoredSequence(example, trellis, None)
        if example.scores is None and model is not None and (at := token_positions(model, example.tokens)):
            item = replace(item, positions=tuple(at), restore=partial(restored, model, example.tokens))
        if gold is not None and len(gold) != len(item.all_tokens):
            raise InputError(f"{example.where}: {len(gold)} labels for {len(item.all_tokens)} tokens")
        if gold is not None:
            gold = item.covered(gold)
            try:
                gold = adapt(trellis.labels, gold, gold_scheme, rewrite)
            except ValueError as error:
                raise InputError(
                    f"{example.where}: gold {error}; leave the labels out, or take a model of such labels"
                ) from None
        scored.append(replace(item, gold=gold))
    first = scored[0] if scored else None
    if first and first.error and all(item.trellis is None for item in scored):
        raise InputError(f"{first.example.where}: {describe(first.error)}") from first.error
    return scored


def _gold_labels(examples: Sequence[Example], scheme: str) -> list[tuple[str, ...] | None]:
    """Gold labels, in the scheme that was asked for where they can be written in it."""
    labels_known = [example.labels for example in examples if example.labels is not None]
    result = iter(convert_all(labels_known, scheme))
    return [None if example.labels is None else next(result) for example in examples]


def check_rules(scored: Sequence[ScoredSequence], rules: RuleSet) -> list[str]:
    """Notices about labels and rules, once every sequence's labels are known to fit them; InputError where they do not.

    Rules fit a set of labels if they can be stated for one of the first sequences that have it: what goes wrong with
    a single sequence, such as a token that a pattern takes too long on, is found when that is decoded. Sequences
    without tokens are tried apart.
    """
    odd: dict[str, None] = {}
    blind: dict[str, str] = {}
    tried: dict[Kind, list[InputError]] = {}
    fitting: set[Kind] = set()
    for item in scored:
        if item.trellis is None or (kind := (item.trellis.labels, any(item.trellis.tokens))) in fitting:
            continue
        odd.update(dict.fromkeys([_remark(kind[0]), *notices(rules, kind[0])]))
        try:
            for text in _compile(item.trellis, rules):
                blind.setdefault(text, item.example.where)
            fitting.add(kind)
        except (ValueError, MemoryError, RecursionError) as error:
            tried.setdefault(kind, []).append(InputError(f"{item.example.where}: {describe(error)}"))
            if len(tried[kind]) == TRIED:
                break
    unfit = [errors[0] for kind, errors in tried.items() if kind not in fitting]
    if unfit:
        raise unfit[0]
    wordless = sum(item.trellis is not None and not any(item.trellis.tokens) for item in scored)
    more = ""
    if wordless > 1:
        more = f"; {wordless - 1} more sequence{'s have' if wordless > 2 else ' has'} none either"
    return [text for text in odd if text] + [f"{place}: {text}{more}" for text, place in blind.items()]


def _remark(labels: LabelSet) -> str:
    """What is odd about labels; a model says plain of its labels whoever decided it."""
    return labels.notice or (remark(labels.names, "plain") if labels.scheme == "plain" else "")


def _compile(trellis: Trellis, rules: RuleSet) -> list[str]:
    """What compiling says of rules that look at tokens; ValueError where they do not fit."""
    with warnings.catch_warnings(record=True) as result:
        warnings.simplefilter("always", RuleNotice)
        compiler_of(rules).problem(trellis)
    return [str(each.message) for each in result if issubclass(each.category, WordNotice)]


def strip_prefixes(example: Example) -> Example:
    """The example with prefixes taken off the label names of its scores."""
    assert example.scores is not None
    names = example.scores.label_names
    plain = None if names is None else strip([names])[0]
    return replace(example, scores=replace(example.scores, label_names=plain))
