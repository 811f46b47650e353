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
    """Score each sequence by a model that was trained on the other folds.

    Parameters
    ----------
    pairs : sequence of Labelled
        Tokens and labels of at least two sequences.
    train : callable
        Function that makes a model from labelled sequences, in the scheme of these labels.
    folds : int, default 5
        Number of models to train, at least 2; at most one for each document.
    documents : sequence of object, optional
        Document of each sequence, by any hashable value; without it, every sequence is a document.
    seed : int, default 0
        Seed of the folds.
    advance : callable, optional
        Function that is called after each model.

    Returns
    -------
    list of ScoredExample
        The sequences in order, with their scores.

    Raises
    ------
    ValueError
        For fewer than two documents or folds, and for anything that `train` refuses.

    Examples
    --------
    >>> from ilpinfer.models.hmm import HMM
    >>> pairs = [(["Ada", "1815"], ["name", "year"]), (["Alan", "1912"], ["name", "year"])]
    >>> [example.gold for example in held_out_examples(pairs, HMM.train, folds=2)]
    [('name', 'year'), ('name', 'year')]
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
