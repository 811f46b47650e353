"""Each public function with an argument of a wrong kind: it answers, or says in its own words what was expected."""

import ast
import inspect
import linecache
import math
import re
import traceback
import warnings
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import formulations
import ilpinfer
from formulations import Feature, Group, LabelSet, Rule, RuleSet, Trellis
from formulations import constraints as C
from ilpinfer.models.hmm import HMM, SecondOrderHMM

PACKAGES = tuple(str(Path(package.__file__).parent) for package in (formulations, ilpinfer))
MASKED = np.ma.masked_array([0.0, 1.0], [True, False])
WRONG = {
    repr(value): value
    for value in (
        *(None, True, -1, 0, 3, 1.5, math.nan, math.inf, -math.inf, 1j, "", "x", b"", b"x", [], {}, {"a": 1}),
        *([None], [[]], [["a", "b"], ["c"]], [math.nan, 0.0]),
    )
} | {
    "10**400": 10**400,
    "-10**400": -(10**400),
    "[10**400]": [10**400, 0],
    "surrogate": "\ud800",
    "[surrogate]": ["a\udfff", "b"],
    "set": {"a", "b"},
    "Path": Path("no/such/file"),
    "object": object(),
    "type": int,
    "function": len,
    "masked": MASKED,
    "[masked]": [MASKED, MASKED],
    "0-d": np.array(1.0),
}
TRELLIS = Trellis([0.0, -1.0], [[[0.0, -1.0], [-2.0, 0.5]]], labels=["a", "b"], tokens=["x", "y"])
RULES = [C.requires_present("a", "b", penalty=0.75), C.at_most_runs("a", 1)]
SOLUTION = ilpinfer.decode(TRELLIS, RULES)
DECODER = ilpinfer.Decoder(RULES)
MARGINALS = ilpinfer.marginals(TRELLIS, RULES)
PROGRAM = formulations.formulate(TRELLIS, RULES)
VALUES = dict(zip(PROGRAM.column_names, PROGRAM.integer.lower.tolist(), strict=True))
TWO_PHASE = ilpinfer.decode_two_phase(TRELLIS, RULES)


class Model:
    """A model of two labels."""

    labels = LabelSet(("a", "b"))

    def trellis(self, tokens):
        return Trellis([0.0, 0.0], [[[0.0, 0.0]] * 2] * (len(tokens) - 1), self.labels, tokens=tokens)


def first_solver(program, *, time_limit, threads):
    return None, None


def first_label(trellis, rules, *, time_limit, seed):
    return [0] * len(trellis)


OF_RULES = {"penalty": 1.0, "distance": "count", "name": "one", "scope": "", "partial": "", "reason": "why"}
USUAL = {
    "trellis": TRELLIS, "trellises": [TRELLIS, TRELLIS], "tokens": ["x", "y"], "labels": ["a", "b"], "scheme": "plain",
    "rules": RULES, "solution": SOLUTION, "labelling": ["a", "b"], "method": "auto", "time_limit": 9.0, "top": 2,
    "n_jobs": 1, "threads": 1, "on_error": "raise", "tau": 0.9, "bound": "relative", "budget": 1000,
    "weight": 1.0, "words": ["x"], "pattern": "y", "fields": ("a",), "title": "t", "source": "s", **OF_RULES,
}  # fmt: skip
"""Arguments by the names of parameters; others have their defaults."""
OF_TEMPLATES = {
    "field": "a", "other": "b", "previous": "a", "following": "b", "n": 1, "low": 0, "high": 1, "length": 2, "position": 0,
    "words": ["x"], "unless": ["z"], "phrases": ["x y"], "text": "tokens(a) <= 1", "regex": "a* .*", "over": "tokens", "sequence": ["x"],
}  # fmt: skip
ZEROS, STEPS, SINGLE = np.zeros((2, 2)), [[0.0, 1.0], [1.0, 0.0]], Trellis([0.0, 1.0], [], ["a", "O"])


def usual(function, use=lambda result: result, **own):
    """A function whose result is used, and its arguments."""
    parameters = inspect.signature(function).parameters.values()
    named = [each for each in parameters if each.kind not in (each.VAR_KEYWORD, each.VAR_POSITIONAL)]
    arguments = {each.name: USUAL.get(each.name, each.default) for each in named} | own
    assert not any(value is inspect.Parameter.empty for value in arguments.values())
    return lambda **given: use(function(**given)), arguments


def items(read, values):
    """A function of plain values, and these."""
    return lambda **changed: read({**values, **changed}), values


def of_template(name):
    """The function of a template, whose rule is then used, and its arguments."""
    make, own = getattr(C, name), {}
    for parameter in inspect.signature(make).parameters.values():
        own[parameter.name] = OF_RULES.get(parameter.name, parameter.default)
        if own[parameter.name] is inspect.Parameter.empty:
            number = "int" in str(parameter.annotation)
            own[parameter.name] = 1 if number else OF_TEMPLATES.get(parameter.name, "a")
    own |= {"words": ["x"]} if "words" in own else {}
    own |= {"text": "exists t: a(t)"} if name == "logic" else {}

    def use(rule):
        rule.violations(["a", "b"], tokens=["x", "y"])
        return ilpinfer.evaluate_labelling(TRELLIS, [rule], ["a", "b"])

    return usual(make, use, **own)


