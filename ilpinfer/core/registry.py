"""The methods by name: methods of the package, and users' decoders and solvers."""

import inspect
import pickle
from typing import Any

from formulations import entry_points
from formulations.arguments import flag
from formulations.messages import brief, suggestion
from ilpinfer.core.methods import BUILT_IN, PULP, Function, Method, solver_method

GROUPS = DECODERS, SOLVERS = "ilpinfer.methods", "ilpinfer.solvers"
"""The groups of entry points in which other packages offer methods."""
_registered: dict[str, Method] = {}
"""Users' decoders and solvers, by name."""
DRAW = "ilpinfer.decoding.outside:Draw"


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
    _check_name(name)
    method = outside_method(name, decoder, flag(process, "process"))
    if process:
        try:
            pickle.dumps(decoder)
        except Exception as error:
            raise ValueError(
                f"{name} cannot be sent to a process ({error}); define it as a function of a module, or leave process out"
            ) from None
    _registered[name] = method


def register_solver(name: str, solver: Function) -> None:
    """Register a solver of integer programs as a method for `decode`, `decode_many`, `compare` and the command line.

    It is called as `solver(program, *, time_limit, threads)`: the `IntegerProgram` whose objective is maximised, the time
    limit in seconds or None, and the number of threads. The `solver_options` of a user are passed as further keyword
    arguments, and the path `solver_log` as the argument `log`. It runs in this process and has to keep the time limit itself.

    It returns values and a bound. The values are n numbers, one for each column, or None if it has found no solution; they are
    rounded. The bound is an upper bound on `program.value` of every solution, in grid units, or None if it has none, and -inf
    if there is no solution. The values have to keep every row, and the score of the labelling is computed by this package.
    A bound below that score is an error; if the score attains the bound, the labelling is optimal, as the solver claims.

    Parameters
    ----------
    name : str
        Name by which `method=` and `--methods` know it; a registered name may be registered again.
    solver : Function
        The function, or any other callable.

    Raises
    ------
    ValueError
        For the name of a built-in method, a name with a comma, a colon or `=`, and a solver that does not
        take these arguments.

    Examples
    --------
    >>> import ilpinfer
    >>> from ilpinfer import Trellis, solvers
    >>> def through_highs(program, *, time_limit, threads):
    ...     answer = solvers.solve("highs", program, time_limit=time_limit, threads=threads)
    ...     return answer.x, answer.bound
    >>> ilpinfer.register_solver("mine", through_highs)
    >>> trellis = Trellis([0.0, -1.0], [[[0.0, -1.0], [-2.0, 0.5]]], labels=["a", "b"])
    >>> ilpinfer.decode(trellis, method="mine").labels
    ['a', 'a']
    """
    _check_name(name)
    _registered[name] = outside_solver(name, solver)


def _check_name(name: Any) -> None:
    if not isinstance(name, str) or not name or name != name.strip() or set(name) & set(",:=\n"):
        raise ValueError(f"name is {name!r}; expected a text without comma, colon and equals sign")
    if any(name == known.name for known in BUILT_IN):
        raise ValueError(f'"{name}" is a built-in method; choose another name')


def method(name: str) -> Method:
    """The method of that name: built-in, registered, a solver of PuLP, an entry point, or a function as `module:function`.

    ValueError for others.
    """
    if not isinstance(name, str):
        raise ValueError(f"method is {brief(name)}; expected the name of a method")
    for candidate in methods():
        if candidate.name == name:
            return candidate
    if name.startswith(PULP):
        return _of_pulp(name)
    if (point := entry_points.named(SOLVERS, name)) is not None:
        return outside_solver(name, entry_points.load(point, f'method "{name}"'))
    if (decoder := _imported(name)) is not None:
        return outside_method(name, decoder, process=True)
    known = [m.name for m in methods()] + [p.name for group in GROUPS for p in entry_points.offered(group)]
    raise ValueError(f'no method "{name}"{suggestion(name, known)}')


def _of_pulp(name: str) -> Method:
    import pulp

    solver, known = name.removeprefix(PULP), pulp.listSolvers()
    if solver not in known:
        raise ValueError(f'no method "{name}": PuLP has no solver "{solver}"{suggestion(solver, known)}')
    return solver_method(name, f"the whole integer program on {solver}, through PuLP")


def outside_method(name: str, decoder: Any, process: bool = False) -> Method:
    """A user's decoder as a method; ValueError for one that cannot be called as one."""
    summary = _summary(name, decoder, "decoder(trellis, rules, *, time_limit, seed)")
    return Method(name, False, summary, "", parameters=DRAW, function=decoder, process=process)


def outside_solver(name: str, solver: Any) -> Method:
    """A user's solver as a method; ValueError for one that cannot be called as one."""
    return solver_method(
        name, _summary(name, solver, "solver(program, *, time_limit, threads)"), solver=solver
    )


def _summary(name: str, function: Any, call: str) -> str:
    """The first line of a function's docstring; ValueError where it does not take the arguments of a call."""
    what, _, arguments = call.rstrip(")").partition("(")
    if not callable(function):
        raise ValueError(f"{name} is {function!r}; expected a {what} that can be called")
    placed, named = (part.split(", ") for part in arguments.split(", *, "))
    try:
        inspect.signature(function).bind(*placed, **dict.fromkeys(named))
    except (TypeError, ValueError):
        raise ValueError(f"{name} cannot be called as {call}") from None
    return (inspect.getdoc(function) or "").partition("\n")[0].rstrip(".") or f"a user's {what}"


def offered() -> list[Method]:
    """The methods that other packages offer, as `package:name`; none of them is imported."""
    solvers, decoders = (
        [
            (entry_points.names(point)[1], f"{point.value}, of another package")
            for point in entry_points.offered(group)
        ]
        for group in (SOLVERS, DECODERS)
    )
    return [
        *(solver_method(name, summary) for name, summary in solvers),
        *(Method(name, False, summary, "", parameters=DRAW) for name, summary in decoders),
    ]


def _imported(name: str) -> Any:
    """The decoder of an entry point or of `module:function`; None where there is no such name."""
    point = entry_points.named(DECODERS, name)
    if point is None:
        module, colon, function = name.rpartition(":")
        if not (colon and all(part.isidentifier() for part in (*module.split("."), *function.split(".")))):
            return None
        from importlib.metadata import EntryPoint

        point = EntryPoint(name, name, DECODERS)
    return entry_points.load(point, f'method "{name}"')
