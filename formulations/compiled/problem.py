"""A trellis with its rules compiled: the one form that programs, searches and reports read."""

import math
import warnings
from collections import Counter as Tally
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from formulations.callers import stack_level
from formulations.compiled.hamming import Relabelled
from formulations.compiled.lattice import Lattice, StepTable
from formulations.compiled.machine import Machine
from formulations.compiled.wordless import looked_at, words_of
from formulations.constraints.feature import Feature
from formulations.constraints.priority import Priorities, silenced
from formulations.constraints.rule import Rule
from formulations.constraints.template import Part, Template
from formulations.grid import FORBIDDEN, LIMIT, UNITS_PER_NAT, Grid, check_total, is_forbidden
from formulations.labels import LabelSet
from formulations.rules import RuleSet
from formulations.trellis import Trellis

Path = NDArray[np.int64]


class RuleNotice(UserWarning):
    """Something about rules that is no error: a declared field that the model lacks, a scheme that was read from odd names."""


class WordNotice(RuleNotice):
    """Rules and features that look at tokens of a trellis that has none."""


@dataclass(frozen=True)
class GroundRule:
    """A rule made concrete for one sequence.

    Parameters
    ----------
    name : unique among the rules
    penalty : grid units a violation; None for a hard rule
    binary : whether the rule as a whole counts at most once
    parts : their violations, summed, are the rule's
    forced : whether searches evaluate it on prefixes even where that loses solutions
    overruled : tokens at which an earlier rule has priority, so that this one does not count there
    """

    name: str
    penalty: int | None
    binary: bool
    parts: tuple[Part, ...]
    forced: bool = False
    overruled: tuple[int, ...] = ()

    @cached_property
    def machines(self) -> tuple[Machine, ...]:
        """Machines of all parts that have one small enough."""
        return tuple(machine for part in self.parts for machine in part.machines or ())

    @cached_property
    def unseen(self) -> tuple[Part, ...]:
        """Parts without a machine: searches see them on whole labellings only."""
        return tuple(part for part in self.parts if part.machines is None)

    def violations(self, path: Path) -> int:
        """Violations of label ids (T,)."""
        found = sum(part.violations(path) for part in self.parts)
        return min(found, 1) if self.binary else found

    @property
    def folds(self) -> bool:
        """Whether the rule is a sum over single steps, so that it can go into the lattice's scores."""
        if not all(part.is_local for part in self.parts):
            return False
        if self.penalty is None or not self.binary:
            return True
        return sum(int(machine.fires_at.sum()) for machine in self.machines) <= 1

    def as_scores(self) -> list[StepTable]:
        """What a rule that folds adds to each step's score."""
        return [m.steps.map(self._price(m.emits[0])) for m in self.machines]

    def _price(self, emits: NDArray[np.int64]) -> NDArray[np.int64]:
        if self.penalty is None:
            return np.where(emits > 0, FORBIDDEN, 0)
        return -self.penalty * (np.minimum(emits, 1) if self.binary else emits)

    def softened(self, penalty: int) -> "GroundRule":
        """The rule at a price, grid units a violation; its parts then count what a hard rule need not."""
        return replace(self, penalty=penalty, parts=tuple(_counting(part) for part in self.parts))

    @property
    def most(self) -> int:
        """An upper bound on the violations of any labelling."""
        return 1 if self.binary else sum(part.most for part in self.parts)


def _counting(part: Part) -> Part:
    return replace(part, hard=False) if isinstance(part, Relabelled) else part


@dataclass(frozen=True)
class Value:
    """What a labelling is worth, recomputed from scratch; grid units."""

    model: int
    features: int
    penalty: int
    violations: dict[str, int]
    feasible: bool

    @property
    def score(self) -> int:
        """model + features - penalty, `FORBIDDEN` where a hard rule or a forbidden step is broken."""
        return self.model + self.features - self.penalty if self.feasible else FORBIDDEN


@dataclass(frozen=True)
class Problem:
    """Scores and ground rules of one sequence.

    Parameters
    ----------
    model : the scores as they came
    lattice : the scores with features added; after folding, with folded rules too
    rules : the rules that `lattice` does not hold
    labels : K labels
    """

    model: Lattice
    lattice: Lattice
    rules: tuple[GroundRule, ...]
    labels: LabelSet

    @property
    def shape(self) -> tuple[int, int]:
        """(T, K)."""
        return self.model.shape

    def value(self, path: Path) -> Value:
        """Score, features, penalty and violations of label ids (T,)."""
        model, total = self.model.score(path), self.lattice.score(path)
        violations = {rule.name: rule.violations(path) for rule in self.rules}
        soft = [rule for rule in self.rules if rule.penalty is not None]
        kept = not any(violations[rule.name] for rule in self.rules if rule.penalty is None)
        penalty = sum(rule.penalty * violations[rule.name] for rule in soft if rule.penalty is not None)
        possible = not is_forbidden(model)
        return Value(model, total - model if possible else 0, penalty, violations, kept and possible)

    def breaks(self, path: Path) -> list[str]:
        """Names of the rules that label ids (T,) break."""
        return [rule.name for rule in self.rules if rule.violations(path)]

    def fold(self, *, soft: bool = True) -> "Problem":
        """The same problem with rules on single tokens and edges moved into the lattice, exactly.

        With `soft=False` only hard rules move, so that scores stay apart from penalties.
        """
        kept, tables = list[GroundRule](), list[StepTable]()
        for rule in self.rules:
            if rule.folds and (soft or rule.penalty is None):
                tables += rule.as_scores()
            else:
                kept.append(rule)
        if len(kept) == len(self.rules):
            return self
        return replace(self, lattice=self.lattice.plus(tables), rules=tuple(kept))


