"""Segmentation and tagging in tandem, on documents made of generated résumé items."""

import random

import pytest

from formulations import load_rules
from ilpinfer.corpus import NEWLINE, resumes
from ilpinfer.evaluation.evaluation import Pair, evaluate
from ilpinfer.models.hmm import HMM
from ilpinfer.pipelines.tandem import (
    Level,
    Segment,
    Tandem,
    describe_lines,
    labels_in_order,
    line_labels,
    lines,
)

HOBBIES = ["reading novels", "long walks", "chess", "old clocks", "cooking for friends", "running"]


def test_lines_and_what_a_tagger_of_lines_sees_and_learns():
    tokens = ("a", "b", NEWLINE, NEWLINE, "c")
    assert lines(tokens) == [range(3), range(3, 4), range(4, 5)]
    assert lines((NEWLINE,)) == [range(1)]
    assert describe_lines(tokens, ("x", "y", "y", "O", "x")) == ("x+y", "blank", "x")
    assert labels_in_order("pqrs", "xxyx") == "x+y+x"
    assert line_labels(tokens, [Segment("item", 0, 3)]) == ("B-item", "I-item", "O")


def document(items, seed):
    """Personal lines, some items and hobbies, with labels, sections and items."""
    rng = random.Random(seed)
    tokens, labels, result = [], [], []

    def write(words, names):
        first = len(tokens)
        tokens.extend([*words, NEWLINE])
        labels.extend([*names, resumes.IGNORE])
        return first, len(tokens) - 1

    def plain(count):
        lines = [rng.choice(HOBBIES).split() for _ in range(count)]
        spans = [write(words, ["hobby"] * len(words)) for words in lines]
        return spans[0][0], spans[-1][1]

    sections = [Segment("personal", *plain(2))]
    for item in items:
        result.append(Segment("item", *write(item.tokens, item.labels)))
    sections.append(Segment("experience", result[0].first, result[-1].last))
    sections.append(Segment("hobbies", *plain(rng.randint(2, 4))))
    return tuple(tokens), tuple(labels), sections, result


def documents(count, seed):
    items = iter(resumes.items(3 * count, seed))
    return [document([next(items) for _ in range(3)], seed + n) for n in range(count)]


@pytest.fixture(scope="module")
def trained():
    training = documents(60, 1)
    tagger = HMM.train([(tokens, labels) for tokens, labels, _, _ in training])
    sections, items = [], []
    for tokens, labels, result, inner in training:
        sections.append((describe_lines(tokens, labels), line_labels(tokens, result)))
        first, last = result[1].first, result[1].last + 1
        moved = [Segment(part.field, part.first - first, part.last - first) for part in inner]
        tokens, labels = tokens[first:last], labels[first:last]
        items.append((describe_lines(tokens, labels), line_labels(tokens, moved)))
    levels = Level(tagger, HMM.train(sections), keep="experience"), Level(tagger, HMM.train(items))
    return Tandem(levels, tagger, tuple(load_rules("resume")))


def test_sections_items_and_labels_are_found(trained):
    tests = documents(12, 500)
    predicted, with_gold = [], []
    right = total = 0
    for tokens, labels, sections, items in tests:
        first, last = sections[1].first, sections[1].last
        inside = tuple(label if first <= t <= last else "O" for t, label in enumerate(labels))
        result = trained.label(tokens)
        right += sum(part in result.segments[0] for part in sections)
        total += len(sections)
        gold = trained.label(tokens, [sections, items])
        assert gold.segments == (tuple(sections), tuple(items))
        assert len(gold.solutions) == 3 and all(each.status == "optimal" for each in gold.solutions)
        predicted.append(Pair(tokens, result.labels, inside))
        with_gold.append(Pair(tokens, gold.labels, inside))
    assert right >= 0.9 * total
    assert evaluate(with_gold).accuracy > 0.9
    assert evaluate(predicted).accuracy > 0.85


def test_segments_of_one_level_may_be_given(trained):
    tokens, _, sections, _ = documents(1, 900)[0]
    result = trained.label(tokens, [sections])
    assert result.segments[0] == tuple(sections)
    first, last = sections[1].first, sections[1].last
    assert all(first <= part.first <= part.last <= last for part in result.segments[1])
    assert set(result.labels[: sections[1].first]) == {"O"}
