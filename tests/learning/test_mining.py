"""Rules mined from small data made by hand: counts, costs, families, folds, choice and bad input."""

import math
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from formulations import constraints as C
from formulations import dump_rules, parse_rules
from formulations.labels.label_set import LabelSet
from formulations.labels.reading import Reading
from formulations.tokens.token_pattern import in_class
from ilpinfer.learning import FAMILIES, RuleMiner

NONE = {"pruning": "none", "gain": 0, "folds": 0}


def pair(text, labels):
    return text.split(), labels.split()


REFERENCE = pair("Ada Lovelace , Notes on engines , 1843", "author author O title title title O date")
EDITED = pair("Ed Ward , Notes , 1990", "editor editor O title O date")


def mined(pairs, families, **options):
    result = RuleMiner(families=families, **{**NONE, "support": 2, "word_support": 2, **options}).fit(pairs)
    return {each.rule.title: each for each in result.entries}


def test_costs_are_log_probabilities_of_violations():
    pairs = [REFERENCE] * 9 + [pair("x y z", "author title author")]
    found = mined(pairs, ["one-run"], confidence=0.5, smoothing=1.0)["at_most_runs(author, 1)"]
    assert (found.support, found.held, found.broken, found.confidence) == (10, 9, 1, 0.9)
    assert found.cost == pytest.approx(-math.log(2 / 12), abs=1e-4)
    assert found.rule.reason == "held 9, broken 1 of 10 (90.0 %), lift 1.6"
    rate = 1.1
    chance = rate * math.exp(-rate) / (1 - math.exp(-rate))
    assert found.lift == pytest.approx(0.9 / chance)
    assert found.gain == pytest.approx(9 * math.log(0.9 / chance) + math.log(0.1 / (1 - chance)))
    dear = mined([REFERENCE] * 9, ["one-run"])["at_most_runs(author, 1)"]
    assert dear.cost > found.cost


@pytest.mark.parametrize(
    "family, expected, absent",
    [
        ("one-run", "at_most_runs(title, 1)", "at_most_runs(note, 1)"),
        ("requires-present", "requires_present(author, title)", "requires_present(title, author)"),
        ("never-together", "never_together(author, editor)", "never_together(author, date)"),
        ("requires-before", "requires_before(title, date)", "requires_before(date, title)"),
        ("precedence", "precedence(author, date)", "precedence(date, author)"),
        ("presence-precedence", "presence_precedence(title, date)", "presence_precedence(date, title)"),
        ("adjacency", "adjacency(page, number)", "adjacency(number, page)"),
        ("state-change", 'state_change(author, title, ",")', 'state_change(title, author, ",")'),
        ("begin-end", "begin_end(author, date)", "begin_end(author, title)"),
        ("minimum-length", "min_run_length(author, 2)", "min_run_length(date, 2)"),
        ("maximum-length", "max_run_length(date, 1)", "max_run_length(title, 2)"),
        ("alternation", "alternation(number, page)", "alternation(note, page)"),
        ("spacing", "max_gap(beat, beat, 3)", "max_gap(beat, beat, 4)"),
        ("words", 'tag_at(title, "engines" or "notes" or "on")', 'tag_at(O, "notes")'),
        ("next-words", 'tag_at(author, "," or "lovelace", capitalised)', 'right_before(author, "lovelace")'),
        ("conjunctions", 'tag_at(volume, "in", number)', "tag_at(volume, lowercase, number)"),
        ("first-field", "starts_with(author or editor)", "starts_with(author)"),
        ("last-field", "ends_with(date)", "ends_with(title)"),
    ],
)
def test_each_family_finds_its_rule(family, expected, absent):
    pages = pair("p 12 p 3 4", "page number page number number")
    pairs = [REFERENCE] * 6 + [EDITED] * 6
    if family == "adjacency":
        pairs = [pages] * 4
    if family == "alternation":
        pairs = [pair("p 1 x p 2 x . y", "page number note page number note O note")] * 4
    if family == "spacing":
        pairs = [pair("a b c d " * 4, "beat O O O " * 4)] * 4
    if family == "next-words":
        pairs = [REFERENCE] * 6 + [pair("lovelace Lovelace", "O O")] * 3
    if family == "conjunctions":
        pairs = [pair("in 7 x in y", "O volume O O O"), pair("p 7 x", "O page O")] * 6
    titles = mined(pairs, [family])
    assert expected in titles and absent not in titles
    assert {each.family for each in titles.values()} == {family}


def test_a_word_before_another_shows_a_field_whatever_it_is():
    pairs = [pair("Acme Inc grew", "company company O"), pair("the tiny Inc", "O company company")] * 5
    titles = mined(pairs, ["next-words"], gain=1.0)
    assert titles['right_before(company, "grew" or "inc")'].held == 15


