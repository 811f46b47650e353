"""The methods by name: those of the package, and users' decoders."""

import inspect
import pickle
from typing import TYPE_CHECKING, Any

from formulations.arguments import flag
from formulations.messages import brief, suggestion
from ilpinfer.core.methods import BUILT_IN, Function, Method

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint, EntryPoints

GROUP = "ilpinfer.methods"
"""The group of entry points in which other packages offer decoders."""
_registered: dict[str, Method] = {}
"""Users' decoders, by name."""
_OUTSIDE = "ilpinfer.decoding.outside"


def methods() -> list[Method]:
    """All methods: exact ones, then heuristics, then those that were registered.

    Returns
    -------
    list of Method
        Records with `name`, `summary` and options.

    Examples
    --------
    >>> import ilpinfer
    >>> [method.name for method in ilpinfer.methods()][:3]
    ['auto', 'cbc', 'cp-sat']
    """
    return [*BUILT_IN, *_registered.values()]


def register_method(name: str, decoder: Function, *, process: bool = False) -> None:
    """Register a decoder as a method for `decode`, `decode_many`, `compare` and the command line.

    It is called as `decoder(trellis, rules, *, time_limit, seed)`: the trellis, the rules and features as a rule set, the
    time limit in seconds or None, and an integer seed. It returns T label names, T label ids, or None if it has no labelling.
    The labelling is evaluated by this package; a score that the decoder computes itself is never used.

    Parameters
    ----------
    name : str
        Name by which `method=` and `--methods` know it; a registered name may be registered again.
    decoder : Function
        The function, or any other callable.
    process : bool, default False
        Whether to run it in a process of its own, which is ended at the time limit. It must then be a
        function of a module, and its result is pickled. Otherwise a decoder that exceeds its limit is only
        reported.

    Raises
    ------
    ValueError
        For the name of a built-in method, a name with a comma, a colon or `=`, and a decoder that does not
        take these arguments.

    Examples
    --------
    >>> import ilpinfer
    >>> from ilpinfer import Trellis
    >>> def first_label(trellis, rules, *, time_limit, seed):
    ...     return [0] * len(trellis)
    >>> ilpinfer.register_method("first-label", first_label)
    >>> trellis = Trellis([0.0, -1.0], [[[0.0, -1.0], [-2.0, 0.5]]], labels=["a", "b"])
    >>> ilpinfer.decode(trellis, method="first-label").labels
    ['a', 'a']
    """
    if not isinstance(name, str) or not name or name != name.strip() or set(name) & set(",:=\n"):
        raise ValueError(f"name is {name!r}; expected a text without comma, colon and equals sign")
    if any(name == known.name for known in BUILT_IN):
        raise ValueError(f'"{name}" is a built-in method; choose another name')
    method = outside_method(name, decoder, flag(process, "process"))
    if process:
        try:
            pickle.dumps(decoder)
        except Exception as error:
            raise ValueError(
                f"{name} cannot be sent to a process ({error}); define it as a function of a module, or leave process out"
            ) from None
    _registered[name] = method


def method(name: str) -> Method:
    """The method of that name: built-in, registered, an entry point, or a function as `module:function`; ValueError for others."""
    if not isinstance(name, str):
        raise ValueError(f"method is {brief(name)}; expected the name of a method")
    for candidate in methods():
        if candidate.name == name:
            return candidate
    if (decoder := _imported(name)) is not None:
        return outside_method(name, decoder, process=True)
    known = [m.name for m in methods()] + [point.name for point in _points()]
    raise ValueError(f'no method "{name}"{suggestion(name, known)}')


def outside_method(name: str, decoder: Any, process: bool = False) -> Method:
    """A user's decoder as a method; ValueError for one that cannot be called as one."""
    if not callable(decoder):
        raise ValueError(f"{name} is {decoder!r}; expected a decoder that can be called")
    try:
        inspect.signature(decoder).bind(None, None, time_limit=None, seed=0)
    except (TypeError, ValueError):
        raise ValueError(f"{name} cannot be called as decoder(trellis, rules, *, time_limit, seed)") from None
    summary = (inspect.getdoc(decoder) or "").partition("\n")[0].rstrip(".") or "a user's decoder"
    return Method(name, False, summary, "", parameters=f"{_OUTSIDE}:Draw", function=decoder, process=process)


def offered() -> list[tuple[str, str]]:
    """Name, as `package:name`, and place of the decoders that other packages offer; none of them is imported."""
    return [(_names(point)[1], point.value) for point in _points()]


def _points() -> "EntryPoints":
    from importlib.metadata import entry_points

    return entry_points(group=GROUP)


def _names(point: "EntryPoint") -> list[str]:
    """The names of a decoder that another package offers: its own, then with the module and the package before it."""
    owners = [point.module.partition(".")[0], *([] if point.dist is None else [point.dist.name])]
    return [point.name, *(f"{owner}:{point.name}" for owner in owners)]


def _imported(name: str) -> Any:
    """The decoder of an entry point or of `module:function`; None where there is no such name."""
    from importlib.metadata import EntryPoint

    point = next((point for point in _points() if name in _names(point)), None)
    if point is None:
        module, colon, function = name.rpartition(":")
        if not (colon and all(part.isidentifier() for part in (*module.split("."), *function.split(".")))):
            return None
        point = EntryPoint(name, name, GROUP)
    try:
        return point.load()
    except Exception as error:
        raise ValueError(
            f'method "{name}": {point.value} cannot be imported ({type(error).__name__}: {error})'
        ) from error
