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


def first_label(trellis, rules, *, time_limit, seed):
    return [0] * len(trellis)


OF_RULES = {"penalty": 1.0, "distance": "count", "name": "one", "scope": "", "partial": "", "reason": "why"}
SCORES = {"labels": ["a", "b"], "tokens": ["x", "y"], "scheme": "plain"}
CALLS = {
    "Trellis": (Trellis, {"start": [0.0, 1.0], "edges": [[[0.0, 1.0], [1.0, 0.0]]], **SCORES}),
    "Trellis.second_order": (
        Trellis.second_order,
        {"start": [0.0, 1.0], "first": [[0.0, 1.0], [1.0, 0.0]], "edges": [], **SCORES},
    ),
    "Trellis.from_emissions": (
        Trellis.from_emissions,
        {"emissions": np.zeros((2, 2)), "transitions": np.zeros((2, 2)), "start": [0.0, 0.0], "end": [0.0, 0.0], "first": None, **SCORES},
    ),
    "Trellis.joined": (Trellis.joined, {"trellises": [TRELLIS, TRELLIS]}),
    "Trellis.from_dict": (Trellis.from_dict, {"values": TRELLIS.to_dict()}),
    "Trellis.from_dict items": (
        lambda **items: Trellis.from_dict({**TRELLIS.to_dict(), **items}),
        TRELLIS.to_dict(),
    ),
    "Trellis.load": (Trellis.load, {"path": "no.json"}),
    "Trellis.save": (TRELLIS.save, {"path": "no/such/folder.json"}),
    "Trellis.ids": (TRELLIS.ids, {"labelling": ["a", "b"]}),
    "Trellis.score": (TRELLIS.score, {"labelling": ["a", "b"]}),
    "LabelSet": (LabelSet, {"names": ("a", "b"), "scheme": "plain", "optional_fields": frozenset(["c"])}),
    "LabelSet.ids": (TRELLIS.labels.ids, {"labelling": ["a", "b"]}),
    "LabelSet.field": (TRELLIS.labels.field, {"selector": "a"}),
    "LabelSet.with_optional_fields": (TRELLIS.labels.with_optional_fields, {"fields": ["c"]}),
    "Group": (Group, {"name": "g", "members": ("a", "b"), "complement": False}),
    "Rule": (Rule, {"statement": RULES[1].statement, **OF_RULES}),
    "Rule.violations": (RULES[1].violations, {"labelling": ["a", "b"], "tokens": ["x", "y"], "labels": TRELLIS}),
    "Rule.components": (RULES[1].components, {"labels": TRELLIS.labels}),
    "Rule.ground": (RULES[1].ground, {"labels": TRELLIS.labels, "tokens": ["x", "y"]}),
    "Feature": (
        Feature,
        {"weight": 1.0, "label": "a", "from_": None, "to": None, "words": ["x"], "pattern": "y", "ignore_case": True, "name": "f", "reason": "why"},
    ),
    "RuleSet": (
        lambda **arguments: ilpinfer.decode(TRELLIS, RuleSet(**arguments)),
        {"items": tuple(RULES), "fields": ("a",), "name": "mine", "groups": (), "templates": (), "title": "t", "source": "s"},
    ),
    "RuleSet.absent": (RuleSet(tuple(RULES), ("c",)).absent, {"labels": TRELLIS.labels}),
    "Document.split": (formulations.join([Trellis([0.0, 1.0], [], ["a", "O"])]).split, {"values": ["a"]}),
    "join": (formulations.join, {"trellises": [Trellis([0.0, 1.0], [], ["a", "O"])], "separator": "\n"}),
    "join_rules": (formulations.join_rules, {"rule_sets": [RuleSet(tuple(RULES)), RuleSet(())]}),
    "load_rules": (formulations.load_rules, {"source": "citations"}),
    "parse_rules": (formulations.parse_rules, {"text": "", "source": "rules", "folder": Path()}),
    "dump_rules": (formulations.dump_rules, {"rules": RULES}),
    "formulate": (formulations.formulate, {"trellis": TRELLIS, "rules": RULES, "program": "two-phase", "tau": 0.9, "bound": "relative", "best_score": None, "folded": False}),
    "Program.labelling": (PROGRAM.labelling, {"values": VALUES}),
    "Program.write": (PROGRAM.write, {"path": "no/such/folder.lp"}),
    "decode": (
        ilpinfer.decode,
        {"trellis": TRELLIS, "rules": RULES, "method": "auto", "time_limit": 9.0, "top": 2, "callback": None},
    ),
    "decode beam": (
        lambda **options: ilpinfer.decode(TRELLIS, RULES, method="beam", **options),
        {"width": 5},
    ),
    "decode evolutionary": (
        lambda **options: ilpinfer.decode(TRELLIS, RULES, method="evolutionary", time_limit=0.2, **options),
        {"iterations": 2, "population": 3, "mutation_rate": 0.1, "seed": 0},
    ),
    "decode within": (lambda **options: ilpinfer.decode(TRELLIS, RULES, top=2, **options), {"within": 1.0}),
    "Decoder": (
        lambda **arguments: ilpinfer.Decoder(**arguments).decode(TRELLIS),
        {"rules": RULES, "labels": ["a", "b"], "model": Model(), "method": "auto", "time_limit": 9.0},
    ),
    "Decoder.decode": (DECODER.decode, {"trellis": TRELLIS, "top": 2, "callback": None}),
    "Decoder.decode_tokens": (
        ilpinfer.Decoder(RULES, model=Model()).decode_tokens,
        {"tokens": ["x", "y"], "top": 2, "callback": None},
    ),
    "Decoder.decode_many": (
        lambda **arguments: list(DECODER.decode_many(**arguments)),
        {"trellises": [TRELLIS], "top": 2, "callback": None, "n_jobs": 1, "threads": 1, "on_error": "raise"},
    ),
    "Decoder.decode_texts": (
        lambda **arguments: list(ilpinfer.Decoder(RULES, model=Model()).decode_texts(**arguments)),
        {"texts": [["x", "y"]], "top": 2, "threads": 1, "on_error": "raise"},
    ),
    "Decoder.best_labellings": (
        lambda **arguments: list(DECODER.best_labellings(**arguments)),
        {"trellises": [TRELLIS], "top": 2, "threads": 1},
    ),
    "Decoder.with_time_limit": (DECODER.with_time_limit, {"time_limit": 1.0}),
    "Decoder.two_phase": (DECODER.two_phase, {"trellis": TRELLIS, "tau": 0.9, "bound": "relative", "top": 2, "threads": 1}),
    "Decoder.marginals": (DECODER.marginals, {"trellis": TRELLIS, "budget": 1000}),
    "Decoder.verify": (DECODER.verify, {"trellis": TRELLIS, "solution": SOLUTION}),
    "Decoder.prove": (DECODER.prove, {"trellis": TRELLIS, "solution": SOLUTION}),
    "decode_many": (
        lambda **arguments: list(ilpinfer.decode_many(**arguments)),
        {"trellises": [TRELLIS], "rules": RULES, "method": "auto", "time_limit": 9.0, "top": None, "callback": None, "n_jobs": 1, "threads": 1, "on_error": "raise"},
    ),
    "decode_two_phase": (
        ilpinfer.decode_two_phase,
        {"trellis": TRELLIS, "rules": RULES, "tau": 0.9, "bound": "relative", "method": "auto", "time_limit": 9.0, "top": 2, "threads": 1, "floor": None},
    ),
    "evaluate_labelling": (
        ilpinfer.evaluate_labelling,
        {"trellis": TRELLIS, "rules": RULES, "labels": ["a", "b"], "bound": 99.0},
    ),
    "marginals": (ilpinfer.marginals, {"trellis": TRELLIS, "rules": RULES, "budget": 1000}),
    "Marginals.sample": (MARGINALS.sample, {"n": 2, "seed": 0}),
    "verify": (
        ilpinfer.verify,
        {"trellis": TRELLIS, "rules": RULES, "solution": [SOLUTION], "top": None, "within": None, "max_steps": 10**6, "time_limit": 9.0},
    ),
    "prove": (ilpinfer.prove, {"trellis": TRELLIS, "rules": RULES, "solution": SOLUTION, "time_limit": 9.0}),
    "register_method": (ilpinfer.register_method, {"name": "first", "decoder": first_label, "process": False}),
    "Solution.from_dict": (ilpinfer.Solution.from_dict, {"values": SOLUTION.to_dict()}),
    "Solution.from_dict items": (
        lambda **items: ilpinfer.Solution.from_dict({**SOLUTION.to_dict(), **items}),
        SOLUTION.to_dict(),
    ),
    "TwoPhaseSolution.from_dict": (ilpinfer.TwoPhaseSolution.from_dict, {"values": TWO_PHASE.to_dict()}),
    "TwoPhaseSolution.from_dict items": (
        lambda **items: ilpinfer.TwoPhaseSolution.from_dict({**TWO_PHASE.to_dict(), **items}),
        TWO_PHASE.to_dict(),
    ),
    "C.group": (C.group, {"name": "g", "members": ["a", "b"]}),
    "C.other_than": (lambda member: C.other_than(member), {"member": "a"}),
    "C.tokens": (C.tokens, {"words": ["x"], "pattern": "y", "token_class": "year", "unless": ["z"], "ignore_case": True}),
    "C.define": (
        C.define,
        {"name": "mine", "parameters": ["F"], "logic": "exists t: F(t)", "linear": "", "groups": ()},
    ),
    "C.define rule": (C.define("own", ["F"], logic="exists t: F(t)"), {"F": "a", **OF_RULES}),
    "C.template": (
        lambda **given: C.TEMPLATES.pop(C.template(**given).__name__),
        {"statement": C.TEMPLATES["logic"], "name": "again"},
    ),
    "C.feature": (
        C.feature,
        {"weight": 1.0, "label": None, "from_": "a", "to": "b", "words": ["x"], "pattern": "y", "ignore_case": True, "name": "f", "reason": "why"},
    ),
}  # fmt: skip
USUAL = {
    "field": "a", "other": "b", "previous": "a", "following": "b", "n": 1, "low": 0, "high": 1, "length": 2, "position": 0,
    "words": ["x"], "unless": ["z"], "phrases": ["x y"], "text": "tokens(a) <= 1", "regex": "a* .*", "over": "tokens", "sequence": ["x"],
}  # fmt: skip


