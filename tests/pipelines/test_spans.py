"""Candidate spans that may overlap: the best set under rules, against all sets."""

import itertools
import math
import random
from types import SimpleNamespace

import numpy as np
import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st
from spacy.tokens import Span

import ilpinfer
from formulations import constraints as C
from ilpinfer.corpus.candidates import Candidate, CandidateSet

T = 5
PLACES = st.builds(
    lambda start, length, label, p: Candidate(start, min(T, start + length), label, p),
    st.integers(0, T - 1),
    st.integers(1, 4),
    st.sampled_from(["PER", "ORG"]),
    st.integers(5, 95).map(lambda share: share / 100),
)
CANDIDATES = st.lists(PLACES, max_size=7)
UNTIED = st.lists(PLACES, max_size=7, unique_by=lambda each: each.score)
RULES = {
    "none": ([], lambda chosen: 0),
    "one of each": (
        [C.at_most_runs(C.EACH_FIELD, 1, penalty=0.7)],
        lambda chosen: 0.7 * sum(max(0, count(chosen, label) - 1) for label in ("PER", "ORG")),
    ),
    "hard presence": (
        [C.requires_present("ORG", "PER")],
        lambda chosen: math.inf if count(chosen, "ORG") and not count(chosen, "PER") else 0,
    ),
    "order": (
        [C.requires_before("PER", "ORG", penalty=1.5)],
        lambda chosen: 1.5 * sum(
            not any(other.label == "PER" and other.start < each.start for other in chosen)
            for each in chosen
            if each.label == "ORG"
        ),
    ),
    "tokens": (
        [C.at_most_tokens("PER", 2)],
        lambda chosen: math.inf if sum(e.end - e.start for e in chosen if e.label == "PER") > 2 else 0,
    ),
}  # fmt: skip


def count(chosen, label):
    return sum(each.label == label for each in chosen)


def odds(each, prior=0.5):
    prior = prior[each.label] if isinstance(prior, dict) else prior
    return math.log(each.score / (1 - each.score)) - math.log(prior / (1 - prior))


def sets(candidates):
    """Each set of candidates that do not overlap; of equal places the likeliest."""
    best = {}
    for each in candidates:
        place = each.start, each.end, each.label
        best[place] = max(best.get(place, each), each, key=lambda one: one.score)
    for size in range(len(best) + 1):
        for chosen in itertools.combinations(best.values(), size):
            tokens = [t for each in chosen for t in range(each.start, each.end)]
            if len(tokens) == len(set(tokens)):
                yield frozenset(chosen)


def best_greedily(candidates):
    """The likeliest first, by repeated search of the whole list."""
    left, chosen = [each for each in set(candidates) if each.score > 0.5], set()
    while left:
        first = max(left, key=lambda each: (each.score, -each.start, -each.end))
        chosen.add(first)
        left = [each for each in left if each.end <= first.start or first.end <= each.start]
    return chosen


@pytest.mark.examples
@pytest.mark.parametrize("name", RULES)
@given(CANDIDATES, st.sampled_from([0.5, 0.2, {"PER": 0.3, "ORG": 0.6}]))
def test_the_best_set_is_that_of_all_sets_and_proved(name, candidates, prior):
    rules, cost = RULES[name]
    found = ilpinfer.select_spans(["x"] * T, candidates, rules, prior=prior, fields=["PER", "ORG"])
    worth = {chosen: sum(odds(each, prior) for each in chosen) - cost(chosen) for chosen in sets(candidates)}
    best = max(worth.values())
    assert found.solution.status == "optimal" and found.solution.certificate.kind == "exact"
    assert found.solution.score == pytest.approx(best, abs=1e-4)
    assert worth[frozenset(found.spans)] == pytest.approx(best, abs=1e-4)
    assert found.loss == pytest.approx(best - worth[frozenset(found.greedy)], abs=1e-4)


@given(UNTIED)
def test_the_greedy_choice_takes_the_likeliest_first(candidates):
    kept = {(e.start, e.end, e.label): e for e in sorted(candidates, key=lambda each: each.score)}.values()
    assert set(ilpinfer.select_spans(["x"] * T, candidates).greedy) == best_greedily(kept)


