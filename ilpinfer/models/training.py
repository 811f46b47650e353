"""Kinds of models, trained alike on labelled sequences, with options by name."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from formulations.labels.label_set import suggestion
from ilpinfer.models.crf import CRF
from ilpinfer.models.crf.training import Iteration
from ilpinfer.models.hmm import HMM, SecondOrderHMM
from ilpinfer.models.hmm.vocabulary import Vocabulary

Pair = tuple[Sequence[str], Sequence[str]]
Progress = Callable[[Iteration], None]

COUNTED = ("emissions", "transitions", *(field.name for field in fields(Vocabulary)))
"""Options of hidden Markov models: two smoothings by name, and the vocabulary's fields."""
TRAINED = ("template", "algorithm")
"""Options of conditional random fields, beside the parameters of the algorithm."""


@dataclass(frozen=True)
class Kind:
    """A kind of model.

    Parameters
    ----------
    title : what it is
    model : its class
    read : from options by name to what `model.train` takes
    iterated : whether training has iterations, which are tried on held-out sequences
    """

    title: str
    model: Any
    read: Callable[[Mapping[str, Any]], dict[str, Any]]
    iterated: bool = False

    def make(
        self,
        pairs: Sequence[Pair],
        scheme: str,
        held_out: Sequence[Pair],
        progress: Progress | None,
        options: Mapping[str, Any],
    ) -> Any:
        """A model of labelled sequences."""
        watched = {"held_out": held_out, "progress": progress} if self.iterated else {}
        return self.model.train(pairs, scheme=scheme, **watched, **self.read(options))


def _counted(options: Mapping[str, Any]) -> dict[str, Any]:
    unknown = [name for name in options if name not in COUNTED]
    if unknown:
        raise ValueError(f'no option "{unknown[0]}"{suggestion(unknown[0], COUNTED)}')
    smoothings = {name: options[name] for name in COUNTED[:2] if name in options}
    for name, method in smoothings.items():
        if not isinstance(method, str):
            raise ValueError(f"{name} is {method!r}; expected the name of a smoothing")
    words = {name: value for name, value in options.items() if name not in smoothings}
    return {**smoothings, "vocabulary": Vocabulary(**words)}


def _trained(options: Mapping[str, Any]) -> dict[str, Any]:
    own = {name: str(options[name]) for name in TRAINED if name in options}
    return {**own, "parameters": {name: value for name, value in options.items() if name not in TRAINED}}


KINDS: Mapping[str, Kind] = {
    "hmm": Kind("first-order HMM", HMM, _counted),
    "hmm2": Kind("second-order HMM", SecondOrderHMM, _counted),
    "crf": Kind("linear-chain CRF", CRF, _trained, iterated=True),
}


def train(
    kind: str,
    pairs: Sequence[Pair],
    *,
    scheme: str = "",
    held_out: Sequence[Pair] = (),
    progress: Progress | None = None,
    **options: Any,
) -> Any:
    """A model of a kind, from labelled sequences.

    Parameters
    ----------
    kind : "hmm", "hmm2" or "crf"
    pairs : tokens and labels
    scheme : of the labels; inferred where not given
    held_out : what `progress` reports accuracy on, for kinds that are trained in iterations
    progress : called after each iteration, for such kinds
    options : for hidden Markov models `emissions` and `transitions` (names of smoothings) and the fields of `Vocabulary`; for
        conditional random fields `template`, `algorithm` and the algorithm's parameters, such as `c1`

    Raises
    ------
    ValueError
        for an unknown kind or option, and for sequences that cannot be learnt from.
    """
    if kind not in KINDS:
        raise ValueError(f'no kind of model "{kind}"{suggestion(kind, KINDS)}')
    return KINDS[kind].make(pairs, scheme, held_out, progress, options)
