"""The tokens to ask a person to label next."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args, overload

import numpy as np

from formulations import Trellis
from formulations.arguments import choice, number, whole
from formulations.automata.machine import TooManyStates
from formulations.dtypes import Floats, Integers
from formulations.problem.known_labels import Given
from ilpinfer.core.request import MOST
from ilpinfer.core.rule_compiler import RuleCompiler, Rules, compiler_of
from ilpinfer.decoding.decode import decode_many
from ilpinfer.exact.limits import BUDGET
from ilpinfer.exact.marginals import NoLabelling, marginals

Measure = Literal["changes", "entropy"]
"""The order of questions; see `next_question`."""


@dataclass(frozen=True)
class Question:
    """A token with an uncertain label.

    Parameters
    ----------
    token : int
        Position of the token.
    text : str
        Its text.
    label : str
        Its label in the best labelling.
    chances : dict of str to float
        Probability of each possible label under the rules, most probable first.
    entropy : float
        Entropy of these probabilities, nats.
    changes : float
        Expected number of tokens, including this one, whose label in the best labelling changes with the answer.

    Examples
    --------
    >>> import ilpinfer
    >>> from ilpinfer import Trellis
    >>> trellis = Trellis.from_emissions([[0, 1], [0, 3]], [[2, 0], [0, 2]], labels=["a", "b"])
    >>> question = ilpinfer.next_question(trellis)
    >>> question.token, question.label, round(question.chances["a"], 2), round(question.changes, 2)
    (0, 'b', 0.06, 0.06)
    """

    token: int
    text: str
    label: str
    chances: dict[str, float]
    entropy: float
    changes: float


@overload
def next_question(
    trellis: Trellis,
    rules: Rules = (),
    *,
    given: Given | None = None,
    by: Measure = "changes",
    top: None = None,
    least: float = 0.01,
    labellings: int | None = None,
    budget: int = BUDGET,
    time_limit: float | None = None,
) -> Question | None: ...


@overload
def next_question(
    trellis: Trellis,
    rules: Rules = (),
    *,
    given: Given | None = None,
    by: Measure = "changes",
    top: int,
    least: float = 0.01,
    labellings: int | None = None,
    budget: int = BUDGET,
    time_limit: float | None = None,
) -> list[Question]: ...


def next_question(
    trellis: Trellis,
    rules: Rules = (),
    *,
    given: Given | None = None,
    by: Measure = "changes",
    top: int | None = None,
    least: float = 0.01,
    labellings: int | None = None,
    budget: int = BUDGET,
    time_limit: float | None = None,
) -> Question | list[Question] | None:
    """The token whose label is worth asking for, since the answer is expected to change most (Culotta et al. 2006).

    With p the marginals under the rules and the known labels, y the best labelling, and y(t, k) the best one that has
    label k at token t, the expected number of changes is Σ_k p[t, k] Σ_s [y(t, k)[s] ≠ y[s]].

    Parameters
    ----------
    trellis : Trellis
        Scores of T tokens and K labels, nats.
    rules : Rules, optional
        Rules and features, or a rule set.
    given : mapping of int to str, int or set, optional
        Known labels by position, names or ids, or sets of allowed ones; tokens with one label are not asked for.
    by : Measure, default "changes"
        Order of the questions: "changes" by the expected number of changes, "entropy" by the entropy of p[t].
    top : int, optional
        Number of questions to return, as a list.
    least : float, default 0.01
        Labels that are less probable count as a change of their own token only, so that they need no decoding; 0
        for the exact expectation.
    labellings : int, optional
        Number of best labellings from which probabilities are estimated, for rules under which exact ones need too many
        states; None for exact probabilities, as in `marginals`.
    budget : int, default BUDGET
        Limit on joint states, as for `marginals`.
    time_limit : float, optional
        Seconds for each decoding; without a limit if not given.

    Returns
    -------
    Question or None, or list of Question
        None if every label is certain; a list, best first, if `top` is a number.

    Raises
    ------
    ValueError
        For whatever `marginals` refuses: too many states, second-order trellises, rules that no labelling keeps.

    Examples
    --------
    >>> from ilpinfer import Trellis, constraints as C
    >>> trellis = Trellis.from_emissions([[0, 1], [0.5, 0], [0, 0.1]], [[0, 0], [0, 0]], labels=["a", "b"])
    >>> rules = [C.at_most_tokens("a", 1)]
    >>> known = {}
    >>> while question := next_question(trellis, rules, given=known):
    ...     known[question.token] = "b" if question.token else "a"  # the answer
    >>> known
    {1: 'b', 2: 'b', 0: 'a'}
    """
    choice(by, "by", get_args(Measure))
    least = number(least, "least", 0, 1)
    most = 1 if top is None else whole(top, "top", 1, MOST["top"])
    compiler = compiler_of(rules)
    trellis = compiler.fit(trellis).with_given(given)
    if labellings is None:
        belief = _of_marginals(trellis, compiler, budget, time_limit)
    else:
        several = whole(labellings, "labellings", 1, MOST["top"])
        belief = _of_labellings(trellis, compiler, several, time_limit)
    chances, best = belief.chances, belief.best
    logarithms = np.log(chances, out=np.zeros_like(chances), where=chances > 0)
    entropies = -(chances * logarithms).sum(axis=1)
    tokens = np.flatnonzero((chances > 0).sum(axis=1) > 1).tolist()  # exact, unlike rounded entropies
    if by == "entropy":
        tokens = sorted(tokens, key=lambda t: -entropies[t])[:most]
    changes = _changes(belief, tokens, least)
    if by == "changes":
        tokens = sorted(tokens, key=lambda t: (-changes[t], -entropies[t]))[:most]
    names = trellis.labels.names
    questions = [
        Question(
            t,
            trellis.tokens[t],
            names[best[t]],
            {names[k]: float(chances[t, k]) for k in np.argsort(-chances[t], kind="stable") if chances[t, k]},
            float(entropies[t]),
            changes[t],
        )
        for t in tokens
    ]
    if top is not None:
        return questions
    return questions[0] if questions else None


class _Belief(NamedTuple):
    """Probabilities of labels (T, K), the best labelling (T,), and for (token, label) pairs the best labelling with that label."""

    chances: Floats
    best: Integers
    with_label: Callable[[list[tuple[int, int]]], Iterable[Integers]]


def _changes(belief: _Belief, tokens: Sequence[int], least: float) -> dict[int, float]:
    """The expected number of changes by token; see `next_question`."""
    chances, best = belief.chances, belief.best
    changes = {t: float(np.delete(chances[t], best[t]).sum()) for t in tokens}
    answers = [(t, int(k)) for t in tokens for k in np.flatnonzero((chances[t] > 0) & (chances[t] >= least))]
    answers = [(t, k) for t, k in answers if k != best[t]]
    for (t, k), other in zip(answers, belief.with_label(answers), strict=True):
        changes[t] += float(chances[t, k]) * (int((other != best).sum()) - 1)
    return changes


def _of_marginals(trellis: Trellis, rules: RuleCompiler, budget: int, limit: float | None) -> _Belief:
    """From sums over all labellings."""
    try:
        chances = marginals(trellis, rules, budget=budget).labels
    except TooManyStates as error:
        raise TooManyStates(f"{error}; or give labellings=50 to use the best labellings only") from None

    def with_label(answers: list[tuple[int, int]]) -> Iterator[Integers]:
        trellises = (trellis.with_given({t: k}) for t, k in answers)
        return (solution.ids for solution in decode_many(trellises, rules, time_limit=limit))

    [solution] = decode_many([trellis], rules, time_limit=limit)
    return _Belief(chances, solution.ids, with_label)


def _of_labellings(trellis: Trellis, rules: RuleCompiler, number: int, limit: float | None) -> _Belief:
    """From the best labellings only."""
    [few] = decode_many([trellis], rules, time_limit=limit, top=number)
    if not few:
        raise NoLabelling(
            "no labelling keeps the hard rules, so that there is nothing to ask; ilpinfer.decode says why"
        )
    every = np.array([each.ids for each in few])
    weights = np.exp([each.score - few[0].score for each in few])
    chances = np.zeros((len(trellis), len(trellis.labels)))
    for ids, weight in zip(every, weights / weights.sum(), strict=True):
        chances[np.arange(len(ids)), ids] += weight
    return _Belief(
        chances, every[0], lambda answers: [every[np.argmax(every[:, t] == k)] for t, k in answers]
    )
