"""Label names as they come, through every entrance that takes them."""

import collections

import numpy as np
import pytest

import ilpinfer
from ilpinfer import LabelSet, Trellis
from ilpinfer import constraints as C
from ilpinfer.adapters import join_windows
from ilpinfer.adapters.huggingface import entities
from ilpinfer.models.external import from_logits

NAMES = ("O", "B-x", "I-x")
SCORES = 9 * np.eye(3)
ENTRANCES = {
    "LabelSet": LabelSet,
    "Trellis": lambda names: Trellis(SCORES[0], np.zeros((2, 3, 3)), names).labels,
    "from_emissions": lambda names: Trellis.from_emissions(SCORES, np.zeros((3, 3)), labels=names).labels,
    "Decoder": lambda names: ilpinfer.Decoder([], names).labels,
    "from_logits": lambda names: from_logits(SCORES, names).labels,
    "join_windows": lambda names: join_windows([SCORES], [0], names).labels,
    "violations": lambda names: C.at_most_runs("x", 1).violations([1, 2, 0], labels=names) or names,
    "entities": lambda names: entities(SCORES, names, offset_mapping=[(0, 1), (1, 2), (2, 3)]) and names,
}
ORDERED = {
    "list": list(NAMES),
    "tuple": NAMES,
    "array": np.array(NAMES),
    "objects": np.array(NAMES, object),
    "by id": dict(enumerate(NAMES)),
    "by text": {str(k): name for k, name in enumerate(NAMES)},
    "by id, in another order": {k: NAMES[k] for k in (2, 0, 1)},
    "values": dict(enumerate(NAMES)).values(),
}
WITHOUT_ORDER = {
    "set": set(NAMES),
    "frozenset": frozenset(NAMES),
    "keys": dict.fromkeys(NAMES).keys(),
    "counter keys": collections.Counter(NAMES).keys(),
}


@pytest.mark.parametrize("entrance", ENTRANCES)
def test_names_with_an_order(entrance):
    for form, names in ORDERED.items():
        found = ENTRANCES[entrance](names)
        if isinstance(found, LabelSet):
            assert found.names == NAMES and all(type(name) is str for name in found.names), form


@pytest.mark.parametrize("entrance", ENTRANCES)
def test_names_without_an_order(entrance):
    for names in WITHOUT_ORDER.values():
        with pytest.raises(ValueError, match="which has no order: a score belongs to a label by its place"):
            ENTRANCES[entrance](names)


@pytest.mark.parametrize(
    ("names", "said"),
    [
        ({0: "O", 2: "B-x"}, "none with id 1"),
        ({"O": 0, "B-x": 1}, "expected ids from 0"),
        ({0: "O", "0": "B-x"}, "expected ids from 0"),
        ({0.5: "O", 1.5: "B-x"}, "expected ids from 0"),
        ("O B-x", "names in the order of their ids"),
        (7, "names in the order of their ids"),
        (["O", None], "label 1 is None: a label is a non-empty text"),
        (["O", ""], "label 1 is '': a label is a non-empty text"),
        (["O", "O"], "label 'O' is given twice"),
        ([], "at least one label"),
    ],
)
def test_names_that_are_refused(names, said):
    with pytest.raises(ValueError, match=said):
        LabelSet(names)


def test_a_label_set_is_a_sequence_of_names():
    labels = Trellis.from_emissions(SCORES, np.zeros((3, 3)), labels=NAMES).labels
    assert list(labels) == list(NAMES) and labels[1] == "B-x" and labels[-1] == "I-x"
    assert labels[:2] == ("O", "B-x") and "I-x" in labels and "x" not in labels and len(labels) == 3
    with pytest.raises(IndexError):
        labels[3]
