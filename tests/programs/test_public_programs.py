"""The public record: names, forms, texts, and what it makes of a solver's values."""

import math
import pickle
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from support import cbc as cbc_binary
from support import highs, trellises
from support.effort import examples
from support.strategies import NEAR_TIES, UNIT, Problem, problems

import ilpinfer
from formulations import LabelSet, Program, Trellis, formulate
from formulations import constraints as C
from formulations.grid import UNITS_PER_NAT
from formulations.programs.names import LONGEST, escape, file_names, plain
from ilpinfer import solvers

KINDS = ("soft", "hard", "two-phase", "shortest-path")
BIO = LabelSet(("B-title", "I-title", "B-author", "I-author", "O"))


def random_trellis(labels=BIO, T=4, seed=0, order=1) -> Trellis:
    return trellises.random_trellis(seed, T, labels, ["Knuth", ",", "Trees", "."][:T], order)


def many_rules():
    return [
        C.at_most_runs("title", 1, penalty=1.3, name="one title"),
        C.at_most_runs(["title", "author"], 1, penalty=0.7),
        C.at_most_runs("title", 2, penalty=0.2),
        C.at_most_in_window(["title", "author"], 1, width=2, penalty=1.3),
        C.requires_before("author", "title", penalty=1.0),
        C.logic("forall t: title(t) -> exists s < t: author(s) and O(s)", penalty=1.0, name="formula"),
        C.consistent(same="lower", words=["."], penalty=1.0),
        C.at_most_runs("author", 1, penalty=1.0, distance="hamming"),
        C.between_runs("author", 0, 1),
        C.changes_only_after(penalty=1.0, distance="binary"),
        C.at_most_runs(C.EACH_FIELD, 1, penalty=1.0, name="each"),
        C.feature(from_="O", to="O", weight=0.5),
    ]


def optimum(program: Program, solver: str = "cp-sat"):
    """The best solution's vector, None where there is none."""
    return solvers.solve(solver, program.integer).x


# What a program says, against brute force


def expected(problem: Problem, kind: str, tau: float = 0.5) -> int | None:
    """The optimum of a program by enumeration, grid units; None where nothing is feasible."""
    if kind == "two-phase":
        phases = problem.two_phase(tau, "odds")
        return None if phases is None else -phases[2][0][0]
    if kind == "shortest-path":
        return problem._replace(cases=[]).best()[0]
    kept = (units for units, y in problem.top() if kind == "soft" or not any(problem.violations(y)))
    return next(kept, None)


def of_kind(problem: Problem, kind: str, folded: bool) -> Program:
    best = expected(problem._replace(cases=[case for case in problem.cases if case.rule.hard]), "soft")
    own = {}
    if kind == "two-phase":
        own = {"tau": 0.5, "bound": "odds", "best_score": None if best is None else best / UNITS_PER_NAT}
    return formulate(*problem.given, program=kind, folded=folded, **own)


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=examples(40))
@given(problem=st.one_of(problems(longest=3), problems(NEAR_TIES, longest=3)), folded=st.booleans())
def test_each_program_has_the_optimum_of_brute_force(kind, problem, folded):
    value = expected(problem, kind)
    if kind == "two-phase" and expected(problem, "soft") is None:
        return
    program = of_kind(problem, kind, folded)
    x = optimum(program)
    assert (None if x is None else program.integer.value(x)) == value
    assert len(set(program.column_names)) == program.n_columns
    assert len(set(program.row_names)) == program.n_rows
    if x is None:
        return
    labels = program.labelling(x)
    assert labels == program.labelling(dict(zip(program.column_names, x.tolist())))
    assert labels == program.labelling(dict(zip(program.file_columns, x.tolist())))
    ids = tuple(problem.trellis.labels.names.index(name) for name in labels)
    if kind == "two-phase":
        assert -problem.cost(ids) == value
        assert program.floor is not None and problem.units(ids) >= program.floor * UNITS_PER_NAT
    elif kind == "soft":
        assert problem.units(ids) - problem.cost(ids) == value


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("folded", [False, True])
def test_second_order_programs_agree_with_the_engine(kind, folded):
    labels = LabelSet(("a", "b", "O"))
    for seed in range(4):
        trellis = random_trellis(labels, 4, seed, order=2)
        rules = [
            C.at_most_runs("a", 1, penalty=0.3),
            C.requires_before("b", "a", penalty=0.2),
            C.ends_with("O", penalty=0.4),
            C.starts_with("O"),
        ]
        two = ilpinfer.decode_two_phase(trellis, rules, 0.8)
        own = {"tau": 0.8, "best_score": two.best_score} if kind == "two-phase" else {}
        program = formulate(trellis, rules, program=kind, folded=folded, **own)
        hard = [C.at_most_runs("a", 1), C.requires_before("b", "a"), C.ends_with("O"), C.starts_with("O")]
        by_engine = {
            "soft": ilpinfer.decode(trellis, rules).score,
            "hard": ilpinfer.decode(trellis, hard).score,
            "two-phase": -two.penalty,
            "shortest-path": ilpinfer.decode(trellis).score,
        }
        x = optimum(program)
        assert program.value(x) == by_engine[kind]
        assert len(set(program.column_names)) == program.n_columns
        if kind == "two-phase":
            assert program.floor == two.floor
    assert {"x[0,START,START>a]", "x[1,START>a,b]", "x[3,a>b,O]", "x[4,b>O,END]"} <= set(program.column_names)


