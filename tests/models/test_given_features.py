"""Features that are given in place of tokens: what is no feature is named, with its place."""

from decimal import Decimal

import numpy as np
import pytest

from ilpinfer.models.crf import CRF

CRF_ = CRF.train([(["Ada", "1815"], ["name", "year"]), (["Alan", "1912"], ["name", "year"])])
FORMS = "expected a dict of features, or a list of their names"
VALUES = "expected a number, a text, true or false"


@pytest.mark.parametrize(
    "features, said",
    [
        ([{"n": None}], rf"features\[0\]\['n'\] is None; {VALUES}"),
        ([["a"], {"n": {"m": None}}], rf"features\[1\]\['n'\]\['m'\] is None; {VALUES}"),
        ([{"n": object()}], rf"features\[0\]\['n'\] is <object .*; {VALUES}"),
        ([{"n": ("a", "b")}], rf"features\[0\]\['n'\] is .*; {VALUES}"),
        ([{"n": ["a", None]}], r"features\[0\]\['n'\] has the feature None; expected a text"),
        ([{"n": np.array([1])}], rf"features\[0\]\['n'\] is .*; {VALUES}"),
        ([{"n": b"x"}], VALUES),
        ([{"n": Decimal(1)}], VALUES),
        (
            [{"n": float("nan")}],
            r"features\[0\]\['n'\] is NaN; expected a finite number: leave the feature out",
        ),
        ([{"n": float("inf")}], "expected a finite number"),
        ([{"n": 10**400}], "expected a finite number"),
        ([{3: 1}], r"features\[0\] has the feature 3; expected a text"),
        ([{"\udfff": 1}], "unpaired surrogate"),
        ([{"n": "\udfff"}], "unpaired surrogate"),
        ([[None]], r"features\[0\] has the feature None; expected a text"),
        ([["a"], [3]], r"features\[1\] has the feature 3; expected a text"),
        (["word=a"], rf"features\[0\] is 'word=a'; {FORMS}"),
        ([None], rf"features\[0\] is None; {FORMS}"),
        ([3], rf"features\[0\] is 3; {FORMS}"),
        ([(name for name in "ab")], FORMS),
        ("word=a", r"features is 'word=a'; expected a list of a dict of features"),
        (None, "features is None; expected a list"),
        (3, "features is 3; expected a list"),
        ({"n": 1}, "features is .*; expected a list"),
    ],
)
@pytest.mark.parametrize("way", ["trellis_of", "emissions"])
def test_what_is_no_feature_is_named(way, features, said):
    with pytest.raises(ValueError, match=said):
        getattr(CRF_, way)(features)


@pytest.mark.filterwarnings("ignore:the model knows none")
def test_features_of_every_form():
    name = CRF_.learnt.attributes[0]
    forms = [
        [name],
        (name,),
        {name},
        frozenset([name]),
        {name: 1},
        {name: True},
        {name: np.float32(1)},
        {name: 1.0},
    ]
    expected = CRF_.emissions([[name]]).tolist()
    for form in forms:
        assert CRF_.emissions([form]).tolist() == expected
    assert CRF_.emissions(iter([[name]])).tolist() == expected, "an iterator of tokens"


@pytest.mark.parametrize("odd", [{"n": 1}, ["w=a"], None, 3])
def test_training_with_a_template_takes_texts(odd):
    with pytest.raises(ValueError, match=r"training sequence 0: tokens\[0\] is .*; expected a text"):
        CRF.train([([odd, "b"], ["X", "Y"])])
