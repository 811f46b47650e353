"""Models that studies share: trained once for the same examples and options, and kept beside the rows."""

import hashlib
import json
import os
from collections.abc import Sequence
from typing import Any

from benchmarks.data.sets import Labelled
from benchmarks.journal import ROOT
from ilpinfer.models.files import load_model
from ilpinfer.models.sequence_model import SequenceModel
from ilpinfer.models.training import train

FOLDER = ROOT / "benchmarks" / "rows" / "models"


def trained(kind: str, examples: Sequence[Labelled], **options: Any) -> SequenceModel:
    """A model, as `ilpinfer.models.training.train` trains it; a kept file is read instead."""
    about = json.dumps([kind, options, examples], sort_keys=True, default=repr)
    path = FOLDER / f"{kind}-{hashlib.sha256(about.encode()).hexdigest()[:16]}.json"
    if not path.exists():
        FOLDER.mkdir(parents=True, exist_ok=True)
        temporary = path.with_suffix(f".{os.getpid()}.tmp")
        train(kind, examples, **options).save(temporary)
        temporary.replace(path)
    return load_model(path)
