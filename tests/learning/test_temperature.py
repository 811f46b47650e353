"""The temperature of logits: against sums over all labellings at many temperatures, and divided scores."""

import itertools
import warnings

import numpy as np
import pytest

from formulations.errors import ScoreNotice
from ilpinfer.decoding.decode import decode
from ilpinfer.learning import fit_temperature
from ilpinfer.learning import temperature as module
from ilpinfer.models.external import from_logits

TEMPERATURES = np.geomspace(module.LEAST, module.MOST, 1201)


def draw(seed, K=3, longest=4, number=12, factor=3.0):
    """Logits that are `factor` times too far apart for labels that are drawn from them."""
    rng = np.random.default_rng(seed)
    rows = [rng.normal(size=(rng.integers(1, longest + 1), K)) for _ in range(number)]
    chances = [np.exp(row) / np.exp(row).sum(axis=1, keepdims=True) for row in rows]
    gold = [[int(rng.choice(K, p=p)) for p in chance] for chance in chances]
    return [factor * row for row in rows], gold


def losses(rows, gold, steps, start, end):
    """The loss at each temperature, by a list of all labellings."""
    result = np.zeros(len(TEMPERATURES))
    for row, own in zip(rows, gold, strict=True):
        T, K = row.shape

        def score(y, row=row):
            total = start[y[0]] + end[y[-1]]
            for t, k in enumerate(y):
                total += row[t, k] + (steps[y[t - 1], k] if t else 0.0)
            return total

        every = np.array([score(y) for y in itertools.product(range(K), repeat=T)])
        scaled = every[:, None] / TEMPERATURES
        top = scaled.max(axis=0)
        result += top + np.log(np.exp(scaled - top).sum(axis=0)) - score(own) / TEMPERATURES
    return result


def test_batches_have_all_sequences_and_few_scores(monkeypatch):
    rows, _ = draw(2, longest=40, number=30)
    monkeypatch.setattr(module, "LARGEST", 200)
    batches = module._batches(rows)
    found = [padded[n, :length].tolist() for padded, lengths in batches for n, length in enumerate(lengths)]
    assert sorted(found) == sorted(row.tolist() for row in rows)
    assert all(len(padded) == 1 or max(padded.size, 9 * len(padded)) <= 200 for padded, _ in batches)
    assert 1 < len(batches) < 30


@pytest.mark.parametrize("seed", range(6))
def test_the_best_of_many_temperatures(seed, monkeypatch):
    rows, gold = draw(seed)
    rng, K = np.random.default_rng(100 + seed), 3
    layer = [np.zeros((K, K)), np.zeros(K), np.zeros(K)]
    given = {}
    if seed % 2:
        layer = [rng.normal(size=each.shape) for each in layer]
        layer[0][0, 2] = -np.inf
        gold = [[1 if k == 2 and t and y[t - 1] == 0 else k for t, k in enumerate(y)] for y in gold]
        given = dict(zip(("transitions", "start", "end"), layer, strict=True))
        monkeypatch.setattr(module, "LARGEST", 9 * 5)
    found = fit_temperature(rows, gold, **given)
    best = TEMPERATURES[np.argmin(losses(rows, gold, *layer))]
    assert found == pytest.approx(best, rel=0.01)


def test_a_known_temperature_is_found():
    for factor in (0.5, 1.0, 4.0):
        assert fit_temperature(*draw(1, K=5, number=2000, factor=factor)) == pytest.approx(factor, rel=0.1)


def test_names_ids_and_padding_are_the_same():
    rows, gold = draw(2)
    names = ["O", "B-a", "I-a"]
    wanted = fit_temperature(rows, gold)
    assert fit_temperature(rows, [[names[k] for k in y] for y in gold], names) == wanted
    longest = max(map(len, rows))
    padded = np.zeros((len(rows), longest, 3), np.float32)
    ids = np.full((len(rows), longest), -100)
    for n, (row, y) in enumerate(zip(rows, gold, strict=True)):
        padded[n, : len(row)], ids[n, : len(y)] = row, y
    assert fit_temperature(padded, ids, dict(enumerate(names))) == pytest.approx(wanted, rel=1e-4)
    steps = np.random.default_rng(0).normal(size=(3, 3))
    assert fit_temperature(padded, ids, transitions=steps) == pytest.approx(
        fit_temperature(rows, gold, transitions=steps), rel=1e-4
    )


def test_masks_are_not_likely():
    rows, gold = draw(3)
    for row, y in zip(rows, gold, strict=True):
        row[np.arange(len(y)), (np.array(y) + 1) % 3] = -np.inf
    assert np.isfinite(fit_temperature(rows, gold))


@pytest.mark.parametrize("pool", ["first", "mean", "max"])
def test_scores_are_divided_by_the_temperature(pool):
    rng = np.random.default_rng(5)
    rows, steps, start = rng.normal(size=(5, 3)) * 4, rng.normal(size=(3, 3)) * 4, rng.normal(size=3)
    ids = [None, 0, 0, 1, 2]
    for scale in ("log-softmax", "raw", ""):
        options = {"word_ids": ids, "pool": pool, "scale": scale}
        assert (
            from_logits(rows, temperature=2.5, **options).lattice
            == from_logits(rows / 2.5, **options).lattice
        )
        one = from_logits(rows, transitions=steps, start=start, temperature=2, **options)
        other = from_logits(rows / 2, transitions=steps / 2, start=start / 2, **options)
        assert one.lattice == other.lattice
        assert (
            decode(one).labels == decode(from_logits(rows, transitions=steps, start=start, **options)).labels
        )
    assert from_logits(rows.tolist(), temperature=1).lattice == from_logits(rows).lattice


def test_a_mask_forbids_at_any_temperature():
    rows = [[0.0, -1e9], [1.0, 2.0]]
    for temperature in (0.1, 1.0, 1000.0):
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            trellis = from_logits(rows, temperature=temperature)
        assert [each.category for each in said] == [ScoreNotice]
        assert trellis.score([1, 0]) == -np.inf
