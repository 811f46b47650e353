"""Labels that adapters take from a decoder."""

import pytest

from formulations import Trellis
from formulations import constraints as C
from ilpinfer.adapters.decisions import AdapterError, best_ids
from ilpinfer.decoding.decoder import Decoder


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
