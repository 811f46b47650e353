"""Former names of modules, which import the present ones with a DeprecationWarning."""

import sys
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType

MODULES = {
    "ilpinfer.certificate": "ilpinfer.core.certificate",
    "ilpinfer.corpus.trellises": "ilpinfer.pipelines.trellises",
    "ilpinfer.decoder": "ilpinfer.decoding.decoder",
    "ilpinfer.evaluation.folds": "ilpinfer.pipelines.cross_validation",
    "ilpinfer.method_table": "ilpinfer.core.registry",
    "ilpinfer.models.outside": "ilpinfer.models.external",
    "ilpinfer.models.rules_first": "ilpinfer.pipelines.rules_first",
    "ilpinfer.models.tandem": "ilpinfer.pipelines.tandem",
    "ilpinfer.solution": "ilpinfer.core.solution",
    "ilpinfer.two_phase": "ilpinfer.decoding.two_phase",
    "ilpinfer.verification": "ilpinfer.proof.verification",
}
"""The present name of each."""


class Finder:
    """Finds modules by their former names."""

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        """The specification of a module that has another name now."""
        return ModuleSpec(name, self) if name in MODULES else None  # type: ignore[arg-type]

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """A module that has the attributes of the present one."""
        from warnings import warn

        module, present = ModuleType(spec.name), import_module(MODULES[spec.name])
        warn(f"{spec.name} is now {MODULES[spec.name]}", DeprecationWarning, stacklevel=2)
        module.__dict__.update({key: value for key, value in vars(present).items() if key[:2] != "__"})
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Nothing is left to do."""


def install() -> None:
    """Let former names be imported."""
    sys.meta_path.append(Finder())
