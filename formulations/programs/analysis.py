"""Analysis of rules: kind, machine states, evaluation on prefixes, and size in an integer program."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from formulations.automata.circuit import Circuit
from formulations.automata.hamming import HammingDistance, label_classes
from formulations.automata.machine import MOST_STATES, Machine
from formulations.automata.sums import Sum
from formulations.automata.windows import WindowCount
from formulations.constraints.rule import Rule
from formulations.constraints.rule_set import RuleSet
from formulations.labels.label_set import LabelSet
from formulations.plain_values import PlainRecord
from formulations.problem.compiled_rules import compile_rules
from formulations.problem.folding import Folding
from formulations.problem.problem import GroundRule
from formulations.problem.trellis import Trellis
from formulations.programs.formulation import formulate

SAMPLE, MOST_COMPARED = 6, 20_000  # tokens on which formulas are analysed, and largest number of joint states


@dataclass(frozen=True)
class Analysis(PlainRecord):
    rule: str
    form: str  # template, linear or logic
    kind: str  # "local" (folds), "linear" (a row), "regular" (an automaton), "auxiliary" (a column a gate) or "function"
    states: int | None  # of the largest automaton; None above `MOST_STATES`
    machines: int  # number of automata or rows
    partial: str  # on prefixes: "exact", "sound", "forced" by the user, or "" if it cannot be evaluated
    bound: str  # lower bound on the violations, given a prefix
    rows: int
    columns: int  # rows and columns, including σ
    warning: str = ""  # advice on its use
    apart: str = ""  # why it is compiled for each sequence; empty if it is compiled once
    TITLE: ClassVar = "the analysis"


def analyse(rules: RuleSet, labels: LabelSet, tokens: Sequence[str]) -> list[Analysis]:
    """Analyse rules on one sequence; ValueError for unknown fields."""
    K = len(labels)
    trellis = Trellis(np.zeros(K), np.zeros((len(tokens) - 1, K, K)), labels=labels, tokens=tokens)
    compiled = compile_rules(rules, labels)
    problem, left = compiled.problem(trellis), Folding(compiled).excluded
    empty = formulate(replace(problem, rules=())).program
    result = []
    for place, (rule, ground) in enumerate(zip(rules.rules, problem.rules, strict=True)):
        program = formulate(replace(problem, rules=(ground,)).without_functions()).program
        size = program.n_rows - empty.n_rows, program.n_columns - empty.n_columns
        row = _analyse_rule(rule, ground, labels, tokens, *size)
        result.append(replace(row, apart=left.get(place, "")))
    return result


def _analyse_rule(
    rule: Rule, ground: GroundRule, labels: LabelSet, tokens: Sequence[str], rows: int, columns: int
) -> Analysis:
    partial = _partial(rule, ground, labels, tokens)
    warning = ""
    if ground.forced:
        if not partial:
            warning = "evaluated on prefixes although a prefix that breaks it may have a completion that keeps it: solutions may be lost"
        partial = partial or "forced"
    remarks = (statement.remark(labels) for statement in rule.statements(labels.field_names))
    warning = next(filter(None, remarks), warning)
    states = None if ground.machineless else max((m.states for m in ground.machines), default=1)
    if ground.functions:
        warning = (
            "a Python function: methods value labellings by it, and integer programs and marginals cannot"
        )
    elif states is None:
        warning = f"needs more than {MOST_STATES} states: searches evaluate it on complete labellings only"
    components, form, kind = len(ground.components), rule.statement.form, _kind(ground)
    bound = _bound(ground, partial)
    return Analysis(ground.name, form, kind, states, components, partial, bound, rows, columns, warning)


def _kind(ground: GroundRule) -> str:
    if ground.folds:
        return "local"
    if ground.functions:
        return "function"
    if any(isinstance(component, Circuit) for component in ground.components):
        return "auxiliary"
    rows = all(
        component.is_local or isinstance(component, Sum | WindowCount) for component in ground.components
    )
    return "linear" if rows else "regular"


def _partial(rule: Rule, ground: GroundRule, labels: LabelSet, tokens: Sequence[str]) -> str:
    if any(isinstance(component, Circuit | HammingDistance) for component in ground.components):
        return partial_by_sample(rule, labels, tokens[:SAMPLE])
    result = {machine.automaton.partial for machine in ground.machines}
    return "" if "" in result or ground.machineless else "sound" if "sound" in result else "exact"


def partial_by_sample(rule: Rule, labels: LabelSet, tokens: Sequence[str]) -> str:
    """As `Automaton.partial`, by comparison of the rule on each prefix with the rule on all tokens."""
    whole, kinds = _small(rule, labels, tokens), set()
    most = 1 if rule.hard or rule.distance == "binary" else None
    for length in range(1, len(tokens)):
        prefix = _small(rule, labels, tokens[:length])
        if whole is None or prefix is None:
            return ""
        kinds.add(_compare(prefix, whole, len(labels), length, most))
    return "" if "" in kinds else "sound" if "sound" in kinds else "exact"


def _small(rule: Rule, labels: LabelSet, tokens: Sequence[str]) -> list[Machine] | None:
    try:
        components = [component.machines for component in rule.ground(labels, tokens)]
    except ValueError:
        return None
    return None if None in components else [m for machines in components for m in machines or ()]


def _compare(prefix: list[Machine], whole: list[Machine], labels: int, length: int, most: int | None) -> str:
    """Compare the violations of a prefix, capped at `most`, with the violations that are then certain for the whole sequence."""
    count = len(prefix)
    machines = [*prefix, *whole]
    _, members = label_classes(machines, labels)
    front = {(-1, *(0 for _ in machines)): {(0, 0)}}
    for token in range(length):
        after: dict[tuple[int, ...], set[tuple[int, int]]] = {}
        for (before, *states), broken in front.items():
            for label in members.tolist():
                now, emitted = [label], [0, 0]
                for i, (machine, state) in enumerate(zip(machines, states, strict=True)):
                    symbol = machine.steps.of(token, before, label)
                    now.append(int(machine.next_state[state, symbol]))
                    emitted[i >= count] += int(machine.emits[state, symbol])
                result = {(a + emitted[0], b + emitted[1]) for a, b in broken}
                after.setdefault(tuple(now), set()).update(result)
        front = after
        if len(front) > MOST_COMPARED:
            return ""
    kind = "exact"
    for (_, *states), broken in front.items():
        ends = sum(int(m.final[q]) for m, q in zip(prefix, states[:count], strict=True))
        certain = sum(int(m.automaton.floor[q]) for m, q in zip(whole, states[count:], strict=True))
        for alone, sure in broken:
            broken_now, broken_later = alone + ends, sure + certain
            if broken_now > 0 and broken_later == 0:
                return ""
            if (broken_now if most is None else min(broken_now, most)) > broken_later:
                kind = "sound"
    return kind


def _bound(ground: GroundRule, partial: str) -> str:
    if any(each.prefix for each in ground.functions):
        return "what its prefix function returns"
    if ground.machineless:
        return "0: evaluated at the end only"
    if partial == "exact":
        return "violations of the prefix"
    early = any(m.automaton.early.emits[m.automaton.reachable].any() for m in ground.machines)
    return "violations that no completion avoids" if early else "0: evaluated at the end only"
