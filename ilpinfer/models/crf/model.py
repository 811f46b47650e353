"""Linear-chain conditional random fields, with exact scores for trellises."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from formulations import LabelSet, Trellis
from formulations.dtypes import Floats
from formulations.messages import counted
from formulations.problem.token_scores import empty_trellis
from ilpinfer.errors import ModelError
from ilpinfer.models import plain_values
from ilpinfer.models.crf.attribute_check import check_template, share
from ilpinfer.models.crf.crfsuite import read_crfsuite
from ilpinfer.models.crf.features import FeatureTemplate
from ilpinfer.models.crf.items import checked_items
from ilpinfer.models.crf.templates import load_template, read_template, template_names, template_source
from ilpinfer.models.crf.training import Progress, check_sequences, learn, observations
from ilpinfer.models.crf.weights import KEYS, Weights, read_weights, weights_body
from ilpinfer.models.files import ModelFile
from ilpinfer.models.forward_backward import Sums, forward_backward
from ilpinfer.models.sequences import Labelled


@dataclass(frozen=True)
class CRF(ModelFile):
    """A linear-chain conditional random field (Stokman 2011, eq. 17; Fersini et al. 2014, eq. 5).

    P(y | x) ∝ exp(Σ λ·f(y', y) + Σ μ·g(y, x)).

    Parameters
    ----------
    labels : LabelSet
        K labels.
    learnt : Weights
        Weights of A attributes and of transitions, nats.
    template : Template, optional
        Template that computes the features of tokens; None if features have to be given.

    Examples
    --------
    >>> crf = CRF.train([(["Ada", "1815"], ["name", "year"]), (["Alan", "1912"], ["name", "year"])])
    >>> crf.label_probabilities(["Grace", "1906"]).argmax(axis=1).tolist()
    [0, 1]
    """

    labels: LabelSet
    learnt: Weights
    template: FeatureTemplate | None = None

    FORMAT: ClassVar = "ilpinfer-crf"
    VERSION: ClassVar = 2

    @classmethod
    def train(
        cls,
        sequences: Iterable[Labelled],
        template: str | Path | Mapping[str, Any] | FeatureTemplate = "general",
        *,
        algorithm: str = "lbfgs",
        parameters: Mapping[str, Any] | None = None,
        scheme: str = "",
        held_out: Iterable[Labelled] = (),
        progress: Progress | None = None,
    ) -> "CRF":
        """Train on labelled sequences with CRFsuite.

        Parameters
        ----------
        sequences : iterable of Labelled
            Tokens and labels.
        template : str, Path, mapping of str to object or Template, default "general"
            A name such as "citations", a TOML file, or a template.
        algorithm : str, default "lbfgs"
            One of `ilpinfer.models.crf.training.ALGORITHMS`.
        parameters : mapping of str to object, optional
            Parameters of the algorithm, such as `{"c1": 0.1, "c2": 0.1, "max_iterations": 100}`.
        scheme : str, optional
            Scheme of the labels; inferred by default.
        held_out : iterable of Labelled, optional
            Sequences on which `progress` reports accuracy.
        progress : Progress, optional
            Function that is called with an `Iteration` after each one.

        Returns
        -------
        CRF
            The model.

        Raises
        ------
        ValueError
            For sequences, templates, algorithms and parameters that cannot be used.
        """
        result = template if isinstance(template, FeatureTemplate) else load_template(template)
        training = check_sequences(sequences, "training", scheme)
        further = check_sequences(held_out, "held-out", scheme)
        weights = learn(
            observations(training, result, "training"),
            algorithm=algorithm,
            parameters=parameters,
            held_out=observations(further, result, "held-out"),
            progress=progress,
        )
        return cls(LabelSet(weights.labels, scheme), weights, result)

    @classmethod
    def from_file(cls, path: str | Path) -> "CRF":
        """Read a model file of CRFsuite, with the shipped template that produces all its attributes, if there is one.

        Parameters
        ----------
        path : str or Path
            The model file.

        Returns
        -------
        CRF
            The model; without a template, features have to be given to `trellis_of`.

        Raises
        ------
        ModelError
            For a file that cannot be read as a model.
        """
        attributes = read_crfsuite(path).attributes
        fitting = (name for name in template_names() if share(attributes, load_template(name)) == 1)
        return cls.from_crfsuite(path, next(fitting, None))

    @classmethod
    def from_crfsuite(
        cls,
        path: str | Path,
        template: str | Path | Mapping[str, Any] | FeatureTemplate | None = None,
        *,
        scheme: str = "",
    ) -> "CRF":
        """Read a model file of CRFsuite, or of a program based on it.

        If no template reproduces the feature names of the file, features have to be given to `trellis_of`. A template that
        produces only some of the model's attributes leads to a `FeatureNotice`. Parameters as for `train`, but for two.

        Parameters
        ----------
        path : str or Path
            The model file.
        template : str, Path, mapping of str to object or Template, optional
            As for `train`; None if features are given.

        Returns
        -------
        CRF
            The model, with the weights of the file.

        Raises
        ------
        ModelError
            For a file that is missing or damaged, and a template that produces less than half of the model's
            attributes.
        """
        weights = read_crfsuite(path)
        result = template if isinstance(template, FeatureTemplate | None) else load_template(template)
        if result is not None:
            title = f'template "{template}"' if isinstance(template, str | Path) else "the template"
            check_template(path, weights.attributes, result, title)
        try:
            return cls(LabelSet(weights.labels, scheme), weights, result)
        except ValueError as error:
            raise ModelError(f"{path}: {error}") from None

    @property
    def size(self) -> str:
        """Such as `120 attributes`."""
        return counted(len(self.learnt.attributes), "feature")

    def __repr__(self) -> str:
        return f"CRF({counted(len(self.labels), 'label')}, {self.labels.notation}, {self.size})"

    def __getstate__(self) -> dict[str, Any]:
        """Pickle the template as plain values, since its attributes are functions; ValueError if it has no file format."""
        state = {each.name: getattr(self, each.name) for each in fields(self)}
        return {**state, "template": self._template_source()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        source = state["template"]
        self.__dict__.update(state, template=None if source is None else load_template(source))

    def features(self, tokens: Sequence[str]) -> list[list[str]]:
        """Names of the features of each token.

        Parameters as for `trellis`.

        Returns
        -------
        list of list of str
            One list for each token.

        Raises
        ------
        ValueError
            If the model has no template.
        """
        if self.template is None:
            raise ValueError("this model has no template for features: give one, or use trellis_of(features)")
        return self.template.features(tokens)

    def emissions(self, features: Sequence[Iterable[str] | Mapping[str, Any]]) -> Floats:
        """Σ μ·g(y, x) for each token and label, (T, K) nats.

        Features are names, or mappings from names to values as in CRFsuite.

        Parameters
        ----------
        features : sequence of iterable of str or mapping of str to object
            Features of each of T tokens.

        Returns
        -------
        ndarray of float, shape (T, K)
            Scores Σ μ·g(y, x) in nats.

        Raises
        ------
        ValueError
            For features of other types, and values that are not finite.
        """
        return self.learnt.emissions(checked_items(features, "features"), notice=self.template is None)

    def _emissions(self, tokens: Sequence[str]) -> Floats:
        return self.learnt.emissions(self.features(tokens), notice=False)

    def trellis(self, tokens: Sequence[str]) -> Trellis:
        """Scores of the labellings of T tokens, in nats; log Z is not subtracted.

        Parameters
        ----------
        tokens : sequence of str
            T texts.

        Returns
        -------
        Trellis
            The trellis, with emissions and transitions stored apart.

        Raises
        ------
        ValueError
            For a model without a template.
        """
        if not len(tokens):
            return empty_trellis(self.labels)
        return self._trellis(self._emissions(tokens), tokens)

    def trellis_of(
        self, features: Sequence[Iterable[str] | Mapping[str, Any]], tokens: Sequence[str] | None = None
    ) -> Trellis:
        """Scores of labellings of T tokens with given features, in nats.

        Parameters as for `emissions`, and one more.

        Parameters
        ----------
        tokens : sequence of str, optional
            T texts that rules may look at.

        Returns
        -------
        Trellis
            The trellis, with emissions and transitions stored apart.
        """
        return self._trellis(self.emissions(features), tokens)

    def _trellis(self, emissions: Floats, tokens: Sequence[str] | None) -> Trellis:
        return Trellis.from_emissions(emissions, self.learnt.transitions, labels=self.labels, tokens=tokens)

    def log_probability(self, tokens: Sequence[str], labelling: Iterable[object]) -> float:
        """The logarithm of P(labelling | tokens), nats.

        Parameters as for `trellis`, and one more.

        Parameters
        ----------
        labelling : iterable of object
            T label names or ids.

        Returns
        -------
        float
            The logarithm, 0 or less.

        Raises
        ------
        ValueError
            For a wrong number of labels, and unknown labels.
        """
        emissions, path = self._emissions(tokens), self.labels.ids(labelling)
        if len(path) != len(emissions):
            raise ValueError(
                f"the labelling has {counted(len(path), 'label')} for {counted(len(emissions), 'token')}"
            )
        score = (
            emissions[np.arange(len(path)), path].sum() + self.learnt.transitions[path[:-1], path[1:]].sum()
        )
        return float(score - self._sums(emissions).log_partition)

    def label_probabilities(self, tokens: Sequence[str]) -> Floats:
        """Probability of each label at each token, given all tokens.

        Parameters as for `trellis`.

        Returns
        -------
        ndarray of float, shape (T, K)
            Probabilities.
        """
        return self._sums(self._emissions(tokens)).states()

    def _sums(self, emissions: Floats) -> Sums:
        return forward_backward(
            emissions, self.learnt.transitions[None], np.zeros(max(len(emissions) - 1, 0), np.int64)
        )

    def body(self) -> dict[str, Any]:
        return {
            "labels": list(self.labels.names),
            "scheme": self.labels.notation,
            "template": self._template_source(),
            "attributes": list(self.learnt.attributes),
            **weights_body(self.learnt),
        }

    def _template_source(self) -> dict[str, Any] | None:
        return None if self.template is None else template_source(self.template)

    @classmethod
    def from_body(cls, body: dict[str, Any]) -> "CRF":
        plain_values.table(body, KEYS, "the model")
        labels = plain_values.label_set(body)
        weights = read_weights(body, labels)
        template = None if body["template"] is None else read_template(body["template"])
        return cls(labels, weights, template)
