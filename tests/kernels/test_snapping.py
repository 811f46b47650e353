"""Scores on the grid: what numpy rounds, half to even, of rows that are chosen in any order."""

import numpy as np
import pytest

from formulations.grid import UNITS_PER_NAT
from ilpinfer.kernels.native import kernels

MOST = 1e8


def snapped(nats, rows):
    units = np.empty((len(rows), nats.shape[1]), np.int64)
    return kernels.snap(nats, np.array(rows, np.int64), MOST, units), units


@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_chosen_rows_are_rounded_half_to_even(kind):
    rng = np.random.default_rng(1)
    for n in range(60):
        N, K = rng.integers(1, (9, 12))
        nats = (rng.normal(size=(N, K)) * 10.0 ** rng.integers(-7, 8)).clip(-0.99 * MOST, 0.99 * MOST)
        if n % 2:
            nats = rng.integers(-9, 9, (N, K)) / (2.0 * UNITS_PER_NAT)
        nats = nats.astype(kind)
        rows = rng.integers(0, N, rng.integers(0, 12)) if n % 3 else np.arange(N)[n % 2 :]
        largest, units = snapped(nats, rows)
        assert units.tolist() == np.rint(nats[rows].astype(np.float64) * UNITS_PER_NAT).astype(int).tolist()
        assert largest == np.abs(nats[rows]).max(initial=0.0)


@pytest.mark.parametrize("odd", [np.nan, -np.nan, np.inf, -np.inf, MOST, -MOST, 1e300, -1e300])
def test_odd_numbers_are_seen_in_chosen_rows(odd):
    nats = np.zeros((4, 5))
    nats[2, 3] = odd
    assert np.isnan(snapped(nats, [0, 1, 2])[0])
    assert snapped(nats, [3, 0, 1])[0] == 0.0


@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_chosen_rows_become_logarithms_of_their_softmax(kind):
    rng = np.random.default_rng(2)
    for _ in range(60):
        N, K = rng.integers(1, (9, 12))
        nats = (rng.normal(size=(N, K)) * 10.0 ** rng.integers(-3, 4)).astype(kind)
        rows = rng.integers(0, N, rng.integers(0, 12))
        units = np.empty((len(rows), K), np.int64)
        kernels.snap_softmax(nats, rows.astype(np.int64), MOST, units)
        below = nats[rows].astype(np.float64) - nats[rows].max(axis=1, keepdims=True)
        expected = (below - np.log(np.exp(below).sum(axis=1, keepdims=True))) * UNITS_PER_NAT
        assert np.abs(units - expected).max(initial=0.0) <= 0.5 + 1e-5


@pytest.mark.parametrize("odd", [np.nan, np.inf, -np.inf, -MOST])
def test_a_softmax_sees_odd_numbers_in_all_rows(odd):
    units = np.empty((1, 3), np.int64)
    nats = np.array([[1.0, -2.0, 0.0], [9.0, 0.0, 0.0]])
    chosen = np.zeros(1, np.int64)
    assert kernels.snap_softmax(nats, chosen, MOST, units) == 9.0
    expected = np.rint((nats[0] - np.log(np.exp(nats[0]).sum())) * UNITS_PER_NAT)
    assert units.tolist() == [expected.tolist()]
    nats[1, 1] = odd
    assert np.isnan(kernels.snap_softmax(nats, chosen, MOST, units))
