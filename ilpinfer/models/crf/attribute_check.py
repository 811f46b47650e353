"""Checks that features match those of a model's training."""

import warnings
from collections.abc import Iterable, Sequence

from formulations.errors import stack_level
from ilpinfer.errors import ModelError
from ilpinfer.models.crf.features import FeatureTemplate
from ilpinfer.models.crf.templates import load_template, template_names

LEAST = 0.5
"""Smallest share of the model's attributes that a template must produce."""


class FeatureNotice(UserWarning):
    """A notice that features do not match those of a model's training."""


def share(attributes: Sequence[str], template: FeatureTemplate) -> float:
    """The share of a model's attributes that a template can produce, by their names: `lower[-1]=in & class[0]=year`."""
    atoms = {tuple(map(str, conjunction)) for conjunction in template.conjunctions}
    return sum(_has_atoms(name, atoms) for name in attributes) / max(len(attributes), 1)


def _has_atoms(name: str, atoms: set[tuple[str, ...]]) -> bool:
    """Whether a conjunction of the template has the atoms of a name. Values are ignored; they may contain separators."""
    if (name.partition("=")[0],) in atoms:
        return True
    return tuple(part.partition("=")[0] for part in name.split(" & ")) in atoms


def check_template(path: object, attributes: Sequence[str], template: FeatureTemplate, title: str) -> None:
    """Give a notice if a template cannot produce all attributes of a model; ModelError below `LEAST`."""
    result = share(attributes, template)
    if result == 1 or not attributes:
        return
    atoms = {tuple(map(str, conjunction)) for conjunction in template.conjunctions}
    missing = next(name for name in attributes if not _has_atoms(name, atoms))
    text = (
        f"{path}: {title} makes {_percent(result)} of the model's {len(attributes)} attributes, and none such as "
        f"{missing!r:.60}; "
    )
    fits = {name: share(attributes, load_template(name)) for name in template_names()}
    best = max(fits, key=lambda name: fits[name])
    if fits[best] > max(result, LEAST):
        text += f'template="{best}" makes {_percent(fits[best])}'
    else:
        text += "give the template that it was trained with, or no template and the features to trellis_of"
    if result < LEAST:
        raise ModelError(text)
    warnings.warn(text, FeatureNotice, stacklevel=3)


def _percent(share: float) -> str:
    return f"{int(100 * share)} %"


def warn_of_unknown(features: Iterable[str], attributes: Sequence[str]) -> None:
    example = next(iter(features), None)
    if example is not None and attributes:
        text = (
            f"the model knows none of the features of this sequence, such as {example!r:.60}; give features named as in "
            f"training, such as {attributes[0]!r:.60}"
        )
        warnings.warn(text, FeatureNotice, stacklevel=stack_level())
