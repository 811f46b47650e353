"""Without spaCy there is one clear message."""

import pytest
from support.processes import python

from ilpinfer.adapters import spacy as adapter
from ilpinfer.adapters import spacy_factory
from ilpinfer.adapters.decisions import AdapterError
from ilpinfer.system import extras
from ilpinfer.system.extras import MissingLibrary


def test_a_missing_spacy_is_told_with_its_extra(monkeypatch):
    monkeypatch.setattr(extras, "find_spec", lambda name: None)
    with pytest.raises(MissingLibrary, match=r"ilpinfer_ner needs spacy, .* pip install 'ilpinfer\[spacy\]'"):
        spacy_factory.register()


def test_the_module_needs_no_spacy_and_has_no_other_names():
    code = "import sys; sys.modules['spacy'] = None; import ilpinfer.adapters.spacy, ilpinfer.adapters.spacy_factory"
    assert python("-c", code).returncode == 0
    with pytest.raises(AttributeError, match="has no attribute 'other'"):
        _ = spacy_factory.other


def test_an_unknown_option_is_refused():
    with pytest.raises(AdapterError, match="has no option 'lables'; did you mean \"labels\""):
        adapter.ConstrainedNER(None, lables=["O"])
