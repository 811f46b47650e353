"""Decoding of trellises under rules: one, or many."""

from collections.abc import Iterable, Iterator
from functools import partial
from itertools import zip_longest
from typing import Any, Unpack, overload

from formulations import Trellis
from formulations.arguments import iterable, whole
from formulations.problem.known_labels import Given
from ilpinfer.core.options import Options
from ilpinfer.core.request import MOST, Request
from ilpinfer.core.rule_compiler import Rules, compiler_of
from ilpinfer.core.solution import Solution
from ilpinfer.decoding.reporting import Callback, OnError, attempt, check_on_error
from ilpinfer.decoding.runner import Runner
from ilpinfer.system.posix import require_posix


@overload
def decode(
    trellis: Trellis,
    rules: Rules = (),
    *,
    method: str = "auto",
    time_limit: float | None = None,
    top: None = None,
    callback: Callback | None = None,
    keep_on_interrupt: bool = False,
    given: Given | None = None,
    **options: Unpack[Options],
) -> Solution: ...


@overload
def decode(
    trellis: Trellis,
    rules: Rules = (),
    *,
    method: str = "auto",
    time_limit: float | None = None,
    top: int,
    callback: Callback | None = None,
    keep_on_interrupt: bool = False,
    given: Given | None = None,
    **options: Unpack[Options],
) -> list[Solution]: ...


def decode(
    trellis: Trellis,
    rules: Rules = (),
    *,
    method: str = "auto",
    time_limit: float | None = None,
    top: int | None = None,
    callback: Callback | None = None,
    keep_on_interrupt: bool = False,
    given: Given | None = None,
    **options: Unpack[Options],
) -> Solution | list[Solution]:
    """The best labelling of a trellis under rules (Stokman 2011, eq. 38 and 57).

    Parameters
    ----------
    trellis : Trellis
        Scores of T tokens and K labels, nats.
    rules : Rules, optional
        Rules and features, or a rule set. They are compiled once, as long as calls give the same rules and
        labels.
    method : str, default "auto"
        "auto", or a name from `methods()`.
    time_limit : float, optional
        Time limit in seconds, formulation included.
    top : int, optional
        Number of different labellings to return, best first, as a list.
    callback : Callback, optional
        Function of seconds, incumbent and bound, the latter two in nats. "auto", the searches and the
        solvers call it each time they improve one of them, and every method at the end; the arguments are
        -inf and inf where there is no incumbent or bound yet. Where it returns True, the search ends with
        the incumbent.
    keep_on_interrupt : bool, default False
        Whether an interrupt (Ctrl-C) ends the search with the incumbent, rather than with KeyboardInterrupt.
    given : mapping of int to str, int or set, optional
        Known labels by position, names or ids, or sets of allowed ones; see `Trellis.with_given`.
    **options : Options
        Options of the method; see `Options`.

    Returns
    -------
    Solution or list of Solution
        A list if `top` is a number. It is empty if no labelling is feasible or none was found in time. The
        status is "feasible" rather than "optimal" if a limit, the callback or an interrupt ended the method
        before its proof, and "unknown" if it had no labelling yet; `method` says what ended it.

    Raises
    ------
    ValueError
        For an unknown method, option or field, and for numbers out of range.
    SolverError
        If a solver cannot be started or breaks down.
    RuntimeError
        For a solver on a system that is not POSIX.

    Examples
    --------
    >>> from ilpinfer import Trellis, constraints as C
    >>> trellis = Trellis([0.0, -1.0], [[[0.0, -1.0], [-2.0, 0.5]]], labels=["a", "b"])
    >>> solution = decode(trellis, [C.requires_present("a", "b", penalty=0.75)])
    >>> solution.labels, solution.score, solution.status.value
    (['b', 'b'], -0.5, 'optimal')
    """
    trellis, compiler = given_to(trellis, given), compiler_of(rules)
    if isinstance(method, str) and method == "auto" and time_limit is None and not options:
        runner = compiler.recent(Runner).find(
            lambda _: True, lambda: Runner(compiler, Request.of(method, None, {}))
        )
    else:
        runner = Runner(compiler, Request.of(method, time_limit, options))
    result: Solution | list[Solution] = runner.one(
        trellis, top, callback, keep_on_interrupt=keep_on_interrupt
    )
    return result


@overload
def decode_many(
    trellises: Iterable[Trellis],
    rules: Rules = (),
    *,
    method: str = "auto",
    time_limit: float | None = None,
    top: None = None,
    callback: Callback | None = None,
    n_jobs: int = 1,
    on_error: OnError = "raise",
    given: Iterable[Given | None] | None = None,
    **options: Unpack[Options],
) -> Iterator[Solution]: ...


@overload
def decode_many(
    trellises: Iterable[Trellis],
    rules: Rules = (),
    *,
    method: str = "auto",
    time_limit: float | None = None,
    top: int,
    callback: Callback | None = None,
    n_jobs: int = 1,
    on_error: OnError = "raise",
    given: Iterable[Given | None] | None = None,
    **options: Unpack[Options],
) -> Iterator[list[Solution]]: ...


