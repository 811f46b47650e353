"""Label bias (Stokman 2011, section 3.1.4): a chain that is normalised at each step ignores a token that tells two words apart."""

from itertools import product

import numpy as np
import pytest

import ilpinfer
from formulations import Trellis
from ilpinfer.models.training import train

WORDS = {"rib": (3, "111"), "rob": (2, "222")}
PAIRS = [(list(word), list(labels)) for word, (number, labels) in WORDS.items() for _ in range(number)]


def factor(before, label, letter):
    """How often a letter has a label, plus 0.1; the label never changes."""
    if before not in (None, label):
        return 0.0
    return 0.1 + sum((x, y) == (letter, label) for word, labels in PAIRS for x, y in zip(word, labels))


def local_factor(before, label, letter):
    return factor(before, label, letter) / sum(factor(before, other, letter) for other in "12")


def trellis(word, of):
    with np.errstate(divide="ignore"):
        start = np.log([of(None, label, word[0]) for label in "12"])
        steps = np.log([[[of(a, b, letter) for b in "12"] for a in "12"] for letter in word[1:]])
    return Trellis(start, steps, labels=["1", "2"], tokens=list(word))


def chances(word, of):
    """The probability of each labelling, by enumeration."""
    weights = {
        labels: np.prod([of(a, b, letter) for a, b, letter in zip((None, *labels), labels, word)])
        for labels in product("12", repeat=len(word))
    }
    total = sum(weights.values())
    return {labels: weight / total for labels, weight in weights.items()}


@pytest.mark.parametrize(
    ("of", "word", "labels"),
    [
        (factor, "rib", "111"),
        (factor, "rob", "222"),
        (local_factor, "rib", "111"),
        (local_factor, "rob", "111"),
    ],
)
def test_only_the_chain_that_is_normalised_at_each_step_takes_the_wrong_path(of, word, labels):
    given, expected = trellis(word, of), chances(word, of)
    assert tuple(ilpinfer.decode(given).labels) == max(expected, key=expected.get) == tuple(labels)
    marginals = ilpinfer.marginals(given)
    for each, chance in expected.items():
        assert marginals.probability(list(each)) == pytest.approx(chance, abs=1e-6)


def test_after_the_first_letter_the_chain_that_is_normalised_at_each_step_ignores_its_input():
    one, other = (chances(word, local_factor) for word in WORDS)
    assert one == pytest.approx(other)
    assert one["1", "1", "1"] == pytest.approx(3.1 / 5.2)
    assert chances("rib", factor) != pytest.approx(chances("rob", factor))


@pytest.mark.parametrize(("kind", "options"), [("crf", {"template": "general"}), ("hmm", {})])
def test_the_models_of_the_package_do_not_have_the_bias(kind, options):
    model = train(kind, PAIRS, **options)
    for word, (_, labels) in WORDS.items():
        assert "".join(ilpinfer.decode(model.trellis(list(word))).labels) == labels
