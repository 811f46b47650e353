"""Numbers from anything: what is read, what is refused, and large negative scores, which forbid with one notice."""

import warnings
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import ilpinfer
from formulations import Trellis
from formulations import constraints as C
from formulations.errors import ScoreNotice
from formulations.grid import snap
from formulations.score_numbers import floats, score_array
from ilpinfer.adapters import join_windows
from ilpinfer.adapters.huggingface import entities
from ilpinfer.models.external import crf_parameters, from_logits

NAMES = ["O", "B-x", "I-x"]
ROWS = np.array([[3.0, 0.0, 0.0], [0.0, 2.5, 0.0], [0.0, 0.0, 1.0]])
NO_STEPS = np.zeros((3, 3))
WAYS = {
    "trellis": lambda rows: Trellis.from_emissions(rows, NO_STEPS, labels=NAMES),
    "logits": lambda rows: from_logits(rows, NAMES),
    "windows": lambda rows: join_windows([rows], [0], NAMES),
    "transitions": lambda rows: from_logits(ROWS, NAMES, transitions=rows),
    "entities": lambda rows: entities(rows, NAMES, [0, 1, 2]),
    "start": lambda rows: from_logits(ROWS, NAMES, start=rows[0]),
}


class Tensor:
    """A tensor in bfloat16, which numpy has no type for, on another device."""

    requires_grad = False

    def __init__(self, values):
        self.values = np.asarray(values)
        self.shape, self.ndim = self.values.shape, self.values.ndim

    def __len__(self):
        return len(self.values)

    def __getitem__(self, index):
        return Tensor(self.values[index])

    def detach(self):
        return self

    cpu = detach

    def numpy(self):
        raise TypeError("Got unsupported ScalarType BFloat16")

    def __array__(self, *_, **__):
        return self.numpy()

    def float(self):
        return self.values.astype(np.float32)


MASKED = np.ma.array(ROWS, mask=ROWS == 2.5)
TAKEN = {
    "lists": ROWS.tolist(),
    "arrays in a list": list(ROWS),
    "numbers of numpy in lists": [list(row) for row in ROWS],
    "half precision": ROWS.astype(np.float16),
    "numbers in half precision": [list(row) for row in ROWS.astype(np.float16)],
    "a table": pd.DataFrame(ROWS),
    "a table of objects": pd.DataFrame(ROWS).astype(object),
    "columns in a list": [pd.Series(row) for row in ROWS],
    "a column of lists": pd.Series(ROWS.tolist()),
    "fractions": [[Fraction(x) for x in row] for row in ROWS],
    "a tensor": Tensor(ROWS),
    "tensors in a list": [Tensor(row) for row in ROWS],
    "tensors in tuples": tuple(tuple(Tensor(x) for x in row) for row in ROWS),
}
REFUSED = {
    "masked": (MASKED, "masked array; use its method"),
    "masked rows": (list(MASKED), "masked array; use its method"),
    "a masked number in a row": ([[1.0, 2.0, np.ma.masked]] * 3, r"\[0(, 2)?\] is a masked array"),
    "truth values": (ROWS > 0, "True"),
    "truth values in lists": ((ROWS > 0).tolist(), "must hold numbers, not True"),
    "one truth value": ([[True, 2.0, 1.0]] * 3, "must hold numbers, not True"),
    "one of numpy": ([[np.True_, 2.0, 1.0]] * 3, "must hold numbers, not"),
    "texts": (ROWS.astype(str), "must hold numbers, not '3.0'"),
    "a text among numbers": ([["1.0", 2.0, 1.0]] * 3, "must hold numbers, not '1.0'"),
    "texts in a table": (pd.DataFrame(ROWS.astype(str)), "must hold numbers, not '3.0'"),
    "truth values in a table": (pd.DataFrame(ROWS > 0).astype(object), "must hold numbers, not True"),
    "complex": (ROWS * 1j, "must hold numbers"),
    "nothing": ([[None, 2.0, 1.0]] * 3, "must hold numbers, not None"),
    "a generator": ((row for row in ROWS), "must hold numbers"),
    "rows of other lengths": ([[1.0, 2.0, 3.0], [1.0]], "rows of equal length"),
    "arrays of other lengths": ([np.zeros(3), np.zeros(2)], "rows of equal length"),
}


@pytest.mark.parametrize("kind", TAKEN)
def test_numbers_of_any_kind(kind):
    assert floats(TAKEN[kind], "x").tolist() == ROWS.tolist()
    assert snap(TAKEN[kind]).tolist() == snap(ROWS).tolist()


@pytest.mark.parametrize("way", [way for way in WAYS if way not in ("entities", "start")])
def test_every_way_in_takes_them(way):
    expected = ilpinfer.decode(WAYS[way](ROWS)).score
    for kind, given in TAKEN.items():
        assert ilpinfer.decode(WAYS[way](given)).score == expected, kind


@pytest.mark.parametrize("way", [way for way in WAYS if way != "start"])
def test_every_way_in_refuses_the_same(way):
    for kind, (given, message) in REFUSED.items():
        with pytest.raises(ValueError, match=message):
            WAYS[way]((row for row in ROWS) if kind == "a generator" else given)


