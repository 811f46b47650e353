"""Models of other tools, as files of `--model`: CRFsuite is read, others are named."""

from pathlib import Path

import pycrfsuite
import pytest

from ilpinfer.errors import ModelError
from ilpinfer.models.crf.model import CRF
from ilpinfer.models.files import load_model, training_record

TOKENS, LABELS = ("Ada", "slept", "."), ("B-name", "O", "O")


def crfsuite(path, features):
    trainer = pycrfsuite.Trainer(verbose=False)
    for _ in range(3):
        trainer.append(features, LABELS)
    trainer.train(str(path))


def test_a_model_of_crfsuite_has_the_template_that_makes_its_attributes(tmp_path):
    own = CRF.train([(TOKENS, LABELS)] * 3, template="citations")
    path = tmp_path / "x.crfsuite"
    crfsuite(path, own.features(TOKENS))
    model = load_model(path)
    assert isinstance(model, CRF) and training_record(path) is None
    assert model.trellis(TOKENS).labels.names == own.labels.names


def test_features_of_other_programs_are_given(tmp_path):
    path = tmp_path / "x.crfsuite"
    crfsuite(path, [["w=" + token] for token in TOKENS])
    model = load_model(path)
    assert len(model.trellis_of([["w=Ada"]])) == 1
    with pytest.raises(ValueError, match="template"):
        model.trellis(TOKENS)


@pytest.mark.parametrize(
    ("begin", "named"),
    [
        (b"#mdl#2#12\n", "Wapiti"),
        (b"version: 100\ncost-factor: 1\n", "CRF++"),
        (b"\x80\x04\x95", "pickle"),
        (b"PK\x03\x04\x00", "PyTorch"),
        (b"\xac\xed\x00\x05", "Stanford NER"),
    ],
)
def test_models_of_other_tools_are_named(here, cli, begin, named):
    Path("x.model").write_bytes(begin)
    with pytest.raises(
        ModelError, match=rf"x\.model: .*{named.replace('+', '.')}.*; train one with `ilpinfer train`"
    ):
        load_model("x.model")
    Path("x.tsv").write_text("Ada\n")
    assert named in cli.refused("decode x.tsv --model x.model")