def test_the_floor_is_found_where_hard_rules_fold():
    trellis = random_trellis()
    rules = [C.ends_with("O"), C.at_most_runs("title", 0, penalty=1.0)]
    program = formulate(trellis, rules, program="two-phase", tau=0.5)
    two = ilpinfer.decode_two_phase(trellis, rules, 0.5)
    assert program.floor == two.floor and program.row_names[-1] == "floor"
    assert program.value(optimum(program)) == -two.penalty
    assert formulate(trellis, rules, program="two-phase", tau=0.0, bound="odds").floor is None


def test_the_shortest_path_has_neither_rules_nor_features():
    trellis = random_trellis()
    program = formulate(trellis, many_rules(), program="shortest-path")
    assert program.n_columns == program.integer.n_edges
    assert {column.kind for column in program.columns} == {"path"}
    assert program.value(optimum(program)) == ilpinfer.decode(trellis).score


# Names


def test_names_say_what_columns_and_rows_are():
    program = formulate(random_trellis(), many_rules())
    columns, rows = set(program.column_names), set(program.row_names)
    assert {"x[0,START,B-title]", "x[1,B-title,I-title]", "x[4,O,END]"} <= columns
    assert {"begin[title,0]", "begin[title,3]"} <= columns
    assert {'sigma["one title"]', 'sigma["each",0]', "in[!O,1]"} <= columns
    assert {'state["requires_before(author, title)",0,0,0]', 'sigma["formula",0]'} <= columns
    assert {"start", "end", "flow[0,B-title]", 'rule["one title"]', "link[begin,title,2]"} <= rows
    sigma = program.columns[program.column_names.index('sigma["one title"]')]
    assert (sigma.kind, sigma.rule) == ("sigma", "one title")
    step = program.columns[program.column_names.index("x[1,B-title,I-title]")]
    assert (step.kind, step.token, step.labels) == ("path", 1, ("B-title", "I-title"))
    assert not any("#" in name for name in columns | rows)


ODD = [
    *("a b", 'say "hi"', "x[1,2]", "<=", "líne\nbreak", "日本", "START", "END"),
    *("e5", "1", "a,b", "_", "a>b", "-", "\\", "free"),
]


def test_odd_labels_and_rule_names_are_json_strings():
    labels = LabelSet(tuple(ODD), "plain")
    rules = [C.at_most_runs(name, 0, penalty=1.0, name=f"not {name}") for name in ODD]
    program = formulate(random_trellis(labels, 2), rules)
    assert 'x[0,START,"a b"]' in program.column_names
    assert 'sigma["not say \\"hi\\""]' in program.column_names
    assert 'x[1,"START",日本]' in program.column_names
    for names in (program.column_names, program.row_names):
        files = file_names(names)
        assert [unescape(text) for text in files] == list(names)
        assert len(set(files)) == len(names)


LETTERS = dict(zip("_umqfdpotnwaclrbhskjyeg", " _-\"/.+|>!*@,()\\#'&:;=<"))


def unescape(text):
    """The name that is written as this text in files, if it was not shortened."""
    word, *items = (
        re.sub(r"_(?:x([0-9a-f]+)_|(.))", lambda m: chr(int(m[1], 16)) if m[1] else LETTERS[m[2]], part)
        for part in text.removesuffix("_" * ("." not in text)).split(".")
    )
    return f"{word}[{','.join(items)}]" if items else word


