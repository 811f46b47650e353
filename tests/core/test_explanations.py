"""What is said about rules, about labellings that break them, and about rules that cannot hold together."""

import itertools
import json
import math
import pickle
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from support import oracles
from support.effort import at_most, examples
from support.strategies import UNIT, Problem, cases, instances

import ilpinfer
from formulations import LabelSet, RuleSet, Trellis
from formulations import constraints as C
from formulations.automata.machine import MOST_STATES
from formulations.problem.compiled_rules import compile_problem
from formulations.programs.analysis import analyse
from ilpinfer.core.infeasibility import Infeasibility
from ilpinfer.core.rule_compiler import compiler_of
from ilpinfer.exact import infeasibility
from ilpinfer.exact.infeasibility import explain_infeasibility

LABELS, FINITE = LabelSet(("jt", "d", "O")), st.floats(-3, 3)


def analysis(rule, length=20):
    return analyse(RuleSet((rule,)), LABELS, ["word"] * length)[0]


@pytest.mark.parametrize(
    ("rule", "kind", "partial"),
    [
        (C.tag_at("d", words=["x"]), "local", "exact"),
        (C.logic("forall t > 0: jt(t - 1) -> not d(t)"), "local", "exact"),
        (C.at_most_runs("jt"), "linear", "exact"),
        (C.at_least_tokens("jt", 2), "linear", ""),
        (C.linear("runs(jt) > runs(d)"), "linear", ""),
        (C.linear("runs(jt) + runs(d) <= 2"), "linear", "exact"),
        (C.requires_before("jt", "d"), "regular", "exact"),
        (C.precedence("jt", "d"), "regular", ""),
        (C.presence_precedence("jt", "d"), "regular", "exact"),
        (C.consistent(), "regular", "exact"),
        (C.min_run_length("d", 3), "regular", ""),
        (C.matches("jt+ d*"), "regular", ""),
        (C.matches("jt* d*"), "regular", "exact"),
        (C.logic("forall t: d(t) -> exists s < t: jt(s)"), "auxiliary", "exact"),
        (C.logic("forall t: jt(t) -> exists s > t: d(s)"), "auxiliary", ""),
        (C.logic("exists t: jt(t)"), "auxiliary", ""),
        (C.at_most_runs("jt", distance="hamming"), "regular", "exact"),
    ],
)
def test_kinds_of_rules_and_the_set_p(rule, kind, partial):
    result = analysis(rule)
    assert (result.kind, result.partial) == (kind, partial)
    assert (result.bound == "violations of the prefix") == (partial == "exact")


def test_prefix_bounds_outside_p():
    assert analysis(C.at_least_tokens("jt", 2)).bound == "0: evaluated at the end only"
    assert analysis(C.min_run_length("d", 3)).bound == "violations that no completion avoids"
    assert analysis(C.matches("jt+ d*")).bound == "violations that no completion avoids"
    assert analysis(C.matches(". . . . .+")).bound == "0: evaluated at the end only"


def test_a_beam_drops_a_prefix_as_soon_as_nothing_can_save_it():
    """The automaton says so at the end only; its early form when the letter is read."""
    trellis = Trellis.from_emissions([[0, 5.0], [0, 0], [0, 0]], [[0.0] * 2] * 2, labels=["a", "b"])
    assert ilpinfer.decode(trellis, [C.matches("a .*")], method="beam", width=1).labels[0] == "a"


def test_a_forced_rule_is_evaluated_on_prefixes_and_loses_solutions():
    labels = LabelSet(("jt", "d"))
    trellis = Trellis([0, 5], [[[0, 0], [0, 0]]], labels=labels)
    free, forced = (C.linear("runs(jt) >= runs(d)", partial=p) for p in ("", "forced"))
    assert ilpinfer.decode(trellis, [free], method="beam").labels == ["d", "jt"]
    beam = ilpinfer.decode(trellis, [forced], method="beam")
    assert beam.labels == ["jt", "jt"] and beam.status == "feasible" and beam.bound >= 5
    assert ilpinfer.decode(trellis, [forced]).labels == ["d", "jt"], "exact methods are not misled"
    result = analysis(forced)
    assert (result.partial, "solutions may be lost" in result.warning) == ("forced", True)
    soft = C.linear("runs(jt) >= runs(d)", partial="forced", penalty=9)
    assert ilpinfer.decode(trellis, [soft], method="beam", width=1).labels == ["jt", "jt"]
    assert ilpinfer.decode(trellis, [soft], method="beam").labels == ["d", "jt"]
    with pytest.raises(ValueError, match="is for templates and linear rules"):
        C.logic("true", partial="forced")


