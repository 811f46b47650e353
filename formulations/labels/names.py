"""Label names from lists, arrays and mappings."""

from collections.abc import Iterable, Mapping, Set
from typing import Any

from formulations.arguments import iterable, plain_texts, text
from formulations.messages import brief, counted

_EXPECTED = "names in the order of their ids: a list, an array, or a mapping from ids to names"


def label_names(names: Any, what: str = "labels") -> tuple[str, ...]:
    """Label names in the order of their ids.

    Parameters
    ----------
    names : iterable of str or mapping of object to str
        A list, tuple or array, or a mapping from ids 0 … K-1, integers or their texts, as `id2label` of
        transformers.
    what : str, default "labels"
        Name in messages.

    Returns
    -------
    tuple of str
        K names.

    Raises
    ------
    ValueError
        For a set, which has no order, for ids other than 0 … K-1, and for names that are not texts, empty or given twice.

    Examples
    --------
    >>> label_names({"1": "B-name", "0": "O"})
    ('O', 'B-name')
    """
    if isinstance(names, Set):
        raise ValueError(
            f"{what} is {brief(names)}, which has no order: a score belongs to a label by its place; give a list"
        )
    each = by_id(names, what) if isinstance(names, Mapping) else iterable(names, what, _EXPECTED)
    result = tuple(each)
    if {*map(type, result)} != {str} or not all(result) or not "".join(result).isascii():
        result = tuple(plain_texts(result))
        for k, name in enumerate(result):
            if not isinstance(name, str) or not name:
                raise ValueError(f"label {k} is {brief(name)}: a label is a non-empty text")
            text(name, f"label {k}")
    if len(set(result)) < len(result):
        again = next(name for k, name in enumerate(result) if name in result[:k])
        raise ValueError(f"label {again!r} is given twice: names must differ")
    return result


def by_id(names: Mapping[Any, Any], what: str) -> Iterable[Any]:
    """The names of a mapping in the order of its ids."""
    if tuple(names) == tuple(range(len(names))):
        return names.values()
    found = dict[int, Any]()
    for key, name in names.items():
        k = _id(key)
        if k is None or k in found:
            raise ValueError(f"{what} has keys {brief(list(names)[:3])}; expected ids from 0")
        found[k] = name
    missing = [k for k in range(len(found)) if k not in found]
    if missing:
        raise ValueError(f"{what} has {counted(len(found), 'label')}, but none with id {missing[0]}")
    return [found[k] for k in range(len(found))]


def _id(key: Any) -> int | None:
    """The id of a whole number or its text; None for other values."""
    if isinstance(key, bool) or (isinstance(key, str) and not key.strip().isdecimal()):
        return None
    try:
        return int(key) if int(key) == key or isinstance(key, str) else None
    except (TypeError, ValueError):
        return None
