"""Programs as text of toulbar2: read by a plain reader, and each labelling worth there what the oracle says."""

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from support.effort import examples
from support.strategies import near_ties, problems
from support.wcsp import Wcsp

import ilpinfer
from formulations import Trellis, formulate
from formulations import constraints as C
from formulations.grid import UNITS_PER_NAT
from formulations.problem.compiled_rules import compile_problem
from formulations.programs.cost_network import NoNetwork, cost_network
from formulations.programs.numbered_text import wcsp

NAMES = ["a", "b", "O"]


def trellis(seed, T=4):
    rng = np.random.default_rng(seed)
    edges = rng.integers(-40, 40, size=(T - 1, 3, 3)) / 16
    edges[0, 0, 1] = -math.inf
    return Trellis(rng.integers(-40, 40, size=3) / 16, edges, labels=NAMES, tokens=list("wxyz")[:T])


MOST = 60


@pytest.mark.parametrize("order", [1, 2])
@settings(max_examples=examples(200))
@given(data=st.data(), folded=st.booleans(), direct=st.sampled_from([0, 40]))
def test_each_labelling_costs_in_the_file_what_it_is_worth(order, data, folded, direct):
    problem = data.draw(problems(order=order) | near_ties(order=order))
    given, rules = problem.given
    whole = compile_problem(given, rules)
    try:
        network = cost_network(whole.fold() if folded else whole, direct=direct)
    except NoNetwork:
        assume(False)
    file, (T, K) = Wcsp(wcsp(network, "x")), (len(given), len(given.labels))
    if direct:
        assert formulate(given, rules, folded=folded).text("wcsp").split(maxsplit=1)[1] == file.text
    assert (tuple(file.sizes), file.most) == (network.sizes, network.most)
    assert len({variable.name for variable in network.meanings()}) == len(file.sizes)
    every = list(product(range(K), repeat=T))
    if len(every) > MOST:
        every = [every[n] for n in np.random.default_rng(0).choice(len(every), MOST, replace=False)]
    for labelling in every:
        units, cost = problem.units(labelling), problem.cost(labelling)
        least = file.least(labelling)
        if units is None or cost is None:
            assert least is None
        else:
            assert network.best - least == units - cost


@pytest.mark.parametrize("seed", range(2))
def test_a_rule_that_counts_once_over_several_machines_is_paid_once(seed):
    once = C.at_most_runs(C.EACH_FIELD, 1, distance="binary", penalty=1.5, name="once")
    given = trellis(seed)
    program = formulate(given, [once])
    assert [v.name for v in program.network.meanings() if v.kind == "paid"] == ['paid["once"]']
    file = Wcsp(program.text("wcsp"))
    for names in product(NAMES, repeat=4):
        least = file.least(given.labels.ids(names).tolist())
        worth = ilpinfer.evaluate_labelling(given, [once], names)
        if math.isinf(worth.score):
            assert least is None
        else:
            assert program.network.best - least == worth.score * UNITS_PER_NAT


def test_the_network_values_values_as_the_file_does():
    rules = [C.at_most_tokens("a", 1), C.requires_before("a", "b", penalty=0.5)]
    program = formulate(trellis(0, T=2), rules)
    file, known = Wcsp(program.text("wcsp")), set()
    for values in product(*map(range, file.sizes)):
        costs = (table.get(tuple(values[c] for c in s), default) for s, default, table in file.functions)
        cost = sum(costs)
        known.add(program.network.cost(values))
        assert program.network.cost(values) == (None if cost >= file.most else cost)
    assert len(known) > 5 and None in known


def test_tables_are_written_once():
    """A hundred tokens with the same steps and the same rule have as many tables as three."""
    emissions, steps = np.zeros((100, 3)), np.arange(9.0).reshape(3, 3)
    given = [Trellis.from_emissions(emissions[:T], steps, labels=NAMES) for T in (4, 100)]
    few, many = (formulate(each, [C.at_most_runs("a", 1)]).text("wcsp") for each in given)
    assert len(many.splitlines()) - len(few.splitlines()) == 2 * 96


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: formulate(trellis(0), program="two-phase").network,
            "a two-phase program has no cost network; write it as lp or mps",
        ),
        (
            lambda: formulate(
                Trellis.from_emissions(np.zeros((1500, 2)), np.zeros((2, 2)), labels=["a", "O"]),
                [C.at_most_tokens("a", 1200, name="many")],
            ).text("wcsp"),
            "no cost network: rule 'many' has a machine of 1201 states; at most 1000; write the program as lp or mps",
        ),
    ],
)
def test_what_has_no_network_is_said(make, message):
    with pytest.raises(NoNetwork) as raised:
        make()
    assert str(raised.value) == message


def test_a_start_names_a_label_of_each_token():
    program = formulate(trellis(0))
    text = program.start_text(["O", "b", "b", "a"])
    lines = ["x.0.START.O", "x.1.O.b", "x.2.b.b", "x.3.b.a", "x.4.a.END"]
    assert text.splitlines()[1:] == [f"{line} 1" for line in lines]
