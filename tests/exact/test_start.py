"""Sequences that the call for compiled rules gives up: the method goes on from its bound, machines and multipliers, by stages."""

from itertools import product

import numpy as np
import pytest
from support.checks import check_optimum
from support.effort import seeds
from support.strategies import counts

import ilpinfer
from formulations import Feature, Trellis
from formulations import constraints as C
from formulations.problem.compiled_rules import compile_problem, compile_rules
from ilpinfer.core.deadline import Deadline
from ilpinfer.decoding.chunks import BROKEN, STEPS
from ilpinfer.exact import kernel_stage, limits
from ilpinfer.exact.compiled import RuleTables
from ilpinfer.exact.ground_problem import GroundProblem
from ilpinfer.exact.state import State


@pytest.fixture
def few_steps(monkeypatch):
    """Label setting for compiled rules ends after a few steps."""
    monkeypatch.setattr(limits, "PASSES", 0)
    monkeypatch.setattr(limits, "LEAST_STEPS", 20)


@seeds(40)
def test_the_optimum_is_found_and_proved(seed, few_steps):
    problem = counts(seed)
    solution = ilpinfer.decode(*problem.given)
    check_optimum(problem, solution)
    verdict = ilpinfer.verify(*problem.given, solution)
    assert verdict.ok and verdict.proved, verdict.reasons


def test_stages_are_named_in_the_order_in_which_they_ended(few_steps):
    solutions = [ilpinfer.decode(*counts(seed).given) for seed in range(20)]
    assert "beams" in {name for solution in solutions for name, _ in solution.stages}
    for solution in solutions:
        seconds = [spent for _, spent in solution.stages]
        assert min(seconds, default=0.0) >= 0.0
        assert sum(seconds) <= solution.seconds


def test_compiled_rules_have_no_further_stage():
    assert ilpinfer.decode(*counts(0).given).stages == ()


def test_the_kernels_do_not_begin_again(few_steps, monkeypatch):
    calls = []
    by_kernels = kernel_stage.by_kernels
    monkeypatch.setattr(kernel_stage, "by_kernels", lambda *given: calls.append(given) or by_kernels(*given))
    seen = [ilpinfer.decode(*counts(seed).given).method for seed in range(20)]
    given_up = [method for method in seen if STEPS in method]
    assert len(given_up) > 5 and not any(BROKEN in method for method in given_up)
    assert len(calls) < len(given_up), "only problems with sums, which have several turns, call them"


@pytest.mark.parametrize("pool", [1, 5])
@seeds(10)
def test_an_open_sequence_keeps_its_machines_and_their_values(seed, pool):
    """Compared with ground rules that are packed anew, on all labellings: with scores for each step and with shared ones."""
    rng, labels, T = np.random.default_rng([seed, pool]), ["B-a", "I-a", "O"], 6
    tokens = rng.choice(["x", "y", "12"], T).tolist()
    edges = np.where(rng.random((pool, 3, 3)) < 0.1, -np.inf, rng.normal(size=(pool, 3, 3)))
    node = rng.normal(size=(T, 3))
    trellis = Trellis.from_emissions(node, edges[0], labels=labels, tokens=tokens)
    if pool > 1:
        trellis = Trellis(node[0], edges + node[1:, None], labels=labels, tokens=tokens)
    rules = [
        C.at_most_runs("a", 1, penalty=0.5),
        C.at_least_tokens("a", 3),
        C.tag_at("a", words=["x"], penalty=0.25),
        C.changes_only_after(words=["y"], penalty=1.0),
        C.starts_with("a", penalty=1.0),
        Feature(0.75, from_="a", to="O"),
    ]
    compiled = compile_rules(rules, trellis.labels)
    call, problem = RuleTables(compiled).call([trellis], meet=True), compiled.problem(trellis, quiet=True)
    anew, kept = (GroundProblem.of(problem, Deadline(), packed=some) for some in (None, call.packed(0)))
    assert kept.instance.machines is call.instance.machines and kept.instance.keys == anew.instance.keys
    for path in product(range(3), repeat=T):
        assert kept.evaluate(np.array(path)) == anew.evaluate(np.array(path))
    others = GroundProblem.of(compile_problem(trellis, rules[1:]), Deadline(), packed=call.packed(0))
    assert others.packed is None


