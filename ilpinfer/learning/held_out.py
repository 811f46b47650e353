"""Scores of labelled sequences by models that have not seen them."""

from collections.abc import Callable, Sequence

from ilpinfer.learning.training_set import ScoredExample
from ilpinfer.models.sequence_model import SequenceModel
from ilpinfer.models.sequences import Labelled
from ilpinfer.pipelines.cross_validation import make_folds


def held_out_examples(
    pairs: Sequence[Labelled],
    train: Callable[[Sequence[Labelled]], SequenceModel],
    *,
    folds: int = 5,
    documents: Sequence[object] | None = None,
    seed: int = 0,
    advance: Callable[[], None] = lambda: None,
) -> list[ScoredExample]:
    """Each sequence as scored by a model that was trained on the other folds.

    Parameters
    ----------
    pairs : tokens and labels, at least two
    train : makes a model of labelled sequences, in the scheme of these labels
    folds : how many models are trained, from 2; as many as there are documents where those are fewer
    documents : for each sequence, what tells its document apart; every sequence is one where not given
    seed : of the folds
    advance : called after each model

    Raises
    ------
    ValueError
        for fewer than two documents or folds, and whatever `train` refuses.
    """
    names = range(len(pairs)) if documents is None else documents
    number = min(folds, len(set(names)))
    result: list[ScoredExample | None] = [None] * len(pairs)
    for fold in make_folds(names, number, seed):
        left_out = set(fold)
        model = train([pair for place, pair in enumerate(pairs) if place not in left_out])
        for place in fold:
            tokens, gold = pairs[place]
            result[place] = ScoredExample(model.trellis(tuple(tokens)), tuple(gold))
        advance()
    return [example for example in result if example is not None]
