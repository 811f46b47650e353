"""Labelled sequences of a command, scored by their file, by a model, or by models trained on other parts."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Annotated

from formulations.messages import brief, counted
from ilpinfer.cli import arguments
from ilpinfer.cli.arguments import OptionGroup, model_option, value_option
from ilpinfer.cli.failure import about
from ilpinfer.cli.inputs import parameters, unused_model
from ilpinfer.cli.labelled import reading, tell_unknown
from ilpinfer.cli.progress import progress
from ilpinfer.cli.streams import notice
from ilpinfer.corpus.examples import Example, InputError
from ilpinfer.corpus.helper_labels import places_with_labels, tell_helpers
from ilpinfer.corpus.sequences import read, require_labels
from ilpinfer.models.files import TrainingRecord, load_model, training_digest, training_record
from ilpinfer.models.sequence_model import SequenceModel, TrainedModel
from ilpinfer.models.sequences import Labelled
from ilpinfer.models.training import KINDS, rewrite
from ilpinfer.pipelines.trellises import ScoredExample, score
from ilpinfer.system.files import digest
from ilpinfer.system.storage import open_bytes

if TYPE_CHECKING:
    from ilpinfer.learning.weights import WeightLearner


MODELS = OptionGroup("Models that score TRAIN")


@dataclass(frozen=True)
class TrainingInput:
    source: arguments.TrainFile
    model: Annotated[
        str | None,
        model_option(
            "Model that scores TRAIN. If it was trained on TRAIN, models of its kind are trained on parts of TRAIN and score the "
            "other parts.",
            MODELS,
        ),
    ] = None
    kind: Annotated[
        str,
        value_option(
            "KIND",
            "Without --model: kind of the models, hmm, hmm2 or crf, each trained without one part of TRAIN.",
            MODELS,
        ),
    ] = ""
    option: Sequence[str] = MODELS.option(
        (), "NAME=VALUE: A parameter of the kind, as in `ilpinfer train`. May be repeated."
    )
    scheme: arguments.Scheme = ""
    never: arguments.HelperLabels = ()
    column: arguments.Column = ""
    label_names: arguments.TagNames = None

    def read(self, scheme: str) -> "TrainingScores":
        """Sequences with their scores, or with the models that will score them."""
        source = self.source
        sequences = read(source, reading(self.label_names, self.column), self.column, notice)
        sequences = self._without_helpers(sequences)
        labelled = require_labels(sequences, partly=True, never=self.never)
        tell_unknown(source, labelled)
        pairs = _rewritten(source, labelled, scheme)
        data = training_digest(pairs)
        if self.kind and self.model:
            raise InputError(f"--model {self.model} and --kind {self.kind}: give one of them")
        if self.kind:
            if self.kind not in KINDS:
                raise InputError(f'no kind of model "{self.kind}"; choose from {", ".join(KINDS)}')
            made = TrainingRecord(self.kind, parameters(self.option), scheme, len(pairs), data)
            return _of_parts(source, pairs, made)
        if self.option:
            raise InputError("--option sets a parameter of models that are trained; add --kind")
        own = all(example.scores is not None for example in sequences)
        record = training_record(self.model) if self.model and not own else None
        if record is not None and record.kind in KINDS:
            pairs = _rewritten(source, labelled, record.scheme)
            data = training_digest(pairs)
            if record.data == data:
                notice(
                    f"{self.model} was trained on {source}: models of the same kind are trained on parts of it, and score the other parts"
                )
                return _of_parts(source, pairs, record)
        self._warn(own, record)
        with about(self.model):
            model: SequenceModel | None = load_model(self.model) if self.model else None
        whole = all(map(is_whole, labelled))
        by = score if whole else partial(_score_partly, source, labelled)
        scored = by(sequences, model, scheme)
        examples = [item for item in scored if item.trellis is not None]
        if len(examples) < len(scored):
            notice(f"left out: {counted(len(scored) - len(examples), 'sequence')} that could not be scored")
        scores = "with scores" if own else f"scored by {_shown(self.model)}"
        return TrainingScores(pairs, scores, data, examples)

    def _without_helpers(self, sequences: list[Example]) -> list[Example]:
        """The sequences without tokens that have a helper label; InputError if these tokens have scores."""
        labellings = [labels for _, labels in require_labels(sequences, partly=True, never=self.never)]
        kept = places_with_labels(labellings, self.never)
        result = []
        for example, places, labels in zip(sequences, kept, labellings, strict=True):
            if example.scores is not None and len(places) < len(labels):
                t, name = next((t, name) for t, name in enumerate(labels) if name in self.never)
                raise InputError(
                    f"{example.where}: token {t} has scores and the helper label {brief(name)}; remove the token from the sequence "
                    "and its scores, or give it another label"
                )
            result.append(example if len(places) == len(labels) else example.at(places))
        tell_helpers(labellings, self.never, notice)
        some = [example for example in result if example.labels]
        if len(some) < len(result):
            notice(f"left out, as they have no token: {counted(len(result) - len(some), 'sequence')}")
        if not some:
            raise InputError(f"{self.source}: no token is left to learn from")
        return some

    def _warn(self, own: bool, record: TrainingRecord | None) -> None:
        """Notices about an unused model, and about a model that may have been trained on the sequences."""
        if self.model and own:
            notice(unused_model(self.source, self.model))
        elif self.model and record is None:
            notice(
                f"{self.model} has no record of its training sequences; if {self.source} is among them, use --kind, "
                "which scores each part by a model that was not trained on it"
            )


@dataclass(frozen=True)
class TrainingScores:
    pairs: Sequence[Labelled]
    scores: str
    digest: str
    examples: Sequence[ScoredExample] = ()  # none if models must be trained first
    record: TrainingRecord | None = None
    """How to train the models, each without one part; None if there are scores."""

    def train(self, some: Sequence[Labelled]) -> TrainedModel:
        """A model trained on `some` sequences; only on fully labelled sequences if its kind requires labels of all tokens."""
        assert self.record is not None
        kind = KINDS[self.record.kind]
        seen = some if kind.partly else list(filter(is_whole, some))
        return kind.make(seen, self.record.scheme, [], None, self.record.options)

    def cross_fit(self, learner: "WeightLearner") -> list[ScoredExample]:
        """Each sequence, scored by a model trained without its part."""
        from ilpinfer.learning.held_out import held_out_examples
        from ilpinfer.learning.weights import folds_of

        folds = folds_of(learner, len(self.pairs))
        with progress("training", folds) as advance:
            return held_out_examples(self.pairs, self.train, folds=folds, seed=learner.seed, advance=advance)


def _of_parts(source: str, pairs: Sequence[Labelled], record: TrainingRecord) -> TrainingScores:
    """Sequences to be scored by models of a kind, with a short description of the models."""
    if len(pairs) < 2:
        raise InputError(
            f"{source}: has only one sequence, but models are trained on the other sequences; add sequences, or, with --weights rules, "
            "name a model with --model"
        )
    whole = sum(map(is_whole, pairs))
    if whole < len(pairs) and not KINDS[record.kind].partly:
        if not whole:
            raise InputError(
                f"{source}: each sequence has tokens without a label; a {record.kind} is trained on sequences in which all have one: label "
                "some, or use --kind hmm"
            )
        notice(
            f"each {record.kind} is trained on sequences in which all tokens have a label: {whole} of {len(pairs)}"
        )
    settings = ", ".join(f"{name}={value}" for name, value in record.options.items())
    scores = f"scored by {record.kind}{f' ({settings})' if settings else ''} trained without each part"
    return TrainingScores(pairs, scores, training_digest(pairs), record=record)


def is_whole(pair: Labelled) -> bool:
    """Whether all tokens have a label."""
    return None not in pair[1]


def _rewritten(source: str, labelled: Sequence[Labelled], scheme: str) -> list[Labelled]:
    """As `rewrite`, with the file name in an error about partial labels."""
    try:
        return rewrite(labelled, scheme)
    except ValueError as error:
        if all(map(is_whole, labelled)):
            raise
        raise InputError(f"{source}: {error}") from None


def _score_partly(
    source: str,
    labelled: Sequence[Labelled],
    sequences: Sequence[Example],
    model: SequenceModel | None,
    scheme: str,
) -> list[ScoredExample]:
    """As `score`, with the labels of `labelled` in the scheme of the scores, None for unknown labels."""
    scored = score([replace(example, labels=None) for example in sequences], model, scheme)
    shown = next(item.trellis.labels.scheme for item in scored if item.trellis is not None)
    labels = [tuple(own) for _, own in _rewritten(source, labelled, shown)]
    return [replace(item, gold=own) for item, own in zip(scored, labels, strict=True)]


def _shown(model: str | None) -> str:
    """A digest of a model file."""
    if model is None:
        return "no model"
    with open_bytes(model) as stream:
        return f"a model ({digest(stream.read())})"
