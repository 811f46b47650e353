"""FASTA: what tells lines of labels from residues that go on."""

import random

import pytest

from ilpinfer.corpus.examples import InputError
from ilpinfer.corpus.fasta import has_labels
from ilpinfer.corpus.sequences import read

AMINO, BASES = "ACDEFGHIKLMNPQRSTVWY", "ACGT"


def drawn(letters, length, seed=0):
    return "".join(random.Random(seed).choices(letters, k=length))


def records(*pairs):
    return [line for n, pair in enumerate(pairs) for line in (f">P{n}", *pair)]


@pytest.mark.parametrize(
    ("pairs", "labelled"),
    [
        ([("MK", "im")], True),
        ([("MKV", "112")], True),
        ([(drawn(AMINO, 40), "H" * 15 + "C" * 10 + "E" * 15)], True),
        ([(drawn(AMINO, 40), "-" * 15 + "H" * 10 + "-" * 15)], True),
        ([(drawn(BASES, 40), "N" * 25 + "C" * 15)], True),
        ([(drawn(AMINO, 60, n), "I" * 30 + "M" * 20 + "O" * 10) for n in range(3)], True),
        ([("MKVLA", "MKVLA")], False),
        ([(drawn(AMINO, 60, n), drawn(AMINO, 60, n + 50)) for n in range(4)], False),
        ([(drawn(BASES, 60, n), drawn(BASES, 60, n + 50)) for n in range(4)], False),
        ([(drawn(BASES, 60), drawn("acgtn", 60))], False),
        ([("N" * 60, "N" * 60), (drawn(BASES, 60), drawn(BASES, 60, 1))], False),
        ([("M" * 40, "K" * 40)], False),
        ([("MK", "VL", "AG"), ("MK", "im")], False),
        ([("MK",), ("MK", "im")], False),
        ([], False),
    ],
)
def test_labels_are_told_from_residues(pairs, labelled):
    assert has_labels(records(*pairs)) is labelled


@pytest.mark.parametrize("seed", range(30))
def test_wrapped_records_of_equal_lines_are_refused(tmp_path, seed):
    letters = (AMINO, BASES)[seed % 2]
    whole = [
        (drawn(letters, 60, seed), drawn(letters, 60, seed + 100))
        for _ in range(random.Random(seed).randint(1, 4))
    ]
    (tmp_path / "x.fasta").write_text("\n".join(records(*whole)) + "\n")
    with pytest.raises(
        InputError, match=r"line 3: .* has no header; expected >NAME, then all residues on one line"
    ):
        read(tmp_path / "x.fasta")


@pytest.mark.parametrize("seed", range(30))
def test_runs_of_capitals_are_labels(tmp_path, seed):
    draw = random.Random(seed)
    whole = []
    for n in range(draw.randint(1, 4)):
        labels = "".join(draw.choice("HECSTG") * draw.randint(5, 15) for _ in range(8))
        whole.append((drawn(AMINO, len(labels), seed + n), labels))
    (tmp_path / "x.fasta").write_text("\n".join(records(*whole)) + "\n")
    assert [each.labels for each in read(tmp_path / "x.fasta")] == [tuple(labels) for _, labels in whole]