@settings(max_examples=examples(60))
@given(instances(st.floats(-5, 5), 3), st.data())
def test_forcing_a_rule_of_p_changes_nothing(instance, data):
    case = data.draw(cases(instance.trellis.labels))
    assume(case.rule.statement.form != "logic")
    forced = replace(case.rule, partial="forced")
    result = analyse(RuleSet((forced,)), instance.trellis.labels, list(instance.trellis.tokens) or ["x"])[0]
    assume(result.partial in ("exact", "sound") and len(instance.trellis) > 1)
    plain = ilpinfer.decode(instance.trellis, [case.rule], method="beam", width=10_000)
    assert ilpinfer.decode(instance.trellis, [forced], method="beam", width=10_000).score == plain.score


def test_rules_without_a_small_machine_are_still_obeyed():
    rule = C.linear("1000*tokens(a) - 999*tokens(b) + 7*runs(a) = 3013", penalty=UNIT)
    labels, tokens = LabelSet(("a", "b")), ["x", "y"] * 150
    trellis = Trellis.from_emissions([[0.0, UNIT]] * 300, [[0.0] * 2] * 2, labels=labels, tokens=tokens)
    problem = compile_problem(trellis, [rule])
    assert problem.rules[0].machineless
    result = ilpinfer.decode(trellis, [rule], method="beam")
    assert result.status != "optimal" and "whole labellings only" in result.method
    assert f"more than {MOST_STATES} states" in analyse(RuleSet((rule,)), labels, tokens)[0].warning


def test_the_order_of_hard_token_rules_is_their_priority():
    labels = LabelSet(("B-company", "I-company", "O"))
    rules = [
        C.tag_phrases("company", ["acme steel"], name="listed"),
        C.tag_at("O", token_class="lowercase", name="small letters"),
        C.tag_at("O", words=["Monday"], name="days"),
    ]
    trellis = Trellis.from_emissions(
        [[0.0] * 3] * 4, [[0.0] * 3] * 3, labels=labels, tokens=["on", "Monday", "acme", "steel"]
    )
    solution = ilpinfer.decode(trellis, [*rules, C.valid_scheme()])
    assert solution.labels == ["O", "O", "B-company", "I-company"]
    assert solution.overruled == {"small letters": [2, 3]} == solution.to_dict()["overruled"]
    assert set(solution.violations.values()) == {0}
    assert "small letters: overruled by an earlier rule at tokens 2, 3" in str(solution.explain())
    soft = [C.tag_at("O", token_class="lowercase", penalty=1.0), rules[0]]
    assert ilpinfer.decode(trellis, soft).violations["tag_at(O, lowercase)"] == 2, (
        "soft rules are never overruled"
    )
    turned = ilpinfer.decode(trellis, [rules[1], rules[0]])
    assert turned.overruled == {"listed": [2, 3]} and turned.labels[2:] == ["O", "O"]


