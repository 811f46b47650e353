"""Decoding of batches of scores."""

from collections.abc import Iterable, Sequence
from typing import Any

from formulations.labels.label_set import label_set
from formulations.problem.known_labels import Given
from formulations.problem.trellis import Labels
from ilpinfer.core.request import Request
from ilpinfer.core.rule_compiler import Rules, compiler_of
from ilpinfer.decoding.batch import Batch
from ilpinfer.decoding.decode import check_many
from ilpinfer.decoding.runner import Runner
from ilpinfer.decoding.score_rows import score_rows


def decode_scores(
    emissions: Any,
    transitions: Any = None,
    *,
    rules: Rules = (),
    labels: Labels = None,
    lengths: Any = None,
    mask: Any = None,
    start: Any = None,
    end: Any = None,
    tokens: Iterable[Sequence[str]] | None = None,
    given: Iterable[Given | None] | None = None,
    threads: int = 1,
    method: str = "auto",
    time_limit: float | None = None,
    **options: Any,
) -> Batch:
    """The best labellings of a batch of scores under rules, as arrays.

    Parameters
    ----------
    emissions : array_like of shape (N, T, K), or list of array_like of shape (T, K)
        Scores in nats of N sequences, padded or one by one: arrays and tensors of numpy, torch, jax or tensorflow, in any
        floating type, or lists.
    transitions : array_like of shape (K, K), optional
        Scores of steps [from, to], the same for all sequences; zeros if not given.
    rules : Rules, optional
        Rules and features, a rule set, the path or name of a rule file, or TOML text.
    labels : LabelSet or sequence of str or mapping of object to str, optional
        K names; `0`, `1`, … if not given.
    lengths : array_like of shape (N,), optional
        Numbers of tokens of padded sequences.
    mask : array_like of shape (N, T), optional
        True where padded emissions have a token; give either `mask` or `lengths`. It may have holes, such as the pieces
        of a word after its first: the remaining tokens are neighbours.
    start, end : array_like of shape (K,), optional
        Scores of first and last labels.
    tokens : iterable of sequence of str, optional
        Texts of each sequence, which rules may look at: one for each of its tokens, or one for each of all T places.
    given : iterable of (mapping of int to str, int or set) or None, optional
        Known labels of each sequence by place, from 0 to T - 1.
    threads : int, default 1
        Number of threads that share the work.
    method : str, default "auto"
        "auto", or a name from `methods()`.
    time_limit : float, optional
        Time limit in seconds for each sequence.
    **options : object
        Options of the method except `start` and `threads`; see `ilpinfer.decode`.

    Returns
    -------
    Batch
        The labellings; a `Solution` of each on demand.

    Raises
    ------
    ValueError
        For wrong shapes, NaN, lengths together with a mask, tokens or known labels that do not fit, and what
        `ilpinfer.decode` refuses.

    Examples
    --------
    >>> import numpy as np
    >>> from ilpinfer import constraints as C
    >>> scores = np.array([[[0.0, 1.0], [0.5, 0.0]], [[2.0, 0.0], [0.0, 0.0]]], np.float32)
    >>> batch = decode_scores(scores, lengths=[2, 1], rules=[C.at_most_runs("a", 0)], labels=["a", "b"])
    >>> batch.ids.tolist(), batch.scores.tolist()
    ([[1, 1], [1, -1]], [1.0, 0.0])
    """
    runner = Runner(compiler_of(rules), Request.of(method, time_limit, options))
    scores = {"lengths": lengths, "mask": mask, "start": start, "end": end}
    return run_scores(runner, emissions, transitions, labels, threads, **scores, tokens=tokens, given=given)


def run_scores(
    runner: Runner, emissions: Any, transitions: Any, labels: Labels, threads: int, **more: Any
) -> Batch:
    """The labellings of a batch; `more` are further arguments of `score_rows`."""
    check_many(runner, None, None, threads)
    known, rules = runner.rules.labels if labels is None else label_set(labels), runner.rules.rules
    if known is not None:
        known = rules.fit(known)
        known = known.with_never(name for name in rules.never if name in known)
    return runner.scores(score_rows(emissions, transitions, known, threads=threads, **more), threads)