EVOLUTIONARY = {"iterations": 2, "population": 3, "mutation_rate": 0.1, "seed": 0, "time_limit": 0.2}
OF_MODEL = ilpinfer.Decoder(RULES, model=Model())
CALLS = {
    "Trellis": usual(Trellis, start=[0.0, 1.0], edges=[STEPS]),
    "Trellis.second_order": usual(Trellis.second_order, start=[0.0, 1.0], first=STEPS, edges=[]),
    "Trellis.from_emissions": usual(
        Trellis.from_emissions, emissions=ZEROS, transitions=ZEROS, start=[0.0, 0.0], end=[0.0, 0.0]
    ),
    "Trellis.joined": usual(Trellis.joined),
    "Trellis.from_dict": usual(Trellis.from_dict, values=TRELLIS.to_dict()),
    "Trellis.from_dict items": items(Trellis.from_dict, TRELLIS.to_dict()),
    "Trellis.load": usual(Trellis.load, path="no.json"),
    "Trellis.save": usual(TRELLIS.save, path="no/such/folder.json"),
    "Trellis.ids": usual(TRELLIS.ids),
    "Trellis.score": usual(TRELLIS.score),
    "LabelSet": usual(LabelSet, names=("a", "b"), optional_fields=frozenset(["c"])),
    "LabelSet.ids": usual(TRELLIS.labels.ids),
    "LabelSet.field": usual(TRELLIS.labels.field, selector="a"),
    "LabelSet.with_optional_fields": usual(TRELLIS.labels.with_optional_fields, fields=["c"]),
    "Group": usual(Group, name="g", members=("a", "b")),
    "Rule": usual(Rule, statement=RULES[1].statement),
    "Rule.violations": usual(RULES[1].violations, labels=TRELLIS),
    "Rule.components": usual(RULES[1].components, labels=TRELLIS.labels),
    "Rule.ground": usual(RULES[1].ground, labels=TRELLIS.labels),
    "Feature": usual(Feature, label="a"),
    "RuleSet": usual(RuleSet, lambda rules: ilpinfer.decode(TRELLIS, rules), items=tuple(RULES)),
    "RuleSet.absent": usual(RuleSet(tuple(RULES), ("c",)).absent, labels=TRELLIS.labels),
    "Document.split": usual(formulations.join([SINGLE]).split, values=["a"]),
    "join": usual(formulations.join, trellises=[SINGLE]),
    "join_rules": usual(formulations.join_rules, rule_sets=[RuleSet(tuple(RULES)), RuleSet(())]),
    "load_rules": usual(formulations.load_rules, source="citations"),
    "parse_rules": usual(formulations.parse_rules, text=""),
    "dump_rules": usual(formulations.dump_rules),
    "formulate": usual(formulations.formulate, program="two-phase"),
    "Program.labelling": usual(PROGRAM.labelling, values=VALUES),
    "Program.write": usual(PROGRAM.write, path="no/such/folder.lp"),
    "decode": usual(ilpinfer.decode),
    "decode beam": usual(ilpinfer.decode, method="beam", width=5),
    "decode evolutionary": usual(ilpinfer.decode, method="evolutionary", **EVOLUTIONARY),
    "decode within": usual(ilpinfer.decode, within=1.0),
    "Decoder": usual(ilpinfer.Decoder, lambda decoder: decoder.decode(TRELLIS), model=Model()),
    "Decoder.decode": usual(DECODER.decode),
    "Decoder.decode_tokens": usual(OF_MODEL.decode_tokens),
    "Decoder.decode_many": usual(DECODER.decode_many, list),
    "Decoder.decode_texts": usual(OF_MODEL.decode_texts, list, texts=[["x", "y"]]),
    "Decoder.with_time_limit": usual(DECODER.with_time_limit),
    "decode_many": usual(ilpinfer.decode_many, list, top=None),
    "decode_two_phase": usual(ilpinfer.decode_two_phase),
    "evaluate_labelling": usual(ilpinfer.evaluate_labelling, bound=99.0),
    "marginals": usual(ilpinfer.marginals),
    "Marginals.sample": usual(MARGINALS.sample, n=2, seed=0),
    "verify": usual(ilpinfer.verify, solution=[SOLUTION], top=None, max_steps=10**6),
    "prove": usual(ilpinfer.prove),
    "register_solver": usual(ilpinfer.register_solver, name="first", solver=first_solver),
    "register_method": usual(ilpinfer.register_method, name="first", decoder=first_label),
    "Solution.from_dict": usual(ilpinfer.Solution.from_dict, values=SOLUTION.to_dict()),
    "Solution.from_dict items": items(ilpinfer.Solution.from_dict, SOLUTION.to_dict()),
    "TwoPhaseSolution.from_dict": usual(ilpinfer.TwoPhaseSolution.from_dict, values=TWO_PHASE.to_dict()),
    "TwoPhaseSolution.from_dict items": items(ilpinfer.TwoPhaseSolution.from_dict, TWO_PHASE.to_dict()),
    "C.group": usual(C.group, name="g", members=["a", "b"]),
    "C.other_than": (lambda member: C.other_than(member), {"member": "a"}),
    "C.tokens": usual(C.tokens, token_class="year", unless=["z"]),
    "C.define": usual(C.define, name="mine", parameters=["F"], logic="exists t: F(t)"),
    "C.define rule": usual(C.define("own", ["F"], logic="exists t: F(t)"), F="a", **OF_RULES),
    "C.template": (
        lambda **given: C.TEMPLATES.pop(C.template(**given).__name__),
        {"statement": C.TEMPLATES["logic"], "name": "again"},
    ),
    "C.feature": usual(C.feature, from_="a", to="b"),
} | {f"C.{name}": of_template(name) for name in C.TEMPLATES if hasattr(C, name)}
INTERNAL = re.compile(
    r"object is not|has no attribute|unsupported operand|not supported between|argument must be|arguments? given|"
    r"positional argument|unexpected keyword|not iterable|not subscriptable|not callable|cannot convert|could not convert|"
    r"inhomogeneous|invalid literal|int\(\)|len\(\)|float\(\)|NoneType|unhashable|ufunc|broadcast|codec can't|"
    r"truth value|expected str|must be real number|expected string|int_max_str_digits|too large to|ambiguous"
)


