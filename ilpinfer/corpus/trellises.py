"""From examples to trellises: a model's scores, or those that came with the input."""

from collections.abc import Sequence
from dataclasses import dataclass

from formulations import RuleSet, Trellis, schemes
from formulations.compiled.problem import compile_problem
from formulations.labels import LabelSet
from ilpinfer.corpus.conversion import read_as, strip
from ilpinfer.corpus.sequences import Example, InputError
from ilpinfer.errors import describe, traceback_wanted
from ilpinfer.models.files import Model

TRIED = 3
"""Sequences of one set of labels for which rules are stated before they are said not to fit."""


@dataclass(frozen=True)
class Scored:
    """A sequence ready to decode.

    Parameters
    ----------
    example : as it came
    trellis : its scores; None where the model could not score it
    gold : T label names to compare with, or None
    error : why there are no scores
    """

    example: Example
    trellis: Trellis | None
    gold: tuple[str, ...] | None
    error: Exception | None = None

    @property
    def tokens(self) -> tuple[str, ...]:
        """T texts."""
        return self.example.tokens if self.trellis is None else self.trellis.tokens


def score(examples: Sequence[Example], model: Model | None, scheme: str = "") -> list[Scored]:
    """Trellises of examples; `scheme="plain"` strips prefixes from gold labels and given label names.

    Gold labels are read in the scheme of the model's: plain ones without prefixes, IOBES made of BIO. A sequence that
    the model cannot score keeps the error, so that others can be decoded.

    Raises
    ------
    InputError
        where scores are missing and there is no model, the model can score nothing, or a scheme does not fit.
    """
    if model is not None and scheme and scheme != model.labels.scheme:
        raise InputError(f"the model's labels are {model.labels.scheme}; train it with --scheme {scheme}")
    gold_scheme = schemes.infer([label for example in examples for label in set(example.labels or ())])
    scored = []
    for example in examples:
        if example.scores is not None:
            trellis = (stripped(example) if scheme == "plain" else example).trellis(scheme)
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
                scored.append(Scored(example, None, None, error))
                continue
        gold = example.labels
        if gold is not None and len(gold) != len(trellis):
            raise InputError(f"{example.where}: {len(gold)} labels for {len(trellis)} tokens")
        if gold is not None:
            try:
                gold = read_as(trellis.labels, gold, gold_scheme)
            except ValueError as error:
                raise InputError(
                    f"{example.where}: gold {error}; leave the labels out, or take a model of such labels"
                ) from None
        scored.append(Scored(example, trellis, gold))
    first = scored[0] if scored else None
    if first and first.error and all(item.trellis is None for item in scored):
        raise InputError(f"{first.example.where}: {describe(first.error)}") from first.error
    return scored


def check_rules(scored: Sequence[Scored], rules: RuleSet) -> list[str]:
    """Notices about rules, once every sequence's labels are known to fit them; InputError where they do not.

    Rules fit a set of labels if they can be stated for one of the first sequences that have it: what goes wrong with
    a single sequence, such as a token that a pattern takes too long on, is found when that is decoded.
    """
    absent: dict[str, None] = {}
    tried: dict[LabelSet, list[InputError]] = {}
    fitting: set[LabelSet] = set()
    for item in scored:
        if item.trellis is None or item.trellis.labels in fitting:
            continue
        labels = item.trellis.labels
        absent.update(dict.fromkeys(rules.absent(labels)))
        try:
            compile_problem(item.trellis, rules)
            fitting.add(labels)
        except (ValueError, MemoryError, RecursionError) as error:
            tried.setdefault(labels, []).append(InputError(f"{item.example.where}: {describe(error)}"))
            if len(tried[labels]) == TRIED:
                break
    unfit = [errors[0] for labels, errors in tried.items() if labels not in fitting]
    if unfit:
        raise unfit[0]
    return [f"no label for {', '.join(absent)}: counted as absent"] if absent else []


def stripped(example: Example) -> Example:
    """The example with prefixes taken off the label names of its scores."""
    assert example.scores is not None
    names = example.scores["label_names"]
    plain = None if names is None else strip([names])[0]
    return Example(example.tokens, example.labels, example.where, {**example.scores, "label_names": plain})
