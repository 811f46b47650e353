"""A Decoder decodes as the functions do, compiles rules once, and its solutions value themselves when asked."""

import copy
import json
import pickle
import warnings
from concurrent.futures import ThreadPoolExecutor
from dataclasses import FrozenInstanceError, replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from support.checks import GENERAL_METHODS
from support.command_line import SCORES, run
from support.trellises import random_trellis

import ilpinfer
from formulations import RuleSet, Trellis
from formulations import constraints as C
from formulations.errors import RuleNotice
from formulations.problem.compiled_rules import CompiledRules, compile_problem, compile_rules
from formulations.problem.problem import Problem
from ilpinfer import Decoder
from ilpinfer.core import rule_compiler
from ilpinfer.core.solution import Solution
from ilpinfer.models.crf import CRF
from ilpinfer.models.hmm import HMM

RULES = [C.at_most_runs("a", 1), C.requires_present("a", "b", penalty=1.5)]


def trellis(seed, labels=("a", "b", "O")):
    return random_trellis(seed, labels=labels, tokens=["x"] * 12)


def content(solution):
    """All that a solution says, but for its seconds."""
    values = solution.to_dict()
    return {name: value for name, value in values.items() if name != "seconds"}


@pytest.fixture
def counted(monkeypatch):
    """How often rules are compiled, problems are stated, and labellings valued."""
    count = {"rules": 0, "problem": 0, "value": 0}

    def counting(name, honest):
        def call(*arguments, **options):
            count[name] += 1
            return honest(*arguments, **options)

        return call

    monkeypatch.setattr(rule_compiler, "_recent", rule_compiler.Recent(rule_compiler.MOST_RULES))
    monkeypatch.setattr(rule_compiler, "compile_rules", counting("rules", rule_compiler.compile_rules))
    monkeypatch.setattr(CompiledRules, "problem", counting("problem", CompiledRules.problem))
    monkeypatch.setattr(Problem, "value", counting("value", Problem.value))
    return count


@pytest.mark.parametrize("method", [method.name for method in GENERAL_METHODS])
def test_every_method_decodes_as_the_function_does(method):
    options = {"iterations": 50} if method == "evolutionary" else {}
    options |= {"keep_going": False} if method == "lds" else {}
    decoder = Decoder(RULES, method=method, **options)
    for seed in range(3):
        expected = ilpinfer.decode(trellis(seed), RULES, method=method, **options)
        assert content(decoder.decode(trellis(seed))) == content(expected)
        several = ilpinfer.decode(trellis(seed), RULES, method=method, top=3, **options)
        assert [content(s) for s in decoder.decode(trellis(seed), top=3)] == [content(s) for s in several]


def test_a_callback():
    decoder, given = Decoder(RULES, ["a", "b", "O"]), trellis(1)
    solution, seen = decoder.decode(given), []
    decoder.decode(given, callback=lambda *now: seen.append(now))
    assert seen[-1][1:] == (solution.score, solution.bound)


def test_tokens_are_scored_by_the_model():
    model = HMM.train([(["one", "two", "three"], ["a", "b", "O"]), (["two", "one"], ["b", "a"])])
    decoder = Decoder(RULES, model=model)
    tokens = ("one", "two", "one", "three")
    assert decoder.labels == model.labels
    expected = ilpinfer.decode(model.trellis(tokens), RULES)
    assert content(decoder.decode_tokens(list(tokens))) == content(expected)
    assert len(decoder.decode_tokens(tokens, top=2)) == 2
    assert Decoder(RULES, model.labels, model=model).labels == model.labels


def test_any_model_with_a_trellis_will_do():
    sentences = [(["Ada", "works", "here"], ["a", "O", "O"]), (["at", "home"], ["O", "b"])]
    model = SimpleNamespace(trellis=CRF.train(sentences, parameters={"max_iterations": 5}).trellis)
    decoder, tokens = Decoder(RULES, model=model), ["Ada", "x", "here"]
    solution = decoder.decode_tokens(tokens)
    assert decoder.labels is None
    assert content(solution) == content(ilpinfer.decode(model.trellis(tokens), RULES))


def test_without_labels_each_label_set_is_compiled_once(counted):
    decoder = Decoder(RULES)
    sets = [("a", "b", "O"), ("a", "b", "c", "O")]
    for seed in range(6):
        given = trellis(seed, labels=sets[seed % 2])
        assert decoder.decode(given).labels == ilpinfer.decode(given, RULES).labels
    assert decoder.labels is None and counted["rules"] == 2


def test_a_solution_is_read_by_several_threads_at_once():
    made = [Decoder(RULES).decode(trellis(seed)) for seed in range(40)]
    with ThreadPoolExecutor(4) as threads:
        written = list(threads.map(Solution.to_dict, [s for s in made for _ in range(4)]))
    assert written == [s.to_dict() for s in made for _ in range(4)]