TEXTS = st.text(
    st.one_of(st.characters(), st.sampled_from('[](){}",.\\_ <>=+-*/e5\n')), min_size=1, max_size=12
)


@settings(max_examples=examples(300))
@given(st.lists(TEXTS, min_size=1, max_size=3), st.sampled_from(["x", "sigma", "begin"]))
@example(['a","b'], "x")
@example(["\\"], "x")
@example(["\ud800"], "x")
def test_escapes_are_reversible(items, word):
    name = f"{word}[{','.join(map(plain, items))}]"
    text = escape(name)
    assert unescape(text) == name
    assert all(c.isascii() and (c.isalnum() or c in "._") for c in text)
    assert unescape(escape("end")) == "end" and escape("end") == "end_"


def test_long_names_are_shortened_and_stay_unique():
    names = [f'sigma["{"long " * 40}{number}"]' for number in range(20)]
    files = file_names(names)
    assert len(set(files)) == 20 and max(map(len, files)) == LONGEST


def test_names_are_made_when_they_are_asked_for(monkeypatch):
    from formulations.programs import names

    monkeypatch.setattr(names, "bracketed", lambda *_: pytest.fail("a name was made"))
    monkeypatch.setattr("formulations.programs.formulation.bracketed", names.bracketed)
    program = formulate(random_trellis(), many_rules())
    assert program.n_columns > 100
    with pytest.raises(BaseException, match="a name was made"):
        _ = program.column_names


# The record


def test_the_description_adds_up():
    for program in (formulate(random_trellis(), many_rules(), program=kind) for kind in ("soft", "hard")):
        for form in (program, program.canonical(), program.standard()):
            described = form.describe()
            totals = described.columns, described.rows, described.entries
            assert totals == (form.n_columns, form.n_rows, form.n_entries)
            assert len({(part.rule, part.kind) for part in described}) == len(described)
            last = str(described).splitlines()[-1].split()
            assert last == ["total", *map(str, totals)]
    path = next(part for part in described if part.kind == "path")
    assert path.columns == 3 * 5 * 5 + 2 * 5


def test_forms_have_the_same_optimum_and_names():
    trellis = random_trellis()
    program = formulate(trellis, many_rules())
    canonical, standard = program.canonical(), program.standard()
    assert program.general() is standard.general() is program
    assert canonical.canonical().form == "canonical"
    best = ilpinfer.decode(trellis, many_rules())
    for form in (program, canonical, standard):
        x = optimum(form)
        assert form.value(x) == best.score
        assert form.labelling(x) == program.labelling(x[: program.n_columns])
    assert canonical.column_names == program.column_names
    assert np.all(np.isinf(canonical.row_upper) | (canonical.row_upper == canonical.row_lower))
    assert np.array_equal(standard.row_lower, standard.row_upper)
    surplus = standard.column_names[program.n_columns :]
    assert 'surplus[rule,"one title"]' in surplus and len(set(standard.column_names)) == standard.n_columns
    assert [unescape(text) for text in standard.file_columns] == list(standard.column_names)


def test_programs_can_be_shown_and_pickled_and_have_digests():
    program = formulate(random_trellis(), many_rules())
    assert repr(program) == (
        f"Program(soft, general form: 4 tokens, {program.n_columns} columns, {program.n_rows} rows, "
        f"{program.n_entries} entries)"
    )
    again = pickle.loads(pickle.dumps(program.standard()))
    assert again.column_names == program.standard().column_names and again.digest == program.standard().digest
    digests = {
        formulate(random_trellis(seed=seed), many_rules(), program=kind).digest
        for seed in range(2)
        for kind in ("soft", "hard")
    }
    assert len(digests) == 4
    assert program.digest == formulate(random_trellis(), many_rules()).digest


def with_values(program, x, **changes):
    return {**dict(zip(program.column_names, x.tolist())), **changes}


RULES = [C.at_most_runs("title", 0, penalty=1.0, name="none"), C.feature(from_="O", to="O", weight=0.5)]
FIRST = "x[0,START,B-title]"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({FIRST: math.nan}, f"column {FIRST} is nan, which is not finite"),
        ({FIRST: 0.5}, f"column {FIRST} is 0.5, which is not whole"),
        ({FIRST: 2.0}, f"column {FIRST} is 2, outside 0 to 1"),
        ({FIRST: None}, f"column {FIRST} is None: was the program solved?"),
        ({FIRST: "one"}, f"column {FIRST} is 'one'; expected a number"),
        ({"x[9,O,O]": 1.0}, "'x[9,O,O]' is no column of this program"),
        ({3: 1.0}, "3 is no column of this program"),
    ],
)
def test_values_that_no_solution_has_are_named(changes, message):
    program = formulate(random_trellis(), RULES)
    with pytest.raises(ValueError, match="^" + re.escape(message)):
        program.labelling(with_values(program, optimum(program)) | changes)


