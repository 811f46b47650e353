"""Damaged and forged files: one clear error or a result, never a raw exception, and no more memory than the file needs."""

import hashlib
import io
import json
import resource
import struct
import zipfile
from copy import deepcopy

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from stress import mutations
from support.effort import examples

from ilpinfer.corpus.archives import read_archive
from ilpinfer.corpus.sequences import InputError, read
from ilpinfer.errors import ModelError
from ilpinfer.models.crf import CRF
from ilpinfer.models.files import load_model
from ilpinfer.models.hmm import HMM, SecondOrderHMM
from ilpinfer.pipelines.trellises import score

CLEAR = (InputError, ModelError)


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder for all examples of a test."""
    return tmp_path_factory.mktemp("damaged")


def check_message(error):
    """A message is one line of bearable length."""
    assert "\n" not in str(error)
    assert len(str(error)) < 1000


def scored(path):
    """Reads and scores a file; nothing but a clear error of one line may come out."""
    try:
        score(read(path, notify=lambda _: None), None)
    except CLEAR as error:
        check_message(error)


def archive(compressed=True, **arrays):
    stream = io.BytesIO()
    (np.savez_compressed if compressed else np.savez)(stream, **arrays)
    return stream.getvalue()


ARRAYS = {
    "logits_0": np.arange(6.0).reshape(3, 2),
    "tokens_0": np.array(["a", "b", "c"]),
    "labels_0": np.array(["x", "y", "x"]),
    "logits_1": np.asfortranarray(np.ones((2, 2))),
    "word_ids_1": np.array([0, 1]),
    "label_names": np.array(["x", "y"]),
    "transitions": np.zeros((2, 2), np.float32),
}


RANDOM = st.randoms(use_true_random=False)


@pytest.mark.parametrize("compressed", [True, False])
@settings(max_examples=examples(150))
@given(RANDOM)
def test_archives_with_changed_bytes_or_members(place, compressed, rng):
    path = place / "x.npz"
    path.write_bytes(mutations.archive(archive(compressed, **ARRAYS), rng))
    scored(path)


def header(text, version=(1, 0)):
    data = text.encode("latin-1")
    return b"\x93NUMPY" + bytes(version) + struct.pack("<H" if version == (1, 0) else "<I", len(data)) + data


SHAPES = {
    "a claim of 7 PiB": ("{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000000,), }", b"\0" * 8, "claims shape"),
    "a claim beyond 64 bits": ("{'descr': '<f8', 'fortran_order': False, 'shape': (" + "9" * 30 + ",), }", b"\0" * 8, "claims shape"),
    "a negative length": ("{'descr': '<f8', 'fortran_order': False, 'shape': (-1, -1), }", b"\0" * 8, "claims shape"),
    "many empty rows": ("{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000, 0), }", b"", "0 tokens, but logits"),
    "texts without signs": ("{'descr': '<U0', 'fortran_order': False, 'shape': (1000000000000,), }", b"", "or damaged"),
    "objects": ("{'descr': '|O', 'fortran_order': False, 'shape': (1,), }", b"\0" * 8, "holds Python objects"),
    "dates": ("{'descr': '<M8[s]', 'fortran_order': False, 'shape': (1,), }", b"\0" * 8, "expected numbers or texts"),
    "fields": ("{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (1,), }", b"\0" * 8, "expected numbers or texts"),
    "no header": ("{'descr': '<f8'}", b"\0" * 8, "or damaged"),
    "deep brackets": ("(" * 5000, b"", "or damaged"),
    "signs that are no text": ("{'descr': '<U1', 'fortran_order': False, 'shape': (1,), }", b"\xff\xff\xff\x7f", "no text"),
}  # fmt: skip


@pytest.mark.parametrize("name", SHAPES)
def test_headers_that_claim_too_much(tmp_path, name):
    text, data, message = SHAPES[name]
    path = tmp_path / "x.npz"
    with zipfile.ZipFile(path, "w") as archive:
        good = header("{'descr': '<f8', 'fortran_order': False, 'shape': (1, 1), }") + b"\0" * 8
        archive.writestr("logits_0.npy", good)
        archive.writestr("tokens_0.npy", header(text) + data)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(CLEAR, match=message):
        read(path)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200_000


def test_an_archive_that_unpacks_to_much_more_than_its_size_is_refused(tmp_path):
    path = tmp_path / "x.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("logits_0.npy", b"\0")
    data = path.read_bytes()
    central = data.index(b"PK\x01\x02")
    path.write_bytes(data[: central + 24] + struct.pack("<I", 2**32 - 2) + data[central + 28 :])
    with pytest.raises(ModelError, match="logits_0 claims 4 GiB, more than a file of this size can hold"):
        read_archive(path)


@pytest.mark.parametrize(
    ("flags", "method", "message"),
    [(1, 8, "or damaged"), (0, 12, "compressed in another way"), (0, 14, "compressed in another way"), (0, 99, "compressed in another way")],
)  # fmt: skip
def test_flags_of_other_archives(tmp_path, flags, method, message):
    path = tmp_path / "x.npz"
    data = bytearray(archive(logits_0=np.ones((1, 1))))
    for signature, at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        place = data.index(signature) + at
        data[place : place + 4] = struct.pack("<HH", flags, method)
    path.write_bytes(data)
    with pytest.raises(ModelError, match=message):
        read_archive(path)


def test_an_array_that_is_there_twice_is_refused(tmp_path):
    path = tmp_path / "x.npz"
    array = io.BytesIO()
    np.save(array, np.ones((1, 1)))
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("logits_0.npy", array.getvalue())
        with pytest.warns(UserWarning, match="Duplicate"):
            archive.writestr("logits_0.npy", array.getvalue())
    with pytest.raises(ModelError, match="has logits_0 twice"):
        read_archive(path)


def test_more_labels_than_a_table_of_steps_can_have(tmp_path):
    path = tmp_path / "x.jsonl"
    for record in ({"logits": [[0] * 100_000]}, {"start": [0] * 100_000, "edges": []}):
        path.write_text(json.dumps(record))
        with pytest.raises(InputError, match="100000 labels; expected at most 8192"):
            score(read(path), None)


TEXTS = [
    "Ada\tB-a\nL.\tI-a\n\n,\tO\n",
    "-DOCSTART- -X- O\n\nAda NN B-a\nL. NN I-a\n\n, , O\n",
    "token,label\n\"a, b\",B-a\nL.,I-a\n",
    "Ada\nL.\n\nNew York\n",
    '[{"tokens": ["a"], "labels": ["O"]}, {"tokens": ["b"]}]',
]  # fmt: skip


@settings(max_examples=examples(200))
@given(st.sampled_from(TEXTS), RANDOM, st.sampled_from(["", "2", "3", "1,2", "label", "1,"]))
def test_corpora_with_changed_signs(place, text, rng, column):
    path = place / "x.tsv"
    path.write_bytes(mutations.text(text.encode(), rng))
    try:
        for example in read(path, column=column, notify=lambda _: None):
            assert example.tokens and all(example.tokens)
            assert example.labels is None or len(example.labels) == len(example.tokens)
    except CLEAR as error:
        check_message(error)


RECORDS = [
    {"emissions": [[0, -1], [1, None]], "transitions": [[0, 0], [0, 0]], "start": [0, 1], "end": [1, 0], "label_names": ["a", "b"], "tokens": ["x", "y"]},
    {"start": [0, 1], "edges": [[[0, 1], [2, 3]]], "labels": ["0", "1"]},
    {"start": [0, 1], "first": [[0, 1], [2, 3]], "edges": [[[[0, 1], [0, 1]], [[0, 1], [0, 1]]]]},
    {"logits": [[0, 1], [2, 3]], "word_ids": [0, 1], "label_names": {"0": "a", "1": "b"}},
    {"logits": [[0, 1], [2, 3]], "crf.start_transitions": [0, 0], "crf.end_transitions": [0, 0], "crf.transitions": [[0, 0], [0, 0]]},
    {"tokens": ["a"], "labels": ["O"], "rank": 1},
]  # fmt: skip


@pytest.mark.filterwarnings("ignore::UserWarning")
@settings(max_examples=examples(300))
@given(
    st.sampled_from(RECORDS),
    st.sampled_from(["edges", "end", "logits", "rank", "label_names", "ennd", ""]),
    RANDOM,
)
def test_records_with_changed_values(place, record, key, rng):
    record = deepcopy(record | ({key: rng.choice(mutations.VALUES)} if key else {}))
    for _ in range(rng.randint(0, 4)):
        record = mutations.value(record, rng)
    path = place / "x.jsonl"
    path.write_text(json.dumps(record))
    scored(path)


SEQUENCES = [(("Ada", "L.", "x"), ("B-a", "I-a", "O")), (("x", "Ada"), ("O", "B-a"))]


@pytest.fixture(scope="module")
def bodies(place):
    """The records of a model of each kind."""
    made = {
        "hmm": HMM.train(SEQUENCES),
        "hmm2": SecondOrderHMM.train(SEQUENCES, transitions="interpolation"),
        "crf": CRF.train(SEQUENCES, {"features": ["word[-1..1]", "long"], "words": {"long": ["Ada"]}}),
    }
    for name, model in made.items():
        model.save(place / name)
    return {name: json.loads((place / name).read_text()) for name in made}


def tried(path, record):
    """Writes a model with the digest of its body and uses it; nothing but a clear error may come out."""
    digest = hashlib.sha256(json.dumps(record["model"], sort_keys=True).encode()).hexdigest()
    path.write_text(json.dumps({**record, "sha256": digest}))
    try:
        model = load_model(path)
    except ModelError as error:
        check_message(error)
        return
    try:
        model.trellis(("Ada", "x", "new"))
    except ValueError as error:
        check_message(error)


@pytest.mark.parametrize("kind", ["hmm", "hmm2", "crf"])
@settings(max_examples=examples(150))
@given(RANDOM)
def test_models_with_a_valid_digest_and_another_body(place, bodies, kind, rng):
    body = deepcopy(bodies[kind]["model"])
    for _ in range(rng.randint(1, 3)):
        body = mutations.value(body, rng)
    tried(place / "m.json", {**bodies[kind], "model": body})