def test_it_can_be_pickled():
    decoder = Decoder(
        RuleSet(tuple(RULES), name="both"), ["a", "b", "O"], method="beam", width=4, time_limit=9
    )
    again = pickle.loads(pickle.dumps(decoder))
    assert (again.rules.name, again.labels) == ("both", decoder.labels)
    assert content(again.decode(trellis(3))) == content(decoder.decode(trellis(3)))
    with pytest.raises(ValueError, match="but the trellis has"):
        again.decode(trellis(0, labels=("a", "b", "c")))


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_many_in_processes_and_with_errors(n_jobs):
    decoder, given = Decoder(RULES, ["a", "b", "O"]), [trellis(seed) for seed in range(5)]
    expected = [content(ilpinfer.decode(t, RULES)) for t in given]
    assert [content(s) for s in decoder.decode_many(given, n_jobs=n_jobs)] == expected
    given.insert(2, trellis(9, labels=("x", "y")))
    rows = list(decoder.decode_many(given, n_jobs=n_jobs, on_error="row"))
    assert [row.error for row in rows] == ["", "", "ValueError", "", "", ""]
    assert "but the trellis has x, y" in rows[2].reason and not rows[2].has_labelling
    lists = list(decoder.decode_many(given[:3], n_jobs=n_jobs, on_error="row", top=2))
    assert [len(few) for few in lists] == [2, 2, 1]
    solutions = decoder.decode_many(given, n_jobs=n_jobs)
    assert next(solutions).has_labelling and next(solutions).has_labelling
    with pytest.raises(ValueError, match="but the trellis has"):
        next(solutions)


def test_no_sequence_compiles_rules_again(counted):
    for seed in range(3):
        given = trellis(seed)
        solution = ilpinfer.decode(given, RULES)
        solution.to_dict(incumbents=True)
        assert len(solution.certificate.digest) == 64
        ilpinfer.decode(given, [*RULES], top=2)
        ilpinfer.decode_two_phase(given, tuple(RULES)).to_dict()
        ilpinfer.marginals(given, iter(RULES))
        list(ilpinfer.decode_many([given], RULES))
    assert counted["rules"] == 1
    assert counted["problem"] == 3 * 2
    ilpinfer.prove(given, RULES, solution).to_dict()
    assert (counted["rules"], counted["problem"]) == (1, 3 * 2 + 1)
    assert ilpinfer.verify(given, RULES, solution).proved
    assert (counted["rules"], counted["problem"]) == (2, 3 * 2 + 2), (
        "verify does not take the rules of decode"
    )
    assert "broken" in solution.explain().to_dict()


def test_no_command_compiles_rules_again(folder, capsys, counted):
    Path("in.jsonl").write_text((json.dumps(SCORES) + "\n") * 3)
    given = ["in.jsonl", "--rules", "rules.toml"]
    for more in ([], ["--top", "2"], ["--tau", "0.9"], ["--method", "beam", "--trace"]):
        counted["rules"] = 0
        assert run(["decode", *given, *more], capsys)[0] == 0
        assert counted["rules"] == 1
    counted["rules"] = 0
    methods = ["--methods", "auto,viterbi,beam", "--output", "out"]
    assert run(["compare", *given, *methods], capsys)[0] == 0
    assert counted["rules"] == 1


def test_a_list_that_was_changed_is_not_stale():
    given, rules = trellis(4), list(RULES)
    free = ilpinfer.decode(given)
    assert set(free.labels) == {"a", "b", "O"}
    before = ilpinfer.decode(given, rules)
    rules.append(C.at_most_tokens("b", 0, name="none of b"))
    assert "b" not in ilpinfer.decode(given, rules).labels
    rules[-1] = C.at_most_tokens("O", 0, name="none of O")
    assert "O" not in ilpinfer.decode(given, rules).labels
    rules.pop()
    assert ilpinfer.decode(given, rules).labels == before.labels
    optional = RuleSet(tuple(rules), ("absent",))
    with pytest.warns(RuleNotice, match="no label for absent"):
        ilpinfer.decode(given, optional)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ilpinfer.decode(given, rules)


def test_only_the_last_few_rules_and_label_sets_are_kept(counted):
    given, several = trellis(0), [[C.at_most_runs("a", n)] for n in range(rule_compiler.MOST_RULES + 1)]
    for rules in several:
        ilpinfer.decode(given, rules)
    ilpinfer.decode(given, several[-1])
    assert counted["rules"] == len(several)
    ilpinfer.decode(given, several[0])
    assert counted["rules"] == len(several) + 1


