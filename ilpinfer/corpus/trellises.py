"""From examples to trellises: a model's scores, or those that came with the input."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

from formulations import RuleSet, Trellis, schemes
from formulations.compiled.problem import RuleNotice, WordNotice, compile_problem, notices
from formulations.labels import LabelSet
from formulations.scheme_notices import remark
from ilpinfer.corpus.conversion import converted, read_as, shown, sound, strip
from ilpinfer.corpus.examples import Example, InputError
from ilpinfer.models.files import Model


@dataclass(frozen=True)
class Scored:
    """A sequence ready to decode.

    Parameters
    ----------
    example : as it came
    trellis : its scores
    gold : T label names to compare with, or None
    """

    example: Example
    trellis: Trellis
    gold: tuple[str, ...] | None


def score(examples: Sequence[Example], model: Model | None, scheme: str = "") -> list[Scored]:
    """Trellises of examples; `scheme="plain"` strips prefixes from gold labels and given label names.

    Gold labels are read in the scheme of the model's: without prefixes where its labels are plain, else rewritten.

    Raises
    ------
    InputError
        where scores are missing and there is no model, or a scheme does not fit.
    """
    scheme = schemes.named(scheme)
    if model is not None and scheme and scheme != model.labels.scheme:
        raise InputError(f"the model's labels are {model.labels.scheme}; train it with --scheme {scheme}")
    golden = _golden(examples, scheme)
    given = [labels for labels in golden if labels is not None]
    gold_scheme, rewrite = shown(given), sound(given)
    scored = []
    for example, gold in zip(examples, golden, strict=True):
        if example.scores is not None:
            trellis = (stripped(example) if scheme == "plain" else example).trellis(scheme)
        elif model is None:
            raise InputError(
                f"{example.where}: no scores; name a model with --model, or give scores as JSON lines"
            )
        else:
            trellis = model.trellis(example.tokens)
        if gold is not None and len(gold) != len(trellis):
            raise InputError(f"{example.where}: {len(gold)} labels for {len(trellis)} tokens")
        if gold is not None:
            try:
                gold = read_as(trellis.labels, gold, gold_scheme, rewrite)
            except ValueError as error:
                raise InputError(
                    f"{example.where}: gold {error}; leave the labels out, or take a model of such labels"
                ) from None
        scored.append(Scored(example, trellis, gold))
    return scored


def _golden(examples: Sequence[Example], scheme: str) -> list[tuple[str, ...] | None]:
    """Gold labels, in the scheme that was asked for where they can be written in it."""
    given = [example.labels for example in examples if example.labels is not None]
    found = iter(converted(given, scheme))
    return [None if example.labels is None else next(found) for example in examples]


def check_rules(scored: Sequence[Scored], rules: RuleSet) -> list[str]:
    """Notices about labels and rules, once every sequence's labels are known to fit them; InputError where they do not."""
    odd: dict[str, None] = {}
    blind: dict[str, list[str]] = {}
    seen: set[tuple[LabelSet, bool]] = set()
    wordless = [item for item in scored if not any(item.trellis.tokens)]
    for item in scored:
        labels = item.trellis.labels
        kind = labels, any(item.trellis.tokens)
        if kind not in seen:
            seen.add(kind)
            for text in _compiled(item, rules):
                blind.setdefault(text, []).append(item.example.where)
            odd.update(dict.fromkeys([_remark(labels), *notices(rules, labels)]))
    more = f"; so have {len(wordless) - 1} more sequences" if len(wordless) > 1 else ""
    return [text for text in odd if text] + [f"{places[0]}: {text}{more}" for text, places in blind.items()]


def _remark(labels: LabelSet) -> str:
    """What is odd about labels; a model says plain of its labels whoever decided it."""
    return labels.notice or (remark(labels.names, "plain") if labels.scheme == "plain" else "")


def _compiled(item: Scored, rules: RuleSet) -> list[str]:
    """What compiling says of rules that look at tokens."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always", RuleNotice)
        try:
            compile_problem(item.trellis, rules)
        except ValueError as error:
            raise InputError(f"{item.example.where}: {error}") from None
    return [str(each.message) for each in found if issubclass(each.category, WordNotice)]


def stripped(example: Example) -> Example:
    """The example with prefixes taken off the label names of its scores."""
    assert example.scores is not None
    names = example.scores["label_names"]
    plain = None if names is None else strip([names])[0]
    return Example(example.tokens, example.labels, example.where, {**example.scores, "label_names": plain})
