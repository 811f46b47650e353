"""Fingerprints of sequences."""

import hashlib

import numpy as np

from ilpinfer.corpus.examples import Example


def fingerprint(example: Example) -> str:
    """16 hexadecimal digits as a digest of tokens, their columns, labels and scores; the same in every process."""
    texts = (example.tokens, example.columns, example.labels)
    result = hashlib.sha256(repr(texts).encode("utf-8", "backslashreplace"))
    if example.scores is not None:
        for name, value in vars(example.scores).items():
            if isinstance(value, np.ndarray):
                result.update(f"{name} {value.shape}".encode())
                result.update(np.ascontiguousarray(value, np.float64).tobytes())
            elif value is not None:
                result.update(repr((name, value)).encode("utf-8", "backslashreplace"))
    return result.hexdigest()[:16]