def test_what_a_labelling_breaks_where_and_what_it_would_have_been():
    labels = LabelSet(("title", "author", "O"))
    emissions = [[3, 0, 0], [0, 2.5, 0], [3, 0, 0], [0, 0, 1]]
    trellis = Trellis.from_emissions(
        emissions, [[0.0] * 3] * 3, labels=labels, tokens=["On", "Trees", "by", "."]
    )
    rules = [
        C.at_most_runs("title", 1, penalty=2, name="one title", reason="a reference has one"),
        C.tag_at("author", words=["by"], penalty=0.5, name="by"),
    ]
    explanation = ilpinfer.decode(trellis, rules).explain()
    first, second = explanation.broken
    assert (first.rule, first.violations, first.cost, first.places[0].tokens) == ("one title", 1, 2.0, (2,))
    assert first.places[0].text == ("by",) and first.without == ("title", "author", "title", "O")
    assert (first.changes, first.gain) == ((), 2.0)
    assert (second.rule, second.places[0].labels) == ("by", ("title",))
    text = str(explanation)
    assert "one title: 1 violation, 2 nats" in text
    assert "because a reference has one" in text and "2 by [title]" in text
    json.dumps(explanation.to_dict(), allow_nan=False)
    assert str(ilpinfer.decode(trellis, rules[:0]).explain()) == "no rule is broken"
    changed = ilpinfer.decode(trellis, [C.ends_with("title", name="end", penalty=9)]).explain()
    assert changed.broken == ()


def least_violations(problem) -> int | None:
    """Of all labellings that the scores allow."""
    possible = [y for y in problem.labellings if problem.units(y) is not None]
    return min((sum(problem.violations(y)) for y in possible), default=None)


def subset(problem, chosen):
    return problem._replace(cases=[problem.cases[i] for i in chosen])


@settings(max_examples=examples(240))
@given(instances(FINITE, 3) | instances(longest=3, order=2), st.data())
def test_conflicts_are_minimal_and_relaxations_are_cheapest(instance, data):
    hard = data.draw(st.lists(cases(instance.trellis.labels, st.just(math.inf)), min_size=1, max_size=4))
    tokens = instance.trellis.tokens
    problem = Problem(instance, [c for c in hard if not dict(c.rule.statement.required_fields(tokens))])
    rules = [replace(rule, name=f"r{i}") for i, rule in enumerate(problem.rules)]
    solution, least = ilpinfer.decode(instance.trellis, rules), least_violations(problem)
    assert (solution.status == "infeasible") == (least != 0)
    if not least:
        return
    reasons = solution.infeasibility
    chosen = {int(clash.rule[1:]) for clash in reasons.conflict}
    assert chosen and least_violations(subset(problem, chosen))
    assert not any(least_violations(subset(problem, chosen - {left_out})) for left_out in chosen)
    assert sum(reasons.relaxation.values()) == least
    assert_best(reasons, problem, least)


def assert_best(reasons, problem, least, soft=None):
    """The labels of a relaxation score best of all with so few violations."""
    found = problem.instance.trellis.ids(list(reasons.labels)).tolist()
    cost = (lambda y: 0) if soft is None else soft
    worth = {
        y: units - cost(y)
        for y in problem.labellings
        if (units := problem.units(y)) is not None and sum(problem.violations(y)) == least
    }
    assert reasons.unfinished == ()
    assert worth[tuple(found)] == max(worth.values())


@settings(max_examples=examples(120))
@given(instances(st.floats(-(2.0**26), 2.0**26) | FINITE, 3), st.data())
def test_labels_of_a_relaxation_are_the_best_ones_at_any_scale(instance, data):
    """Penalties above the differences of such scores would not fit into 64 bits."""
    tokens = instance.trellis.tokens
    drawn = data.draw(st.lists(cases(instance.trellis.labels, st.just(math.inf)), min_size=2, max_size=4))
    hard = [c for c in drawn if not dict(c.rule.statement.required_fields(tokens))]
    problem = Problem(instance, hard)
    assume(problem.cases)
    least = least_violations(problem)
    assume(least)
    extra = data.draw(cases(instance.trellis.labels, st.sampled_from((2.0**20, 0.5))))
    assume(not dict(extra.rule.statement.required_fields(tokens)))
    rules = [replace(rule, name=f"r{i}") for i, rule in enumerate(problem.rules)]
    reasons = ilpinfer.decode(instance.trellis, [*rules, replace(extra.rule, name="soft")]).infeasibility
    assert sum(reasons.relaxation.values()) == least

    def cost(y):
        return oracles.snap(extra.rule.penalty) * extra.violations(instance.names(y), tokens)

    assert_best(reasons, problem, least, cost)


