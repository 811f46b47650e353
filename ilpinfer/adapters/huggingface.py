"""Token classification of Hugging Face transformers under rules."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Unpack

from formulations import LabelSet
from ilpinfer.adapters.decisions import PROBABILITIES, AdapterError, as_rules, check_choice, decide
from ilpinfer.adapters.encoding import plain_text, units_of
from ilpinfer.adapters.grouping import POOLS, STRATEGIES, Unit, entity_groups
from ilpinfer.adapters.pipeline import PostProcessor, constrained
from ilpinfer.core.options import Options
from ilpinfer.core.rule_compiler import Rules
from ilpinfer.corpus.arrays import as_floats
from ilpinfer.corpus.label_names import label_names
from ilpinfer.corpus.logits import from_logits
from ilpinfer.decoding.decoder import Decoder

__all__ = ["constrain", "entities"]


def entities(
    logits: Any,
    id2label: Mapping[Any, str] | Sequence[str],
    word_ids: Sequence[int | None] | None = None,
    offset_mapping: Sequence[Any] | None = None,
    rules: Rules | str | Path = (),
    *,
    text: str | None = None,
    pieces: Sequence[str] | None = None,
    to_text: Callable[[list[str]], str] | None = None,
    aggregation_strategy: str = "simple",
    ignore_labels: Sequence[str] = ("O",),
    score: str = "rules",
    crf: Mapping[str, Any] | None = None,
    scheme: str = "",
    method: str = "auto",
    time_limit: float | None = None,
    **options: Unpack[Options],
) -> list[dict[str, Any]]:
    """The entities of a text under rules, in the form of a token-classification pipeline of transformers.

    "none" and "simple" label each piece, and rules apply to pieces; "first", "average" and "max" label each word,
    with the scores of its first piece, the mean of its pieces' probabilities, or the scores of the piece with the
    largest probability. Without rules the entities are those of the pipeline.

    The score of a piece or word is the marginal probability of its label under the rules,
    p(y_t = k) with p(y) ∝ exp(score(y)) over the labellings that keep the hard rules; the score of an entity is the
    mean over its pieces or words, as in the library. Without rules it is the softmax of the logits.

    Parameters
    ----------
    logits : (S, K) nats, one row for each piece, special ones included; arrays, tensors or lists
    id2label : names of the K labels, as in the model's config
    word_ids : (S,) word of each piece, None for special pieces; needed by strategies that label words
    offset_mapping : (S, 2) begin and end character of each piece; without word ids, an empty piece is a special one
    rules : rules and features, a rule set, the name of a catalogue entry, a path of a rule file, or TOML text
    text : the text of the offsets; rules may use the texts of pieces or words
    pieces : (S,) the pieces themselves, such as `encoding.tokens()`: then `word` is made of them as in the library, else
        it is the stretch of the text; rules look at them where there is no text
    to_text : pieces to text, `tokenizer.convert_tokens_to_string`; if not given, `##` marks pieces that continue a word
    aggregation_strategy : "none", "simple", "first", "average" or "max"
    ignore_labels : labels, or fields where entities are aggregated, to be left out
    score : "rules", or "model" for the probability of the same labels under the model alone
    crf : transitions, start and end of a CRF layer, as `ilpinfer.models.external.crf_parameters` reads them
    scheme : of the labels; inferred from their names where not given
    method, time_limit, options : as in `ilpinfer.decode`

    Returns
    -------
    list of dict
        With "none" `entity`, `score`, `index` (of the piece), `word`, `start`, `end`; otherwise `entity_group`,
        `score`, `word`, `start`, `end`. `start` and `end` are None without offsets, `word` without text and pieces.

    Raises
    ------
    AdapterError
        for lengths that disagree, an unknown strategy, and where no labelling keeps the hard rules.
    ValueError
        for NaN in the logits, ids of labels that are not 0 … K-1, and whatever `ilpinfer.decode` refuses.

    Examples
    --------
    >>> from formulations import constraints as C
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
    ignored = _ignored(ignore_labels)
    names = label_names(id2label)
    rows = as_floats(logits, "logits", 2)
    if rows.shape[1] != len(names):
        raise AdapterError(
            f"logits has {rows.shape[1]} columns, but id2label {len(names)} labels; give the model's own id2label"
        )
    by_word, join = strategy in POOLS, to_text or plain_text
    if by_word and word_ids is None:
        raise AdapterError(
            f"aggregation_strategy {strategy!r} labels words: give word_ids, such as encoding.word_ids(), or take 'simple'"
        )
    units = units_of(len(rows), word_ids, offset_mapping, text, pieces, join, by_word)
    if not units.groups:
        return []
    trellis = from_logits(
        rows[[i for group in units.groups for i in group]],
        names,
        units.tokens,
        word_ids=[number for number, group in enumerate(units.groups) for _ in group],
        pool=POOLS.get(strategy, "first"),
        scheme=scheme,
        **crf or {},
    )
    decoder = Decoder(as_rules(rules), trellis.labels, method=method, time_limit=time_limit, **options)
    decision = decide(trellis, decoder, score)
    labelled = [
        Unit(
            names[k],
            p,
            None if units.written is None else units.written[i],
            None if units.spans is None else units.spans[i],
            units.groups[i][0],
        )
        for i, (k, p) in enumerate(zip(decision.ids.tolist(), decision.probabilities.tolist(), strict=True))
    ]
    if strategy == "none":
        return [unit.record for unit in labelled if unit.label not in ignored]
    found = entity_groups(labelled, text if pieces is None else None, join)
    return [each for each in found if each["entity_group"] not in ignored]


def constrain(
    pipeline: Any,
    rules: Rules | str | Path,
    *,
    score: str = "rules",
    combine: str = "center",
    crf: Mapping[str, Any] | None = None,
    scheme: str = "",
    method: str = "auto",
    time_limit: float | None = None,
    **options: Unpack[Options],
) -> Any:
    """A token-classification pipeline of transformers whose entities keep rules.

    The result is called like the pipeline, with a text or many, batches, `aggregation_strategy`, `ignore_labels`, and
    `stride` for long texts; it shares model and tokenizer. The best labelling under the rules replaces the best label of each piece or word; pieces, words and the dictionaries
    are those of the library. With `stride`, the
    windows of a text are one trellis, so that rules hold over the whole text.

    Parameters
    ----------
    pipeline : `transformers.pipeline("token-classification", …)`
    rules : rules and features, a rule set, the name of a catalogue entry, a path of a rule file, or TOML text
    score : "rules" for the marginal probability of labels under the rules, "model" for that of the model alone; see
        `entities`
    combine : "center" or "mean", how overlapping windows are put together; see `join_windows`
    crf, scheme : as in `entities`
    method, time_limit, options : as in `ilpinfer.decode`; a time limit is for each text

    Returns
    -------
    TokenClassificationPipeline
        A copy; the original pipeline is not changed.

    Raises
    ------
    AdapterError
        for an object that is no such pipeline; and when a text is labelled for which no labelling keeps the hard rules.
    ValueError
        for rules that do not fit the labels of the model.
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
    names = label_names(named)
    labels = LabelSet(names, scheme)
    decoder = Decoder(as_rules(rules), labels, method=method, time_limit=time_limit, **options)
    return constrained(pipeline, PostProcessor(pipeline, decoder, labels, score, combine, crf or {}))


def _ignored(labels: Sequence[str]) -> Sequence[str]:
    if isinstance(labels, str):
        raise AdapterError(f"ignore_labels is the text {labels!r}; expected a list of labels, such as ['O']")
    return labels