def test_a_capitalised_word_before_a_company_suffix():
    """Liao et al. 2009, rule 2: small words before the suffix are no companies, so that the class is part of the rule."""
    names = "Acme Ltd", "Acme Corp", "Zeta Ltd", "Zeta Corp"
    pairs = [pair(f"{name} grew", "company company O") for name in names]
    pairs += [pair(f"{name} grew", "O company O") for name in ("the Ltd", "a Corp")]
    pairs.append(pair("Berlin grew", "O O"))
    miner = RuleMiner(families=["next-words"], support=10, gain=0.5, pruning="none")
    result = miner.fit(pairs * 6)
    found = next(each for each in result.entries if each.rule.title.startswith("tag_at(company"))
    suffixes = C.tokens(["corp", "ltd"])
    expected = C.tag_at("company", token_class="capitalised", following=suffixes)
    assert found.rule.statement == expected.statement
    assert (found.held, found.broken, found.base) == (24, 0, pytest.approx(60 / 66))
    assert not any(each.rule.title.startswith("right_before(company") for each in result.entries)


def test_clauses_have_no_literal_too_many():
    """Every clause that shows a field where no shorter one does, found by trying all of them on every token."""
    random = np.random.default_rng(0)
    words = ("7", "1998", "in", "In", ",")
    pairs = []
    for _ in range(40):
        tokens = [words[k] for k in random.integers(len(words), size=6)]
        marked = [t > 0 and tokens[t] == "7" and tokens[t - 1].lower() == "in" for t in range(6)]
        last = [t < 5 and tokens[t].isdigit() and tokens[t + 1] == "," for t in range(6)]
        pairs.append((tokens, ["volume" if a and b else "O" for a, b in zip(marked, last, strict=True)]))
    result = RuleMiner(families=["conjunctions"], **NONE, support=2, word_support=2, confidence=1.0).fit(
        pairs
    )
    statements = {each.rule.statement for each in result.entries}
    sample = [(tokens, t, labels[t] == "volume") for tokens, labels in pairs for t in range(6)]
    texts = "7", "1998", "in", ","

    def fits(tokens, t, literals):
        def one(place, kind):
            if not 0 <= t + place < 6:
                return False
            token = tokens[t + place]
            return kind == token.lower() if kind in texts else in_class(token, kind)

        return all(one(place, kind) for place, kind in literals)

    def shows(literals):
        outcomes = [volume for tokens, t, volume in sample if fits(tokens, t, literals)]
        return len(outcomes) >= 2 and all(outcomes)

    every = [
        tuple((place, kind) for place, kind in zip((0, -1, 1), chosen, strict=True) if kind)
        for chosen in product(("", *texts, *C.TOKEN_CLASSES), repeat=3)
    ]
    every = [x for x in every if x and sum(kind in texts for _, kind in x) <= 1]
    showing = {frozenset(x) for x in every if shows(x)}
    stated = {x for x in showing if 0 in dict(x) or (dict(x).keys() == {1} and dict(x)[1] in texts)}
    least = {x for x in stated if not any(other < x for other in stated)}
    expected = {x for x in least if len(x) > 1}
    found = set()
    for statement in (each for each in statements if each.field == "volume"):
        patterns = {0: statement.pattern_of_tokens, -1: statement.previous, 1: statement.following}
        given = [
            [(place, kind) for kind in (p.words or [p.token_class])] for place, p in patterns.items() if p
        ]
        found |= {frozenset(literals) for literals in product(*given)}
    assert expected and found == expected


def test_rare_words_need_more_occurrences_where_they_do_not_hold_held_out():
    """Each of many rare words is of one field where it was seen and of the other later: the frequent word alone is kept."""
    rare = [pair(f"w{n} z", "a b") for n in range(60) for _ in range(5)]
    misleading = [pair(f"w{n} z", "c b") for n in range(60) for _ in range(1)]
    frequent = [pair("often z", "a b")] * 100
    options = {"families": ["words"], "pruning": "none", "confidence": 0.8, "gain": 0.5, "folds": 4}
    kept = RuleMiner(**options).fit([*rare, *misleading, *frequent])
    words = next(each.rule.statement.words for each in kept.entries if each.rule.statement.field == "a")
    assert "often" in words
    alone = RuleMiner(**{**options, "confidence": 0.9}).fit([*rare, *misleading, *frequent])
    assert next(e.rule.statement.words for e in alone.entries if e.rule.statement.field == "a") == ("often",)


