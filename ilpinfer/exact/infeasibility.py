"""Explanation of infeasibility: a minimal conflict of hard rules, and a cheapest relaxation."""

import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np

from formulations.automata.lattice import Lattice
from formulations.automata.machine import Machine
from formulations.dtypes import LabelIds
from formulations.grid import UNITS_PER_NAT, add
from formulations.messages import counted
from formulations.problem.problem import GroundRule, Problem, mask_tokens
from formulations.time_limits import OutOfTime
from ilpinfer.core.context import Context
from ilpinfer.core.deadline import Deadline
from ilpinfer.core.infeasibility import Clash, Infeasibility, tokens_text
from ilpinfer.core.result import Task
from ilpinfer.exact import limits
from ilpinfer.exact.auto import auto
from ilpinfer.exact.dead_ends import dead_end
from ilpinfer.exact.fewest_violations import FewestViolations, relaxation_of
from ilpinfer.exact.mixtures import sums_of
from ilpinfer.exact.sum_relaxation import contradiction, sums_within, without_scores

OPEN = ("conflict", "relaxation", "labels")
"""Unfinished parts if time was too short for all."""

Piece = tuple[int, int, int]
"""(rule, component, token) of elements of conflicts; token -1 for a component that is not on single steps."""


def explain_infeasibility(context: Context, seconds: float | None) -> Infeasibility:
    """A minimal conflict among the hard rules, and the cheapest relaxation, if found in time.

    `seconds` count everything; None for `limits.TIME_LIMIT`.
    """
    deadline = Deadline(limits.TIME_LIMIT if seconds is None else seconds)
    try:
        with deadline.as_limit():
            return _explained(context, deadline)
    except OutOfTime:
        reason = "no labelling keeps the hard rules" + _unfinished_words(OPEN, deadline)
        return Infeasibility(reason=reason, unfinished=OPEN)


def _explained(context: Context, deadline: Deadline) -> Infeasibility:
    trellis, tokens = context.trellis, context.trellis.tokens
    known = tokens_text(list(trellis.given), tokens)
    known = known and f"; labels are known{known}"
    if impossible := dead_end(context.problem.lattice, trellis.labels, tokens, trellis.given):
        return Infeasibility(reason=f"the scores themselves forbid every labelling: {impossible}{known}")
    problem = context.problem.without_functions()
    functions = [rule.name for rule in context.problem.functions if rule.hard]
    search = _Conflict(problem, Deadline(limits.CONFLICT_SHARE * (deadline.remaining or 0.0)))
    if functions and not search.impossible(search.hard):
        others = " that keeps the other hard rules" * (len(search.hard) > len(functions))
        return Infeasibility(
            reason=f"Python functions refuse every labelling{others}: {', '.join(functions)}{known}"
        )
    conflict, minimal = search.conflict()
    relaxed = relaxation_of(problem, deadline)
    labels = None if relaxed.path is None else tuple(trellis.labels.names[k] for k in relaxed.path)
    where = {} if labels is None else _places(context, relaxed, labels)
    proved = {"conflict": minimal, "relaxation": relaxed.fewest, "labels": relaxed.best}
    unfinished = tuple(name for name, done in proved.items() if not done)
    reason = _conflict_words(conflict, tokens) + _relaxation_words(relaxed, where, tokens)
    reason += _unfinished_words(unfinished, deadline) + known
    return Infeasibility(tuple(conflict), relaxed.violations, labels, where, reason, unfinished)


def _places(context: Context, relaxed: FewestViolations, labels: Sequence[str]) -> dict[str, tuple[int, ...]]:
    """The tokens at which a labelling breaks rules; rules for which no time is left are omitted."""
    places: dict[str, tuple[int, ...]] = {}
    with suppress(OutOfTime):
        for rule in relaxed.violations:
            places[rule] = context.places(rule, labels)
    return places


def witness(bare: Problem, rules: tuple[GroundRule, ...], deadline: Deadline) -> tuple[LabelIds | None, bool]:
    """A labelling that keeps the rules, or None, and whether it is proved that there is none."""
    problem = replace(bare, rules=rules)
    if len(sums_of(problem)) > 1:
        outcome = contradiction(problem, sums_within(problem), deadline)
        if outcome.tree is not None:
            return None, True
        if outcome.path is not None and not problem.breaks(outcome.path):
            return outcome.path, False
        problem = _with_random_scores(problem)
    answer = next(auto(problem, Task(deadline), "auto"))
    return answer.path, answer.proves_infeasibility


def _with_random_scores(problem: Problem) -> Problem:
    """The problem with scores between 0 and 1 nat at each token, so that few labellings are equally good."""
    lattice = problem.lattice
    random = np.random.default_rng(0).integers(0, UNITS_PER_NAT, lattice.node.shape)
    drawn = Lattice(add(lattice.node, random), lattice.pool, lattice.step)
    return replace(problem, model=drawn, lattice=drawn)


