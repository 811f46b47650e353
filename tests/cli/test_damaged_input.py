"""Damaged and forged files: one clear error or a result, never a raw exception, and no more memory than the file needs."""

import io
import json
import resource
import struct
import zipfile

import numpy as np
import pytest

from ilpinfer.corpus.archives import read_archive
from ilpinfer.corpus.sequences import InputError, read
from ilpinfer.errors import ModelError
from ilpinfer.pipelines.trellises import score

CLEAR = (InputError, ModelError)


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder for all examples of a test."""
    return tmp_path_factory.mktemp("damaged")


def archive(compressed=True, **arrays):
    stream = io.BytesIO()
    (np.savez_compressed if compressed else np.savez)(stream, **arrays)
    return stream.getvalue()


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
