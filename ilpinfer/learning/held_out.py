"""Models that have not seen a labelled sequence, and their scores of it."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from ilpinfer.models.sequence_model import SequenceModel
from ilpinfer.models.sequences import Labelled
from ilpinfer.pipelines.cross_validation import make_folds, without
from ilpinfer.pipelines.trellises import ScoredExample

Model = TypeVar("Model", bound=SequenceModel)


def held_out_models(
    pairs: Sequence[Labelled],
    train: Callable[[Sequence[Labelled]], Model],
    *,
    folds: int = 5,
    documents: Sequence[object] | None = None,
    seed: int = 0,
    advance: Callable[[], None] = lambda: None,
) -> list[Model]:
    """Train one model per fold, on the other folds.

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
    list of SequenceModel
        For each sequence the model that has not seen it; the sequences of a fold share a model.

    Raises
    ------
    ValueError
        For fewer than two documents or folds, and for anything that `train` refuses.

    Examples
    --------
    >>> from ilpinfer.models.hmm import HMM
    >>> pairs = [(["Ada", "1815"], ["name", "year"]), (["Alan", "1912"], ["name", "year"])]
    >>> [model.words for model in held_out_models(pairs, HMM.train, folds=2)]
    [('1912', 'Alan'), ('1815', 'Ada')]
    """
    names = range(len(pairs)) if documents is None else documents
    result: dict[int, Model] = {}
    for fold in make_folds(names, min(folds, len(set(names))), seed):
        model = train([pairs[place] for place in without(fold, len(pairs))])
        result |= dict.fromkeys(fold, model)
        advance()
    return [result[place] for place in range(len(pairs))]


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

    Parameters and errors as for `held_out_models`.

    Returns
    -------
    list of ScoredExample
        The sequences in order, with their scores.

    Examples
    --------
    >>> from ilpinfer.models.hmm import HMM
    >>> pairs = [(["Ada", "1815"], ["name", "year"]), (["Alan", "1912"], ["name", "year"])]
    >>> [example.gold for example in held_out_examples(pairs, HMM.train, folds=2)]
    [('name', 'year'), ('name', 'year')]
    """
    models = held_out_models(pairs, train, folds=folds, documents=documents, seed=seed, advance=advance)
    return [
        ScoredExample(model.trellis(tuple(tokens)), tuple(gold))
        for model, (tokens, gold) in zip(models, pairs, strict=True)
    ]