class _Conflict:
    """The search for a conflict; `is_open` after an unanswered question: the conflict may then have more rules than needed."""

    def __init__(self, problem: Problem, deadline: Deadline) -> None:
        self.problem, self.deadline = problem, deadline
        self.bare = without_scores(problem)
        self.hard = tuple(rule for rule in problem.rules if rule.hard)
        self.is_open = False

    def impossible(self, rules: Sequence[GroundRule]) -> bool:
        """Whether it is proved that no labelling keeps the rules."""
        path, proved = None, False
        question = Deadline(limits.QUESTION_SHARE * (self.deadline.remaining or 0.0))
        with suppress(OutOfTime), question.as_limit():
            if not question.passed:
                path, proved = witness(self.bare, tuple(rules), question)
        self.is_open |= path is None and not proved
        return proved

    def conflict(self) -> tuple[list[Clash], bool]:
        """Rules that no labelling keeps together, with few of their components and tokens, and whether all are needed.

        It is known that no labelling keeps all hard rules.
        """
        self.is_open = False
        needed = _minimal(
            list(range(len(self.hard))), lambda kept: self.impossible([self.hard[i] for i in kept])
        )
        minimal = not self.is_open
        pieces = [piece for i in needed for piece in self._pieces(i)]
        if len(pieces) > len(needed):
            pieces = _minimal(pieces, lambda kept: self.impossible(self._only(kept)), limits.MOST_NEEDED)
        result: dict[int, list[int]] = {}
        for rule, _, token in pieces:
            result.setdefault(rule, []).extend([token] if token >= 0 else [])
        return [Clash(self.hard[i].name, tuple(sorted(set(at)))) for i, at in result.items()], minimal

    def _pieces(self, number: int) -> list[Piece]:
        pieces = []
        for p, component in enumerate(self.hard[number].components):
            at = (
                np.flatnonzero(component.fires_at).tolist()
                if isinstance(component, Machine) and component.is_local
                else [-1]
            )
            pieces += [(number, p, token) for token in at]
        return pieces

    def _only(self, pieces: Sequence[Piece]) -> list[GroundRule]:
        """The hard rules restricted to some of their components and tokens."""
        kept: dict[int, dict[int, set[int]]] = {}
        for rule, component, token in pieces:
            kept.setdefault(rule, {}).setdefault(component, set()).add(token)
        length = self.problem.shape[0]
        return [
            replace(
                self.hard[rule],
                components=tuple(
                    self.hard[rule].components[p]
                    if -1 in at
                    else mask_tokens(self.hard[rule].components[p], sorted(set(range(length)) - at))
                    for p, at in components.items()
                ),
            )
            for rule, components in kept.items()
        ]


def _minimal(items: list[Any], impossible: Callable[[list[Any]], bool], most: int = sys.maxsize) -> list[Any]:
    """A minimal infeasible subset (QuickXplain, Junker 2004); it may not be minimal if `most` items or more are needed."""
    count = 0

    def needed(background: list[Any], changed: bool, candidates: list[Any]) -> list[Any]:
        nonlocal count
        if changed and impossible(background):
            return []
        if len(candidates) == 1 or count >= most:
            count += 1
            return candidates
        half = len(candidates) // 2
        first, second = candidates[:half], candidates[half:]
        from_second = needed(background + first, bool(first), second)
        from_first = needed(background + from_second, bool(from_second), first)
        return from_first + from_second

    return needed([], False, items) if items else []


def _conflict_words(conflict: Sequence[Clash], texts: Sequence[str]) -> str:
    if len(conflict) == 1:
        where = tokens_text(conflict[0].tokens, texts)
        return f'no labelling keeps rule "{conflict[0].rule}"{where}; make it soft, or allow the labels that it needs'
    listed = ", ".join(clash.words(texts) for clash in conflict[: limits.MOST_NAMED])
    more = f" and {len(conflict) - limits.MOST_NAMED} more" if len(conflict) > limits.MOST_NAMED else ""
    return f"no labelling keeps all of the hard rules {listed}{more}; make one of them soft"


def _relaxation_words(
    relaxed: FewestViolations, places: dict[str, tuple[int, ...]], texts: Sequence[str]
) -> str:
    if relaxed.path is None:
        return ""
    allowed = [
        f'{counted(count, "violation")} of "{rule}"{tokens_text(places.get(rule, ()), texts)}'
        for rule, count in relaxed.violations.items()
    ]
    return f"; {'cheapest' if relaxed.fewest else 'a possible'} relaxation: allow {' and '.join(allowed)}"


def _unfinished_words(unfinished: Sequence[str], deadline: Deadline) -> str:
    """The parts not finished in time, in words; labels are not part of a reason."""
    wanted = {"conflict": "the fewest rules that conflict", "relaxation": "the cheapest relaxation"}
    missing = [words for name, words in wanted.items() if name in unfinished]
    if not missing:
        return ""
    return f"; {deadline.limit:.2g} s were not enough to find {' and '.join(missing)}; raise time_limit"
