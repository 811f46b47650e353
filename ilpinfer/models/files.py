"""Model files: JSON with a format, a version and a digest that detects damage; they contain no code."""

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar, Self

from formulations.files import read_text_bytes
from ilpinfer.errors import ModelError
from ilpinfer.models.sequence_model import SequenceModel, TrainedModel
from ilpinfer.system.files import digest, write_atomically
from ilpinfer.system.storage import open_bytes

FORMATS: Mapping[str, str] = {
    "ilpinfer-chain": "ilpinfer.models.chain:Chain",
    "ilpinfer-crf": "ilpinfer.models.crf:CRF",
    "ilpinfer-hmm": "ilpinfer.models.hmm:HMM",
    "ilpinfer-hmm2": "ilpinfer.models.hmm:SecondOrderHMM",
}
"""The class of each format, by import path; it has `VERSION` and `from_body`."""

REMEDY = "train it again with `ilpinfer train`"

CRFSUITE = b"lCRF"
"""The first bytes of models of CRFsuite."""
FOREIGN: Mapping[bytes, str] = {
    b"#mdl#": "a model of Wapiti",
    b"version: ": "a model of CRF++ as text",
    b"\x80": "a pickle of Python, such as a model of scikit-learn or NLTK",
    b"PK\x03\x04": "an archive, such as a model of PyTorch or Keras",
    b"\xac\xed": "an object of Java, such as a model of Stanford NER or MALLET",
    b"\x89HDF": "HDF5, such as a model of Keras",
}
"""Unsupported formats by their first bytes."""


@dataclass(frozen=True)
class TrainingRecord:
    """How a model was trained, the key `made` of its file; `data` is the `training_digest` of the sequences."""

    kind: str
    options: Mapping[str, Any]
    scheme: str
    sequences: int
    data: str


def training_digest(pairs: Iterable[tuple[Sequence[str], Sequence[str]]]) -> str:
    """A digest of the labelled sequences that have tokens, independent of their order."""
    some = [(tokens, labels) for tokens, labels in pairs if len(tokens)]
    each = sorted(digest([str(token) for token in tokens], list(labels)) for tokens, labels in some)
    return digest(each)


def training_record(path: str | Path) -> TrainingRecord | None:
    """The record of the training of a file's model; None if the file has none."""
    if _begin(path).startswith(CRFSUITE):
        return None
    try:
        made = TrainingRecord(**_record(path)["made"])
    except (KeyError, TypeError):
        return None
    texts = (made.kind, made.scheme, made.data)
    sound = all(isinstance(text, str) for text in texts) and isinstance(made.options, dict)
    return made if sound else None


def save_trained(path: str | Path, model: TrainedModel, training: TrainingRecord) -> None:
    """Write a model with the record of its training, atomically."""
    made = {**vars(training), "options": dict(training.options)}
    write_atomically(path, text_of({**record_of(model), "made": made}))


def record_of(model: "ModelFile | TrainedModel") -> dict[str, Any]:
    body = model.body()
    return {"format": model.FORMAT, "version": model.VERSION, "sha256": _digest(body), "model": body}


def text_of(record: dict[str, Any]) -> str:
    """The text of a model file; `made` is the record of the training."""
    return json.dumps(record, ensure_ascii=False, indent=1) + "\n"


class ModelFile(ABC):
    """A model that can be written to a file and read from one."""

    FORMAT: ClassVar[str]
    VERSION: ClassVar[int]

    def save(self, path: str | Path) -> None:
        """Write the model as JSON. The file appears under its name only when it is complete.

        Parameters
        ----------
        path : str or Path
            The file.
        """
        write_atomically(path, text_of(record_of(self)))

    @abstractmethod
    def body(self) -> dict[str, Any]:
        """The model as plain values.

        Returns
        -------
        dict of str to object
            Values for JSON.

        Raises
        ------
        ValueError
            For a template of features that no file describes.
        """

    @classmethod
    @abstractmethod
    def from_body(cls, body: dict[str, Any]) -> Self:
        """The model of the values that `body` returns.

        Parameters
        ----------
        body : dict of str to object
            The values.

        Returns
        -------
        ModelFile
            The model.

        Raises
        ------
        ValueError
            For other values.
        """


def load_model(path: str | Path) -> SequenceModel:
    """Read a model of any kind.

    Parameters
    ----------
    path : str or Path
        A file from a model's `save`, or a model of CRFsuite. The latter gets the shipped template that produces all of its
        attributes, if there is one; otherwise, features have to be given to `trellis_of`.

    Returns
    -------
    SequenceModel
        The model.

    Raises
    ------
    ModelError
        If the file is missing, damaged, of another format or version, or holds invalid values.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from ilpinfer.models.hmm import HMM
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "hmm.json")
    ...     HMM.train([(["Ada", "1815"], ["name", "year"])]).save(path)
    ...     load_model(path)
    HMM(2 labels, plain, 2 words)
    """
    if _begin(path).startswith(CRFSUITE):
        foreign: SequenceModel = _import("ilpinfer.models.crf.model:CRF").from_file(path)
        return foreign
    return model_of(_record(path), path)


def model_of(record: dict[str, Any], path: str | Path = "model") -> SequenceModel:
    """The model of a record from `record_of`; errors name the path, as in `load_model`."""
    _check_format(record, path)
    kind = _import(FORMATS[record["format"]])
    body = _body(path, record, kind.VERSION)
    try:
        model: SequenceModel = kind.from_body(body)
    except (ValueError, RecursionError) as error:
        what = " ".join(str(error).split())
        raise ModelError(f"{path}: damaged model: {what}; {REMEDY}") from None
    return model


def _import(place: str) -> Any:
    module, _, name = place.partition(":")
    return getattr(import_module(module), name)


def _digest(body: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()


def _begin(path: str | Path) -> bytes:
    """The first bytes of a model; ModelError if it cannot be read."""
    try:
        with open_bytes(path) as stream:
            return stream.read(max(map(len, (CRFSUITE, *FOREIGN))))
    except OSError as error:
        raise ModelError(f"{path}: the model cannot be read: {error.strerror}") from None


def _record(path: str | Path) -> dict[str, Any]:
    begin = _begin(path)
    named = next((name for first, name in FOREIGN.items() if begin.startswith(first)), "")
    if named:
        raise ModelError(
            f"{path}: {named}, which is not supported; train one with `ilpinfer train`, or give its scores as JSON lines"
        )
    try:
        with open_bytes(path) as stream:
            record = json.loads(read_text_bytes(stream).decode("utf-8"))
    except OSError as error:
        raise ModelError(f"{path}: the model cannot be read: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise ModelError(f"{path}: damaged model, not JSON: {error}; {REMEDY}") from None
    _check_format(record, path)
    result: dict[str, Any] = record
    return result


def _check_format(record: Any, path: str | Path) -> None:
    if not isinstance(record, dict) or record.get("format") not in list(FORMATS):
        raise ModelError(f"{path}: not a model of ilpinfer; {REMEDY}")


def _body(path: str | Path, record: dict[str, Any], version: int) -> dict[str, Any]:
    if record.get("version") != version:
        result = record.get("version")
        raise ModelError(f"{path}: model version {result!r}, but this release reads {version}; {REMEDY}")
    body = record.get("model")
    try:
        fits = isinstance(body, dict) and record.get("sha256") == _digest(body)
    except RecursionError:
        fits = False
    if not isinstance(body, dict) or not fits:
        raise ModelError(f"{path}: damaged model, its content does not fit its digest; {REMEDY}")
    return body
