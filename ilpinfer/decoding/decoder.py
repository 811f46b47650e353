"""A decoder: rules, method and options for any number of sequences."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Unpack, overload

from formulations import RuleSet, Trellis
from formulations.arguments import iterable, names, seconds
from formulations.labels.label_set import LabelSet
from formulations.messages import counted
from formulations.problem.known_labels import Given
from formulations.problem.trellis import Labels
from ilpinfer.core.options import Options
from ilpinfer.core.request import Request
from ilpinfer.core.rule_compiler import RuleCompiler, Rules, compiler_of, shown
from ilpinfer.core.solution import Solution
from ilpinfer.decoding.batch import Batch
from ilpinfer.decoding.decode import check_many, given_to, given_to_each, run_many
from ilpinfer.decoding.reporting import Callback, OnError, attempt
from ilpinfer.decoding.runner import Runner
from ilpinfer.decoding.scorer import Scorer, known_labels, scorer_of, trellis_of
from ilpinfer.decoding.scores import run_scores
from ilpinfer.decoding.solver_start import start_solver


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Decoder:
    """Rules, method and options of a decoder; immutable, picklable and thread-safe. The rules are compiled once.

    Its solutions equal the solutions of `ilpinfer.decode` with the same rules and options.

    Parameters
    ----------
    rules : Rules
        Rules and features, or a rule set.
    labels : LabelSet or sequence of str, optional
        K names or a label set, which all trellises then must have; the labels of the model if there is one. If
        neither is given, rules are compiled for the labels of each trellis, and kept for the last few label
        sets.
    model : Scorer, str or Path, optional
        A model that scores tokens by `trellis(tokens)`, or the path of a model file.
    method : str, default "auto"
        "auto", or a name from `methods()`.
    time_limit : float, optional
        Time limit in seconds for each sequence.
    never : iterable of str, optional
        Labels that are never predicted, such as `[PAD]`, in addition to those that the rules name. A name that is not a
        label is an error if the labels are known, and otherwise gives a notice.
    **options : Options
        Options of the method; see `Options`.

    Raises
    ------
    ValueError
        For an unknown method or option, numbers out of range, labels that are not the model's, and, if
        the labels are known, for rules that do not fit them.

    Examples
    --------
    >>> from ilpinfer import Trellis, constraints as C
    >>> trellis = Trellis([0.0, -1.0], [[[0.0, -1.0], [-2.0, 0.5]]], labels=["a", "b"])
    >>> Decoder([C.requires_present("a", "b")], ["a", "b"]).decode(trellis).labels
    ['b', 'b']
    """

    model: Scorer | None
    _runner: Runner

    def __init__(
        self,
        rules: Rules,
        labels: LabelSet | Sequence[str] | None = None,
        *,
        model: Scorer | str | Path | None = None,
        method: str = "auto",
        time_limit: float | None = None,
        never: Iterable[str] = (),
        **options: Unpack[Options],
    ) -> None:
        request, compiler = Request.of(method, time_limit, options), compiler_of(rules)
        start_solver(request, wait=False)
        model, out = scorer_of(model), names(never, "never")
        known = known_labels(labels, model)
        if known is not None:
            known = known.with_never(out)
        if out:
            compiler = compiler_of(replace(compiler.rules, never=(*compiler.rules.never, *out)))
        if known is not None:
            compiler = compiler.only(known)
        self.__dict__.update(model=model, _runner=Runner(compiler, request))

    def _with(self, rules: RuleCompiler, request: Request) -> "Decoder":
        result = copy(self)
        result.__dict__["_runner"] = Runner(rules, request)
        return result

    def __repr__(self) -> str:
        labels = "any labels" if self.labels is None else f"labels {shown(self.labels)}"
        return f"Decoder({counted(len(self.rules), 'rule')}, {labels}, method {self._runner.request.method.name})"

    @property
    def rules(self) -> RuleSet:
        """The values as given."""
        return self._runner.rules.rules

    @property
    def labels(self) -> LabelSet | None:
        """The only labels that it decodes; None for any."""
        return self._runner.rules.labels

    def with_time_limit(self, time_limit: float | None) -> "Decoder":
        """The same decoder with another time limit; both share the compiled rules.

        Parameters
        ----------
        time_limit : float or None
            Time limit in seconds for each sequence, or None.

        Returns
        -------
        Decoder
            The decoder with the new limit.

        Raises
        ------
        ValueError
            Unless the limit is above 0, or None.
        """
        request = replace(self._runner.request, time_limit=seconds(time_limit))
        return self._with(self._runner.rules, request)

    def with_rules(self, rules: Rules) -> "Decoder":
        """The same decoder with other rules.

        Parameters
        ----------
        rules : Rules
            Rules and features, or a rule set.

        Returns
        -------
        Decoder
            The decoder with these rules, and the same model, labels, method and options.

        Raises
        ------
        ValueError
            For rules that do not fit the labels, if these are known.
        """
        compiler = compiler_of(rules)
        compiler = compiler if self.labels is None else compiler.only(self.labels)
        return self._with(compiler, self._runner.request)

    def of(self, metadata: Mapping[str, Any]) -> "Decoder":
        """The decoder of a sequence: with the rules without a condition, and the rules whose condition its metadata meets.

        Parameters
        ----------
        metadata : mapping of str to object
            Notes about the sequence; see `RuleSet.of`.

        Returns
        -------
        Decoder
            The decoder with these rules, which are compiled once for all sequences with the same rules.
        """
        rules = self._runner.rules.of(metadata)
        return self if rules is self._runner.rules else self._with(rules, self._runner.request)

    @overload
    def decode(
        self,
        trellis: Trellis,
        *,
        top: None = None,
        callback: Callback | None = None,
        keep_on_interrupt: bool = False,
        given: Given | None = None,
    ) -> Solution: ...

    @overload
    def decode(
        self,
        trellis: Trellis,
        *,
        top: int,
        callback: Callback | None = None,
        keep_on_interrupt: bool = False,
        given: Given | None = None,
    ) -> list[Solution]: ...

    def decode(
        self,
        trellis: Trellis,
        *,
        top: int | None = None,
        callback: Callback | None = None,
        keep_on_interrupt: bool = False,
        given: Given | None = None,
    ) -> Solution | list[Solution]:
        """The best labelling of a trellis, or a list of the best few; see `ilpinfer.decode`.

        Parameters
        ----------
        trellis : Trellis
            Scores of T tokens and K labels, nats.
        top : int, optional
            Number of different labellings to return, best first, as a list.
        callback : Callback, optional
            Function of seconds, incumbent and bound; see `ilpinfer.decode`.
        keep_on_interrupt : bool, default False
            Whether an interrupt (Ctrl-C) ends the search with the incumbent; see `ilpinfer.decode`.
        given : mapping of int to str, int or set, optional
            Known labels by position, names or ids, or sets of allowed ones; see `Trellis.with_given`.

        Returns
        -------
        Solution or list of Solution
            A list if `top` is a number.
        """
        trellis = given_to(trellis, given)
        result: Solution | list[Solution] = self._runner.one(
            trellis, top, callback, keep_on_interrupt=keep_on_interrupt
        )
        return result

    @overload
    def decode_tokens(
        self,
        tokens: Sequence[str],
        *,
        top: None = None,
        callback: Callback | None = None,
        given: Given | None = None,
    ) -> Solution: ...

    @overload
    def decode_tokens(
        self, tokens: Sequence[str], *, top: int, callback: Callback | None = None, given: Given | None = None
    ) -> list[Solution]: ...

    def decode_tokens(
        self,
        tokens: Sequence[str],
        *,
        top: int | None = None,
        callback: Callback | None = None,
        given: Given | None = None,
    ) -> Solution | list[Solution]:
        """The best labelling of T texts, scored by the model, or a list of the best few.

        The time limit starts after the texts have been scored. Parameters as for `decode`, with texts instead of a trellis.

        Parameters
        ----------
        tokens : sequence of str
            T texts.

        Returns
        -------
        Solution or list of Solution
            A list if `top` is a number.

        Raises
        ------
        ValueError
            If the decoder has no model.
        """
        return self.decode(self._scored(tokens), top=top, callback=callback, given=given)

    @overload
    def decode_many(
        self,
        trellises: Iterable[Trellis],
        *,
        top: None = None,
        callback: Callback | None = None,
        n_jobs: int = 1,
        threads: int = 1,
        on_error: OnError = "raise",
        given: Iterable[Given | None] | None = None,
    ) -> Iterator[Solution]: ...

    @overload
    def decode_many(
        self,
        trellises: Iterable[Trellis],
        *,
        top: int,
        callback: Callback | None = None,
        n_jobs: int = 1,
        threads: int = 1,
        on_error: OnError = "raise",
        given: Iterable[Given | None] | None = None,
    ) -> Iterator[list[Solution]]: ...

    def decode_many(
        self,
        trellises: Iterable[Trellis],
        *,
        top: int | None = None,
        callback: Callback | None = None,
        n_jobs: int = 1,
        threads: int = 1,
        on_error: OnError = "raise",
        given: Iterable[Given | None] | None = None,
    ) -> Iterator[Solution] | Iterator[list[Solution]]:
        """Decode many trellises lazily, in order; see `ilpinfer.decode_many`.

        Parameters
        ----------
        trellises : iterable of Trellis
            Sequences to decode, read a few ahead of the results.
        top : int, optional
            Number of different labellings of each, as a list.
        callback : Callback, optional
            Function of seconds, incumbent and bound; see `ilpinfer.decode`.
        n_jobs : int, default 1
            Number of processes.
        threads : int, default 1
            Number of threads that share the work.
        on_error : OnError, default "raise"
            "raise" or "row"; see `ilpinfer.decode_many`.
        given : iterable of (mapping of int to str, int or set) or None, optional
            Known labels of each sequence, or None for a sequence without any.

        Returns
        -------
        iterator of Solution or iterator of list of Solution
            The results in the order of the trellises.
        """
        return run_many(self._runner, trellises, top, callback, threads, n_jobs, on_error, given)

    @overload
    def decode_texts(
        self,
        texts: Iterable[Sequence[str]],
        *,
        top: None = None,
        threads: int = 1,
        on_error: OnError = "raise",
        given: Iterable[Given | None] | None = None,
    ) -> Iterator[Solution]: ...

    @overload
    def decode_texts(
        self,
        texts: Iterable[Sequence[str]],
        *,
        top: int,
        threads: int = 1,
        on_error: OnError = "raise",
        given: Iterable[Given | None] | None = None,
    ) -> Iterator[list[Solution]]: ...

    def decode_texts(
        self,
        texts: Iterable[Sequence[str]],
        *,
        top: int | None = None,
        threads: int = 1,
        on_error: OnError = "raise",
        given: Iterable[Given | None] | None = None,
    ) -> Iterator[Solution] | Iterator[list[Solution]]:
        """Score and decode many texts lazily, in order.

        Parameters as for `decode_many`, without `callback` and `n_jobs`, and with texts in place of trellises.

        Parameters
        ----------
        texts : iterable of sequence of str
            Sequences of tokens, read a few ahead of the results.

        Returns
        -------
        iterator of Solution or iterator of list of Solution
            The results in the order of the texts.

        Raises
        ------
        ValueError
            If the decoder has no model.
        """
        each = iterable(texts, "texts", "lists of tokens one by one")
        check_many(self._runner, top, None, threads, on_error=on_error)
        self._needed_model()
        trellises = (attempt(partial(self._scored, tokens), "row", lambda error, _: error) for tokens in each)
        return self._runner.many(given_to_each(trellises, given), top, threads, on_error)

    def decode_scores(
        self,
        emissions: Any,
        transitions: Any = None,
        *,
        labels: Labels = None,
        lengths: Any = None,
        mask: Any = None,
        start: Any = None,
        end: Any = None,
        tokens: Iterable[Sequence[str]] | None = None,
        given: Iterable[Given | None] | None = None,
        threads: int = 1,
    ) -> Batch:
        """The best labellings of a batch of scores, as arrays; see `ilpinfer.decode_scores`.

        The decoder's rules and method are used.

        Parameters
        ----------
        emissions : array_like of shape (N, T, K), or list of array_like of shape (T, K)
            Scores in nats of N sequences, padded or one by one.
        transitions : array_like of shape (K, K), optional
            Scores of steps [from, to], the same for all.
        labels : LabelSet or sequence of str or mapping of object to str, optional
            K names, if the decoder has none.
        lengths, mask : array_like of shape (N,) or (N, T), optional
            Numbers of tokens of padded sequences, or a mask that is true at tokens.
        start, end : array_like of shape (K,), optional
            Scores of first and last labels.
        tokens : iterable of sequence of str, optional
            Texts of each sequence.
        given : iterable of (mapping of int to str, int or set) or None, optional
            Known labels of each sequence by place.
        threads : int, default 1
            Number of threads that share the work.

        Returns
        -------
        Batch
            The labellings; a `Solution` of each on demand.
        """
        options = {"lengths": lengths, "mask": mask, "start": start, "end": end}
        return run_scores(
            self._runner, emissions, transitions, labels, threads, **options, tokens=tokens, given=given
        )

    def _scored(self, tokens: Sequence[str]) -> Trellis:
        return trellis_of(self._needed_model(), tokens)

    def _needed_model(self) -> Scorer:
        if self.model is None:
            raise ValueError(
                "this Decoder has no model and cannot decode tokens; give it a model, or decode a trellis"
            )
        return self.model
