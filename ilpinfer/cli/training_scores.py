"""Labelled sequences for `ilpinfer learn`, scored by models that were not trained on them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import ilpinfer
from ilpinfer.cli.inputs import about, parameters
from ilpinfer.cli.learning_options import LearnOptions
from ilpinfer.cli.progress import progress
from ilpinfer.cli.streams import notice
from ilpinfer.corpus.sequences import InputError, read, require_labels
from ilpinfer.learning.held_out import held_out_examples
from ilpinfer.learning.penalties import PenaltyLearner
from ilpinfer.learning.training_set import ScoredExample
from ilpinfer.models.files import (
    BUILT_IN,
    TrainingRecord,
    load_model,
    model_of,
    record_of,
    training_digest,
    training_record,
)
from ilpinfer.models.sequence_model import SequenceModel
from ilpinfer.models.sequences import Labelled
from ilpinfer.models.training import KINDS, rewrite
from ilpinfer.pipelines.trellises import score
from ilpinfer.system.checkpoint import Row, RowCheckpoint, RowPosition
from ilpinfer.system.files import digest


@dataclass(frozen=True)
class TrainingScores:
    """Labelled sequences, and the source of their scores.

    Parameters
    ----------
    source : name of the input
    pairs : tokens and labels
    scores : short description of the source of the scores
    digest : digest of the sequences
    examples : the scored sequences; empty if models must be trained first
    record : settings for training these models, each without a part; None if there are scores
    """

    source: str
    pairs: Sequence[Labelled]
    scores: str
    digest: str
    examples: Sequence[ScoredExample] = ()
    record: TrainingRecord | None = None


def read_training(options: LearnOptions, scheme: str) -> TrainingScores:
    """Sequences with their scores, or with the models that will score them."""
    source = options.source
    sequences = read(source, column=options.column, notify=notice)
    pairs = rewrite(require_labels(sequences), scheme)
    data = training_digest(pairs)
    if options.kind and options.model:
        raise InputError(f"--model {options.model} and --kind {options.kind}: give one of them")
    if options.kind:
        if options.kind not in KINDS:
            raise InputError(f'no kind of model "{options.kind}"; there are {", ".join(KINDS)}')
        made = TrainingRecord(options.kind, parameters(options.option), scheme, len(pairs), data)
        return _of_parts(source, pairs, made)
    if options.option:
        raise InputError("--option: a parameter of a model that is trained; add --kind")
    own = all(example.scores is not None for example in sequences)
    record = training_record(options.model) if options.model and not own else None
    if record is not None and record.kind in KINDS:
        pairs = rewrite(require_labels(sequences), record.scheme)
        data = training_digest(pairs)
        if record.data == data:
            notice(
                f"{options.model} was trained on {source}: models of the same kind are trained on parts of it, and score the other parts"
            )
            return _of_parts(source, pairs, record)
    _warn(options, own, record)
    with about(options.model):
        model: SequenceModel | None = load_model(options.model) if options.model else None
    scored = score(sequences, model, scheme)
    examples = [
        ScoredExample(item.trellis, item.gold)
        for item in scored
        if item.trellis is not None and item.gold is not None
    ]
    if len(examples) < len(scored):
        notice(f"{len(scored) - len(examples)} sequences could not be scored, and are left out")
    scores = "with scores" if own else f"scored by {_shown(options.model)}"
    return TrainingScores(source, pairs, scores, data, examples)


def open_checkpoint(
    output: str, data: TrainingScores, learner: PenaltyLearner, inputs: Iterable[str]
) -> RowCheckpoint:
    """A checkpoint of the models that score the sequences, with one row for each."""
    assert data.record is not None
    made = (data.record.kind, sorted(data.record.options.items()), data.record.scheme)
    job = digest(ilpinfer.__version__, data.digest, made, learner.folds, learner.seed)
    return RowCheckpoint(output, job, lambda row: RowPosition(int(row["part"])), inputs)


def cross_fitted(
    data: TrainingScores, learner: PenaltyLearner, checkpoint: RowCheckpoint | None = None
) -> list[ScoredExample]:
    """Each sequence, scored by a model that was trained without its part.

    Models of an interrupted run are read from the checkpoint; others are trained and added to it.
    """
    record, pairs = data.record, data.pairs
    assert record is not None
    left: list[Row] = []
    if checkpoint is not None:
        if checkpoint.damage:
            notice(checkpoint.damage)
        left = list(checkpoint.rows())
        if left:
            notice(f"{checkpoint.place.part}: {len(left)} models of an interrupted run are used")
    waiting = iter(left)

    def train(some: Sequence[Labelled]) -> SequenceModel:
        for row in waiting:
            return model_of(row["model"], f"part {row['part']}")
        model = KINDS[record.kind].make(some, record.scheme, [], None, record.options)
        if checkpoint is not None:
            body = record_of(model.FORMAT, model.VERSION, model.body())
            checkpoint.write([{"part": checkpoint.groups, "model": body}])
        return model

    with progress("training", min(learner.folds, len(pairs))) as advance:
        return held_out_examples(pairs, train, folds=learner.folds, seed=learner.seed, advance=advance)


def _of_parts(source: str, pairs: Sequence[Labelled], record: TrainingRecord) -> TrainingScores:
    """Sequences that are scored by models of a kind, with a short description of these."""
    if len(pairs) < 2:
        raise InputError(
            f"{source}: has one sequence, and no other one to train a model on; name a model with --model"
        )
    settings = ", ".join(f"{name}={value}" for name, value in record.options.items())
    scores = f"scored by {record.kind}{f' ({settings})' if settings else ''} trained without each part"
    return TrainingScores(source, pairs, scores, training_digest(pairs), record=record)


def _shown(model: str | None) -> str:
    """The name of a model, or a digest of its file."""
    if model is None or model in BUILT_IN:
        return model or "no model"
    return f"a model ({digest(Path(model).read_bytes())})"


def _warn(options: LearnOptions, own: bool, record: TrainingRecord | None) -> None:
    """Notices about a model that is not used, and about one that may be trained on the sequences."""
    if options.model and own:
        notice(f"{options.source} has scores of its own: {options.model} is not used")
    elif options.model and options.model not in BUILT_IN and record is None:
        notice(
            f"{options.model} has no record of its training sequences; if {options.source} is among them, use --kind, "
            "which scores each part by a model that was not trained on it"
        )
