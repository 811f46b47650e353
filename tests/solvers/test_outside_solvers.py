"""Solvers of users, of other packages and of PuLP: their claims, options and names."""

import math
import re
import sys

import numpy as np
import pytest

import ilpinfer
from formulations import Trellis
from formulations import constraints as C
from ilpinfer import solvers
from ilpinfer.core import registry
from ilpinfer.solvers import SolverError, SolverOptionError

RULES = [C.at_most_runs("a", 1), C.at_least_runs("b", 2), C.requires_before("c", "d", penalty=1.5)]
RNG = np.random.default_rng(0)
TRELLIS = Trellis.from_emissions(RNG.normal(size=(8, 4)), RNG.normal(size=(4, 4)), labels=list("abcd"))
BEST = ilpinfer.decode(TRELLIS, RULES)


@pytest.fixture(autouse=True)
def clean(monkeypatch):
    monkeypatch.setattr(registry, "_registered", {})


def answer_of(program):
    return solvers.solve("cp-sat", program)


def register(result, name="mine"):
    """Register a solver whose answer is a function of CP-SAT's answer and the program."""

    def solver(program, *, time_limit, threads, **options):
        return result(answer_of(program), program)

    ilpinfer.register_solver(name, solver)


def decoded(rules=RULES, **options):
    return ilpinfer.decode(TRELLIS, rules, method="mine", **options)


@pytest.mark.parametrize("slack", [0.0, 0.4, -0.9])
def test_a_bound_that_the_labelling_attains_proves_it_on_the_word_of_the_solver(slack):
    register(lambda answer, program: (answer.x, answer.bound + slack))
    solution = decoded()
    assert (solution.status, solution.score, solution.labels) == ("optimal", BEST.score, BEST.labels)
    assert (solution.certificate.kind, solution.certificate.source) == ("solver", "mine")
    assert [each.score for each in decoded(top=3)] == [
        each.score for each in ilpinfer.decode(TRELLIS, RULES, top=3)
    ]


def test_a_bound_above_the_score_is_kept():
    register(lambda answer, program: (answer.x + 1e-7, answer.bound + 1000))
    solution = decoded()
    assert (solution.status, solution.score) == ("feasible", BEST.score)
    assert solution.gap == pytest.approx(1000 / 2**20)
    register(lambda answer, program: (answer.x, None))
    assert decoded().bound < 100


def test_a_solver_without_values():
    register(lambda answer, program: (None, answer.bound))
    assert decoded().bound == BEST.score
    register(lambda answer, program: (None, None))
    assert decoded([*RULES, C.starts_with("a")]).status in ("unknown", "feasible")
    register(lambda answer, program: (None, -math.inf) if answer.x is None else (answer.x, answer.bound))
    assert decoded([C.at_most_runs("a", 0), C.at_least_runs("a", 1)]).status == "infeasible"


@pytest.mark.parametrize(
    ("result", "message"),
    [
        (lambda a, p: (a.x, a.bound - 5), "mine: its bound of .* grid units is below .*, the score of its own values"),
        (lambda a, p: (a.x, -math.inf), "mine: its bound of -inf grid units is below"),
        (lambda a, p: (0 * a.x, 0), r"mine: its values are not \d+ numbers that satisfy all rows and bounds"),
        (lambda a, p: (a.x + 7, 0), r"mine: its values are not \d+ numbers that satisfy all rows and bounds"),
        (lambda a, p: (a.x[1:], 0), r"mine: its values are not \d+ numbers that satisfy all rows and bounds"),
        (lambda a, p: (a.x * math.nan, 0), r"mine: its values are not \d+ numbers that satisfy all rows and bounds"),
        (lambda a, p: ("abc", 0), "expected values and a bound"),
        (lambda a, p: (a.x, "high"), "expected values and a bound"),
        (lambda a, p: (a.x, math.nan), "mine: its bound is not a number; return None for no bound"),
        (lambda a, p: a.x, "expected values and a bound"),
    ],
)  # fmt: skip
def test_claims_that_cannot_be_right_are_errors(result, message):
    register(result)
    with pytest.raises(SolverError, match=message):
        decoded()


def test_a_bound_below_the_labelling_of_values_that_pay_too_much_is_an_error():
    """The penalty column is 1 without need: the values score less than their labelling."""

    def pays(answer, program):
        for column in range(program.n_edges, program.n_columns):
            x = answer.x.copy()
            x[column] += 1
            if program.satisfied_by(x) and program.value(x) < program.value(answer.x):
                return x, program.value(x)
        raise AssertionError("no column to pay")

    register(pays)
    with pytest.raises(SolverError, match="is below"):
        decoded([C.at_most_runs("a", 3, penalty=0.5)])


def test_options_and_limits_reach_the_solver(tmp_path):
    given = []

    def solver(program, *, time_limit, threads, log="", depth=1):
        given.append((time_limit, threads, log, depth))
        answer = answer_of(program)
        return answer.x, answer.bound

    ilpinfer.register_solver("mine", solver)
    log = tmp_path / "log.txt"
    solution = decoded(time_limit=9.0, threads=2, solver_log=log, solver_options={"depth": 3})
    assert solution.certificate.settings == {"depth": 3}
    [(limit, *rest)] = given
    assert 5 < limit < 9 and rest == [2, str(log), 3]
    with pytest.raises(SolverOptionError, match="mine does not accept the solver options"):
        decoded(solver_options={"width": 3})
    with pytest.raises(SolverOptionError, match="solver option 'log' is reserved for an argument of solvers"):
        decoded(solver_options={"log": "x"})


