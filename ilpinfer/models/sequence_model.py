"""The protocols of models that commands, pipelines and decoders use."""

from pathlib import Path
from typing import Any, ClassVar, Protocol

from formulations import LabelSet, Trellis


class SequenceModel(Protocol):
    """A model that scores the labellings of tokens.

    A first-order model whose scores depend on single tokens also has `token_scores`, a
    `formulations.problem.token_scores.TokenScores`: a `Decoder` then scores each distinct token once.
    """

    @property
    def labels(self) -> LabelSet:
        """K labels."""
        ...

    def trellis(self, tokens: tuple[str, ...]) -> Trellis:
        """Scores of T tokens, in nats.

        Parameters
        ----------
        tokens : tuple of str
            T texts.

        Returns
        -------
        Trellis
            Scores of all labellings, nats.

        Raises
        ------
        ValueError
            For tokens that the model cannot score.
        """
        ...


class TrainedModel(SequenceModel, Protocol):
    """A model that can be written to a file."""

    @property
    def size(self) -> str:
        """Such as `120 words`."""
        ...

    FORMAT: ClassVar[str]
    VERSION: ClassVar[int]

    def body(self) -> dict[str, Any]:
        """The model as plain values."""
        ...

    def save(self, path: str | Path) -> None:
        """Write a file for `load_model`, atomically."""
        ...
