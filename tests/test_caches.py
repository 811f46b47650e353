"""The caches of both packages: the table of docs/how-it-works/caches.md names them all, and they hold few objects."""

import ast
import gc
import re
import threading
import weakref
from pathlib import Path

import numpy as np
import pytest
from stress import label_sets
from support.kernel_calls import outcomes
from support.layers import ROOT, modules
from support.processes import python

from formulations import LabelSet, Trellis, caches
from formulations import constraints as C
from formulations.caches import LONGEST_TEXT, MOST_LABEL_SETS, Recent, RecentValues, remembered
from formulations.labels import schemes
from formulations.problem import vocabulary
from formulations.problem.compiled_rules import compile_rules
from formulations.tokens.token_pattern import TokenPattern
from ilpinfer import decode
from ilpinfer.core.rule_compiler import compiler_of
from ilpinfer.exact import compiled, limits
from ilpinfer.exact.compiled import tables_of
from ilpinfer.exact.token_tables import token_tables_of
from ilpinfer.models.hmm import HMM
from ilpinfer.system import threads

PAGE = ROOT / "docs" / "how-it-works" / "caches.md"
DECORATORS = {"lru_cache", "cache", "remembered"}
CONTAINERS = {"Recent", "RecentValues", "WeakKeyDictionary", "WeakValueDictionary", "WeakSet"}
PLAIN = {"dict", "list", "set", "defaultdict", "OrderedDict", "deque"}


def name_of(node: ast.AST | None) -> str:
    """The last name of a call, a subscript or an attribute: `Recent` of `Recent[X](8)`."""
    while isinstance(node, ast.Call | ast.Subscript):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def is_empty(node: ast.AST | None) -> bool:
    """Whether an expression is an empty container, as one that is filled later."""
    if isinstance(node, ast.Dict):
        return not node.keys
    if isinstance(node, ast.List):
        return not node.elts
    if isinstance(node, ast.Call) and name_of(node) == "emptied_by_forks":
        return is_empty(node.args[0])
    return isinstance(node, ast.Call) and name_of(node) in PLAIN and not node.args


def returned(function: ast.FunctionDef) -> ast.AST | None:
    last = function.body[-1]
    return last.value if isinstance(last, ast.Return) else None


def caches_of(tree: ast.Module) -> set[str]:
    """Names of cached functions, of containers of the module that are filled later, and of memos of objects."""
    found = set[str]()
    for node in tree.body:
        target = node.target if isinstance(node, ast.AnnAssign) else None
        if isinstance(node, ast.Assign):
            target = node.targets[0]
        if isinstance(target, ast.Name) and (is_empty(node.value) or name_of(node.value) in CONTAINERS):
            found.add(target.id)
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef) and "__missing__" in {
            getattr(part, "name", "") for part in node.body
        }:
            found.add(node.name)
        if isinstance(node, ast.FunctionDef):
            marks = {name_of(mark) for mark in node.decorator_list}
            value = returned(node)
            memo = "cached_property" in marks and (is_empty(value) or name_of(value) in CONTAINERS)
            if marks & DECORATORS or memo:
                found.add(node.name)
        if isinstance(node, ast.AnnAssign | ast.Assign) and name_of(node.value) in CONTAINERS:
            target = node.target if isinstance(node, ast.AnnAssign) else node.targets[0]
            if isinstance(target, ast.Attribute):
                found.add(target.attr)
        if isinstance(node, ast.AnnAssign) and name_of(node.value) == "field":
            given = {keyword.arg: keyword.value for keyword in node.value.keywords}
            if name_of(given.get("default_factory")) in PLAIN and "init" in given:
                found.add(node.target.id)
    return found


def test_the_table_names_every_cache():
    rows = re.findall(r"^\| `([\w.]+)` \| `(\w+)` \|", PAGE.read_text("utf-8"), re.M)
    found = {
        (name, cache)
        for name, path in modules().items()
        if name != "formulations.caches"
        for cache in caches_of(ast.parse(path.read_text("utf-8")))
    }
    assert set(rows) == found
    assert len(rows) == len(set(rows))


def test_a_cache_is_noticed():
    text = "A = {}\nB = Recent[int](3)\nclass D:\n  x: dict = field(default_factory=dict, init=False)\n"
    text += "  @cached_property\n  def m(self):\n    return {}\n  def __init__(self):\n    self.r = WeakSet()\n@lru_cache\ndef f(x): ...\n"
    assert caches_of(ast.parse(text)) == {"A", "B", "x", "m", "r", "f"}


def test_the_latest_few_objects_are_kept():
    values = RecentValues[list[int]](2)
    first = values.get("a", lambda: [1])
    assert values.get("a", lambda: [2]) is first
    values.get("b", lambda: [3])
    values.get("a", lambda: [4])
    values.get("c", lambda: [5])
    assert values.get("a", lambda: [6]) is first
    assert values.get("b", lambda: [7]) == [7]
    kept = Recent[int](3)
    for number in range(9):
        kept.find(number.__eq__, lambda number=number: number)
    assert kept.items == (8, 7, 6)
    kept.drop(lambda one: one == 7)
    assert kept.items == (8, 6)


def test_values_of_long_texts_are_not_kept():
    calls = []

    @remembered
    def length(text):
        calls.append(text)
        return len(text)

    long = "x" * (LONGEST_TEXT + 1)
    assert [length("a"), length("a"), length(long), length(long)] == [1, 1, len(long), len(long)]
    assert calls == ["a", long, long]