def test_names_and_arguments_of_solvers_are_checked():
    with pytest.raises(ValueError, match='"cbc" is a built-in method'):
        ilpinfer.register_solver("cbc", answer_of)
    with pytest.raises(
        ValueError, match=r"mine cannot be called as solver\(program, \*, time_limit, threads\)"
    ):
        ilpinfer.register_solver("mine", answer_of)
    with pytest.raises(ValueError, match="mine is 3; expected a solver that can be called"):
        ilpinfer.register_solver("mine", 3)
    register(lambda answer, program: (answer.x, answer.bound))
    assert (ilpinfer.methods()[-1].name, ilpinfer.methods()[-1].exact) == ("mine", True)


def test_solvers_of_pulp_have_the_optimum():
    for top, method in ((2, "pulp:PULP_CBC_CMD"), (1, "pulp:HiGHS:time_limit=20")):
        found = ilpinfer.decode(TRELLIS, RULES, method=method, top=top)
        best = ilpinfer.decode(TRELLIS, RULES, top=top)
        assert [(s.status, s.score) for s in found] == [(s.status, s.score) for s in best]
        assert found[0].certificate.source == method.removesuffix(":time_limit=20")
    nothing = [C.at_most_runs("a", 0), C.at_least_runs("a", 1)]
    assert ilpinfer.decode(TRELLIS, nothing, method="pulp:PULP_CBC_CMD").status == "infeasible"


def test_a_solver_of_pulp_with_a_gap_has_no_proof():
    method = "pulp:PULP_CBC_CMD:solver_options.gapRel=0.5"
    solution = ilpinfer.decode(TRELLIS, RULES, method=method)
    assert "feasible" in solution.method and solution.score <= BEST.score <= solution.bound


@pytest.mark.parametrize(
    ("method", "message"),
    [
        ("pulp:GUROBY", 'no method "pulp:GUROBY": PuLP has no solver "GUROBY"; did you mean "GUROBI"?'),
        ("pulp:MOSEK", "pulp:MOSEK is not available: the Python package mosek is missing; install it, with its licence"),
        ("pulp:COIN_CMD:solver_options.path=no/cbc", "pulp:COIN_CMD is not available: the program no/cbc is missing; install it, or name it by the solver option path"),
        ("pulp:PULP_CBC_CMD:solver_options.depth=3", "pulp:PULP_CBC_CMD does not accept the solver options {'depth': 3}"),
        ("pulp:PULP_CBC_CMD:solver_options.timeLimit=3", "solver option 'timeLimit' is set by time_limit; give that instead"),
    ],
)  # fmt: skip
def test_a_solver_of_pulp_that_is_missing_is_named_with_what_it_lacks(method, message):
    for call in (ilpinfer.decode, lambda trellis, rules, method: ilpinfer.Decoder(rules, method=method)):
        with pytest.raises(ValueError, match=f"^{re.escape(message)}"):
            call(TRELLIS, RULES, method=method)


PACKAGE = """
from pathlib import Path
from ilpinfer import RuleSet, constraints as C, solvers

def solve(program, *, time_limit, threads):
    answer = solvers.solve("cp-sat", program)
    return answer.x, answer.bound

contracts = Path(__file__).with_name("contracts.toml")
letters = RuleSet((C.at_most_runs("a", 1),))
number = 3
"""
POINTS = """
[ilpinfer.solvers]
own = mypackage:solve

[ilpinfer.rules]
contracts = mypackage:contracts
letters = mypackage:letters
absent = mypackage:absent
number = mypackage:number
citations = mypackage:number
"""


@pytest.fixture
def package(tmp_path, monkeypatch):
    """An installed package."""
    (tmp_path / "mypackage").mkdir()
    (tmp_path / "mypackage" / "__init__.py").write_text(PACKAGE)
    (tmp_path / "mypackage" / "contracts.toml").write_text(
        'fields = ["a"]\n[[rule]]\ntemplate = "at_most_runs"\nfield = "a"\nn = 1\n'
    )
    record = tmp_path / "mypackage-1.0.dist-info"
    record.mkdir()
    (record / "METADATA").write_text("Metadata-Version: 2.1\nName: mypackage\nVersion: 1.0\n")
    (record / "entry_points.txt").write_text(POINTS)
    monkeypatch.syspath_prepend(tmp_path)
    yield
    sys.modules.pop("mypackage", None)


def test_an_installed_package_offers_a_solver_and_rules(package, cli):
    best = ilpinfer.decode(TRELLIS, ilpinfer.load_rules("citations").items[:0], method="cp-sat")
    assert "own" in cli.output("methods") and "mypackage" not in sys.modules
    for name in ("own", "mypackage:own"):
        for rules in ("contracts", "letters", "mypackage:letters"):
            given = ilpinfer.load_rules(rules)
            solution = ilpinfer.decode(TRELLIS, given, method=name)
            assert solution.certificate.source == name
            assert solution.score == ilpinfer.decode(TRELLIS, [C.at_most_runs("a", 1)]).score <= best.score
    assert ilpinfer.load_rules("contracts").name == "contracts"
    with pytest.raises(ValueError, match='no method "owm"; did you mean "own"'):
        ilpinfer.decode(TRELLIS, method="owm")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("absent", 'rules "absent": mypackage:absent cannot be imported (AttributeError: '),
        ("number", 'rules "number": mypackage:number is 3; expected a rule set or the path of a rule file'),
        ("contract", 'contract: no such rule file, and no catalogue entry of that name; did you mean "contracts"?'),
    ],
)  # fmt: skip
def test_rules_of_a_package_that_cannot_be_taken_are_named(package, name, message):
    with pytest.raises(ilpinfer.RuleError) as error:
        ilpinfer.load_rules(name)
    assert str(error.value).startswith(message)
