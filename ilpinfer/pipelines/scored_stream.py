"""Streams of scored sequences, and checks whether rules fit their labels."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, groupby
from typing import Any, Self, TypeVar

from formulations import Feature, RuleSet, Trellis
from formulations.labels.label_set import LabelSet
from formulations.labels.schemes import OUTSIDE, remark
from formulations.labels.selectors import EACH_FIELD, names_in
from formulations.messages import distinct, suggestion
from formulations.problem.compiled_rules import notices
from ilpinfer.core.rule_compiler import compiler_of
from ilpinfer.corpus.examples import Example, InputError, Notify, Rejection
from ilpinfer.corpus.streams import ExampleStream
from ilpinfer.decoding.chunks import paused
from ilpinfer.errors import describe
from ilpinfer.models.sequence_model import SequenceModel
from ilpinfer.pipelines.fit import SAMPLE, about_rules
from ilpinfer.pipelines.trellises import ScoredExample, score_example

MOST_TRIALS = 3
"""Number of sequences of a label set that must fail before the rules are refused."""

LabelKind = tuple[LabelSet, bool, tuple[bool, ...]]
"""Labels, whether there are tokens, and which rules hold if some have a condition."""


class RuleCheck:
    """Checks whether rules compile for one of the first sequences of each kind (`LabelKind`)."""

    def __init__(self, rules: RuleSet) -> None:
        self._rules = rules
        self._odd: dict[str, None] = {}
        self._tried: dict[LabelKind, list[InputError]] = {}
        self._fitting: set[LabelKind] = set()

    @property
    def remarks(self) -> list[str]:
        return [text for text in self._odd if text]

    @property
    def settled(self) -> bool:
        """Whether the rules fit all labels so far."""
        return self._tried.keys() <= self._fitting

    def add(self, item: ScoredExample) -> None:
        """Check a sequence; InputError if the rules fit none of `MOST_TRIALS` sequences of its kind."""
        if item.trellis is None or not len(item.trellis):
            return
        rules = compiler_of(self._rules).of(item.example.notes)
        holding = self._rules.holding(item.example.notes) if self._rules.conditional else ()
        kind = (item.trellis.labels, any(item.trellis.tokens), holding)
        if kind in self._fitting:
            return
        self._odd.update(dict.fromkeys(distinct([_remark(kind[0]), *notices(self._rules, kind[0])])))
        try:
            rules.quietly(item.trellis)
            self._fitting.add(kind)
        except (ValueError, MemoryError, RecursionError) as error:
            tried = self._tried.setdefault(kind, [])
            tried.append(InputError(f"{item.where}: {describe(error)}"))
            if len(tried) == MOST_TRIALS:
                self.finish()

    def finish(self) -> None:
        """Raise InputError if the rules fit no sequence of some kind."""
        for kind, errors in self._tried.items():
            if kind not in self._fitting:
                raise errors[0]


def check_rules(scored: Iterable[ScoredExample], rules: RuleSet) -> list[str]:
    """Notices about labels and rules, after a check of all sequences; InputError as for `RuleCheck`."""
    check, absent = RuleCheck(rules), Absent(rules)
    for item in scored:
        check.add(item)
        absent.add(item.example)
    check.finish()
    return [*check.remarks, *absent.notices]


class Absent:
    """Names in rules for which no text has a candidate, and keys of conditions that no sequence has, once all are added."""

    def __init__(self, rules: RuleSet, *, nested: bool = False) -> None:
        self._rules, self._nested = rules, nested
        self._keys = {each.key for each in rules.conditions if each}
        self._met: set[str] | None = None

    def add(self, example: Example) -> None:
        if self._keys:
            self.add_metadata(example.notes)
        if example.candidates is not None:
            fields = example.candidates.fields
            paths = [f"{outer}/{inner}" for outer in fields for inner in fields] if self._nested else []
            self._met = {*(self._met or ()), *fields, *paths}

    def add_metadata(self, metadata: Mapping[str, Any]) -> None:
        self._keys -= metadata.keys()

    @property
    def notices(self) -> list[str]:
        keys = (
            f"when: no sequence has {key} in its metadata, so rules on it are never applied"
            for key in sorted(self._keys)
        )
        if not self._met:
            return [*keys]
        fields = sorted(self._met)
        lacking = [name for name in named_fields(self._rules, fields) if name not in self._met]
        hint = suggestion(lacking[0], fields) if len(lacking) == 1 else ""
        names = [f"no text has a candidate for {', '.join(lacking)}: counted as absent{hint}"] * bool(lacking)
        return [*names, *keys]


def named_fields(rules: RuleSet, fields: Sequence[str]) -> list[str]:
    """The names in rules and features, including the fields of "each field"."""
    names: dict[str, None] = {}
    for item in rules:
        if isinstance(item, Feature):
            found = names_in((item.label, item.from_, item.to))
        else:
            found = [name for each in item.statements(tuple(fields)) for name in each.names]
        names |= dict.fromkeys(name for name in found if name not in (OUTSIDE, EACH_FIELD))
    return list(names)


def _remark(labels: LabelSet) -> str:
    """A remark on unusual labels, also if their scheme is plain because it was inferred for a model."""
    names = [name for name in labels.names if name not in labels.never]
    return labels.notice or (remark(names, "plain") if labels.scheme == "plain" else "")


Result = TypeVar("Result")
MOST_HELD = 200
"""Largest number of sequences that are held back for the check."""
MOST_TOKENS = 100_000
"""Largest number of tokens of the sequences by which the fit of rules is judged."""


class ScoredStream:
    """Scored examples. The first ones are held back until one can be scored and the rules fit its labels."""

    def __init__(
        self,
        examples: ExampleStream,
        model: SequenceModel | None,
        rules: RuleSet,
        scheme: str,
        notify: Notify,
        not_used: str = "",
    ) -> None:
        self._examples, self._model, self._rules, self._scheme = examples, model, rules, scheme
        self._notify, self._not_used = notify, not_used
        self._check = RuleCheck(rules)
        self._sample: list[Trellis] | None = []
        self._tokens = 0
        self._said = set[str]()
        self._ready: deque[ScoredExample] = deque()
        self._items = self._all()

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> ScoredExample:
        return next(self._items)

    @property
    def paused(self) -> bool:
        """Whether the next sequence is not available yet."""
        return not self._ready and self._examples.paused

    def _all(self) -> Iterator[ScoredExample]:
        first: ScoredExample | None = None
        scored = False
        for found in self._examples:
            if isinstance(found, Rejection):
                raise found.error
            try:
                item = self._score(found)
            except InputError as error:
                if self._examples.reject is None:
                    raise
                self._examples.reject(error)
                continue
            first = first or item
            scored = scored or item.trellis is not None
            self._look(item)
            self._ready.append(item)
            if scored and self._check.settled:
                yield from self._released()
            elif len(self._ready) > MOST_HELD:
                break
        if first is not None and first.error is not None and not scored:
            raise InputError(f"{first.where}: {describe(first.error)}") from first.error
        self._check.finish()
        self._say()
        yield from self._released()

    def _score(self, example: Example) -> ScoredExample:
        try:
            return score_example(example, self._model, self._scheme, self._rules.never)
        except (MemoryError, RecursionError, OSError) as error:
            raise InputError(f"{example.where}: {describe(error)}") from error

    def _released(self) -> Iterator[ScoredExample]:
        while self._ready:
            yield self._ready.popleft()

    def _look(self, item: ScoredExample) -> None:
        self._check.add(item)
        if item.example.scores is None:
            self._not_used = ""
        if self._sample is None:
            self._say()
        elif item.trellis is not None:
            self._sample.append(item.trellis)
            self._tokens += len(item.trellis.tokens)
            if len(self._sample) == SAMPLE or self._tokens > MOST_TOKENS:
                self._say()

    def _say(self) -> None:
        if self._sample is None:
            texts = self._check.remarks
        else:
            texts = about_rules(self._sample, self._rules, self._check.remarks) if self._sample else []
            left_out = set(self._check.remarks).difference(texts)
            self._said.update(left_out)
            self._sample = None
            if self._not_used:
                self._notify(self._not_used)
        for text in texts:
            if text not in self._said:
                self._said.add(text)
                self._notify(text)


class Trellises:
    """The trellises of scored sequences, which are kept until they are taken, also those without a trellis; `source` has them and more."""

    def __init__(self, scored: Iterator[ScoredExample], source: Iterator[ScoredExample]) -> None:
        self._scored, self._source = scored, source
        self.waiting: deque[ScoredExample] = deque()

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Trellis:
        while True:
            item = next(self._scored)
            self.waiting.append(item)
            if item.trellis is not None:
                return item.trellis

    @property
    def paused(self) -> bool:
        """Whether the next trellis has to be waited for."""
        return paused(self._source)

    @property
    def first(self) -> Trellis:
        return next(item.trellis for item in self.waiting if item.trellis is not None)


def by_rules(
    scored: Iterator[ScoredExample], rules: RuleSet
) -> Iterator[tuple[Mapping[str, Any], Trellises]]:
    """The trellises of sequences that follow each other under the same rules, with metadata by which these hold."""
    if not rules.conditional:
        yield {}, Trellises(scored, scored)
        return
    known = dict[tuple[bool, ...], Mapping[str, Any]]()

    def kind(item: ScoredExample) -> tuple[bool, ...]:
        held = rules.holding(notes := item.example.notes)
        known.setdefault(held, notes)
        return held

    for held, some in groupby(scored, kind):
        yield known[held], Trellises(some, scored)


def in_order(
    trellises: Trellises, results: Iterable[Result], failed: Callable[[Exception], Result]
) -> Iterator[tuple[ScoredExample, Result]]:
    """Sequences with their results, in order; `failed` makes the result of a sequence without a trellis from its error."""
    for result in chain(results, [None]):
        while trellises.waiting and (error := trellises.waiting[0].error):
            yield trellises.waiting.popleft(), failed(error)
        if result is not None:
            yield trellises.waiting.popleft(), result