ROUGH = ("Ada", "Inc", "x", ",", "1998", "", 'q"\\', "İ", "\u2028", "@newline@")
SCHEMES = {
    "plain": ("a", "b", "c", "O"),
    "bio": ("B-a", "I-a", "B-b", "I-b", "B-c", "O"),
    "iobes": ("B-a", "I-a", "E-a", "S-a", "B-b", "I-b", "E-b", "S-b", "S-c", "O"),
    "paths": ("B-a", "I-a", "I-a/B-x", "I-a/I-x", "B-b/B-x", "I-b/I-x", "I-b", "B-c", "O"),
}


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("seed", range(6))
def test_random_data_of_every_scheme(scheme, seed):
    """Odd tokens, few sequences: counts are those of the rules, and the file is read back."""
    names, random = SCHEMES[scheme], np.random.default_rng(seed)
    words = random.dirichlet(np.full(len(ROUGH), 0.4), size=len(names))
    steps = random.dirichlet(np.full(len(names), 0.3), size=len(names))
    pairs = []
    for _ in range(20):
        ids = [int(random.integers(len(names)))]
        for _ in range(random.integers(7)):
            ids.append(int(random.choice(len(names), p=steps[ids[-1]])))
        tokens = [ROUGH[random.choice(len(ROUGH), p=words[k])] for k in ids]
        pairs.append((tokens, [names[k] for k in ids]))
    options = {"support": 2, "word_support": 1, "confidence": 0.6, "gain": 0.5, "folds": 2 * (seed % 2)}
    result = RuleMiner(pruning=("cover", "none")[seed % 3 == 0], seed=seed, **options).fit(pairs, scheme)
    assert result.entries
    labels = LabelSet(tuple(sorted({name for _, labelling in pairs for name in labelling})), scheme)
    for each in result.entries:
        trials = [t for tokens, names in pairs for t in each.rule.trials(Reading(names, tokens, labels))]
        assert (each.support, each.broken) == (len(trials), sum(t.amount > 0 for t in trials))
    assert list(parse_rules(dump_rules(result.rules))) == [each.rule for each in result.entries]


def test_fields_that_contain_each_other_are_not_paired():
    pairs = [pair("x y z", "B-v/B-p I-v B-t")] * 8
    result = RuleMiner(support=2, word_support=2, **NONE).fit(pairs)
    for each in result.entries:
        fields = [name for name in each.rule.statement.selectors if isinstance(name, str)]
        assert sorted(fields) != ["v", "v/p"]
    assert any(each.rule.title == "requires_present(t, v)" for each in result.entries)


def test_rules_that_chance_would_keep_are_dropped():
    """Both fields are in nearly all sequences; that one asks for the other says nothing."""
    both, one = pair("x y", "a b"), pair("x x", "a a")
    pairs = [both] * 98 + [one] * 2
    assert "requires_present(a, b)" in mined(pairs, ["requires-present"])
    result = RuleMiner(families=["requires-present"], gain=5.0, folds=0).fit(pairs)
    assert not result.entries
    assert [(d.reason, d.number) for d in result.dropped] == [("below the gain", 2)]


def test_a_rule_of_a_rare_field_has_to_hold_for_it():
    """`a` is everywhere, so that most trials of never_together are about it alone."""
    pairs = [pair("x x", "a a")] * 95 + [pair("x y", "a b")] * 3 + [pair("y y", "b b")] * 2
    assert mined(pairs, ["never-together"], confidence=0.9) == {}


def test_rules_hold_on_held_out_folds():
    """The first sequences alone keep the rule, so that some folds break what the others teach."""
    pairs = [pair("x y z", "a b c")] * 95 + [pair("y x z", "b a c")] * 5
    result = RuleMiner(families=["precedence"], gain=0, confidence=0.9, pruning="none").fit(pairs)
    rules = {each.rule.title: each for each in result.entries}
    assert (rules["precedence(a, c)"].folds_held, rules["precedence(a, c)"].folds_applied) == (5, 5)
    odd = [pair("x y", "a b")] * 10 + [pair("u v", "d e")] * 90
    pairs = [*odd[:5], *odd[10:], *odd[5:10]]
    broken = [pair("x u", "a d"), pair("x v", "a e")]
    one_fold = RuleMiner(families=["requires-present"], gain=0, confidence=0.85, pruning="none", support=5)
    kept = one_fold.fit(pairs)
    assert "requires_present(a, b)" in {each.rule.title for each in kept.entries}
    mixed = one_fold.fit([*pairs[:50], *broken, *pairs[50:]])
    assert "requires_present(a, b)" not in {each.rule.title for each in mixed.entries}