def total(problem, y) -> int | None:
    """Score less penalties; None where the scores or a hard rule forbid the labelling."""
    units, cost = problem.units(tuple(y)), problem.cost(tuple(y))
    return None if units is None or cost is None else units - cost


@settings(max_examples=examples(120))
@given(instances(FINITE, 4) | instances(longest=3, order=2), st.data())
def test_changes_have_the_best_labelling_with_the_labels_of_viterbi(instance, data):
    tokens, (T, _) = instance.trellis.tokens, instance.shape
    drawn = data.draw(st.lists(cases(instance.trellis.labels), min_size=1, max_size=3))
    problem = Problem(instance, [c for c in drawn if not dict(c.rule.statement.required_fields(tokens))])
    rules = [replace(rule, name=f"r{i}") for i, rule in enumerate(problem.rules)]
    solution = ilpinfer.decode(instance.trellis, rules)
    assume(solution.has_labelling)
    plain = ilpinfer.decode(instance.trellis, rules, method="viterbi").ids.tolist()
    own = solution.ids.tolist()
    found = solution.explain(change=True)
    assert type(found).from_dict(found.to_dict()) == found
    changed = [t for t in range(T) if own[t] != plain[t]]
    assert [t for change in found.changes for t in change.tokens] == changed
    assert all(b.tokens[0] > a.tokens[-1] + 1 for a, b in itertools.pairwise(found.changes))
    for t in range(T):
        [change] = solution.explain(token=t).changes
        assert t in change.tokens and (change in found.changes) == (t in changed)
        if t in changed:
            allowed = [y for y in problem.labellings if all(y[s] == plain[s] for s in change.tokens)]
        else:
            allowed = [y for y in problem.labellings if y[t] != own[t]]
        scores = {y: total(problem, y) for y in allowed if total(problem, y) is not None}
        assert (change.status == "optimal") == bool(scores), change
        mine, counts = total(problem, own), dict(enumerate(problem.violations(own)))
        if scores:
            other = tuple(instance.trellis.ids(list(change.other)).tolist())
            assert change.loss * 2**20 == mine - max(scores.values()) == mine - scores[other]
            after = dict(enumerate(problem.violations(other)))
            more = {f"r{i}": after[i] - counts[i] for i in after if after[i] > counts[i]}
            assert change.more == more
        if t in changed and instance.trellis.lattice.order == 1 and not change.breaks:
            spliced = [plain[s] if s in change.tokens else own[s] for s in range(T)]
            assert total(problem, spliced) == mine, "only a tie is no reason"


@settings(max_examples=examples(40))
@given(instances(FINITE, 3), st.data())
def test_relaxations_are_cheapest_where_rules_count_tokens_to_relabel(instance, data):
    labels, tokens = instance.trellis.labels, instance.trellis.tokens
    result = data.draw(st.lists(cases(labels, st.just(math.inf)), min_size=2, max_size=4))
    result = [case for case in result if not dict(case.rule.statement.required_fields(tokens))]
    everything = [(y, instance.names(y)) for y in oracles.labellings(*instance.shape)]
    counts = []
    for case in result:
        broken = [case.count(names, tokens) for _, names in everything]
        kept = [names for (_, names), n in zip(everything, broken, strict=True) if not n]
        far = [oracles.hamming(names, kept) for _, names in everything]
        counts.append(data.draw(st.sampled_from((("count", broken), ("hamming", far)))))
    possible = [i for i, (y, _) in enumerate(everything) if instance.units(y) is not None]
    least = min((sum(far[i] for _, far in counts) for i in possible), default=0)
    assume(least)
    pairs = enumerate(zip(result, counts, strict=True))
    rules = [replace(case.rule, distance=how, name=f"r{i}") for i, (case, (how, _)) in pairs]
    solution = ilpinfer.decode(instance.trellis, rules)
    assert solution.status == "infeasible"
    assert sum(solution.infeasibility.relaxation.values()) == least
    chosen = [list(names) for _, names in everything].index(list(solution.infeasibility.labels))
    assert sum(far[chosen] for _, far in counts) == least


