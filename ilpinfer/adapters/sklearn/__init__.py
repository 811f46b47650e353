"""Estimators with the interface of scikit-learn, whose predictions obey rules.

`ConstrainedCRF` and `ConstrainedHMM` train a model of ilpinfer; `ConstrainedDecoder` takes a model of sklearn-crfsuite or
python-crfsuite. Needs scikit-learn: `pip install 'ilpinfer[sklearn]'`.
"""

from ilpinfer.system.extras import require

require("ilpinfer.adapters.sklearn", "sklearn", "sklearn")

from ilpinfer.adapters.sklearn.crf import ConstrainedCRF  # noqa: E402
from ilpinfer.adapters.sklearn.crfsuite_decoder import ConstrainedDecoder  # noqa: E402
from ilpinfer.adapters.sklearn.inputs import SequenceError  # noqa: E402
from ilpinfer.adapters.sklearn.predictions import (  # noqa: E402
    InfeasibleError,
    RelaxedNotice,
    span_f1,
)
from ilpinfer.adapters.sklearn.trained import ConstrainedHMM  # noqa: E402

__all__ = [
    "ConstrainedCRF",
    "ConstrainedDecoder",
    "ConstrainedHMM",
    "InfeasibleError",
    "RelaxedNotice",
    "SequenceError",
    "span_f1",
]