@pytest.mark.parametrize("call", ["decode", "decode_many", "decode_two_phase", "verify", "marginals"])
def test_notices_point_at_the_line_that_asks(call):
    given, rules = trellis(0), RuleSet(tuple(RULES), ("absent",))
    more = [None] if call == "verify" else []
    function = getattr(ilpinfer, call)
    with pytest.warns(RuleNotice, match="no label for absent") as notices:
        _ = [*function([given], rules)] if call == "decode_many" else function(given, rules, *more)
    assert [notice.filename for notice in notices] == [__file__]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Decoder(RuleSet(tuple(RULES), ("absent",))).decode(given)  # the same rules, as in another fold
    with pytest.warns(RuleNotice, match="no label for absent"):
        Decoder(RuleSet(tuple(RULES[:1]), ("absent",))).decode(given)


def test_rules_with_notices_are_hashed_once(monkeypatch):
    given, rules = trellis(0), RuleSet(tuple(RULES), ("absent",))
    with pytest.warns(RuleNotice, match="no label for absent"):
        ilpinfer.decode(given, rules)
    monkeypatch.setattr("formulations.problem.compiled_rules.digest", None)
    assert ilpinfer.decode(given, rules).status == "optimal"


def test_what_the_kernels_find_needs_no_problem(counted):
    decoder = Decoder(RULES)
    solutions = [decoder.decode(trellis(seed)) for seed in range(5)]
    for solution in solutions:
        assert (solution.status, solution.gap, len(solution.ids)) == ("optimal", 0.0, 12)
        assert solution.score == solution.bound and solution.method and solution.has_labelling
        assert solution.labels == [solution.names[k] for k in solution.ids]
    first = solutions[0]
    assert sum(first.violations.values()) == 0 or first.penalty > 0
    json.dumps(first.to_dict(), allow_nan=False)
    assert first.labels and first.certificate.kind == "exact" and first.context is not None
    assert (counted["value"], counted["problem"]) == (0, 0)


def fresh(seed=0):
    return Decoder(RULES).decode(trellis(seed))


def test_a_solution_of_a_call_is_like_any_other(counted):
    whole = fresh()
    whole.to_dict()
    for made in (
        pickle.loads(pickle.dumps(fresh())),
        copy.copy(fresh()),
        copy.deepcopy(fresh()),
        replace(fresh(), method=whole.method),
    ):
        same = replace(made, seconds=whole.seconds)
        assert same == whole and content(made) == content(whole)
        assert made.explain().to_dict() == whole.explain().to_dict()
        assert repr(same) == repr(whole) == repr(fresh())
    other = replace(whole, path=(whole.ids + 1) % 3)
    assert whole != other and whole != "a solution" and whole != fresh(1)
    with pytest.raises(AttributeError, match="no attribute 'best_score'"):
        _ = fresh().best_score
    assert not hasattr(fresh(), "__array__")
    with pytest.raises(FrozenInstanceError):
        fresh().score = 0.0


def test_a_value_that_is_not_the_rules_is_an_error():
    lying = replace(fresh().context, known_problem=compile_problem(trellis(5), RULES))
    from ilpinfer.core.deadline import Deadline
    from ilpinfer.core.result import Result
    from ilpinfer.decoding.reporting import solution_of

    with pytest.raises(ArithmeticError, match="value 7 of a labelling"):
        solution_of(Solution, Result(np.zeros(12, np.int64), 7, value=7), lying, Deadline())


@pytest.mark.parametrize("threads", [1, 2])
def test_batches_without_a_call_of_a_kernel(threads):
    """Second order is left to the engine, and so is a hard rule on tokens that are not there."""
    pairs = Trellis.second_order([0.0, 1.0], [[0.0, 1.0], [1.0, 0.0]], [], labels=["a", "b"])
    result = list(Decoder([C.at_most_runs("a", 1)]).decode_many([pairs] * 5, threads=threads))
    assert [s.labels for s in result] == [Decoder([C.at_most_runs("a", 1)]).decode(pairs).labels] * 5
    silent = Trellis([0.0, 1.0], [], labels=["a", "b"])
    rows = Decoder([C.tag_at("a", words=["x"])]).decode_many([silent] * 5, threads=threads, on_error="row")
    assert [row.error for row in rows] == ["NoTokens"] * 5


def test_digests_of_a_call_are_those_of_each_sequence_alone():
    model = HMM.train([(["Ada", "."], ["a", "O"]), (["b", "Ada"], ["O", "a"]), (["b"], ["O"])])
    rules = [C.at_most_runs("a", 1)]
    for texts in ([["b", "Ada", "."], ["Ada"], [".", "."], ["b"]] * 3, [["."], ["Ada", "b"]] * 4):
        trellises = [model.trellis(each) for each in texts]
        solutions = list(Decoder(rules).decode_many(trellises))
        expected = [compile_rules(rules, each.labels).digest_of(each) for each in trellises]
        assert [solution.certificate.digest for solution in reversed(solutions)] == expected[::-1]