def test_a_sequence_with_rules_of_its_own_has_its_machines_packed_anew(few_steps, monkeypatch):
    packed, begun = [], State.of
    monkeypatch.setattr(State, "of", lambda *given: packed.append(given[0].packed is None) or begun(*given))
    trellis, rules = counts(0).given
    trellis = Trellis(trellis.start, trellis.edges, labels=trellis.labels, tokens=["x"] * len(trellis))
    for some in (rules, [*rules, C.consistent(penalty=1.0)]):
        ilpinfer.decode(trellis, some)
    assert packed == [False, True]


def test_a_rule_on_the_whole_sequence_begins_with_the_bound_of_the_others(monkeypatch):
    """The best labelling without the rule is worth 6."""
    emissions = [[2.0, 0.0], [2.0, 0.0], [0.0, 2.0]]
    trellis = Trellis.from_emissions(emissions, np.zeros((2, 2)), labels=["a", "b"], tokens=list("xyx"))
    bounds = []
    begun = State.of

    def spy(*given):
        state = begun(*given)
        bounds.append(state.bound)
        return state

    monkeypatch.setattr(State, "of", spy)
    solution = ilpinfer.decode(trellis, [C.consistent(penalty=1.0)])
    assert bounds == [6 * 2**20] and solution.status == "optimal" and solution.score == 5.0
    assert [name for name, _ in solution.stages] == ["decomposition"]


@pytest.mark.parametrize("direct", [limits.DIRECT, 0])
def test_many_machines_are_followed_to_the_first_of_the_best_labellings(direct, monkeypatch):
    """Parities of ten sets of labels, and scores that are all equal."""
    monkeypatch.setattr(limits, "DIRECT", direct)
    monkeypatch.setattr(limits, "PASSES", 10**6)
    rng, labels, T = np.random.default_rng(5), "abcd", 8
    sets = [[label for label in labels if rng.random() < 0.5] or ["a"] for _ in range(10)]
    odd = "(!s* s !s* s)* !s* s !s*"
    rules = [C.matches(odd, groups=[C.group("s", some)], penalty=1.0) for some in sets]
    solution = ilpinfer.decode(Trellis(np.zeros(4), np.zeros((T - 1, 4, 4)), labels=list(labels)), rules)
    first = dict[tuple[int, ...], tuple[str, ...]]()
    for path in product(labels, repeat=T):
        first.setdefault(tuple(path.count(label) % 2 for label in labels), path)
    broken = {path: sum(sum(map(path.count, some)) % 2 == 0 for some in sets) for path in first.values()}
    best = min(broken, key=lambda path: (broken[path], path))
    assert (solution.score, solution.labels) == (-broken[best], list(best))


@seeds(3, 1)
@pytest.mark.parametrize("pairs", [12, 13])
def test_machines_that_read_the_label_before_are_asked_at_each_step_or_have_events(pairs, seed):
    """Orders of pairs of fields read it, and needs do not; scores of few sizes are often equal."""
    rng, labels, T = np.random.default_rng([pairs, seed]), list("abcde"), 4
    orders = [(one, other) for one, other in product(labels, repeat=2) if one != other]
    rng.shuffle(orders)
    rules = [C.requires_before(*pair, penalty=float(rng.integers(1, 5)) / 4) for pair in orders[:pairs]]
    rules += [C.requires_present(*pair, penalty=float(rng.integers(1, 5)) / 4) for pair in orders[-6:]]
    emissions, steps = rng.integers(-4, 5, (T, 5)) / 2, rng.integers(-2, 3, (5, 5)) / 2
    trellis = Trellis.from_emissions(emissions, steps, labels=labels, tokens=["x"] * T)
    value = {
        path: trellis.score(path) - sum(rule.penalty * rule.violations(path, labels=labels) for rule in rules)
        for path in product(labels, repeat=T)
    }
    best = min(value, key=lambda path: (-value[path], path))
    solution = ilpinfer.decode(trellis, rules)
    assert (solution.score, solution.bound, solution.labels) == (value[best], value[best], list(best))
    assert ilpinfer.verify(trellis, rules, solution).proved
