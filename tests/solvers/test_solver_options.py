"""Options of solvers by their own names, and their logs."""

import json
import math

import numpy as np
import pytest
from support.effort import at_most
from support.processes import python

import ilpinfer
from benchmarks.methods import DEFAULTS, OURS
from formulations import Trellis
from formulations import constraints as C
from ilpinfer.core.request import configuration
from ilpinfer.solvers import SOLVERS, SolverOptionError
from ilpinfer.solvers.answer import Choices

RULES = [C.at_most_runs("a", 2), C.at_least_runs("b", 3), C.requires_before("c", "d", penalty=1.5)]
TOLERANCES = {
    "cbc": {"ratio", "allow", "increment", "timeMode"},
    "cp-sat": {"num_workers"},
    "highs": {"mip_rel_gap", "output_flag", "threads"},
    "scip": {"limits/gap", "limits/absgap", "numerics/feastol"},
}
"""What is left where a solver has its defaults."""


def trellis(constant: float = 0.0, T: int = 20) -> Trellis:
    rng = np.random.default_rng(0)
    return Trellis.from_emissions(
        constant + rng.normal(size=(T, 4)), rng.normal(size=(4, 4)), labels=list("abcd")
    )


CHOSEN = {
    "cbc": {"preprocess": "on", "cuts": False, "maxNodes": 100_000},
    "cp-sat": {"cp_model_presolve": True, "search_branching": "FIXED_SEARCH", "subsolvers": ["pseudo_costs"]},
    "highs": {"presolve": "on", "mip_heuristic_effort": 0.125, "mip_rel_gap": 0},
    "scip": {"presolving/maxrounds": -1, "limits/nodes": 100_000, "branching/preferbinary": True},
}


@pytest.mark.parametrize("method", SOLVERS)
def test_options_reach_the_solver_and_its_log_is_a_file(method, tmp_path):
    best = ilpinfer.decode(trellis(), RULES)
    log = tmp_path / "solver.log"
    solution = ilpinfer.decode(trellis(), RULES, method=method, solver_options=CHOSEN[method], solver_log=log)
    assert (solution.status, solution.score) == ("optimal", best.score)
    assert CHOSEN[method].items() <= {**solution.certificate.settings, "cuts": False}.items()
    first = log.read_text(errors="replace")
    assert len(first.splitlines()) > 10
    ilpinfer.decode(trellis(), RULES, method=method, solver_log=str(log))
    assert log.read_text(errors="replace").startswith(first) and log.stat().st_size > len(first)


@pytest.mark.parametrize("method", SOLVERS)
def test_none_leaves_the_default_of_the_solver(method):
    usual = ilpinfer.decode(trellis(), RULES, method=method).certificate.settings
    assert set(usual) == TOLERANCES[method] | {*OURS[method]}
    solution = ilpinfer.decode(trellis(), RULES, method=DEFAULTS[f"{method}, defaults"])
    assert set(solution.certificate.settings) == TOLERANCES[method]
    assert solution.score == ilpinfer.decode(trellis(), RULES).score


@pytest.mark.parametrize(
    ("method", "options", "message"),
    [
        ("highs", {"presolv": "on"}, "HiGHS has no option 'presolv'; did you mean \"presolve\"?"),
        ("highs", {"presolve": "maybe"}, "HiGHS does not accept 'maybe' for its option 'presolve'"),
        ("highs", {"time_limit": 3}, "solver option 'time_limit' is set by time_limit; give that instead"),
        ("cp-sat", {"cp_model_presolv": True}, "CP-SAT has no option 'cp_model_presolv'; did you mean \"cp_model_presolve\"?"),
        ("cp-sat", {"symmetry_level": "much"}, "CP-SAT does not accept 'much' for its option 'symmetry_level'"),
        ("cp-sat", {"num_workers": 8}, "solver option 'num_workers' is set by threads; give that instead"),
        ("scip", {"limits/node": 3}, "SCIP refuses the solver options {'limits/node': 3}: Invalid parameter name 'limits/node'"),
        ("cbc", {"preprocess": 3}, "CBC does not accept 3 for its option 'preprocess': Possible options for preprocess are"),
        ("cbc", {"preprocesses": "on"}, "CBC has no option 'preprocesses'; did you mean \"preprocess\"?"),
        ("cbc", {"ratio": "half"}, "CBC does not accept 'half' for its option 'ratio': String of half is illegal"),
        ("cbc", {"import": "other.mps"}, "CBC has no option 'import'"),
        ("cbc", {"sec": 3}, "solver option 'seconds' is set by time_limit; give that instead"),
        ("cbc", {"a b": 3}, "solver_options: 'a b' is no name of an option"),
        ("cbc", {"ratio": {}}, "solver_options: ratio is {}; expected a text, number, true or false"),
        ("cbc", "ratio=3", "solver_options is 'ratio=3'; expected a mapping from names to values"),
        ("beam", {"a": 3}, "method beam has no option 'solver_options'"),
    ],
)  # fmt: skip
def test_other_options_are_refused_by_name(method, options, message):
    with pytest.raises(ValueError, match=r"\S") as caught:
        ilpinfer.decode(trellis(), RULES, method=method, solver_options=options)
    assert str(caught.value).startswith(message)
    assert isinstance(caught.value, SolverOptionError) == ("solver_options" not in message)


