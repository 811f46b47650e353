"""Docstrings of the public interface have the sections of numpydoc, agree with the signatures, and have examples that run."""

import importlib
import inspect
import re
from dataclasses import fields, is_dataclass
from enum import Enum

import pytest
from numpydoc.docscrape import get_doc_object
from numpydoc.validate import ERROR_MSGS, Validator, validate
from support.places import ROOT
from support.processes import python

PACKAGES = (
    "formulations",
    "formulations.constraints",
    "ilpinfer",
    "ilpinfer.adapters",
    "ilpinfer.adapters.huggingface",
    "ilpinfer.adapters.sklearn",
    "ilpinfer.learning",
    "ilpinfer.models.crf",
    "ilpinfer.models.external",
    "ilpinfer.models.hmm",
    "ilpinfer.references",
    "ilpinfer.serving",
    "ilpinfer.solvers",
)
"""Every name of their `__all__` is public."""
MODULES = {
    "formulations.programs.cost_network": ("CostNetwork",),
    "ilpinfer.adapters.frames": ("sequences_of", "with_solutions"),
    "ilpinfer.adapters.spacy": ("ConstrainedNER",),
    "ilpinfer.corpus.examples": ("Example", "InputError", "InputNotice", "Rejection"),
    "ilpinfer.corpus.passages": ("Passage",),
    "ilpinfer.corpus.resumes": ("items",),
    "ilpinfer.corpus.sequences": ("read", "require_labels"),
    "ilpinfer.corpus.writing": ("WriteOptions", "write"),
    "ilpinfer.evaluation.broken_rules": ("broken_rules",),
    "ilpinfer.evaluation.checking": ("smoothed_penalty",),
    "ilpinfer.evaluation.counts": ("f_measure",),
    "ilpinfer.evaluation.evaluation": ("Evaluation", "Pair", "evaluate"),
    "ilpinfer.models.combination": ("Combination", "combine"),
    "ilpinfer.models.crf.templates": ("load_template", "with_rules"),
    "ilpinfer.models.files": ("load_model",),
    "ilpinfer.models.training": ("rewrite", "train"),
    "ilpinfer.pipelines.rules_first": ("RulesFirst", "rules_first"),
    "ilpinfer.testing": ("assert_optimal", "assert_within"),
}
"""Modules of docs/api, with their public names."""
WITHOUT_EXAMPLE = {"ilpinfer.adapters.huggingface.constrain"}
"""It needs a model of transformers; docs/how-to/hugging-face.md shows it."""
CHECKS = {
    "GL03": "one blank line between sections",
    "GL06": "no unknown section",
    "GL07": "the order of sections",
    "GL08": "a docstring",
    "SS01": "a summary",
    "SS03": "a full stop after it",
    "SS06": "a summary in one line",
    "PR01": "every parameter",
    "PR02": "no other parameter",
    "PR03": "in the order of the signature",
    "PR05": "no full stop after a type",
    "PR07": "a description of each",
    "PR08": "that begins with a capital letter",
    "PR09": "and ends with a full stop",
    "PR10": "a space before the colon",
    "RT01": "what is returned",
    "RT03": "a description of it",
    "RT04": "that begins with a capital letter",
    "RT05": "and ends with a full stop",
    "YD01": "what is yielded",
}
"""Checks of numpydoc, and what each asks for."""


def _public() -> dict[str, object]:
    """Public functions and classes by their names."""
    names = {package: importlib.import_module(package).__all__ for package in PACKAGES} | MODULES
    found = {
        f"{module}.{name}": getattr(importlib.import_module(module), name)
        for module, members in names.items()
        for name in members
    }
    return {name: value for name, value in found.items() if callable(value)}


def _methods(owner: type) -> dict[str, object]:
    """Public methods of a class, without fields that hold functions and what other libraries define."""
    attributes = {field.name for field in fields(owner)} if is_dataclass(owner) else set()
    return {
        name: member
        for name, member in inspect.getmembers(owner, callable)
        if not name.startswith("_")
        and name not in attributes
        and (inspect.isfunction(member) or inspect.ismethod(member))
        and member.__module__.partition(".")[0] in ("formulations", "ilpinfer")
    }


OBJECTS = _public()
METHODS = {
    f"{name}.{method}": member
    for name, owner in OBJECTS.items()
    if inspect.isclass(owner)
    for method, member in _methods(owner).items()
}


def _parameters_of(owner: type) -> set[str]:
    """Parameters that the docstring of a class of this project describes."""
    if owner.__module__.partition(".")[0] not in ("formulations", "ilpinfer"):
        return set()
    return set(Validator(get_doc_object(owner)).doc_parameters)


class _Documented(Validator):
    """A public object, for the checks of numpydoc.

    Members of an Enum and names that begin with an underscore are no parameters. A subclass need not describe again what
    its base class does, nor a function what another one does: "Parameters as for `read`." A method that overrides another has
    its docstring, as in the pages of Sphinx.
    """

    def __init__(self, obj_name: str) -> None:
        super().__init__(get_doc_object({**OBJECTS, **METHODS}[obj_name]))
        self.owner = obj_name.rpartition(".")[0]
        self.raw_doc = inspect.getdoc(self.obj) or ""

    @property
    def described_elsewhere(self) -> set[str]:
        others = re.findall(r"Parameters(?: and errors)? as for `(\w+)`", self.raw_doc)
        return {name for other in others for name in _Documented(f"{self.owner}.{other}").doc_parameters}

    @property
    def signature_parameters(self) -> tuple[str, ...]:
        if inspect.isclass(self.obj) and (
            issubclass(self.obj, Enum) or getattr(self.obj, "_is_protocol", False)
        ):
            return ()
        inherited = (
            {name for base in self.obj.__mro__[1:] for name in _parameters_of(base)}
            if inspect.isclass(self.obj)
            else set()
        )
        elsewhere = inherited | self.described_elsewhere
        return tuple(
            name
            for name in super().signature_parameters
            if not name.startswith("_") and (name in self.doc_parameters or name not in elsewhere)
        )


def _faults(name: str) -> list[str]:
    errors = validate(name, _Documented)["errors"]
    return [f"{code}: {message}" for code, message in errors if code in CHECKS]


NAMES = sorted([*OBJECTS, *METHODS])


@pytest.mark.parametrize("package", sorted({".".join(name.split(".")[:2]) for name in NAMES}))
def test_sections_agree_with_the_signature(package):
    assert set(CHECKS) <= set(ERROR_MSGS)
    names = [name for name in NAMES if name.split(".")[:2] == package.split(".")]
    assert {name: faults for name in names if (faults := _faults(name))} == {}


ERRORS = {name for name, value in OBJECTS.items() if isinstance(value, type) and issubclass(value, Exception)}


def test_there_is_an_example():
    names = sorted(set(OBJECTS) - WITHOUT_EXAMPLE - ERRORS)
    assert [name for name in names if ">>> " not in (inspect.getdoc(OBJECTS[name]) or "")] == []


def test_the_examples_of_docstrings_run():
    packages = ["formulations", "ilpinfer"]
    run = python("-m", "pytest", "--doctest-modules", "-p", "no:cacheprovider", "-q", *packages, cwd=ROOT)
    assert run.returncode == 0 and "[100%]" in run.stdout, run.stdout
