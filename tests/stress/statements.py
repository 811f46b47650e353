"""Rules and features with their meanings, in which hard token rules have priority over later ones, for the stress of decoders."""

import random
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from support import oracles
from support import template_oracles as more

from formulations import Feature, LabelSet, Rule
from formulations import constraints as C

Words = tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Statement:
    """A rule or feature beside what it counts, of (names, tokens).

    A rule that ties tokens to fields has the tokens that break it, those that it demands, and the fields wanted.
    """

    item: Rule | Feature
    count: Callable[[Words, Words], int] = lambda y, x: 0
    places: Callable[[Words, Words], set[int]] | None = None
    demands: Callable[[Words], set[int]] | None = None
    wanted: Any = ""
    scheme: str = "plain"
    _known: dict[Any, int] = field(default_factory=dict)

    @property
    def weight(self) -> int:
        """Grid units of a feature; 0 for a rule."""
        return (oracles.snap(self.item.weight) or 0) if isinstance(self.item, Feature) else 0

    @property
    def penalty(self) -> int | None:
        """Grid units of a violation; None for a hard rule."""
        if isinstance(self.item, Feature) or self.item.penalty == float("inf"):
            return None
        return oracles.snap(self.item.penalty)

    def violations(self, y: Words, x: Words, lost: Collection[int] = ()) -> int:
        """How often it is broken, but for the tokens where others have priority."""
        key = y, x, tuple(lost)
        if key not in self._known:
            result = self.count(y, x) if self.places is None else len(self.places(y, x) - set(lost))
            binary = isinstance(self.item, Rule) and self.item.distance == "binary"
            self._known[key] = min(result, 1) if binary else result
        return self._known[key]


def overruled(
    statements: Sequence[Statement], names: Sequence[str], x: Sequence[str]
) -> dict[int, list[int]]:
    """Tokens at which a hard rule asks for labels that those before it leave none of, by identity of the statement."""
    left: dict[int, set[str]] = {}
    lost: dict[int, list[int]] = {}
    for statement in statements:
        if statement.demands is None or statement.penalty is not None:
            continue
        wanted = {name for name in names if oracles.tokens_of([name], statement.wanted, statement.scheme)}
        for t in sorted(statement.demands(tuple(x))) if wanted else ():
            both = left.get(t, set(names)) & wanted
            if both:
                left[t] = both
            else:
                lost.setdefault(id(statement), []).append(t)
    return lost


def as_hamming(statement: Statement, labels: LabelSet) -> Statement:
    """The same rule by the fewest tokens to relabel until it holds."""
    good: dict[Words, list[Words]] = {}

    def nearest(y: Words, x: Words) -> int:
        if x not in good:
            every = oracles.labellings(len(x), len(labels))
            named = [tuple(labels.names[k] for k in labelling) for labelling in every]
            good[x] = [other for other in named if not statement.count(other, x)]
        return oracles.hamming(y, good[x])

    return replace(statement, count=nearest, _known={})


def _selector(rng: random.Random, labels: LabelSet, absent: str) -> Any:
    fields = [*labels.fields, *([absent] if absent else [])]
    if len(fields) > 1 and rng.random() < 0.3:
        return tuple(rng.sample(fields, 2))
    return rng.choice(fields)


def tied(
    rng: random.Random, labels: LabelSet, words: Sequence[str], penalty: float, name: str, absent: str
) -> Statement:
    A, scheme = _selector(rng, labels, absent), labels.scheme
    some = tuple(rng.sample(words, rng.randint(1, min(2, len(words)))))
    one = rng.choice(words)
    distance = rng.choice(("count", "count", "binary"))
    how: dict[str, Any] = {"penalty": penalty, "name": name, "distance": distance}

    def statement(
        rule: Rule, at: Callable[[Words], set[int]], inner: Callable[[Words], set[int]] = lambda x: set()
    ) -> Statement:
        def places(y: Words, x: Words) -> set[int]:
            inside, starts = more.tokens_of(y, A, scheme), more.run_starts(y, A, scheme)
            again = {t for t in inner(x) if t in inside and t - 1 in inside and t in starts}
            return {t for t in at(x) if t not in inside} | again

        return Statement(rule, places=places, demands=at, wanted=A, scheme=scheme)

    kind = rng.randrange(6)
    if kind == 0:
        return statement(
            C.tag_at(A, words=some, previous=C.tokens([one]), **how),
            lambda x: {t for t in range(1, len(x)) if x[t] in some and x[t - 1] == one},
        )
    if kind == 1:
        return statement(
            C.tag_at(A, unless=some, following=C.tokens([one]), **how),
            lambda x: {t for t in range(len(x) - 1) if x[t] not in some and x[t + 1] == one},
        )
    if kind == 2:
        return statement(
            C.right_before(A, words=some, **how), lambda x: {t - 1 for t in range(1, len(x)) if x[t] in some}
        )
    if kind == 3:
        pairs = lambda x: [t for t in range(1, len(x)) if x[t - 1] in some and x[t] == one]  # noqa: E731
        return statement(
            C.tag_sequence(A, [C.tokens(some), C.tokens([one])], **how),
            lambda x: {s for t in pairs(x) for s in (t - 1, t)},
            lambda x: set(pairs(x)),
        )
    if kind == 4 and all(word.split() == [word] for word in some):
        phrase = lambda x: {t for t in range(len(x) - len(some) + 1) if x[t : t + len(some)] == some}  # noqa: E731
        return statement(
            C.tag_phrases(A, [" ".join(some)], **how),
            lambda x: {t + i for t in phrase(x) for i in range(len(some))},
            lambda x: {t + i for t in phrase(x) for i in range(1, len(some))},
        )
    return statement(C.tag_at(A, words=some, **how), lambda x: {t for t in range(len(x)) if x[t] in some})


def feature(rng: random.Random, labels: LabelSet, words: Sequence[str], name: str) -> Statement:
    """A feature of tokens or steps, at all tokens or at certain words."""
    weight = rng.choice((1, -1)) * rng.choice((2.0**-20, 3 * 2.0**-20, 0.5, rng.uniform(0.1, 9)))
    some = tuple(rng.sample(words, 1)) if rng.random() < 0.5 else ()
    A, B, scheme = _selector(rng, labels, ""), _selector(rng, labels, ""), labels.scheme
    kind = rng.choice(("label", "from", "to", "both"))
    both = {"from_": A, "to": B}
    named = {"label": {"label": A}, "from": {"from_": A}, "to": {"to": B}, "both": both}[kind]
    item = C.feature(weight=weight, words=some, name=name, **named)
    folded = [word.lower() for word in some]
    return Statement(item, lambda y, x: more.feature(y, x, scheme, **named, words=folded))