@given(CANDIDATES)
def test_every_set_is_one_labelling(candidates):
    group = CandidateSet.of(["x"] * T, candidates, ["PER", "ORG"])
    trellis = group.scores.trellis(group.names, ["x"] * T)
    every = list(sets(candidates))
    total = math.log(sum(math.exp(sum(map(odds, chosen))) for chosen in every))
    assert ilpinfer.marginals(trellis).log_partition == pytest.approx(total, abs=1e-3)
    for chosen in every:
        labels = group.labelling(chosen)
        assert set(group.chosen(labels)) == set(chosen)
        assert trellis.score(labels) == pytest.approx(sum(map(odds, chosen)), abs=1e-4)


@given(UNTIED)
def test_the_method_takes_what_the_function_takes(candidates):
    group = CandidateSet.of(["x"] * T, candidates, ["PER"])
    trellis = group.scores.trellis(group.names, ["x"] * T)
    solution = ilpinfer.decode(trellis, [C.at_most_runs("PER", 1, penalty=9)], method="greedy-spans")
    assert tuple(group.chosen(solution.labels)) == ilpinfer.select_spans(["x"] * T, candidates).greedy
    assert solution.bound >= solution.score


TEXT = "Ada King met Bob."
FORMS = {
    "tuples": [(0, 8, "PER", 0.9), (13, 16, "PER", 0.7)],
    "dictionaries": [
        {"start": 0, "end": 8, "label": "PER", "score": 0.9, "text": "Ada King"},
        {"start": 13, "end": 16, "entity_group": "PER", "score": np.float32(0.7), "word": "Bob"},
    ],
    "results": [
        SimpleNamespace(start=0, end=8, entity_type="PER", score=0.9),
        SimpleNamespace(start=13, end=16, entity_type="PER", score=0.7),
    ],
    "candidates": [Candidate(0, 8, "PER", 0.9), Candidate(13, 16, "PER", 0.7)],
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_candidates(form):
    found = ilpinfer.select_spans(TEXT, FORMS[form])
    assert [TEXT[each.start : each.end] for each in found.spans] == ["Ada King", "Bob"]
    assert found.loss == 0 and found.solution.labels == ["B-PER", "E-PER", "O", "S-PER", "O"]


def test_spans_of_spacy_and_their_tokens():
    Span.set_extension("score", default=0.9, force=True)
    doc = spacy.blank("en")(TEXT)
    spans = [Span(doc, 0, 2, "PER"), Span(doc, 3, 4, "PER")]
    by_characters = ilpinfer.select_spans(TEXT, spans)
    by_tokens = ilpinfer.select_spans([token.text for token in doc], spans)
    assert [(each.start, each.end) for each in by_characters.spans] == [(0, 8), (13, 16)]
    assert [(each.start, each.end) for each in by_tokens.spans] == [(0, 2), (3, 4)]


@pytest.mark.parametrize(
    ("text", "span", "tokens"),
    [
        ("naïve-Bayes 42", (0, 5), ["naïve", "-Bayes", "42"]),
        ("a  b", (0, 3), ["a", "b"]),
        ("10,000km", (6, 8), ["10", ",", "000", "km"]),
    ],
)
def test_tokens_are_cut_where_a_candidate_needs_it(text, span, tokens):
    found = ilpinfer.select_spans(text, [(*span, "x", 0.9)])
    assert len(found.solution.labels) == len(tokens)
    assert [(each.start, each.end) for each in found.spans] == [span]


def test_characters_of_tokens_are_those_of_the_tokens_with_spaces():
    words = ["Ada", "King", "."]
    assert ilpinfer.select_spans(words, [(0, 8, "PER", 0.9)], offsets="characters").solution.labels == [
        "B-PER",
        "E-PER",
        "O",
    ]


def test_thresholds_duplicates_and_priors():
    candidates = [(0, 1, "A", 0.3), (0, 1, "A", 0.4), (1, 2, "A", 0.05)]
    found = ilpinfer.select_spans(["x", "y"], candidates, threshold=0.1)
    assert (found.spans, found.duplicates, found.below) == ((), 1, 1)
    assert [each.score for each in ilpinfer.select_spans(["x", "y"], candidates, prior=0.2).spans] == [0.4]
    by_label = ilpinfer.select_spans(["x", "y"], [*candidates, (1, 2, "B", 0.4)], prior={"B": 0.2})
    assert [each.label for each in by_label.spans] == ["B"]


def test_certain_candidates_have_finite_scores():
    found = ilpinfer.select_spans(["x", "y"], [(0, 1, "A", 1.0), (1, 2, "A", 0.0)])
    assert found.solution.score == pytest.approx(13.8155, abs=1e-3) and len(found.spans) == 1


def test_no_candidates_and_rules_that_nothing_keeps():
    assert ilpinfer.select_spans("Ada", []).spans == ()
    found = ilpinfer.select_spans(["x"], [(0, 1, "A", 0.9)], [C.at_least_runs("A", 2)])
    assert (found.spans, found.solution.status) == ((), "infeasible") and math.isnan(found.loss)
    found = ilpinfer.select_spans(["x"], [(0, 1, "A", 0.9)], [C.at_most_runs("A", 0)])
    assert (found.spans, found.loss) == ((), math.inf)


def test_thousands_of_candidates_need_no_dense_edges():
    draw = random.Random(1)
    candidates = []
    for _ in range(2000):
        start = draw.randrange(3995)
        candidates.append((start, start + draw.randint(1, 4), f"f{draw.randrange(8)}", draw.random()))
    group = ilpinfer.select_spans(["x"] * 4000, candidates, [C.at_most_runs("f0", 99, penalty=0.5)])
    assert group.solution.status == "optimal" and group.loss > 1


NAMED = [
    C.at_most_runs("PER", 1),
    C.requires_present("ORG", "LOC"),
    C.logic("forall t: field(t) = DATE -> t > 0"),
]


@pytest.mark.parametrize("candidates", [[(0, 3, "PER", 0.9)], []])
def test_fields_that_no_candidate_has_are_absent(candidates):
    chosen = ilpinfer.select_spans("Ada slept", candidates, NAMED).spans
    assert [each.label for each in chosen] == [label for _, _, label, _ in candidates]
    verdict = ilpinfer.select_spans("Ada slept", [(0, 3, "ORG", 0.9)], NAMED)
    assert not verdict.spans and verdict.loss == math.inf


@pytest.mark.parametrize("score", [1.0000001, float(np.float32(1.0000001)), np.float32(1.0000001), -1e-8])
def test_rounding_of_single_precision_is_no_error(score):
    found = ilpinfer.select_spans("Ada", [(0, 3, "PER", score)], prior=1e-7).solution
    assert found.labels == ["S-PER" if score > 1 else "O"]


@pytest.mark.parametrize("score", [1.00001, -0.001, math.nan, "1", True, None])
def test_other_scores_outside_are_errors(score):
    with pytest.raises(ValueError, match="candidate 0: score is"):
        ilpinfer.select_spans("Ada", [(0, 3, "PER", score)])


def test_span_groups_of_spacy_are_read():
    doc = spacy.blank("en")("Ada Byron met Bob")
    spans = [Span(doc, 0, 2, "PER"), Span(doc, 1, 2, "PER"), Span(doc, 3, 4, "PER")]
    doc.spans["sc"] = spacy.tokens.SpanGroup(
        doc, name="sc", spans=spans, attrs={"scores": np.float32([0.9, 0.95, 0.8])}
    )
    rules = [C.at_most_runs("PER", 1), C.at_most_runs("ORG", 1)]
    for text, ends in ((doc.text, (4, 9)), (doc, (1, 2)), ([word.text for word in doc], (1, 2))):
        (found,) = ilpinfer.select_spans(text, doc.spans["sc"], rules).spans
        assert (found.start, found.end) == ends
    doc.spans["bare"] = spans
    with pytest.raises(
        ValueError,
        match=r"doc\.spans\['bare'\]\.attrs\['scores'\]: none, for 3 spans; expected a probability",
    ):
        ilpinfer.select_spans(doc, doc.spans["bare"])
