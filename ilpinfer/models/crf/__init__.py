"""Linear-chain conditional random fields: features, training, files and exact scores."""

from ilpinfer.models.crf.model import CRF

__all__ = ["CRF"]
