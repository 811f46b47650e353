"""Trellises of examples, from a model or from scores in the input, and predicted labels from files."""

import time
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from formulations import Trellis
from formulations.dtypes import LabelIds
from formulations.labels import schemes
from formulations.messages import counted
from formulations.problem.known_labels import Given
from ilpinfer.core.rule_compiler import Rules
from ilpinfer.core.solution import Solution
from ilpinfer.corpus.conversion import adapt, convert_all, shown_scheme, sound, strip
from ilpinfer.corpus.examples import Example, InputError, Notify, input_at
from ilpinfer.corpus.helper_labels import at_places
from ilpinfer.corpus.sequences import read
from ilpinfer.errors import describe, traceback_wanted
from ilpinfer.models.sequence_model import SequenceModel

if TYPE_CHECKING:
    from ilpinfer.exact.marginals import Marginals

LABELLINGS = 50
"""Number of best labellings from which `questions` estimates probabilities."""
UNNAMED = Example((), None, "")
"""The example of scores that come from Python."""


@dataclass(frozen=True, eq=False)
class ScoredExample:
    """A sequence with scores, and perhaps gold labels.

    Parameters
    ----------
    trellis : Trellis or None
        Scores of T tokens; None if the model cannot score them.
    gold : tuple of str, optional
        T label names in the scheme of the trellis; the model may lack some of them. None if unknown. `WeightLearner` accepts None
        for single labels, too.
    example : Example, optional
        The sequence in the file or from the caller.
    error : Exception, optional
        The error, if there is no trellis.
    seconds : float, default 0.0
        Time of the model for the scores.

    Examples
    --------
    >>> from ilpinfer import Trellis
    >>> ScoredExample(Trellis([0.0, 0.5], [], labels=["a", "b"]), ("a",)).gold
    ('a',)
    """

    trellis: Trellis | None
    gold: tuple[str, ...] | None = None
    example: Example = UNNAMED
    error: Exception | None = None
    seconds: float = 0.0

    @property
    def where(self) -> str:
        """The place of the sequence, for messages."""
        return self.example.where

    @property
    def tokens(self) -> tuple[str, ...]:
        """T texts."""
        return self.example.tokens if self.trellis is None else self.trellis.tokens


def with_spans(example: Example, values: dict[str, Any], *, nested: bool = False) -> dict[str, Any]:
    """The plain values of a solution, with the chosen candidate spans."""
    if example.candidates is not None:
        chosen = example.candidates.original(values["labels"], nested=nested) if values["labels"] else ()
        values["spans"] = [asdict(each) for each in chosen]
    return values


def questions(trellis: Trellis, rules: Rules, number: int) -> list[dict[str, Any]]:
    """Tokens to annotate next, as plain values; see `next_question`."""
    from ilpinfer.decoding.questions import next_question

    return [asdict(each) for each in next_question(trellis, rules, top=number, labellings=LABELLINGS)]


def probabilities(trellis: Trellis, rules: Rules, solution: Solution) -> dict[str, Any]:
    """Exact probabilities of a labelling and of its entities as plain values, or the reason for their absence."""
    from ilpinfer.exact.marginals import marginals

    try:
        found = marginals(trellis, rules, given=solution.given)
    except ValueError as error:
        return {"labelling": None, "entities": [], "reason": f"not exact: {error}"}
    return {**of_labelling(found, solution.ids), "reason": ""}


def of_labelling(found: "Marginals", ids: LabelIds, digits: int | None = None) -> dict[str, Any]:
    """The probabilities of a labelling and of its entities as plain values; probabilities of entities are rounded."""
    entities = [
        {
            "field": name,
            "tokens": list(range(begin, end)),
            "probability": chance if digits is None else round(chance, digits),
        }
        for name, begin, end, chance in found.entities(ids)
    ]
    return {"labelling": found.probability(ids), "entities": entities}


def score(
    examples: Sequence[Example], model: SequenceModel | None, scheme: str = "", never: Collection[str] = ()
) -> list[ScoredExample]:
    """Score examples; gold labels are converted to the model's scheme. A sequence that the model cannot score gets the error."""
    scheme = fitting_scheme(model, scheme)
    scored = [score_example(example, model, scheme, never) for example in examples]
    hint = "; remove the gold labels, or use a model with these labels"
    golden = _fitting_labels(examples, scored, scheme, "gold ", hint, never)
    scored = [
        replace(item, gold=None if item.trellis is None else gold)
        for item, gold in zip(scored, golden, strict=True)
    ]
    first = scored[0] if scored else None
    if first and first.error and all(item.trellis is None for item in scored):
        raise InputError(f"{first.example.where}: {describe(first.error)}") from first.error
    return scored


