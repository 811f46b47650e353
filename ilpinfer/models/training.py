"""Training of models by kind, with options by name."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Literal, overload

from formulations.arguments import names, one_of
from formulations.labels import schemes
from formulations.messages import suggestion
from ilpinfer.corpus.conversion import convert_all, in_form
from ilpinfer.corpus.examples import Notify
from ilpinfer.corpus.helper_labels import without_helpers
from ilpinfer.models.crf import CRF
from ilpinfer.models.crf.features import FeatureTemplate
from ilpinfer.models.crf.training import Progress
from ilpinfer.models.hmm import HMM, SecondOrderHMM
from ilpinfer.models.hmm.vocabulary import WordClasses
from ilpinfer.models.labelled_sequences import partly_labelled, tokens_and_labels
from ilpinfer.models.sequence_model import TrainedModel
from ilpinfer.models.sequences import Labelled

HMM_OPTIONS = ("emissions", "transitions", "iterations", *(field.name for field in fields(WordClasses)))
CRF_OPTIONS = ("template", "algorithm")


@dataclass(frozen=True)
class ModelType:
    """A kind of model: its title, its training function, arguments from options, and whether training is iterative."""

    title: str
    train: Callable[..., TrainedModel]
    arguments: Callable[[Mapping[str, Any]], dict[str, Any]]
    iterative: bool = False
    partly: bool = False
    """Whether labels may be unknown."""

    def make(
        self,
        pairs: Sequence[Labelled],
        scheme: str,
        held_out: Sequence[Labelled],
        progress: Progress | None,
        options: Mapping[str, Any],
    ) -> TrainedModel:
        own: dict[str, Any] = {"held_out": held_out, "progress": progress} if self.iterative else {}
        return self.train(pairs, scheme=scheme, **own, **self.arguments(options))


def _hmm_arguments(options: Mapping[str, Any]) -> dict[str, Any]:
    unknown = [name for name in options if name not in HMM_OPTIONS]
    if unknown:
        raise ValueError(f'no option "{unknown[0]}"{suggestion(unknown[0], HMM_OPTIONS)}')
    smoothings = {name: options[name] for name in HMM_OPTIONS[:2] if name in options}
    for name, method in smoothings.items():
        if not isinstance(method, str):
            raise ValueError(f"{name} is {method!r}; expected the name of a smoothing")
    own = {**smoothings, **({"iterations": options["iterations"]} if "iterations" in options else {})}
    words = {name: value for name, value in options.items() if name not in own}
    return {**own, "vocabulary": WordClasses(**words)}


def _crf_arguments(options: Mapping[str, Any]) -> dict[str, Any]:
    own: dict[str, Any] = {
        name: value if isinstance(value := options[name], Path | Mapping | FeatureTemplate) else str(value)
        for name in CRF_OPTIONS
        if name in options
    }
    return {**own, "parameters": {name: value for name, value in options.items() if name not in CRF_OPTIONS}}


KINDS: Mapping[str, ModelType] = {
    "hmm": ModelType("first-order HMM", HMM.train, _hmm_arguments, partly=True),
    "hmm2": ModelType("second-order HMM", SecondOrderHMM.train, _hmm_arguments, partly=True),
    "crf": ModelType("linear-chain CRF", CRF.train, _crf_arguments, iterative=True),
}


@overload
def train(kind: Literal["hmm"], pairs: Sequence[Labelled], **options: Any) -> HMM: ...
@overload
def train(kind: Literal["hmm2"], pairs: Sequence[Labelled], **options: Any) -> SecondOrderHMM: ...
@overload
def train(kind: Literal["crf"], pairs: Sequence[Labelled], **options: Any) -> CRF: ...
@overload
def train(kind: str, pairs: Sequence[Labelled], **options: Any) -> TrainedModel: ...
def train(
    kind: str,
    pairs: Sequence[Labelled],
    *,
    scheme: str = "",
    never: Iterable[str] = (),
    held_out: Sequence[Labelled] = (),
    progress: Progress | None = None,
    **options: Any,
) -> TrainedModel:
    """Train a model on labelled sequences.

    Parameters
    ----------
    kind : str
        "hmm", "hmm2" or "crf".
    pairs : sequence of Labelled
        Tokens and labels of each sequence, as a tuple of two lists; or each sequence as a list of tuples (word, tag). Sequences
        without tokens are left out, and counted in a notice. For hidden Markov models, None is an unknown label.
    scheme : str, optional
        Scheme to convert labels to, as `ilpinfer train --scheme`; by default, labels are not converted.
    never : iterable of str, optional
        Helper labels, such as `[PAD]` or `X`. Tokens with helper labels are left out, also in `held_out`, and counted in a notice.
        The model does not have helper labels.
    held_out : sequence of Labelled, optional
        Sequences on which `progress` reports accuracy, for iterative training.
    progress : Progress, optional
        Function that is called after each iteration, for iterative training.
    **options : object
        For hidden Markov models: `emissions` and `transitions` (names of smoothing methods), `iterations` if labels are unknown, and the
        fields of `WordClasses`. For conditional random fields: `template` (a name, a file, or a `FeatureTemplate`), `algorithm`, and
        parameters of the algorithm, such as `c1`.

    Returns
    -------
    TrainedModel
        The model.

    Raises
    ------
    ValueError
        For unknown kinds and options, invalid sequences, and labels that cannot be converted to the scheme.

    Examples
    --------
    >>> hmm = train("hmm", [(["Ada", "1815"], ["name", "year"])])
    >>> hmm.labels.names
    ('name', 'year')
    >>> train("hmm", [(["Ada", "Lovelace"], ["B-name", "I-name"])], scheme="iobes").labels.names
    ('B-name', 'E-name')
    """
    one_of(kind, "kind of model", KINDS)
    out = names(never, "never")
    pairs = rewrite(pairs, scheme, out)
    held_out = rewrite(held_out, scheme, out, absent=True)
    return KINDS[kind].make(pairs, scheme, held_out, progress, options)


def rewrite(
    pairs: Iterable[Labelled],
    scheme: str,
    never: Iterable[str] = (),
    notify: Notify | None = None,
    *,
    absent: bool = False,
) -> list[Labelled]:
    """Convert the labels of labelled sequences to a scheme, and remove tokens with helper labels.

    Parameters
    ----------
    pairs : iterable of Labelled
        Tokens and labels of each sequence.
    scheme : str
        Name of the scheme. Labels are unchanged if it is empty, or if they cannot be converted. None stays None.
    never : iterable of str, optional
        Helper labels; see `train`.
    notify : Notify, optional
        Function that is called with each notice; by default, notices are `InputNotice` warnings.
    absent : bool, default False
        Whether to accept helper labels that no token has without a notice.

    Returns
    -------
    list of Labelled
        Tokens and converted labels.

    Examples
    --------
    >>> rewrite([(["Ada", "Lovelace"], ["B-name", "I-name"])], "iobes")
    [(['Ada', 'Lovelace'], ('B-name', 'E-name'))]
    """
    pairs = without_helpers(tokens_and_labels(pairs), never, notify, absent=absent)
    read = [partly_labelled(labels, f"sequence {number}: labels") for number, (_, labels) in enumerate(pairs)]
    if any(unknown for _, unknown in read):
        known = [[name for name in labels if name is not None] for _, labels in pairs]
        names_in = _in_scheme(known, scheme)
        return [(tokens, [name and names_in[name] for name in labels]) for tokens, labels in pairs]
    labels = convert_all([labels for labels, _ in read], scheme)
    return [(tokens, own) for (tokens, _), own in zip(pairs, labels, strict=True)]


def _in_scheme(labellings: Sequence[Sequence[str]], scheme: str) -> dict[str, str]:
    """Map labels to a scheme, if some labels are unknown; ValueError if the conversion depends on neighbouring labels."""
    every = list(dict.fromkeys(name for labels in labellings for name in labels))
    shown = schemes.infer(every)
    wanted = in_form(schemes.scheme_name(scheme), shown)
    if wanted in ("", shown):
        return {name: name for name in every}
    if wanted != "plain":
        raise ValueError(
            f"labels of partly labelled sequences are {shown}; they can be converted to plain, not to {wanted}"
        )
    return {name: schemes.strip(name, shown) for name in every}