def test_values_that_are_no_solution_are_named():
    program = formulate(random_trellis(), RULES)
    x = optimum(program)
    values = with_values(program, x)
    with pytest.raises(ValueError, match=f"^{re.escape(f'column {FIRST} has two values')}"):
        program.labelling(values | {program.file_columns[0]: 1.0})
    with pytest.raises(
        ValueError, match=r"(?s)^row start is broken: its sum is.*so that the columns x are no path"
    ):
        program.labelling(values | {FIRST: 1 - x[0]})
    missing = {name: value for name, value in values.items() if name not in (FIRST, "x[4,O,END]")}
    with pytest.raises(ValueError, match=r"no value for column x\[0,START,B-title\] and 1 more"):
        program.labelling(missing)
    slightly = x + np.random.default_rng(0).uniform(-9e-6, 9e-6, len(x))
    assert program.labelling(slightly) == program.labelling(x)
    titles = [program.labels.index("B-title")] * 4
    path = np.zeros(program.n_columns)
    for name in ("x[0,START,B-title]", *(f"x[{t},B-title,B-title]" for t in range(1, 4)), "x[4,B-title,END]"):
        path[program.column_names.index(name)] = 1
    with pytest.raises(ValueError, match=r'row rule\["none"\] is broken: its sum is 4, expected at most 0'):
        program.labelling(path)
    path[program.column_names.index('sigma["none"]')] = 4
    assert program.labelling(path) == [program.labels[k] for k in titles]
    other = formulate(random_trellis(LabelSet(("a", "O"))), [])
    with pytest.raises(ValueError, match="values of another program"):
        program.labelling(dict.fromkeys(other.column_names, 0))


# Texts, by the readers of real solvers


def cbc(file: Path) -> tuple[float, dict[str, float]] | None:
    """Objective and values, by CBC's binary."""
    solution = file.with_suffix(f"{file.suffix}.sol")
    log = cbc_binary.run(file, solution)
    assert "invalid" not in log and "errors" not in log.replace("0 errors", ""), log
    head, *lines = solution.read_text().splitlines()
    if not head.startswith("Optimal"):
        return None
    words = [line.removeprefix("**").split() for line in lines]
    return float(head.split()[-1]), {w[1]: float(w[2]) for w in words}


def of_files(program: Program, folder: Path, name: str, units: str = "nats") -> list[Path]:
    files = [folder / f"{name}.{suffix}" for suffix in ("lp", "mps")]
    for file in files:
        program.write(file, units=units)
    return files


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("units", ["nats", "grid"])
def test_files_have_the_optimum_of_brute_force_in_other_solvers(kind, units, tmp_path, draws):
    scale = 1 if units == "nats" else UNITS_PER_NAT
    cases, files = [], []
    for number, problem in enumerate(draws):
        if kind == "two-phase" and expected(problem, "soft") is None:
            continue
        program = of_kind(problem, kind, folded=number % 2 == 0)
        cases.append((program, expected(problem, kind)))
        files += of_files(program, tmp_path, str(number), units)
    assert len(cases) >= 5
    answers = highs.solved(files)
    for place, (program, value) in enumerate(cases):
        for offset, sign in ((0, 1), (1, -1)):
            for answer in (answers[2 * place + offset], cbc(files[2 * place + offset])):
                assert (answer is None) == (value is None), (program, files[2 * place])
                if answer is not None and value is not None:
                    assert sign * answer[0] * UNITS_PER_NAT / scale == pytest.approx(value, abs=0.01)
                    values = dict.fromkeys(program.file_columns, 0.0) | answer[1]
                    assert round(program.value(values) * UNITS_PER_NAT) == value


