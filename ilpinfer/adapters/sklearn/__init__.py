"""An estimator with the interface of scikit-learn, whose predictions obey rules.

`ConstrainedTagger` trains a model of ilpinfer, or takes one of sklearn-crfsuite, CRFsuite or ilpinfer. Needs scikit-learn:
`pip install 'ilpinfer[sklearn]'`.
"""

from ilpinfer.system.extras import require

require("ilpinfer.adapters.sklearn", "sklearn", "sklearn")

from ilpinfer.adapters.sklearn.inputs import SequenceError  # noqa: E402
from ilpinfer.adapters.sklearn.predictions import (  # noqa: E402
    InfeasibleError,
    RelaxedNotice,
    span_f1,
)
from ilpinfer.adapters.sklearn.tagger import ConstrainedTagger  # noqa: E402

__all__ = ["ConstrainedTagger", "InfeasibleError", "RelaxedNotice", "SequenceError", "span_f1"]