def test_types_of_other_libraries():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    assert floats(ROWS.astype(ml_dtypes.bfloat16), "x").tolist() == ROWS.tolist()
    assert floats(list(ROWS.astype(ml_dtypes.bfloat16)), "x").tolist() == ROWS.tolist()


def test_records_and_bytes_are_no_numbers():
    for odd in (np.zeros(3, [("a", float)]), np.zeros(3, "V4"), np.zeros(3, "M8[s]"), b"123"):
        with pytest.raises(ValueError, match="x must hold numbers"):
            floats(odd, "x")


def notices_of(call):
    with warnings.catch_warnings(record=True, action="always") as caught:
        call()
    return [str(each.message) for each in caught if each.category is ScoreNotice]


@pytest.mark.parametrize("mask", [-1e8, -1e9, -1e30, float(np.finfo(np.float32).min)])
@pytest.mark.parametrize("T", [1, 2, 3, 50])
def test_large_negative_scores_forbid(mask, T):
    """Like -inf, in emissions, transitions, and at both ends."""
    rng = np.random.default_rng(T)
    arrays = {"emissions": rng.normal(size=(T, 3)), "transitions": rng.normal(size=(3, 3))}
    arrays |= {"start": rng.normal(size=3), "end": rng.normal(size=3)}
    for name in arrays:
        masked = {
            key: np.where(rng.random(x.shape) < 0.2, -np.inf, x) if key == name else x
            for key, x in arrays.items()
        }
        filled = {key: np.where(np.isneginf(x), mask, x) for key, x in masked.items()}
        count = int(np.isneginf(masked[name]).sum())
        said = notices_of(lambda given=filled: Trellis.from_emissions(**given))
        assert len(said) == (count > 0) and all(f": {count}, " in text and name in text for text in said)
        with warnings.catch_warnings(action="ignore"):
            assert Trellis.from_emissions(**filled).lattice == Trellis.from_emissions(**masked).lattice, name


def test_a_score_above_the_limit_stays():
    assert Trellis([-0.99e8, 0.0], []).start.tolist() == [-0.99e8, 0.0]


def test_masked_logits_are_one_notice():
    """Of all arrays of a call, before log-softmax or after it."""
    masked = np.where(ROWS == 0, -1e9, ROWS)
    steps = np.where(np.eye(3, dtype=bool), -1e9, 0)
    calls = {
        10: lambda: from_logits(masked, NAMES, transitions=steps, start=[0, 0, -1e9]),
        6: lambda: entities(masked, NAMES, [0, 1, 2]),
        9: lambda: join_windows([masked[:2], masked[1:]], [0, 1], NAMES, start=[0, 0, -1e9]),
        3: lambda: crf_parameters(
            {"transitions": steps, "start_transitions": np.zeros(3), "end_transitions": np.zeros(3)}
        ),
        2: lambda: from_logits([[1e9, 0.0, 0.0]], NAMES),
    }
    for count, call in calls.items():
        (said,) = notices_of(call)
        assert f"which are read as -inf: {count}, the first is " in said
    with warnings.catch_warnings(action="ignore"):
        solution = ilpinfer.decode(from_logits(np.full((2, 3), -1e9), NAMES))
    assert solution.status == "infeasible", "as a row of -inf"


def test_a_mask_before_a_refusal_is_not_noticed():
    def call():
        with pytest.raises(ValueError, match="is nan"):
            Trellis([-1e9, np.nan], [])

    assert notices_of(call) == []


def test_a_sum_that_looks_like_a_mask_is_written_exactly():
    trellis = Trellis.from_emissions([[-6e7, 0.0]] * 2, np.zeros((2, 2)), start=[-6e7, 0.0])
    again = Trellis.from_dict(trellis.to_dict())
    assert again.score([0, 0]) == trellis.score([0, 0]) == -1.8e8


def test_the_total_names_what_it_is_of():
    trellis = Trellis.from_emissions(np.zeros((300, 2)), np.zeros((2, 2)), labels=["a", "b"])
    rules = [C.at_most_tokens("a", 0, penalty=7e6, name="few"), C.at_most_tokens("b", 0, penalty=7e6)]
    with pytest.raises(
        ValueError, match=r"penalties and scores could add up .* rule 'few' alone .* lower its penalty"
    ):
        ilpinfer.decode(trellis, rules)
    with pytest.raises(ValueError, match=r"the scores could add up .* the largest entry is emissions"):
        Trellis.from_emissions(np.full((300, 2), 9e7), np.zeros((2, 2)))


def test_score_array_checks_dimensions():
    with pytest.raises(
        ValueError, match=r"x has shape \(2, 1, 1\); expected \(T, K\); give one sequence at a time"
    ):
        score_array(np.zeros((2, 1, 1)), "x", 2)


def test_the_smallest_number_of_half_precision_forbids():
    half = np.array([[0, np.finfo(np.float16).min]], np.float16)
    assert floats(half, "x").tolist() == [[0.0, -np.inf]]


def test_a_penalty_that_is_too_large_says_what_to_do():
    with pytest.raises(ValueError, match=r"penalty is 1e[+]12, beyond .* leave it out to make a rule hard"):
        C.at_most_tokens("a", 1, penalty=1e12)
    with pytest.raises(ValueError, match=r"beyond .* nats: give a smaller number$"):
        C.feature(-1e12, label="a")
