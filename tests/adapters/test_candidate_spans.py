"""Spans that may overlap: the best set under rules, against all sets."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ilpinfer
from formulations import LabelSet, Trellis
from formulations import constraints as C
from ilpinfer.adapters.decisions import AdapterError, best_ids
from ilpinfer.adapters.spacy_sources import CandidateSpan, SpanLabels, span_trellis
from ilpinfer.decoding.decoder import Decoder
from ilpinfer.evaluation.counts import FieldTable

T = 5
candidates = st.lists(
    st.builds(
        lambda begin, length, field, p: CandidateSpan(begin, min(T, begin + length), field, p),
        st.integers(0, T - 1), st.integers(1, 3), st.sampled_from(["PER", "ORG"]), st.floats(0.05, 0.95),
    ),
    max_size=7,
)  # fmt: skip


def distinct(spans):
    best = {}
    for each in spans:
        place = (each.begin, each.end, each.field)
        best[place] = max(best.get(place, 0.0), each.probability)
    return best


def sets(spans):
    """Each set of spans that do not overlap, with the sum of their log odds."""
    best = distinct(spans)
    for size in range(len(best) + 1):
        for chosen in itertools.combinations(best, size):
            tokens = [t for begin, end, _ in chosen for t in range(begin, end)]
            if len(tokens) == len(set(tokens)):
                yield set(chosen), sum(math.log(best[place] / (1 - best[place])) for place in chosen)


def chosen_by(trellis, ids):
    table = FieldTable.of(trellis.labels)
    return {(first, last + 1, table.names[f]) for f, first, last in table.spans(np.asarray(ids))}


def counted(chosen, field):
    return sum(place[2] == field for place in chosen)


@given(candidates)
def test_every_set_is_one_labelling_and_the_best_is_found(spans):
    trellis = span_trellis(["x"] * T, spans, ["PER", "ORG"])
    every = list(sets(spans))
    solution = ilpinfer.decode(trellis)
    assert solution.score == pytest.approx(max(score for _, score in every), abs=1e-4)
    assert (chosen_by(trellis, solution.ids), pytest.approx(solution.score, abs=1e-4)) in every
    total = math.log(sum(math.exp(score) for _, score in every))
    assert ilpinfer.marginals(trellis).log_partition == pytest.approx(total, abs=1e-3)


@given(candidates, st.sampled_from([0.4, 1.5]))
def test_rules_count_the_spans_of_a_field(spans, penalty):
    """Also "each field", and spans of one field that begin or end together."""
    rules = [C.at_most_runs(C.EACH_FIELD, 1, penalty=penalty), C.requires_present("ORG", "PER")]
    trellis = span_trellis(["x"] * T, spans, ["PER", "ORG"])
    solution = ilpinfer.decode(trellis, rules)
    best = max(
        score - penalty * sum(max(0, counted(chosen, field) - 1) for field in ("PER", "ORG"))
        for chosen, score in sets(spans)
        if counted(chosen, "PER") or not counted(chosen, "ORG")
    )
    assert solution.score == pytest.approx(best, abs=1e-4)


@given(candidates)
def test_the_probability_of_a_span_is_that_of_its_labels(spans):
    trellis = span_trellis(["x"] * T, spans, ["PER", "ORG"])
    rules = [C.at_most_runs("PER", 1)]
    ids, chances = ilpinfer.decode(trellis, rules).ids, ilpinfer.marginals(trellis, rules).labels
    allowed = [(chosen, math.exp(score)) for chosen, score in sets(spans) if counted(chosen, "PER") <= 1]
    total = sum(weight for _, weight in allowed)
    for place in chosen_by(trellis, ids):
        wanted = sum(weight for chosen, weight in allowed if place in chosen) / total
        assert chances[range(place[0], place[1]), ids[place[0] : place[1]]] == pytest.approx(wanted, abs=1e-3)


def test_rules_see_the_fields_and_no_second_level():
    labels = SpanLabels(("O", "B-PER", "I-PER", "B-PER/B-2", "I-PER/I-2"), "paths")
    assert list(labels.fields) == ["O", "PER"]
    assert labels.fields["PER"].member.tolist() == [False] + [True] * 4
    assert [field.name for field in labels.with_optional_fields(["ORG"]).each_field] == ["PER"]
    assert "PER/2" in LabelSet(labels.names, "paths").fields


def test_certain_spans_have_finite_weights():
    trellis = span_trellis(["x", "y"], [CandidateSpan(0, 1, "A", 1.0), CandidateSpan(1, 2, "A", 0.0)])
    solution = ilpinfer.decode(trellis)
    assert solution.labels == ["B-A", "O"] and solution.score == pytest.approx(13.8155, abs=1e-3)


@pytest.mark.parametrize(
    ("span", "message"),
    [
        (CandidateSpan(0, 3, "A", 0.5), r"span 0 to 3 \(A\): expected a span of the 2 tokens"),
        (CandidateSpan(1, 1, "A", 0.5), "span 1 to 1"),
        (CandidateSpan(0, 1, "A", 1.5), "has probability 1.5; expected a number from 0 to 1"),
        (CandidateSpan(0, 1, "A", math.nan), "has probability nan"),
        (CandidateSpan(0, 1, "A/B", 0.5), "span label 'A/B': expected a text without '/'"),
        (CandidateSpan(0, 1, "", 0.5), "span label ''"),
    ],
)
def test_spans_that_are_none_are_refused(span, message):
    with pytest.raises(AdapterError, match=message):
        span_trellis(["x", "y"], [span])


@pytest.mark.parametrize(
    ("method", "rules", "message"),
    [
        (
            "auto",
            [C.starts_with("a"), C.ends_with("b")],
            "'x' the first: no labelling keeps the hard rules; the hard rules",
        ),
        (
            "viterbi",
            [C.starts_with("a")],
            "'x' the first: viterbi found no labelling that keeps the hard rules; give rules",
        ),
    ],
)
def test_a_method_without_a_labelling_is_named_once(method, rules, message):
    trellis = Trellis([0.0, 1.0], [], ["a", "b"], tokens=["x"])
    with pytest.raises(AdapterError, match=message):
        best_ids(trellis, Decoder(rules, method=method))