@pytest.mark.parametrize(
    "text",
    [
        "highs:solver_options.presolve=on:solver_options.random_seed=3:time_limit=5",
        'highs:solver_options={"presolve":"on","random_seed":3}:time_limit=5',
    ],
)
def test_options_stand_behind_the_method(text):
    given = {"solver_options": {"presolve": "on", "random_seed": 3}, "time_limit": 5}
    assert configuration(text) == ("highs", given)
    solution = ilpinfer.decode(trellis(), RULES, method=text.removesuffix(":time_limit=5"))
    assert solution.certificate.settings["random_seed"] == 3
    with pytest.raises(ValueError, match="presolve is given twice"):
        configuration("highs:solver_options.presolve=on:solver_options.presolve=off")


def test_many_sequences_are_not_begun_with_a_wrong_option():
    """One error, not one for each sequence."""
    decoder = ilpinfer.Decoder(RULES, method="highs", solver_options={"presolv": "on"})
    with pytest.raises(SolverOptionError, match="HiGHS has no option 'presolv'"):
        list(decoder.decode_many([trellis(), trellis()], on_error="row"))


@pytest.mark.parametrize("text", ["cbc:solver_options.ratio=0.9", "highs:solver_options.mip_rel_gap=0.9"])
def test_a_solver_that_stops_at_a_gap_proves_nothing(text):
    hard = trellis(T=30), [*RULES, C.exactly_tokens("a", 7), C.exactly_tokens("b", 9)]
    best = ilpinfer.decode(*hard)
    solution = ilpinfer.decode(*hard, method=text)
    assert solution.bound >= best.score >= solution.score
    assert (solution.status == "optimal") == (solution.bound == solution.score)


@pytest.mark.parametrize("method", SOLVERS)
@pytest.mark.parametrize("constant", [-1e6])
def test_a_constant_on_each_token_costs_no_time(method, constant):
    best = ilpinfer.decode(trellis(constant), RULES)
    solution = ilpinfer.decode(trellis(constant), RULES, method=method, time_limit=at_most(20.0))
    assert (solution.status, solution.score) == ("optimal", best.score)
    two = ilpinfer.decode_two_phase(trellis(constant), RULES, bound="odds", tau=0.1, method=method)
    assert (two.status, two.score) == (
        "optimal", ilpinfer.decode_two_phase(trellis(constant), RULES, bound="odds", tau=0.1).score
    )  # fmt: skip


FIRST = """
import json, sys, time
import numpy as np
from ilpinfer import Trellis, constraints as C, decode
rng = np.random.default_rng(0)
labels = [f"l{k}" for k in range(12)]
trellis = Trellis.from_emissions(rng.normal(size=(60, 12)), rng.normal(size=(12, 12)), labels=labels)
rules = [C.at_most_runs(name, 2) for name in labels] + [C.requires_before("l1", "l2")]
result = []
for _ in range(2):
    began = time.perf_counter()
    solution = decode(trellis, rules, method=sys.argv[1], time_limit=float(sys.argv[2]))
    result.append((time.perf_counter() - began, str(solution.status), solution.bound, solution.seconds))
print(json.dumps(result))
"""


@pytest.mark.parametrize("method", SOLVERS)
@pytest.mark.parametrize("limit", [0.2, pytest.param(0.8, marks=pytest.mark.slow)])
def test_the_first_call_of_a_process_is_in_time(method, limit):
    """The start of the solver's process counts; a call that has no time for more has the bound of the scores."""
    done = python("-c", FIRST, method, limit, check=True)
    for seconds, _, bound, own in json.loads(done.stdout):
        assert max(seconds, own) <= at_most(limit + 0.1)
        assert math.isfinite(bound)


def test_a_decoder_starts_its_solver_and_many_sequences_wait_for_it():
    code = (
        "import ilpinfer, time\n"
        "from ilpinfer import Trellis, constraints as C\n"
        "from ilpinfer.solvers import pool\n"
        "decoder = ilpinfer.Decoder([C.at_most_runs('a', 1)], method='highs', time_limit=30.0)\n"
        "assert len(pool._idle['highs']) == 1\n"
        "some = decoder.decode_many([Trellis([0.0, 1.0], [[[0.0, 1.0], [2.0, 0.5]]] * 2, labels=['a', 'b'])] * 2)\n"
        "print([str(one.status) for one in some], len(pool._idle['highs']))\n"
    )
    assert python("-c", code, check=True).stdout == "['optimal', 'optimal'] 1\n"


def test_reserved_options_are_refused_and_others_win():
    with pytest.raises(SolverOptionError, match="'sec' is set by time_limit; give that instead"):
        Choices({"sec": 3}).over({"a": 1}, {"sec": "time_limit"})
    assert Choices({"a": 2, "b": None}).over({"a": 1, "b": 1}, {"sec": "time_limit"}) == {"a": 2}