def test_tokens_of_a_conflict():
    labels = LabelSet(("a", "b"))
    trellis = Trellis.from_emissions(
        [[0.0, 0.0]] * 5, [[0.0, 0.0]] * 2, labels=labels, tokens=["x", "p", "y", "q", "z"]
    )
    rules = [
        C.tag_at("a", words=["p", "q", "x"], name="marks"),
        C.forbidden_transition("a", "b", name="step"),
        C.tag_at("b", words=["z"], name="end"),
        C.starts_with("a", name="start"),
    ]
    solution = ilpinfer.decode(trellis, rules)
    clashes = {c.rule: c.tokens for c in solution.infeasibility.conflict}
    assert {"end"} < set(clashes) and clashes["end"] == (4,) and len(clashes["step"]) >= 1
    assert "make one of them soft; cheapest relaxation: allow 1 violation of" in solution.reason
    row = solution.to_dict()["infeasibility"]
    assert sum(row["relaxation"].values()) == 1 and len(row["labels"]) == 5


@pytest.fixture
def gold(here):
    Path("gold.tsv").write_text("Ada\ta\n.\ta\nTrees\tt\n.\ta\n\nTrees\tt\nby\ta\nTrees\tt\n")
    Path("rules.toml").write_text(
        'fields = ["a", "t"]\n'
        '[[rule]]\nname = "one"\ntemplate = "at_most_runs"\nfield = "t"\n'
        '[[rule]]\nname = "each once"\ntemplate = "at_most_runs"\nfield = "each field"\npenalty = 1.0\n'
        '[[rule]]\nname = "two"\ntemplate = "exactly_runs"\nfield = "t"\nn = 2\n'
        '[[rule]]\nname = "first"\nlogic = "forall i: t(i) -> exists s < i: a(s)"\n'
        '[[rule]]\nname = "never"\ntemplate = "tag_at"\nfield = "a"\nwords = ["qqq"]\n'
    )


def test_relations_of_rules_do_not_depend_on_other_processes(gold, cli, monkeypatch):
    quiet = cli.done("check rules.toml gold.tsv --json").out
    seconds = itertools.count(0, 10)
    monkeypatch.setattr(time, "perf_counter", lambda: next(seconds))  # a machine with much else to do
    assert cli.done("check rules.toml gold.tsv --json").out == quiet


def test_check_says_how_often_and_how_rules_relate(gold, cli):
    rows = {row["rule"]: row for row in json.loads(cli.done("check rules.toml gold.tsv --json").out)}
    one = rows["one"]
    assert (one["applies"], one["holds"], one["breaks"], one["broken"], one["share"]) == (2, 1, 1, 1, 0.5)
    assert one["suggested_penalty"] == pytest.approx(-math.log((1 + 1e-4) / 3))
    assert one["breaches"] == [
        {"where": "gold.tsv, line 6", "tokens": [2], "text": ["Trees"], "labels": ["t"], "violations": 1}
    ]
    assert (one["implied_by"], one["contradicts"]) == (["each once"], ["two"])
    assert rows["each once"]["implied_by"] == [] and rows["never"]["never_fires"] is True
    assert (rows["first"]["applies"], rows["first"]["breaks"]) == (3, 1)
    out = cli.done("check rules.toml gold.tsv").out
    assert "one: follows from each once" in out and "never: never applies here" in out
    assert "one: broken in line 6 at token 2 'Trees' [t]" in out


def test_decode_explains_on_request(gold, cli):
    cli.done("train gold.tsv --output m.json")
    line = "decode gold.tsv --model m.json --rules rules.toml --explain"
    code, out, err = cli(line)
    assert code == 2 and '"one"' in err and '"two"' in err and "cheapest relaxation" in err
    assert {c["rule"] for c in json.loads(out.splitlines()[0])["infeasibility"]["conflict"]} >= {"two"}
    text = Path("rules.toml").read_text().replace("n = 2\n", "n = 2\npenalty = 0.5\n")
    Path("rules.toml").write_text(text)
    broken = [item["rule"] for item in cli.rows(line)[0]["explanation"]["broken"]]
    assert "two" in broken and set(broken) <= {"two", "each once"}