@cache
def raises(path: str, line: int) -> bool:
    """Whether a line of a file is part of a statement `raise`."""
    tree = ast.parse("".join(linecache.getlines(path)))
    nodes = (node for node in ast.walk(tree) if isinstance(node, ast.Raise))
    return any(node.lineno <= line <= (node.end_lineno or 0) for node in nodes)


def fault(error: Exception) -> str:
    """What makes an error a raw one; empty for a clear one."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    if "callback(" in (last.line or ""):
        return ""  # the error of the user's own function
    if isinstance(error, OSError) and error.filename is not None:
        return ""
    if not isinstance(error, ValueError | TypeError):
        return f"a {type(error).__name__}"
    if not last.filename.startswith(PACKAGES) or not raises(last.filename, last.lineno):
        return f"raised at {last.filename.rpartition('/')[2]}:{last.lineno}"
    if INTERNAL.search(str(error)) or not str(error).strip():
        return "words of Python"
    if len(str(error)) > 2000:
        return "a very long message"
    return ""


def misuses(name):
    """The faults of a call with each argument replaced by each wrong value."""
    call, arguments = CALLS[name]
    for argument in arguments:
        for wrong, value in WRONG.items():
            try:
                call(**{**arguments, argument: value})
            except Exception as error:
                if found := fault(error):
                    yield f"{argument}={wrong}: {found}: {type(error).__name__}: {str(error)[:150]}"


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", CALLS)
def test_wrong_arguments_have_clear_errors(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        call, arguments = CALLS[name]
        if "no" not in str(arguments.get("path", "")) and name not in ("formulate", "Program.labelling"):
            call(**arguments)
        assert list(misuses(name)) == []


def test_long_time_limits_are_none():
    assert ilpinfer.decode(TRELLIS, RULES, time_limit=10**400).status == "optimal"
    assert DECODER.with_time_limit(math.inf).decode(TRELLIS).score == SOLUTION.score


def test_models_come_as_files(tmp_path):
    model = HMM.train([(["x", "y"], ["a", "b"])])
    model.save(tmp_path / "hmm.json")
    labels = ilpinfer.Decoder(RULES, model=model).decode_tokens(["x", "y"]).labels
    for file in (tmp_path / "hmm.json", str(tmp_path / "hmm.json")):
        assert ilpinfer.Decoder(RULES, model=file).decode_tokens(["x", "y"]).labels == labels


@pytest.mark.parametrize(
    ("call", "given", "keywords"),
    [
        (Trellis, "start edges labels", "tokens scheme never"),
        (Trellis.second_order, "start first edges labels", "tokens scheme never"),
        (Trellis.from_emissions, "emissions transitions", "start end labels tokens scheme first never"),
        (Rule.violations, "self labelling", "tokens labels"),
        (HMM, "labels", "start end transitions emissions smoothing"),
        (SecondOrderHMM, "labels", "start end transitions emissions smoothing"),
        (C.TEMPLATES["at_most_in_window"], "field n", "width"),
        (C.TEMPLATES["presence_precedence"], "later field", ""),
        (C.TEMPLATES["max_gap"], "earlier field n", ""),
    ],
)
def test_arguments_whose_order_can_be_mistaken_are_given_by_keyword(call, given, keywords):
    parameters = inspect.signature(call).parameters.values()
    by_keyword = [each.name for each in parameters if each.kind is each.KEYWORD_ONLY]
    assert [each.name for each in parameters if each.name not in by_keyword] == given.split()
    assert by_keyword == keywords.split()
