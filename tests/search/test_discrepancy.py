"""Limited discrepancy search against brute force, and against the published pseudocode written out in plain Python."""

import itertools

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from support.checks import check_optimum
from support.effort import at_most, examples
from support.strategies import NEAR_TIES, UNIT, problems
from support.trellises import many_runs

import ilpinfer
from formulations.grid import is_forbidden
from ilpinfer.search.discrepancy import Discrepancy


@pytest.mark.parametrize("variant", ["admissible", "textbook"])
@settings(max_examples=examples(120))
@given(problem=problems() | problems(NEAR_TIES))
def test_with_no_limits_left_it_is_exact(variant, problem):
    problem.machined()
    solution = ilpinfer.decode(*problem.given, method="lds", variant=variant, keep_going=True)
    check_optimum(problem, solution)


def published(compiled, alpha, m, b, db, zero):
    """The pseudocode of Stokman 2011, section 4.2.2: the labelling and its value, in grid units."""
    T, K = compiled.shape
    whole = {y: compiled.value(np.array(y)) for y in itertools.product(range(K), repeat=T)}
    in_p = [
        rule.folds
        or all(
            p.automaton.partial == "exact" or (rule.hard and bool(p.automaton.partial)) for p in rule.machines
        )
        for rule in compiled.rules
    ]
    best_step = np.cumsum(
        [compiled.fold().lattice.node[0].max()] + [x.max() for x in compiled.fold().lattice.edge_scores()]
    )

    def distance(rule, prefix):
        rests = itertools.product(range(K), repeat=T - len(prefix))
        return min(rule.violations(np.array(prefix + rest)) for rest in rests)

    def score(prefix):
        value = compiled.lattice
        total = value.node[0, prefix[0]] + sum(
            value.pool[value.step[t - 1], prefix[t - 1], prefix[t]] + value.node[t, prefix[t]]
            for t in range(1, len(prefix))
        )
        if is_forbidden(total):
            return None
        for rule, testable in zip(compiled.rules, in_p, strict=True):
            if testable or len(prefix) == T:
                broken = distance(rule, prefix)
                if broken and rule.hard:
                    return None
                total -= rule.finite_penalty * broken
        return int(total)

    def one_round(threshold, beam):
        result = {"threshold": threshold, "best": None}

        def probe(prefix):
            if len(prefix) == T:
                value = score(prefix)
                if value is not None and (result["best"] is None or value > result["best"][0]):
                    result["best"] = value, prefix
                    floor = value - (int(best_step[-1]) if zero == "best" else 0)
                    result["threshold"] = max(result["threshold"], floor)
                return
            shift = int(best_step[len(prefix)]) if zero == "best" else 0
            choices = [(score((*prefix, k)), -k) for k in range(K)]
            kept = [c for c in choices if c[0] is not None and c[0] - shift >= result["threshold"]]
            for _, k in sorted(kept, reverse=True)[:beam]:
                probe((*prefix, -k))

        probe(())
        return result["best"]

    if not any(value.feasible for value in whole.values()):
        return None
    rounds = (one_round(int(alpha * T * m**n * 2**20), b + n * db) for n in itertools.count())
    return next(result for result in rounds if result)


@settings(max_examples=examples(80))
@given(problem=problems(), zero=st.sampled_from(("score", "best")), b=st.integers(1, 3))
def test_the_published_search_finds_what_its_pseudocode_finds(problem, zero, b):
    compiled = problem.compiled()
    assume(not any(rule.machineless or rule.forced for rule in compiled.rules))
    assume(problem.shape[0] <= 4)
    expected = published(compiled, -1.3, 1.5, b, 1, zero)
    if expected is None:
        return
    solution = ilpinfer.decode(
        *problem.given, method="lds", variant="published", zero=zero, branching=b, time_limit=5
    )
    assert (solution.score, tuple(solution.ids.tolist())) == (expected[0] * UNIT, expected[1])


def test_incumbents_get_better_over_time_and_the_deadline_is_kept():
    seen = []
    solution = ilpinfer.decode(
        *many_runs(60, 9, 2, seed=3, penalty=1.0),
        method="lds",
        variant="published",
        zero="best",
        token_multiplier=-10.0,
        keep_going=True,
        time_limit=0.2,
        callback=lambda *now: seen.append(now),
    )
    assert solution.has_labelling
    assert solution.seconds < at_most(0.25)
    assert [s for _, s, _ in seen[:-1]] == sorted({s for _, s, _ in seen})
    assert all(a[0] <= b[0] for a, b in itertools.pairwise(seen))
    assert seen[-1][1] == solution.score


def test_a_variant_chooses_whether_rounds_go_on():
    assert Discrepancy() == Discrepancy("admissible", keep_going=True)
    assert Discrepancy("published") == Discrepancy("published", zero="score", keep_going=False)
    assert Discrepancy("published", keep_going=True).keep_going
    assert not Discrepancy(keep_going=False).keep_going


def test_counts_agree_with_their_nouns():
    trellis = ilpinfer.Trellis.from_emissions([[1.0, 0.0]], [[0.0] * 2] * 2)
    assert ilpinfer.decode(trellis, method="lds").method == "lds: admissible, 1 round, 1 node"
    assert ilpinfer.decode(
        trellis, method="evolutionary", iterations=1, population=1, offspring=1
    ).method == ("evolutionary: 1 generation, 2 labellings")