def decode_many(
    trellises: Iterable[Trellis],
    rules: Rules = (),
    *,
    method: str = "auto",
    time_limit: float | None = None,
    top: int | None = None,
    callback: Callback | None = None,
    n_jobs: int = 1,
    on_error: OnError = "raise",
    given: Iterable[Given | None] | None = None,
    **options: Unpack[Options],
) -> Iterator[Solution] | Iterator[list[Solution]]:
    """Decode many trellises lazily, in their order.

    Parameters
    ----------
    trellises : iterable of Trellis
        Sequences to decode, read a few ahead of the results: a chunk that grows from 1 to 128, two chunks of up
        to 1024 with threads, or some for each process.
    rules : Rules, optional
        Rules and features, or a rule set, for all of them.
    method : str, default "auto"
        "auto", or a name from `methods()`.
    time_limit : float, optional
        Time limit in seconds for each trellis.
    top : int, optional
        Number of different labellings of each, as a list.
    callback : Callback, optional
        Function of seconds, incumbent and bound, as for `decode`; it needs one process.
    n_jobs : int, default 1
        Number of processes. They start when the first solution is requested, and end with the iterator.
    on_error : OnError, default "raise"
        "raise" ends the iterator with the error of a trellis. "row" returns a Solution of status "unknown" in
        its place, with the message as `reason` and the type as `error`, and continues. A process that dies is
        such an error.
    given : iterable of (mapping of int to str, int or set) or None, optional
        Known labels of each trellis, or None for a trellis without any.
    **options : Options
        Options of the method, as for `decode`; for the method auto, also `threads` that share a chunk.

    Returns
    -------
    iterator of Solution or iterator of list of Solution
        The results of `decode`, in the order of the trellises.

    Raises
    ------
    ValueError
        For options that `decode` refuses; for a trellis or rules that it refuses, when the iterator reaches
        that trellis.
    Exception
        Any other error of `decode`, when the iterator reaches that trellis.

    Examples
    --------
    >>> import ilpinfer
    >>> from ilpinfer import Trellis, constraints as C
    >>> trellis = Trellis([0.0, -1.0], [[[0.0, -1.0], [-2.0, 0.5]]], labels=["a", "b"])
    >>> solutions = ilpinfer.decode_many([trellis] * 3, [C.starts_with("b")])
    >>> [solution.score for solution in solutions]
    [-0.5, -0.5, -0.5]
    """
    threads = options.pop("threads", 1) if isinstance(method, str) and method == "auto" else 1
    runner = Runner(compiler_of(rules), Request.of(method, time_limit, options))
    return run_many(runner, trellises, top, callback, threads, n_jobs, on_error, given)


def run_many(
    runner: Runner,
    trellises: Iterable[Trellis],
    top: int | None,
    callback: Callback | None,
    threads: int,
    n_jobs: int,
    on_error: OnError,
    given: Iterable[Given | None] | None,
) -> Iterator[Solution] | Iterator[list[Solution]]:
    """The results for trellises in threads or processes; invalid options are errors at once."""
    check_many(runner, top, callback, threads, n_jobs, on_error)
    items = given_to_each(iterable(trellises, "trellises", "trellises one by one"), given)
    if n_jobs > 1:
        from ilpinfer.decoding.processes import in_processes

        several = in_processes(runner, items, top, n_jobs, on_error)
        return several if top is not None else (solution for [solution] in several)
    return runner.many(items, top, threads, on_error, callback)


def check_many(
    runner: Runner,
    top: int | None,
    callback: Callback | None,
    threads: int,
    n_jobs: int = 1,
    on_error: OnError = "raise",
) -> None:
    """Raise ValueError for invalid options, and for threads with a method that cannot share its work."""
    for value, name in ((top, "top"), (n_jobs, "n_jobs"), (threads, "threads")):
        if name != "top" or value is not None:
            whole(value, name, 1, MOST[name])
    check_on_error(on_error)
    if n_jobs > 1:
        require_posix(f"n_jobs={n_jobs}", "leave n_jobs out")
    if threads > 1 and (n_jobs > 1 or callback is not None or not runner.request.direct):
        raise ValueError(
            "threads works with one process and the method auto only, without callback and within; remove threads"
        )
    if n_jobs > 1 and callback is not None:
        raise ValueError("callback works with one process only; remove n_jobs")


def given_to(trellis: Any, given: Given | None) -> Any:
    """A trellis with known labels; any other object unchanged."""
    return trellis.with_given(given) if given is not None and isinstance(trellis, Trellis) else trellis


def given_to_each(items: Iterable[Any], given: Iterable[Given | None] | None) -> Iterable[Any]:
    """Trellises with their known labels. If these do not fit, the error takes the place of the trellis."""
    if given is None:
        return items
    return _pairs(items, iterable(given, "given", "a dictionary or None for each sequence"))


def _pairs(items: Iterable[Any], given: Iterable[Any]) -> Iterator[Any]:
    end: Any = object()
    for n, (item, known) in enumerate(zip_longest(items, given, fillvalue=end)):
        if item is end or known is end:
            fewer = "given" if known is end else "the sequences"
            raise ValueError(f"{fewer} end after {n}; expected one entry of given for each sequence")
        yield attempt(partial(given_to, item, known), "row", lambda error, _: error)