def test_no_rule_is_kept_that_holds_in_no_held_out_fold():
    pairs = [REFERENCE] * 40 + [EDITED] * 40 + [pair("x y z", "note title author")] * 20
    result = RuleMiner(support=3, confidence=0.7, gain=0, word_support=2, pruning="none").fit(pairs)
    assert result.entries
    assert all(2 * r.folds_held >= r.folds_applied > 0 and r.folds_held for r in result.entries)
    unstable = [d for d in result.dropped if d.reason == "not held in folds"]
    assert all(2 * r.folds_held < r.folds_applied or not r.folds_held for d in unstable for r in d.rules)


def test_pruning_keeps_few_rules_in_the_order_of_their_power():
    pairs = [REFERENCE, EDITED] * 20
    every = RuleMiner(support=5, pruning="none").fit(pairs)
    few = RuleMiner(support=5).fit(pairs)
    power = [each.discrimination for each in few.entries]
    assert few.proved and power == sorted(power, reverse=True) and min(power) > 0
    assert 0 < len(few.entries) < len(every.entries)
    reasons = {dropped.reason: dropped for dropped in few.dropped}
    pruned = [reasons[name] for name in ("redundant", "follows from another rule") if name in reasons]
    assert pruned and all(dropped.number == len(dropped.rules) for dropped in pruned)
    assert len(few.entries) + sum(dropped.number for dropped in pruned) == len(every.entries)
    strong = RuleMiner(support=5, power=power[0]).fit(pairs)
    assert [each.rule for each in strong.entries] == [
        r.rule for r in few.entries if r.discrimination == power[0]
    ]
    assert RuleMiner(support=5, most=2).fit(pairs).entries == few.entries[:2]


def test_predictions_are_what_rules_have_to_tell_apart():
    """A model that forgets dates: rules that show it are kept, and no others."""
    pairs = [REFERENCE, EDITED] * 20
    forgets = [[name.replace("date", "O") for name in names] for _, names in pairs]
    result = RuleMiner(support=5).fit(pairs, predictions=forgets)
    assert result.wrong == 40 and sum(each.discrimination for each in result.entries) == 40
    assert len(result.entries) == 1 and "date" in result.entries[0].rule.title
    some = [names if i == 0 else None for i, names in enumerate(forgets)]
    assert RuleMiner(support=5).fit(pairs, predictions=some).wrong == 1


def test_the_confidence_is_chosen_by_cross_validation():
    """One pair in ten is the other way round: a rule of 90 % tells most wrong labellings from right ones."""
    pairs = ([pair("x y z", "a b c")] * 9 + [pair("y x z", "b a c")]) * 10
    result = RuleMiner(families=["precedence"], gain=0, confidence="cross-validated").fit(pairs)
    assert result.confidence == 0.8
    clean = RuleMiner(families=["precedence"], gain=0, confidence="cross-validated").fit([pairs[0]] * 50)
    assert clean.confidence == 0.98


def test_where_no_rule_survives_it_says_which_threshold_to_lower():
    result = RuleMiner(support=1000).fit([REFERENCE] * 20)
    assert result.entries == () and len(result.rules) == 0
    assert result.remark.startswith("no rule found in 20 sequences (")
    assert result.remark.endswith("below the support); lower the support")
    nothing = RuleMiner(families=["adjacency"], folds=0).fit([pair("x y", "a O")] * 3)
    said = "no rule found in 3 sequences (no candidate at all)"
    assert nothing.remark == f"{said}; give more sequences, or more families"
    assert RuleMiner(support=5).fit([REFERENCE] * 20).remark == ""


def test_one_family_may_be_named_alone():
    assert RuleMiner(families="words").families == ("words",)
    others = ("conjunctions", "maximum-length", "alternation", "spacing")
    assert replace(RuleMiner(), support=3).families == tuple(each for each in FAMILIES if each not in others)


def test_spacing_of_beats_and_bars():
    """Beats of four: the first comes at least every four tokens and at most once in four; long runs come within their bounds."""
    bars = [("a b c d " * 4, "one two three four " * 4), ("a b c d " * 3, "one two three four " * 3)]
    titles = mined([pair(*each) for each in bars] * 3, ["spacing"])
    assert "max_gap(one, one, 3)" in titles and "at_most_in_window(one, 1, 4)" in titles
    assert titles["max_gap(one, one, 3)"].held == 3 * (3 + 2)
    assert titles["at_most_in_window(one, 1, 4)"].held == 3 * (13 + 9)
    segments = [pair("r " * (n + 4), "i i " + "m " * n + "o o") for n in (15, 18, 22, 30)] * 5
    found = mined(segments, ["maximum-length"], gain=5.0)["max_run_length(m, 30)"]
    assert found.base == pytest.approx(1 - (1 - 1 / 21.25) ** 30)
