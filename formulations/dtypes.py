"""Types of arrays."""

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]
Small = NDArray[np.int32]
Floats = NDArray[np.float64]
Booleans = NDArray[np.bool_]
LabelIds = NDArray[np.int64]  # (T,) a label of each token, by its id