def template_calls():
    """Each function of a template, with its parameters at usual values."""
    for name in C.TEMPLATES:
        make = getattr(C, name, None)
        if make is None:
            continue
        arguments = {}
        for parameter in inspect.signature(make).parameters.values():
            usual = OF_RULES.get(parameter.name, parameter.default)
            if usual is inspect.Parameter.empty:
                usual = USUAL.get(parameter.name, "a")
                if "int" in str(parameter.annotation):
                    usual = 1
            arguments[parameter.name] = ["x"] if parameter.name == "words" else usual
        if name == "logic":
            arguments["text"] = "exists t: a(t)"
        yield f"C.{name}", (_used(make), arguments)


def _used(make):
    """The function of a template, whose rule is then used."""

    def call(**arguments):
        rule = make(**arguments)
        rule.violations(["a", "b"], tokens=["x", "y"])
        return ilpinfer.evaluate_labelling(TRELLIS, [rule], ["a", "b"])

    return call


CALLS |= dict(template_calls())
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


REFUSED = [
    ("decode", "rules", "None", r"rules is None; expected a list of rules \(\[\] for none\)"),
    ("decode", "rules", "Path", "no/such/file: no such rule file"),
    ("decode", "time_limit", "True", "time_limit is True; expected seconds above 0"),
    ("decode", "time_limit", "nan", "time_limit is nan; expected seconds above 0"),
    ("decode", "top", "True", "top is True; expected a whole number from 1 to 10000"),
    ("decode", "trellis", "None", "trellis is None; expected a Trellis"),
    ("decode within", "within", "True", "within is True; expected a number from 0"),
    ("Decoder", "model", "object", "model is <object .*; expected a model"),
    ("Decoder", "labels", "'x'", "labels is 'x'; expected a label set, a trellis or a list of names"),
    ("Decoder.decode_tokens", "tokens", "[[]]", r"tokens\[0\] is \[\]; expected a text"),
    ("Decoder.decode_tokens", "tokens", "[surrogate]", r"tokens\[0\] has half of a surrogate pair"),
    ("Decoder.decode_tokens", "tokens", "set", "expected a list of texts"),
    ("decode_many", "trellises", "None", "trellises is None; expected trellises one by one"),
    ("Trellis", "start", "masked", "start is a masked array; fill it"),
    ("Trellis", "edges", "[masked]", "edges is a masked array; fill it"),
    ("Trellis", "tokens", "[surrogate]", r"tokens\[0\] has half of a surrogate pair"),
    ("Trellis", "labels", "[surrogate]", "label 0 has half of a surrogate pair"),
    ("Trellis.ids", "labelling", "True", "labelling is True; expected a list of labels"),
    ("RuleSet", "items", "[None]", "rule 1 is None; expected a rule"),
    ("RuleSet", "title", "surrogate", "title has half of a surrogate pair"),
    ("parse_rules", "text", "b'x'", "text is b'x'; expected a text"),
    ("C.at_most_runs", "reason", "surrogate", "reason has half of a surrogate pair"),
    ("C.at_most_runs", "field", "surrogate", "field has half of a surrogate pair"),
    ("C.at_most_runs", "penalty", "10**400", "penalty is beyond 2\\^31 nats"),
    ("C.linear", "text", "b'x'", "text is b'x'; expected a text"),
    ("decode_two_phase", "tau", "True", "tau is True; expected a number from 0 to 1"),
    ("Marginals.sample", "seed", "'x'", "seed is 'x'; expected a whole number from 0"),
]


