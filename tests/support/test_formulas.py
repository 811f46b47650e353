"""The oracle for formulas and inequalities, by hand-worked examples."""

import pytest
from hypothesis import given
from support import formulas as fo
from support.formulas import Atom, Binder, Connected, Expr, Inequality, Name, Quantified, violations

t, s, X = Expr("t"), Expr("s"), Expr("X")
a, b = Name("a"), Name("b")
true = Atom("true")
BIO = ("B-a", "I-a", "B-b", "I-b", "O")
y, x = ("B-a", "I-a", "B-a", "O", "I-b"), ("pp", "word", "1999", ".", "word")


def has(F: Name | Expr, e: Expr) -> Atom:
    return Atom("{}({})", (F, e))


def forall(name: str, inner: fo.Formula, op: str = "", *bounds: Expr | Name) -> Quantified:
    return Quantified("forall", (Binder(name, op, bounds),), inner)


def test_atoms() -> None:
    def where(form: str, *parts: Name | Expr) -> list[int]:
        return [i for i in range(5) if Atom(form, parts).holds({"t": i}, y, x, "bio")]

    back, on = Expr("t", (-1,)), Expr("t", (1,))
    result = [where(form, a, t) for form in ("{}({})", "begins({}, {})", "ends({}, {})")]
    assert result == [[0, 1, 2], [0, 2], [1, 2]]
    assert where("change({})", t) == [2, 3, 4]
    assert where("edge({}) != ({}, {})", t, a, a) == [0, 3, 4]
    assert where("edge({}) = edge({})", t, Expr(0)) == [0]
    assert where("field({}) = field({})", t, back) == [1, 2]
    assert where("label({}) = {}", t, Name("I-a")) == [1]
    assert where("token({}) != {}", on, Name("word", True)) == [1, 2, 4]
    assert where("token({}) is {}", t, Name("number")) == where("token({}) is {}", t, Name("year")) == [2]
    v, nested = Name("v"), (("B-v", "I-v/B-p"), x[:2], "paths")
    assert has(v, Expr(1)).holds({}, *nested) and not Atom("field({}) = {}", (Expr(1), v)).holds({}, *nested)
    assert where("{} < {}", on, Expr("length", (-1,))) == [0, 1, 2]


@pytest.mark.parametrize(
    "text, count, formula",
    [
        ("forall s, t > s: b(t)", 6, Quantified("forall", (Binder("s"), Binder("t", ">", (s,))), has(b, t))),
        ("forall s: forall t: b(t)", 5, forall("s", forall("t", has(b, t)))),
        ("forall t in 1..2: b(t)", 2, forall("t", has(b, t), "in", Expr(1), Expr(2))),
        ("forall X in labels: X(last)", 4, forall("X", has(X, Expr("last")), "in", Expr("labels"))),
        ('forall X in {a, "v/p"}: X = a', 1, forall("X", Atom("{} = {}", (X, a)), "in", Name(("a", "v/p")))),
        ("exists t < 0: true", 1, Quantified("exists", (Binder("t", "<", (Expr(0),)),), true)),
    ],
)
def test_violations_and_text(text: str, count: int, formula: fo.Formula) -> None:
    assert formula.text() == text
    assert violations(formula, y, x, "bio", BIO) == count


def test_parentheses_by_precedence() -> None:
    implied, either = Connected("->", (true, true)), Connected("or", (true, true))
    assert Connected("->", (implied, implied)).text() == "(true -> true) -> true -> true"
    assert Connected("and", (either, Connected("not", (true,)))).text() == "(true or true) and not true"
    both = Connected("and", (forall("t", either),) * 2)
    assert both.text() == "(forall t: true or true) and forall t: true or true"


def test_inequality() -> None:
    count = Atom("count({}: {})", (Name("t"), has(a, Expr("t", (-1,)))))
    right = ((1, Atom("1")), (-3, Atom("at({}, {})", (b, Expr(-1)))))
    rule = Inequality(((2, Atom("runs({})", (a,))), (-1, count)), "<", right)
    assert rule.text() == "2*runs(a) - 1*count(t: a(t - 1)) < 1 - 3*at(b, -1)"
    assert (rule.difference(y, x, "bio"), rule.violations(y, x, "bio")) == (4 - 3 - (1 - 3), 4)


@given(fo.formulas(["v", "v/p"]), fo.inequalities(["v", "v/p"]))
def test_generated(formula: fo.Formula, rule: Inequality) -> None:
    y, x = ("B-v", "I-v", "I-v/B-p"), fo.TOKENS[:3]
    env = {"labels": y, "fields": ("v", "v/p")}
    assert formula.text().count("(") == formula.text().count(")") and f" {rule.op} " in rule.text()
    assert 0 <= rule.violations(y, x, "paths") <= abs(rule.difference(y, x, "paths")) + 1
    assert (violations(formula, y, x, "paths", y) > 0) == (not formula.holds(env, y, x, "paths"))
