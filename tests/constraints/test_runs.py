"""Changes of whole runs, under every scheme, held against a labelling that is read and written by hand."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.effort import examples

from formulations import LabelSet
from ilpinfer.kernels.native import kernels

SCHEMES = {
    "plain": ("O", "a", "b"),
    "bio": ("O", "B-a", "I-a", "B-b", "I-b"),
    "iob1": ("O", "B-a", "I-a", "B-b", "I-b"),
    "iobes": ("O", *(f"{p}-{f}" for f in "ab" for p in "BIES")),
    "bilou": ("O", *(f"{p}-{f}" for f in "ab" for p in "BILU")),
    "bmes": ("O", *(f"{p}-{f}" for f in "ab" for p in "BMES")),
}
MARKS = {"iobes": "BIES", "bilou": "BILU", "bmes": "BMES"}


def write(spans, scheme):
    """Names of the labels of runs (field, length)."""
    names, before = [], ""
    for field, length in spans:
        if field == "O" or scheme == "plain":
            names += [field] * length
        elif scheme == "bio":
            names += [f"B-{field}", *[f"I-{field}"] * (length - 1)]
        elif scheme == "iob1":
            names += [f"{'B' if field == before else 'I'}-{field}", *[f"I-{field}"] * (length - 1)]
        else:
            first, inner, last, only = MARKS[scheme]
            longer = [f"{first}-{field}", *[f"{inner}-{field}"] * (length - 2), f"{last}-{field}"]
            names += [f"{only}-{field}"] if length == 1 else longer
        before = field
    return names


def changed(kinds, begin, end, field, scheme):
    """The runs of tokens after begin … end - 1 have become one run; a kind is (field, number of its run).

    What is left of a run of the same field goes on with it where BIO and IOB1 would.
    """
    rest = [(f, (n, "after")) for f, n in kinds[end:]]
    if scheme in ("bio", "iob1") and rest and kinds[end] == kinds[end - 1] and rest[0][0] == field:
        rest = [(field, "new") if kind == rest[0] else kind for kind in rest]
    tokens = [*kinds[:begin], *[(field, "new")] * (end - begin), *rest]
    spans = []
    for token in tokens:
        if spans and spans[-1][0] == token:
            spans[-1][1] += 1
        else:
            spans.append([token, 1])
    return [(field, length) for (field, _), length in spans]


def joined(spans, scheme):
    """Neighbours of one field are one run where the scheme cannot tell them apart."""
    result = []
    for field, length in spans:
        if result and result[-1][0] == field and (field == "O" or scheme == "plain"):
            result[-1] = (field, result[-1][1] + length)
        else:
            result.append((field, length))
    return result


runs = st.lists(st.tuples(st.sampled_from("Oab"), st.integers(1, 4)), min_size=1, max_size=5)


@pytest.mark.parametrize("scheme", SCHEMES)
@settings(max_examples=examples(150))
@given(spans=runs, data=st.data())
def test_a_stretch_becomes_one_run_and_its_neighbours_stay_well_formed(scheme, spans, data):
    labels = LabelSet(SCHEMES[scheme], scheme)
    spans = joined(spans, scheme)
    y = labels.ids(write(spans, scheme)).astype(np.int32)
    begin = data.draw(st.integers(0, len(y) - 1))
    end = data.draw(st.integers(begin + 1, len(y)))
    k = data.draw(st.integers(0, len(labels) - 1))
    kinds = [(field, number) for number, (field, length) in enumerate(spans) for _ in range(length)]
    before, field = y.copy(), labels.names[k].split("-")[-1]
    first, last = kernels.put(y, begin, end, k, (labels.joins, labels.run_forms))
    assert [labels.names[i] for i in y] == write(
        joined(changed(kinds, begin, end, field, scheme), scheme), scheme
    )
    assert all(first <= t <= last for t in np.flatnonzero(y != before))


@pytest.mark.parametrize("scheme", SCHEMES)
@settings(max_examples=examples(150))
@given(spans=runs, data=st.data())
def test_a_border_moves_by_one_token(scheme, spans, data):
    labels = LabelSet(SCHEMES[scheme], scheme)
    spans = joined(spans, scheme)
    names = write(spans, scheme)
    if len(spans) < 2:
        return
    cut = data.draw(st.integers(1, len(spans) - 1))
    (left, n), (right, m) = spans[cut - 1 : cut + 1]
    if left == right:
        return
    t = sum(length for _, length in spans[:cut])
    for change, sizes in ((kernels.shift_back, (n - 1, m + 1)), (kernels.shift_on, (n + 1, m - 1))):
        after = [*spans[: cut - 1], (left, sizes[0]), (right, sizes[1]), *spans[cut + 1 :]]
        after = [span for span in after if span[1]]
        if any(a[0] == b[0] for a, b in zip(after, after[1:])):
            continue
        y = labels.ids(names).astype(np.int32)
        before = y.copy()
        first, last = change(y, t, (labels.joins, labels.run_forms))
        assert [labels.names[i] for i in y] == write(after, scheme)
        assert all(first <= s <= last for s in np.flatnonzero(y != before))


def test_runs_are_cut_where_the_scheme_begins_one():
    labels = LabelSet(("O", "B-a", "I-a", "B-b"))
    y = labels.ids(["B-a", "I-a", "B-a", "O", "O", "B-b", "I-a"]).astype(np.int32)
    borders = np.empty(len(y), np.int64)
    count = kernels.cuts(y, labels.joins, borders)
    assert borders[:count].tolist() == [0, 2, 3, 5, 6]


def test_forms_of_paths_keep_the_levels_above():
    labels = LabelSet(("B-v/B-p", "I-v/B-p", "I-v/I-p", "I-v", "O"))
    forms = [[labels.names[k] for k in row] for row in labels.run_forms]
    first, inner = "I-v/B-p", "I-v/I-p"
    assert forms[0] == forms[2] == [first, inner, inner, first, first, first]
    assert forms[3] == ["I-v"] * 6
    assert forms[4] == ["O"] * 6