SOME = [0.0] * 2


SOME_STEPS = [[0.0, 0.0]] * 2
NEVER = -math.inf


@pytest.mark.parametrize(
    ("trellis", "said"),
    [
        (
            Trellis.from_emissions([[0, 0]] * 17 + [[NEVER] * 2] + [[0, 0]], SOME_STEPS, labels=["a", "b"]),
            "token 17: every label is -inf",
        ),
        (
            Trellis.from_emissions(
                [[NEVER] * 2] * 5, SOME_STEPS, labels=["a", "b"], tokens=["v", "w", "x", "y", "z"]
            ),
            "token 0 (v): every label is -inf; token 1 (w): every label is -inf; token 2 (x): every label is -inf; "
            "and 2 more tokens",
        ),
        (
            Trellis(SOME, [[SOME, SOME]] * 3 + [[[NEVER] * 2] * 2] + [[SOME, SOME]], labels=["a", "b"]),
            "between token 3 and token 4 no step is allowed",
        ),
        (
            Trellis.from_emissions(
                [[0, 0], [0, NEVER], [0, 0], [NEVER, 0], [0, 0]], [[0, NEVER], [0, 0]], labels=["a", "b"]
            ),
            "no steps lead from token 1, which can be a, to token 3, which can be b",
        ),
        (
            Trellis.from_emissions([[0, NEVER]] * 3, SOME_STEPS, labels=["a", "b"]).with_given({1: "b"}),
            "token 1: every known label is -inf; labels are known at token 1",
        ),
        (
            Trellis.second_order(
                SOME, [SOME] * 2, [[[SOME] * 2] * 2, [[[NEVER] * 2] * 2] * 2], labels=["a", "b"]
            ),
            "between token 2 and token 3 no step is allowed",
        ),
    ],
)
def test_the_token_or_step_at_which_scores_forbid_everything(trellis, said):
    for solution in (ilpinfer.decode(trellis), ilpinfer.decode(trellis, [C.starts_with("a")], method="beam")):
        if solution.status == "infeasible":
            assert solution.reason == f"the scores themselves forbid every labelling: {said}"
            assert said in str(solution.explain()) and said in str(solution.explain(token=0))
    assert ilpinfer.decode(trellis).status == "infeasible"
    assert said in ilpinfer.decode_two_phase(trellis, [C.starts_with("a")]).reason


@settings(max_examples=examples(120))
@given(instances(st.sampled_from((0.0, NEVER)), 4) | instances(st.sampled_from((0.0, NEVER)), 3, order=2))
def test_a_dead_end_is_said_where_scores_allow_no_labelling(instance):
    solution = ilpinfer.decode(instance.trellis)
    possible = any(instance.units(y) is not None for y in oracles.labellings(*instance.shape))
    assert possible == (not solution.reason)
    assert possible or solution.reason.startswith("the scores themselves forbid every labelling: ")


TWO = [C.at_least_tokens("a", 2), C.at_least_tokens("b", 2)]


def test_an_infeasible_solution_is_explained_by_its_conflict(tmp_path):
    trellis = Trellis.from_emissions([SOME] * 3, SOME_STEPS, labels=["a", "b"])
    for solution in (
        ilpinfer.decode(trellis, TWO),
        ilpinfer.decode(trellis, TWO, time_limit=5),
        ilpinfer.decode(trellis, TWO, method="cp-sat"),
        ilpinfer.decode_two_phase(trellis, TWO),
        pickle.loads(pickle.dumps(ilpinfer.decode(trellis, TWO))),
    ):
        explanation = solution.explain()
        assert [clash.rule for clash in explanation.infeasibility.conflict] == [rule.title for rule in TWO]
        assert "no labelling keeps all of the hard rules" in str(explanation) and explanation.broken == ()
        assert type(explanation).from_dict(explanation.to_dict()) == explanation
    solution.save(tmp_path / "s.json")
    assert str(ilpinfer.Solution.load(tmp_path / "s.json").explain()) == str(explanation)
    by_heuristic = ilpinfer.decode(trellis, TWO, method="viterbi")
    assert by_heuristic.status == "unknown" and by_heuristic.explain().broken


