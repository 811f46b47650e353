"""Models that studies share: trained once for the same examples and options, and kept beside the rows."""

import hashlib
import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, cast

from benchmarks.journal import ROOT
from ilpinfer.models.crf import CRF
from ilpinfer.models.crf.templates import load_template
from ilpinfer.models.files import load_model
from ilpinfer.models.hmm import HMM, SecondOrderHMM
from ilpinfer.models.sequence_model import TrainedModel
from ilpinfer.models.sequences import Labelled
from ilpinfer.models.training import train

FOLDER = ROOT / "benchmarks" / "rows" / "models"
VERSIONS = {"hmm": HMM.VERSION, "hmm2": SecondOrderHMM.VERSION, "crf": CRF.VERSION}
"""Of model files, by kind."""


def trained(kind: str, examples: Sequence[Labelled], **options: Any) -> TrainedModel:
    """A model, as `ilpinfer.models.training.train` trains it; a kept file is read instead."""
    about = [kind, VERSIONS[kind], options, examples]
    path = kept(kind, about, "json", lambda path: train(kind, examples, **options).save(path))
    return cast(TrainedModel, load_model(path))


def crfsuite_file(examples: Sequence[Labelled], template: str, **parameters: Any) -> Path:
    """A model file of CRFsuite, trained by L-BFGS on the features of a template."""
    import pycrfsuite

    def write(path: Path) -> None:
        trainer, made = pycrfsuite.Trainer("lbfgs", parameters, verbose=False), load_template(template)
        for tokens, labels in examples:
            trainer.append(made.features(tokens), labels)
        trainer.train(str(path))

    about = ["crfsuite", {"template": template, **parameters}, examples]
    return kept("crfsuite", about, "crfsuite", write)


def kept(kind: str, about: Sequence[Any], ending: str, write: Callable[[Path], object]) -> Path:
    """The file of what is told about, written where it is missing."""
    text = json.dumps(about, sort_keys=True, default=repr)
    path = FOLDER / f"{kind}-{hashlib.sha256(text.encode()).hexdigest()[:16]}.{ending}"
    if not path.exists():
        FOLDER.mkdir(parents=True, exist_ok=True)
        temporary = path.with_suffix(f".{os.getpid()}.tmp")
        write(temporary)
        temporary.replace(path)
    return path
