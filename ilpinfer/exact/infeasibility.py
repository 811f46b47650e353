"""Explanation of infeasibility: a minimal conflict of hard rules, and a cheapest relaxation."""

import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from formulations.automata.lattice import Lattice
from formulations.automata.machine import Machine
from formulations.dtypes import LabelIds
from formulations.grid import LIMIT, UNITS_PER_NAT, add, is_forbidden
from formulations.problem.problem import GroundRule, Problem, mask_tokens
from ilpinfer.core.deadline import Deadline
from ilpinfer.core.explanation import Context
from ilpinfer.core.infeasibility import Clash, Infeasibility, tokens_text
from ilpinfer.core.result import Task
from ilpinfer.exact.auto import auto
from ilpinfer.exact.mixtures import sums_of
from ilpinfer.exact.sum_relaxation import contradiction, sums_within, without_scores

TIME_LIMIT = 10.0
"""Seconds for the explanation if there is no time limit."""
MOST_NEEDED = 12
"""Tokens of a conflict beyond which the others are no longer left out one by one."""

Piece = tuple[int, int, int]
"""(rule, component, token) of the elements of conflicts; token -1 for a component that is no rule on single steps."""


def explain_infeasibility(context: Context, deadline: Deadline) -> Infeasibility:
    """A minimal conflict among the hard rules, and the cheapest relaxation."""
    remaining, tokens = deadline.remaining, context.trellis.tokens
    known = tokens_text(list(context.trellis.given), tokens)
    known = known and f"; labels are known{known}"
    search = _Search(
        context.problem.without_functions(),
        Deadline(TIME_LIMIT if remaining is None else min(remaining, TIME_LIMIT)),
    )
    if search.impossible(()):
        return Infeasibility(reason=f"the scores themselves forbid every labelling{known}")
    functions = [rule.name for rule in context.problem.functions if rule.hard]
    if functions and not search.impossible(search.hard):
        others = " that keeps the other hard rules" * (len(search.hard) > len(functions))
        return Infeasibility(
            reason=f"Python functions refuse every labelling{others}: {', '.join(functions)}{known}"
        )
    conflict = search.conflict()
    relaxed, path = search.relaxation()
    names = context.trellis.labels.names
    labels = None if path is None else tuple(names[k] for k in path)
    where = {rule: context.places(rule, labels) for rule in relaxed} if labels else {}
    reason = _conflict_words(conflict, tokens) + _relaxation_words(relaxed, where, tokens)
    reason = f"{reason}{known}".removeprefix("; ")
    return Infeasibility(tuple(conflict), relaxed, labels, where, reason)


def witness(bare: Problem, rules: tuple[GroundRule, ...], deadline: Deadline) -> tuple[LabelIds | None, bool]:
    """A labelling that keeps the rules, or None and whether it is proved that there is none."""
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


class _Search:
    def __init__(self, problem: Problem, deadline: Deadline) -> None:
        self.problem, self.deadline = problem, deadline
        self.bare = without_scores(problem)
        self.hard = tuple(rule for rule in problem.rules if rule.hard)

    def impossible(self, rules: Sequence[GroundRule]) -> bool:
        """Whether it is proved that no labelling keeps the rules."""
        return not self.deadline.passed and witness(self.bare, tuple(rules), self.deadline)[1]

    def conflict(self) -> list[Clash]:
        """A minimal conflict of rules, and of their components and tokens as long as few of these are needed."""
        numbers = list(range(len(self.hard)))
        if not self.impossible(self.hard):
            return []
        needed = _minimal(numbers, lambda kept: self.impossible([self.hard[i] for i in kept]))
        pieces = [piece for i in needed for piece in self._pieces(i)]
        if len(pieces) > len(needed):
            pieces = _minimal(pieces, lambda kept: self.impossible(self._only(kept)), MOST_NEEDED)
        if self.deadline.passed:
            return []
        result: dict[int, list[int]] = {i: [] for i in needed}
        for rule, _, token in pieces:
            result[rule] += [token] if token >= 0 else []
        return [Clash(self.hard[i].name, tuple(sorted(set(at)))) for i, at in result.items()]

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
        """The hard rules cut down to some of their components and tokens."""
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

    def relaxation(self) -> tuple[dict[str, int], LabelIds | None]:
        """The least total number of violations of hard rules, and the best labelling with that number."""
        problem, hard = self.problem, {rule.name for rule in self.hard}
        soft = [r.with_penalty(1) for r in self.hard]
        weight = self._spread() + 1
        if weight * sum(rule.most for rule in soft) < LIMIT:
            rules = tuple(r.with_penalty(weight) if r.name in hard else r for r in problem.rules)
            result = self._best(replace(problem, rules=rules))
        else:
            result = self._best(replace(self.bare, rules=tuple(soft)))
        if result is None:
            return {}, None
        counts = {rule.name: rule.violations(result) for rule in self.hard}
        return {name: count for name, count in counts.items() if count}, result

    def _best(self, problem: Problem) -> LabelIds | None:
        if self.deadline.passed:
            return None
        answer = next(auto(problem, Task(self.deadline), "auto"))
        proved = answer.path is not None and problem.value(answer.path).score >= answer.bound
        return answer.path if proved else None

    def _spread(self) -> int:
        """A bound on the difference of the scores and soft penalties of two labellings."""
        lattice, total = self.problem.lattice, 0
        for array, times in ((lattice.node, lattice.node.shape[0]), (lattice.pool, len(lattice.step))):
            total += times * int(np.where(is_forbidden(array), 0, np.abs(array)).max(initial=0))
        return 2 * total + sum(r.finite_penalty * r.most for r in self.problem.rules)


def _minimal(items: list[Any], impossible: Callable[[list[Any]], bool], most: int = sys.maxsize) -> list[Any]:
    """A minimal infeasible subset (QuickXplain, Junker 2004); where `most` items are needed, it may have others that are not."""
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
        return f'rule "{conflict[0].rule}" alone leaves no labelling{where}; make it soft, or allow what it asks for'
    listed = ", ".join(clash.words(texts) for clash in conflict)
    return f"the hard rules {listed} leave no labelling together; make one of them soft" if conflict else ""


def _relaxation_words(
    relaxed: dict[str, int], places: dict[str, tuple[int, ...]], texts: Sequence[str]
) -> str:
    if not relaxed:
        return ""
    allowed = [
        f'{count} violation{"s" if count > 1 else ""} of "{rule}"{tokens_text(places.get(rule, ()), texts)}'
        for rule, count in relaxed.items()
    ]
    return f"; cheapest relaxation: allow {' and '.join(allowed)}"
