"""The state of the engine between two stages. A stage takes a state and returns a new one."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from formulations.automata.lattice import Lattice
from formulations.dtypes import Integers, LabelIds
from formulations.grid import FORBIDDEN
from ilpinfer.core.certificate import Certificate, proof
from ilpinfer.core.incumbents import Improvement
from ilpinfer.core.result import NOTHING_KNOWN, Start
from ilpinfer.core.trees import Leaf, MachineKey, Split
from ilpinfer.core.watching import Report, Watch
from ilpinfer.exact.ground_problem import GroundProblem

KERNELS = "kernels"
"""The name of the stage that may already have run with compiled rules."""


@dataclass
class Latest:
    """The last state with a better labelling or bound: it is reported immediately, and kept if time runs out within a stage."""

    watch: Watch | None = None
    latest: "State | None" = None

    def report(self, state: "State") -> "State":
        self.latest = state
        if self.watch is not None:
            certificate = proof(state.words or "auto", state.proof)
            seconds = state.problem.deadline.elapsed
            self.watch(Report(seconds, state.value, state.bound, state.path, certificate))
        return state


@dataclass(frozen=True, eq=False)
class State:
    """Bound and labelling of a problem, and the input of the next stage. Values are in grid units."""

    problem: GroundProblem
    progress: Latest = field(default_factory=Latest)
    path: LabelIds | None = None
    """The best labelling so far."""
    value: int = FORBIDDEN
    bound: float = float("inf")
    """Proved upper bound on the value of every labelling."""
    proof: Leaf | Split | None = None
    claim: tuple[float, Certificate] | None = None
    """A bound that a solver claims."""
    active: tuple[int, ...] = ()
    """The machines that the bound follows."""
    inside: frozenset[int] = frozenset()
    """The active machines that the lattice is multiplied with."""
    multipliers: Mapping[MachineKey, int] = field(default_factory=dict)
    relaxed: LabelIds | None = None
    """The best labelling of the last relaxation, which determines how cases are split."""
    charged: tuple[Lattice, int] | None = None
    """The lattice with the scores moved to it from lists of equal tokens, and its bound."""
    tried: frozenset[str] = frozenset()
    """The stages that have run with these machines and multipliers."""
    machineless: tuple[str, ...] = ()
    """Rules without machines that the best labelling of all other rules breaks: only a solver can handle them."""
    answer: tuple[LabelIds, ...] | None = None
    """The best labelling, or several; empty if none is possible or reaches `value`. None while the problem is open."""
    words: str = ""
    """How the answer was found, or why the problem is open."""
    seconds: Mapping[str, float] = field(default_factory=dict)
    """Seconds of each stage, ordered by the end of the stages."""
    improvements: tuple[Improvement, ...] = ()

    @classmethod
    def of(
        cls,
        problem: GroundProblem,
        start: Start = NOTHING_KNOWN,
        watch: Watch | None = None,
        seconds: Mapping[str, float] | None = None,
    ) -> "State":
        """The initial state. Machines of a proof that fold here are left out."""
        state = cls(problem, Latest(watch), seconds=seconds or {})
        if start.path is not None:
            state = state.with_labelling(start.path)
        if start.proof is None:
            return state
        state = state.proved(start.bound, start.proof)
        if not start.tried:
            return state
        places = {key: m for m, key in enumerate(problem.instance.keys)}
        followed = (start.proof.product, *start.proof.stages)
        return replace(
            state,
            active=tuple(sorted(places[key] for keys in followed for key in keys if key in places)),
            inside=frozenset(places[key] for key in start.proof.product if key in places),
            multipliers={c: price >> 10 for c, price in start.proof.multipliers.items()},
            tried=frozenset({KERNELS}),
        )

    @property
    def closed(self) -> bool:
        """Whether bound and labelling have met, or no labelling is possible."""
        return self.answer is not None

    @property
    def by_machines(self) -> bool:
        """Whether stages that follow machines can close the problem."""
        return not (self.machineless or self.problem.only_lists)

    def with_labelling(self, path: LabelIds) -> "State":
        """With a labelling, if it is better."""
        value = self.problem.evaluate(path).value
        if value <= self.value:
            return self
        better = Improvement(self.problem.deadline.elapsed, value, path)
        state = replace(self, path=path, value=value, improvements=(*self.improvements, better))
        return self.progress.report(state)

    def with_labellings(self, paths: Iterable[LabelIds]) -> "State":
        """With the best of several labellings, if it is better."""
        state = self
        for path in paths:
            state = state.with_labelling(path)
        return state

    def proved(self, bound: float, proof: Leaf | Split | None) -> "State":
        """With an upper bound on every labelling and its proof, if the bound is lower."""
        return self.progress.report(replace(self, bound=bound, proof=proof)) if bound < self.bound else self

    def with_reported(self) -> "State":
        """With labelling and bound of the last reported state."""
        last = self.progress.latest or self
        state = replace(self, path=last.path, value=last.value, improvements=last.improvements)
        return replace(state, bound=last.bound, proof=last.proof)

    def following(self, marks: Integers) -> "State":
        """With the machines and multipliers of a kernel call, from its marks (2, M)."""
        active, inside, priced = self.problem.instance.followed(marks)
        return replace(self, active=active, inside=inside, multipliers={**self.multipliers, **priced})

    def closed_by(self, words: str, *paths: LabelIds) -> "State":
        """With an answer and the description of how it was found."""
        return replace(self, answer=paths, words=f"{self.words}; proved by {words}" if self.claim else words)

    def left_open(self, words: str) -> "State":
        """With one more reason why the problem is open."""
        reasons = self.words.split("; ") if self.words else []
        return self if words in reasons else replace(self, words="; ".join([*reasons, words]))

    def impossible(self) -> "State":
        """With the proof that no labelling keeps the hard rules among the active machines and the sums with multipliers.

        A multiplier of 0 marks a sum that no labelling can attain.
        """
        one, priced = self.problem.instance, {c for c, price in self.multipliers.items() if price}
        followed = {*self.active, *(m for m, c in enumerate(one.components) if c in priced)}
        hard = [m for m in sorted(followed) if one.hard[m]]
        prices = {one.components[m]: 0 for m in hard if one.sums[m] and m not in self.inside}
        leaf = replace(one.leaf(hard, self.inside.intersection(hard), {}), multipliers=prices)
        return self.proved(FORBIDDEN, leaf).closed_by("no labelling is possible")

    def leaf(self) -> Leaf:
        """The proof by the active machines, at the multipliers."""
        return self.problem.instance.leaf(self.active, self.inside, self.multipliers)
