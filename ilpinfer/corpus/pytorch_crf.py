"""The parameters of a CRF layer, as the package pytorch-crf and its relatives name them."""

from collections.abc import Mapping
from typing import Any

from numpy.typing import NDArray

from ilpinfer.corpus.arrays import as_floats

KEYS = {"transitions": 2, "start_transitions": 1, "end_transitions": 1}


def crf_parameters(state: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
    """Transition scores of a CRF layer of pytorch-crf or a compatible package, as arguments of `from_logits`.

    Parameters
    ----------
    state : mapping of str to object
        Arrays or tensors by name, such as `crf.state_dict()` or the result of `numpy.load` for an `.npz` file
        of them. A prefix of all three names, such as `crf.` in the state of a whole tagger, is removed, and
        other names are ignored.

    Returns
    -------
    dict of str to NDArray[Any]
        Arrays `transitions` (K, K) [from, to], `start` and `end` (K,).

    Raises
    ------
    ValueError
        For a missing name, several layers, and shapes that do not match.

    Examples
    --------
    >>> state = {"transitions": [[0.0, 1.0], [2.0, 3.0]], "start_transitions": [0.0, 0.0], "end_transitions": [0.0, 0.0]}
    >>> sorted(crf_parameters(state))
    ['end', 'start', 'transitions']
    """
    prefixes = [key.removesuffix("start_transitions") for key in state if _ends(key, "start_transitions")]
    if len(prefixes) != 1:
        what = f"several layers: {', '.join(prefixes)}" if prefixes else "no start_transitions"
        raise ValueError(f"the CRF layer's state has {what}; expected {', '.join(KEYS)} of one layer")
    result = {}
    for key, dimensions in KEYS.items():
        if prefixes[0] + key not in state:
            raise ValueError(f"the CRF layer's state has no {prefixes[0]}{key}; expected {', '.join(KEYS)}")
        result[key] = as_floats(state[prefixes[0] + key], key, dimensions)
    K = len(result["start_transitions"])
    for key, array in result.items():
        if array.shape != (K,) * KEYS[key]:
            raise ValueError(f"{key} has shape {array.shape}; expected {(K,) * KEYS[key]}")
    return {key.removesuffix("_transitions"): array for key, array in result.items()}


def _ends(key: str, name: str) -> bool:
    return key == name or key.endswith("." + name)