@pytest.fixture(scope="module")
def draws():
    """A dozen problems with near ties and rules of many kinds, always the same."""
    drawn = []

    @settings(max_examples=12, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
    @given(st.one_of(problems(longest=3), problems(NEAR_TIES, longest=3)))
    def draw(problem):
        drawn.append(problem)

    draw()
    return drawn


def test_odd_names_go_through_solvers_and_back(tmp_path):
    labels = LabelSet(tuple(ODD), "plain")
    rules = [
        C.at_most_runs(name, 0, penalty=1.0, name=f"not {name}{' ' * 90 if name == '_' else ''}")
        for name in ODD
    ]
    trellis = random_trellis(labels, 3)
    program = formulate(trellis, rules)
    best = ilpinfer.decode(trellis, rules)
    files = of_files(program, tmp_path, "odd")
    for answer in (*highs.solved(files), *map(cbc, files)):
        assert answer is not None and set(answer[1]) <= set(program.file_columns)
        values = dict.fromkeys(program.file_columns, 0.0) | answer[1]
        assert program.labelling(values) == best.labels and program.value(values) == best.score


def test_files_hold_exact_numbers(tmp_path):
    trellis = Trellis([UNIT, -2 * UNIT], np.full((1, 2, 2), 1 / 4), labels=["a", "b"])
    text = formulate(trellis).text("lp")
    assert "Maximize\n obj: - 0.00000286102294921875 x.0.START.b + 0.25000095367431640625\nSubject To" in text
    assert "it maximises a score in nats" in text and "plus the constant 0.25000095367431640625\n" in text
    assert " obj: - 3 x.0.START.b + 262145\n" in formulate(trellis).text("lp", units="grid")
    packed = formulate(trellis).text("mps")
    assert "minimises the negative" in packed and "NAME ilpinfer_" in packed
    assert "RHS\n RHS obj 0.25000095367431640625\n" in packed and "obj 0.00000286102294921875\n" in packed


CONSTANTS = [0.0, 1e5, -1e5]


@pytest.mark.parametrize("program", KINDS)
@pytest.mark.parametrize("constant", CONSTANTS)
def test_a_constant_on_each_token_leaves_columns_of_files_alone(constant, program):
    """Solvers lose digits, and time, where scores have a large part in common; an integer column has at most the penalty."""
    rng = np.random.default_rng(4)
    trellis = Trellis.from_emissions(
        constant + rng.normal(size=(6, 3)), rng.normal(size=(3, 3)), labels=["a", "b", "O"]
    )
    rules = [C.at_most_runs("a", 1, penalty=1.3), C.requires_before("b", "a", penalty=0.5)]
    stated = formulate(trellis, rules, program=program)
    shifted = stated.integer.shifted()
    assert np.abs(shifted.objective).max() < 20 * UNITS_PER_NAT
    x = optimum(stated)
    assert shifted.value(x) == stated.integer.value(x) and shifted.shifted() is shifted
    files = [line.split() for line in stated.text("mps").splitlines()]
    weights = [float(line[2]) for line in files if len(line) == 3 and line[1] == "obj" and line[0] != "RHS"]
    assert max(map(abs, weights)) < 20
    if program != "two-phase":
        assert stated.constant == pytest.approx(6 * constant, abs=20)


@pytest.mark.parametrize("constant", CONSTANTS)
def test_readers_of_files_add_the_constant(constant, tmp_path):
    rng = np.random.default_rng(5)
    trellis = Trellis.from_emissions(
        constant + rng.normal(size=(4, 3)), rng.normal(size=(3, 3)), labels=["a", "b", "O"]
    )
    program = formulate(trellis, [C.at_most_runs("a", 1, penalty=1.3)])
    best = ilpinfer.decode(trellis, [C.at_most_runs("a", 1, penalty=1.3)]).score
    files = of_files(program, tmp_path, "shifted")
    for answers in (highs.solved(files), list(map(cbc, files))):
        assert [answer and answer[0] for answer in answers] == pytest.approx([best, -best], rel=1e-9)


def test_infeasible_programs_are_infeasible_in_files(tmp_path):
    trellis = Trellis([0.0, 0.0], np.zeros((1, 2, 2)), labels=["a", "b"])
    impossible = formulate(trellis, [C.at_least_runs("a", 9)])
    floor = formulate(trellis, [C.at_most_tokens("a", 0)], program="two-phase", tau=1.0, best_score=0.0)
    files = [*of_files(impossible, tmp_path, "a"), *of_files(floor, tmp_path, "b")]
    solved = [answer is not None for answer in highs.solved(files)]
    assert solved == [answer is not None for answer in map(cbc, files)] == [False, False, True, True]
