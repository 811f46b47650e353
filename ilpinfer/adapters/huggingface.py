"""Token classification of Hugging Face transformers under rules."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from typing import Any, Unpack

from formulations import LabelSet
from formulations.labels.names import label_names
from formulations.messages import counted
from formulations.score_numbers import one_notice, score_array
from ilpinfer.adapters.decisions import PROBABILITIES, AdapterError, check_choice, decide
from ilpinfer.adapters.encoding import (
    POOLS,
    STRATEGIES,
    Unit,
    entity_groups,
    grouping_labels,
    plain_text,
    units_of,
)
from ilpinfer.adapters.pipeline import PostProcessor
from ilpinfer.adapters.windows import COMBINATIONS
from ilpinfer.core.options import Options
from ilpinfer.core.rule_compiler import Rules
from ilpinfer.corpus.logits import from_logits
from ilpinfer.decoding.decoder import Decoder

__all__ = ["constrain", "entities"]


@one_notice
def entities(
    logits: Any,
    id2label: Mapping[Any, str] | Sequence[str],
    word_ids: Sequence[int | None] | None = None,
    offset_mapping: Sequence[Any] | None = None,
    rules: Rules = (),
    *,
    text: str | None = None,
    pieces: Sequence[str] | None = None,
    to_text: Callable[[list[str]], str] | None = None,
    aggregation_strategy: str = "simple",
    ignore_labels: Sequence[str] = ("O",),
    score: str = "rules",
    crf: Mapping[str, Any] | None = None,
    scheme: str = "",
    never: Iterable[str] = (),
    method: str = "auto",
    time_limit: float | None = None,
    **options: Unpack[Options],
) -> list[dict[str, Any]]:
    """The entities of a text under rules, as a token-classification pipeline of transformers returns them.

    With the strategies "none" and "simple" rules refer to pieces, with "first", "average" and "max" to words. The score
    of a piece or word is the marginal probability of its label under the rules: p(y_t = k), where p(y) ∝ exp(score(y)) over the
    labellings that keep the hard rules. The score of an entity is the mean over its units. Without rules, entities and scores of BIO labels are the
    library's. The library does not know schemes that mark ends, such as IOBES; there, each run is an entity.

    Parameters
    ----------
    logits : array_like of shape (S, K)
        Scores in nats of S pieces, special ones included; arrays, tensors or lists.
    id2label : mapping of object to str or sequence of str
        Names of the K labels, as in the model's config.
    word_ids : sequence of int or None, optional
        (S,) number of the word of each piece; None for special pieces. Strategies that label words need it. A skipped word
        number is a word without pieces; all labels have the same score there.
    offset_mapping : sequence of tuple of (int, int), optional
        (S, 2) begin and end of each piece in characters. Without `word_ids`, an empty piece is a special one.
    rules : Rules, str or Path, optional
        Rules and features, a rule set, the name of a catalogue entry, the path of a rule file, or TOML text.
    text : str, optional
        Text that the offsets refer to. Rules may look at the texts of its pieces or words.
    pieces : sequence of str, optional
        (S,) pieces, such as `encoding.tokens()`, from which `word` is built; rules look at them if there is no text.
    to_text : callable, optional
        Function from pieces to text, such as `tokenizer.convert_tokens_to_string`; by default that of WordPiece.
    aggregation_strategy : {"simple", "none", "first", "average", "max"}, default "simple"
        Aggregation as in the library: scores of a word are those of its first piece ("first"), the logarithm of its pieces'
        mean probability ("average"), or those of the piece with the largest probability ("max").
    ignore_labels : sequence of str, default ("O",)
        Labels to leave out; fields where entities are aggregated.
    score : {"rules", "model", "entity"}, default "rules"
        Probability of the labels under the rules ("rules") or under the model alone ("model"), or of the whole entity under the
        rules ("entity"), which is then also the score of each of its labels.
    crf : mapping of str to array_like, optional
        Transitions, start and end of a CRF layer, as `ilpinfer.models.external.crf_parameters` reads them.
    scheme : str, optional
        Scheme of the labels; inferred from their names if not given.
    never : iterable of str, optional
        Labels that are never predicted, such as `[PAD]`; see `Trellis`.
    method : str, default "auto"
        "auto", or a name from `ilpinfer.methods()`.
    time_limit : float, optional
        Time limit in seconds.
    **options : Options
        Options of the method; see `ilpinfer.decode`.

    Returns
    -------
    list of dict
        A dictionary for each piece with `entity`, `score`, `index`, `word`, `start` and `end` if the strategy is "none", else for
        each entity with `entity_group`, `score`, `word`, `start` and `end`; what is not known is None.

    Raises
    ------
    AdapterError
        For lengths that disagree, for an unknown strategy, and if no labelling keeps the hard rules.
    ValueError
        For NaN in the logits, ids of labels that are not 0 … K-1, and input that `ilpinfer.decode` refuses.

    Examples
    --------
    >>> from ilpinfer import constraints as C
    >>> logits = [[9.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 2.0], [0.0, 0.5, 0.0], [9.0, 0.0, 0.0]]
    >>> labels = {0: "O", 1: "B-name", 2: "I-name"}
    >>> given = dict(word_ids=[None, 0, 1, 2, None], offset_mapping=[(0, 0), (0, 3), (4, 9), (10, 13), (0, 0)])
    >>> [each["word"] for each in entities(logits, labels, **given, text="Ada Byron and")]
    ['Ada Byron', 'and']
    >>> found, = entities(logits, labels, **given, text="Ada Byron and", rules=[C.at_most_runs("name", 1)])
    >>> found["entity_group"], found["word"], found["start"], found["end"], round(found["score"], 3)
    ('name', 'Ada Byron', 0, 9, 0.836)
    """
    strategy = check_choice("aggregation_strategy", aggregation_strategy, STRATEGIES)
    check_choice("score", score, PROBABILITIES)
    if isinstance(ignore_labels, str):
        raise AdapterError(
            f"ignore_labels is the text {ignore_labels!r}; expected a list of labels, such as ['O']"
        )
    names = label_names(id2label, "id2label")
    rows = score_array(logits, "logits", 2)
    rows = rows if len(rows) else rows.reshape(0, len(names))
    if rows.shape[1] != len(names):
        raise AdapterError(
            f"logits has {counted(rows.shape[1], 'column')}, but id2label {counted(len(names), 'label')}; give the model's own id2label"
        )
    by_word, join = strategy in POOLS, to_text or plain_text
    if by_word and word_ids is None:
        raise AdapterError(
            f"aggregation_strategy {strategy!r} labels words: give word_ids, such as encoding.word_ids(), or take 'simple'"
        )
    units = units_of(len(rows), word_ids, offset_mapping, text, pieces, join, by_word)
    if not units.groups:
        return []
    numbers = units.numbers
    trellis = from_logits(
        rows[[i for group in units.groups for i in group]],
        names,
        tokens=units.all_tokens,
        word_ids=[number for number, group in zip(numbers, units.groups, strict=True) for _ in group],
        pool=POOLS.get(strategy, "first"),
        scheme=scheme,
        never=never,
        **crf or {},
    )
    decoder = Decoder(rules, method=method, time_limit=time_limit, **options)
    decision = decide(trellis, decoder, score)
    labels: Sequence[str] = [names[k] for k in decision.ids.tolist()]
    if strategy != "none":
        labels = grouping_labels(labels, trellis.labels.notation)
    labelled = [
        Unit(
            labels[number],
            float(decision.probabilities[number]),
            None if units.written is None else units.written[i],
            None if units.spans is None else units.spans[i],
            units.groups[i][0],
        )
        for i, number in enumerate(numbers)
    ]
    if strategy == "none":
        outside = trellis.labels.outside if "O" in ignore_labels else None
        return [unit.record for unit in labelled if unit.label not in (*ignore_labels, outside)]
    found = entity_groups(labelled, text if pieces is None else None, join)
    return [each for each in found if each["entity_group"] not in ignore_labels]


def constrain(
    pipeline: Any,
    rules: Rules,
    *,
    score: str = "rules",
    combine: str = "center",
    crf: Mapping[str, Any] | None = None,
    scheme: str = "",
    never: Iterable[str] = (),
    method: str = "auto",
    time_limit: float | None = None,
    **options: Unpack[Options],
) -> Any:
    """A token-classification pipeline of transformers whose entities keep rules.

    The result is called like the pipeline, whose model and tokenizer it shares. The best labelling under the rules replaces the
    best label of each piece or word. With `stride`, the windows of a text become one trellis, so that rules hold over the whole
    text. Parameters as for `entities`, and two more.

    Parameters
    ----------
    pipeline : TokenClassificationPipeline
        A pipeline from `transformers.pipeline("token-classification", …)`.
    combine : {"center", "mean"}, default "center"
        Combination of the scores of overlapping windows; see `ilpinfer.adapters.join_windows`.

    Returns
    -------
    TokenClassificationPipeline
        A copy with another last step; the given pipeline does not change.

    Raises
    ------
    AdapterError
        For an object that is not such a pipeline; when a text is labelled, if no labelling keeps the hard
        rules.
    ValueError
        For rules that do not fit the labels of the model.
    """
    config = getattr(getattr(pipeline, "model", None), "config", None)
    named = getattr(config, "id2label", None)
    steps = ("gather_pre_entities", "aggregate", "postprocess")
    if not named or not all(hasattr(pipeline, step) for step in steps):
        raise AdapterError(
            f"pipeline is {pipeline!r:.60}; expected transformers.pipeline('token-classification', model=…), for which "
            "pip install 'ilpinfer[hf]'"
        )
    check_choice("score", score, PROBABILITIES)
    check_choice("combine", combine, COMBINATIONS)
    names = label_names(named, "id2label")
    labels = LabelSet(names, scheme, never=frozenset(never))
    decoder = Decoder(rules, labels, method=method, time_limit=time_limit, **options)
    result = copy(pipeline)
    result.postprocess = PostProcessor(pipeline, decoder, labels, score, combine, crf or {})
    return result