def hard_conflict():
    """Six rules; four contradict each other, and the cheapest relaxation takes long."""
    rules = [
        C.logic(f"forall t: {x}(t) -> exists s > t: {y}(s)", name=x) for x, y in ("ab", "bc", "cd", "da")
    ]
    rules += [C.at_least_tokens("a", 1), C.exactly_runs("b", 3)]
    random = np.random.default_rng(0)
    scores = random.normal(size=(60, 4)), random.normal(size=(4, 4))
    return Trellis.from_emissions(*scores, labels=list("abcd")), rules


def test_a_search_for_a_conflict_ends_in_time_and_says_what_is_missing():
    trellis, rules = hard_conflict()
    context = ilpinfer.decode(trellis, rules[4:]).context
    context = replace(context, rules=compiler_of(RuleSet(tuple(rules))), known_problem=None)
    explain_infeasibility(context, 5.0)  # loads kernels
    for seconds in (1e-6, 0.05, 0.5):
        began = time.process_time()
        reasons = explain_infeasibility(context, seconds)
        assert time.process_time() - began < at_most(seconds + 0.1)
        assert "relaxation" in reasons.unfinished or reasons.relaxation
        assert reasons.reason, "never without a word"
        for part, words in (("relaxation", "the cheapest relaxation"), ("conflict", "the fewest rules")):
            assert (part in reasons.unfinished) == (words in reasons.reason)
    assert [clash.rule for clash in explain_infeasibility(context, 2.0).conflict][:4] == list("abcd")


def test_the_limit_of_an_explanation_is_that_of_the_call(monkeypatch):
    trellis = Trellis.from_emissions([SOME] * 3, SOME_STEPS, labels=["a", "b"])
    limits = []
    monkeypatch.setattr(
        infeasibility, "explain_infeasibility", lambda _, seconds: limits.append(seconds) or Infeasibility()
    )
    for limit in (None, 30.0):
        ilpinfer.decode(trellis, TWO, time_limit=limit).explain()
    assert limits[0] is None and 10 < limits[1] <= 30


def test_a_solution_says_why_a_label_is_not_viterbis():
    scores = [[2.0, 0.0], [0.0, 1.0], [0.0, 1.0], [1.5, 0.0], [0.0, 2.0]]
    words = ["Knuth", "The", "Art", "of", "Programming"]
    trellis = Trellis.from_emissions(scores, SOME_STEPS, labels=["author", "title"], tokens=words)
    rules = [
        C.at_most_runs("title", 1, name="one title"),
        C.requires_before("author", "title", name="before"),
    ]
    solution = ilpinfer.decode(trellis, rules)
    assert str(solution.explain(token=3)) == (
        "token 3 (of): title, where Viterbi has author\n"
        '  author there, with all other labels as they are, breaks "one title" (1 more)\n'
        "  the best labelling with author there scores 0.5 nats less and breaks no rule more: "
        "1 [author]; 2 [author]; 3 [author]"
    )
    assert solution.explain(change=True) == solution.explain(token=3)
    assert (
        "it is Viterbi's label, too\n  no labelling with another label keeps"
        in str(solution.explain(token=0))
        or solution.explain(token=0).changes[0].status == "optimal"
    )
    assert str(ilpinfer.decode(trellis).explain(change=True)) == "every label is Viterbi's"
    for token in (-1, 5):
        with pytest.raises(ValueError, match=f"token is {token}; expected a whole number from 0 to 4"):
            solution.explain(token=token)
    second = ilpinfer.decode(trellis, [C.starts_with("title", name="first")]).explain(token=0).changes[0]
    assert second.status == "infeasible" and second.more == {"first": 1} and second.loss == math.inf
    assert 'one that keeps the others breaks "first" (1 more): 0 [author]' in str(second)