def test_patterns_keep_few_tokens_and_no_long_ones(monkeypatch):
    monkeypatch.setattr(caches.make_room, "__defaults__", (10,))
    pattern = TokenPattern(pattern="a+")
    for number in range(35):
        assert pattern.matches("a" * (number + 1)) and not pattern.matches(f"b{number}")
    assert len(pattern._cache) <= 10
    assert pattern.matches("a" * 1000) and "a" * 1000 not in pattern._cache


RULES = {
    "formula": lambda: C.logic('forall t: "O"(t) or not "O"(t)'),
    "pattern": lambda: C.tag_at("O", pattern="x+"),
    "count": lambda: C.at_most_runs("each field", 1),
    "expression": lambda: C.matches("O* .*"),
    "sum": lambda: C.linear("tokens(O) <= 2"),
    "distance": lambda: C.exactly_tokens("O", 1, distance="hamming", penalty=1.0),
    "scope": lambda: C.logic("forall t: X(t) or not X(t)", scope="each label", penalty=1.0),
}


@pytest.mark.parametrize("kind", RULES)
def test_label_sets_are_released(kind):
    rules, kept = [RULES[kind]()], []
    for number in range(5 * MOST_LABEL_SETS):
        labels = LabelSet((f"a{number}", f"b{number}", "O"), "plain")
        kept.append(weakref.ref(labels))
        known = labels.with_optional_fields(["c"])
        kept.append(weakref.ref(known))
        trellis = Trellis(np.zeros(3), np.zeros((2, 3, 3)), labels=labels, tokens=["x", "y", f"z{number}"])
        decode(trellis, rules)
        rules[0].violations(["O"] * 3, tokens=trellis.tokens, labels=known)
        compile_rules(rules, known)
    del labels, known, trellis
    gc.collect()
    assert sum(each() is not None for each in kept) <= 4 * MOST_LABEL_SETS


def test_rules_that_are_released_release_their_label_sets():
    labels = LabelSet(("a", "b", "O"))
    rule = C.logic("forall t: a(t) or b(t)")
    rule.violations(["a", "b"], labels=labels)
    kept = weakref.ref(labels)
    del rule, labels
    gc.collect()
    assert kept() is None


def test_a_vocabulary_is_full_of_tokens_or_of_characters(monkeypatch):
    monkeypatch.setattr(vocabulary, "MOST_CHARACTERS", 100)
    trellis = Trellis(np.zeros(2), np.zeros((1, 2, 2)), labels=["a", "O"], tokens=["x", "y" * 120])
    compiler = compiler_of([C.tag_at("a", words=["x"])])
    first = tables_of(compiler, trellis.labels)
    first.call([trellis])
    assert first.full
    second = tables_of(compiler, trellis.labels)
    assert second is not first and compiler.recent(compiled.RuleTables).items == (second,)


def test_scores_of_tokens_are_bounded(monkeypatch):
    model = HMM.train([(["Ada", "."], ["a", "O"])])
    compiler = compiler_of([C.at_most_runs("a", 1)])
    monkeypatch.setattr("ilpinfer.exact.limits.MOST_SCORES", 10)
    tables = token_tables_of(compiler, model.token_scores)
    assert not tables.full
    tables.call([model.trellis([f"w{n}" for n in range(9)])])
    assert tables.full
    assert token_tables_of(compiler, model.token_scores) is not tables


def test_large_edge_scores_are_not_kept(monkeypatch):
    monkeypatch.setattr(limits, "MOST_SCORES", 8 * 9)
    compiler = compiler_of([C.at_most_runs("a", 1)])
    small = Trellis.from_emissions(np.zeros((3, 3)), np.zeros((3, 3)), labels=["a", "b", "O"])
    large = Trellis.from_emissions(np.zeros((3, 4)), np.zeros((4, 4)), labels=["a", "b", "c", "O"])
    for trellis, pools in ((small, 1), (large, 0)):
        tables = tables_of(compiler, trellis.labels)
        assert all(outcome.proved for outcome in outcomes(tables, [trellis, trellis]))
        assert len(tables._pools) == pools


def test_few_idle_threads_wait(monkeypatch):
    monkeypatch.setattr(threads, "_idle", [])
    for number in (1, 2, 3, 1, 4, 5, 6):
        with threads.thread_pool(number) as pool:
            assert pool.submit(threading.get_ident).result() != threading.get_ident()
    assert [number for number, _ in threads._idle] == [1, 4, 5, 6]
    with threads.thread_pool(5) as pool:
        assert pool is not threads._idle[-1][1] and len(threads._idle) == 3
    for _, pool in threads._idle:
        pool.shutdown()


def test_levels_of_names_that_are_too_long_are_not_kept():
    name = "B-" + "x" * 1000
    assert schemes.levels(name, "bio") == (("x" * 1000, "B"),)


@pytest.mark.slow
@pytest.mark.parametrize("way", label_sets.WAYS)
def test_many_label_sets_leave_the_memory_as_it_was(way):
    assert Path("/proc/self/statm").exists()
    one_heap = {
        "MALLOC_ARENA_MAX": "1"
    }  # each thread of a service has a heap of its own, whose holes are no leak
    python("-m", "stress.label_sets", "--way", way, "--sets", "300", variables=one_heap, check=True)