def fitting_scheme(model: SequenceModel | None, scheme: str) -> str:
    """The notation of a scheme; InputError if the model has another scheme."""
    scheme = schemes.scheme_name(scheme)
    if model is not None and scheme and schemes.scheme_of(scheme) != model.labels.scheme:
        raise InputError(
            f"the model's labels are {model.labels.scheme}; remove --scheme, or train the model with --scheme {scheme}"
        )
    return scheme


def score_example(
    example: Example, model: SequenceModel | None, scheme: str = "", never: Collection[str] = ()
) -> ScoredExample:
    """Score an example, without gold labels; an example that the model cannot score gets the error.

    Labels in `never` are never predicted; unknown labels in `never` are ignored.
    """
    began = time.perf_counter()
    if example.scores is not None:
        trellis = (strip_prefixes(example, never) if scheme == "plain" else example).trellis(scheme, never)
    elif model is None:
        raise InputError(
            f"{example.where}: no scores; name a model with --model, or give scores as JSON lines"
        )
    else:
        try:
            trellis = model.trellis(example.tokens)
            if never:
                trellis = trellis.with_never(never, absent=True)
        except Exception as error:
            if traceback_wanted():
                raise
            return ScoredExample(None, example=example, error=error)
    seconds = time.perf_counter() - began
    if example.labels is not None and len(example.labels) != len(trellis.tokens):
        raise InputError(
            f"{example.where}: {counted(len(example.labels), 'label')} for {counted(len(trellis.tokens), 'token')}"
        )
    if example.given:
        trellis = _with_given(trellis, example, scheme)
    return ScoredExample(trellis, example=example, seconds=seconds)


def _with_given(trellis: Trellis, example: Example, scheme: str) -> Trellis:
    """The trellis with the known labels of the example; InputError if they do not fit."""
    given: Given = example.given
    if scheme == "plain" and example.scores is not None:
        listed = [(known,) if isinstance(known, str) else known for known in example.given.values()]
        given = dict(zip(given, strip(listed), strict=True))
    with input_at(example.where):
        return trellis.with_given(given)


def _fitting_labels(
    examples: Sequence[Example],
    scored: Sequence[ScoredExample],
    scheme: str,
    what: str,
    hint: str,
    never: Collection[str] = (),
) -> list[tuple[str, ...] | None]:
    """Convert labels of examples to a scheme, or of scored sequences to the scheme of their trellis, except labels in `never`."""
    given = [each.labels for each in examples if each.labels is not None]
    places = [[t for t, name in enumerate(labels) if name not in never] for labels in given]
    known = convert_all(at_places(given, places), scheme)
    converted, shown, rewrite = iter(zip(known, places, strict=True)), shown_scheme(known), sound(known)
    result: list[tuple[str, ...] | None] = []
    for example, item in zip(examples, scored, strict=True):
        if example.labels is None:
            result.append(None)
            continue
        labels, kept = next(converted)
        if item.trellis is not None:
            try:
                labels = adapt(item.trellis.labels, labels, shown, rewrite)
            except ValueError as error:
                raise InputError(f"{example.where}: {what}{error}{hint}") from None
        every = dict(enumerate(example.labels)) | dict(zip(kept, labels, strict=True))
        result.append(tuple(every.values()))
    return result


def strip_prefixes(example: Example, never: Collection[str] = ()) -> Example:
    """Remove prefixes from labels; labels that are never predicted may lack a prefix."""
    assert example.scores is not None
    names, out = example.scores.label_names, {*never, *example.scores.never}
    plain = None
    if names is not None:
        stripped = iter(strip([[name for name in names if name not in out]])[0])
        plain = tuple(name if name in out else next(stripped) for name in names)
    return replace(example, scores=replace(example.scores, label_names=plain))


def read_predictions(
    path: str,
    scored: Sequence[ScoredExample],
    scheme: str = "",
    notify: Notify | None = None,
    never: Collection[str] = (),
) -> list[tuple[str, ...] | None]:
    """The best labellings of a file, in the scheme of the trellises, except labels in `never`; None without a labelling."""
    examples = [each for each in read(path, notify=notify) if each.rank == 1][: len(scored)]
    source = scored[0].example.where.partition(",")[0] if scored else ""
    from ilpinfer.evaluation.predictions import check_same

    check_same(examples, [item.example for item in scored], path, source)
    return _fitting_labels(examples, scored, scheme, "", "", never)