@pytest.mark.parametrize(("name", "argument", "wrong", "message"), REFUSED)
def test_the_message_names_argument_value_and_expectation(name, argument, wrong, message):
    call, arguments = CALLS[name]
    with pytest.raises(ValueError, match=message):
        call(**{**arguments, argument: WRONG[wrong]})


def test_long_time_limits_are_none():
    assert ilpinfer.decode(TRELLIS, RULES, time_limit=10**400).status == "optimal"
    assert DECODER.with_time_limit(math.inf).decode(TRELLIS).score == SOLUTION.score


def test_rules_come_as_files_and_models_too(tmp_path):
    from ilpinfer.models.hmm import HMM

    path = tmp_path / "rules.toml"
    path.write_text(formulations.dump_rules(RULES), "utf-8")
    for rules in (path, str(path)):
        assert ilpinfer.decode(TRELLIS, rules).score == SOLUTION.score
        assert ilpinfer.Decoder(rules).decode(TRELLIS).score == SOLUTION.score
        assert ilpinfer.verify(TRELLIS, rules, SOLUTION).ok
        assert formulations.formulate(TRELLIS, rules).column_names == PROGRAM.column_names
        assert formulations.dump_rules(rules) == path.read_text("utf-8")
    model = HMM.train([(["x", "y"], ["a", "b"])])
    model.save(tmp_path / "hmm.json")
    labels = ilpinfer.Decoder(RULES, model=model).decode_tokens(["x", "y"]).labels
    for file in (tmp_path / "hmm.json", str(tmp_path / "hmm.json")):
        assert ilpinfer.Decoder(RULES, model=file).decode_tokens(["x", "y"]).labels == labels


@pytest.mark.parametrize(
    ("call", "given", "keywords"),
    [
        (Trellis, "start edges labels", "tokens scheme"),
        (Trellis.second_order, "start first edges labels", "tokens scheme"),
        (Trellis.from_emissions, "emissions transitions", "start end labels tokens scheme first"),
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