def compile_problem(trellis: Trellis, rules: Iterable[Rule | Feature]) -> Problem:
    """Ground rules and features on a trellis.

    Raises
    ------
    ValueError
        for an unknown field, a name given twice, weights whose total could pass 2^31 nats, and a hard rule that looks at
        tokens where the trellis has none. Penalties and features that do are a `WordNotice`.
    """
    if isinstance(rules, str | Rule | Feature):
        raise ValueError(f"rules is {rules!r}; expected a list of rules, or a rule set from load_rules")
    items = list(rules)
    labels = trellis.labels
    if isinstance(rules, RuleSet):
        labels = labels.declaring(rules.fields)
    tables, ground = [], []
    priorities, words = Priorities(labels), words_of(trellis.tokens)
    blind = list[str]()
    for item, name in zip(items, unique_names(items), strict=True):
        try:
            if isinstance(item, Feature):
                tables.append(item.ground(labels, words))
            else:
                ground.append(_ground(item, name, labels, words, priorities))
            if looked_at(words):
                blind.append(name)
                if isinstance(item, Rule) and item.hard:
                    raise ValueError(
                        "a hard rule that looks at tokens, but the trellis has none; give it tokens"
                    )
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from None
    if blind:
        warnings.warn(_blindness(blind), WordNotice, stacklevel=stack_level())
    lattice = trellis.lattice.plus(tables)
    _check_totals(trellis.lattice, tables, ground)
    for text in notices(rules if isinstance(rules, RuleSet) else RuleSet(tuple(items)), trellis.labels):
        warnings.warn(text, RuleNotice, stacklevel=stack_level())
    return Problem(trellis.lattice, lattice, tuple(ground), trellis.labels)


def notices(rules: RuleSet, labels: LabelSet) -> list[str]:
    """What is odd about rules with these labels, or about the labels that rules are about, though no error."""
    found = []
    if rules.rules and labels.notice:
        found.append(labels.notice)
    absent = rules.absent(labels)
    if absent:
        found.append(f"no label for {', '.join(absent)}: counted as absent")
    odd = [rule for rule in rules.rules if type(rule.statement).remark is not Template.remark]
    known = labels.declaring(rules.fields)
    names = tuple(field.name for field in known.each_field)
    for rule in odd:
        said = (statement.remark(known) for statement in rule.statements(names))
        found += [f'rule "{rule.title}": {text}' for text in dict.fromkeys(said) if text]
    return found


def _blindness(names: list[str]) -> str:
    more = f" and {len(names) - 1} more look" if len(names) > 1 else " looks"
    return f"rule {names[0]!r}{more} at tokens, but the trellis has none; give it tokens"


def _ground(
    rule: Rule, name: str, labels: LabelSet, tokens: tuple[str, ...], priorities: Priorities
) -> GroundRule:
    overruled = priorities.overruled(rule, name, tokens)
    parts = rule.ground(labels, tokens)
    if overruled:
        parts = tuple(silenced(part, overruled) for part in parts)
    binary, forced = rule.distance == "binary", rule.partial == "forced"
    return GroundRule(name, rule.units, binary, parts, forced, tuple(overruled))


def unique_names(items: Iterable[Rule | Feature]) -> list[str]:
    """Names of rules: the given ones, which must differ, and numbered ones for statements that repeat."""
    items = list(items)
    for position, item in enumerate(items):
        if not isinstance(item, Rule | Feature):
            raise ValueError(
                f"rule {position + 1} is {item!r}; expected a rule such as at_most_runs(...) or a feature"
            )
    given = Tally(item.name for item in items if item.name)
    repeated = [name for name, times in given.items() if times > 1]
    if repeated:
        raise ValueError(f"two rules are named {repeated[0]!r}: names must differ")
    taken: set[str] = set(given)
    next_number: dict[str, int] = {}
    names = []
    for item in items:
        name = title = item.title
        while not item.name and name in taken:
            next_number[title] = next_number.get(title, 1) + 1
            name = f"{title} #{next_number[title]}"
        taken.add(name)
        names.append(name)
    return names


def _check_totals(model: Lattice, tables: list[StepTable], rules: list[GroundRule]) -> None:
    T, K = model.shape
    weights = sum(int(np.abs(t.values).reshape(len(t.values), -1).max(axis=1)[t.index].sum()) for t in tables)
    penalties = 0
    for rule in rules:
        cost = (rule.penalty or 0) * rule.most
        if cost > LIMIT:
            raise ValueError(
                f"rule {rule.name!r}: {rule.most} violations of {(rule.penalty or 0) / UNITS_PER_NAT:g} nats pass 2^31 "
                f"nats: lower the penalty, or leave it out to make the rule hard (penalty = {math.inf})"
            )
        penalties += cost
    uses = np.bincount(model.step, minlength=len(model.pool)).astype(np.int64)
    node = model.node.reshape(T, model.states // K, K).max(axis=1)
    parts: list[tuple[str, Grid, int | Grid]] = [
        ("node", node, np.ones(T, np.int64)),
        ("edge", model.pool, uses),
    ]
    check_total(parts, weights + penalties)
