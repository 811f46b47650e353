"""A real pipeline of transformers around a tiny model with random weights, with rules and without."""

import os
import pickle

import numpy as np
import pytest

torch = pytest.importorskip("torch")
os.environ["HF_HUB_OFFLINE"] = "1"  # before transformers is imported
transformers = pytest.importorskip("transformers")

from formulations import constraints as C  # noqa: E402
from ilpinfer.adapters import merge_windows  # noqa: E402
from ilpinfer.adapters.decisions import AdapterError  # noqa: E402
from ilpinfer.adapters.huggingface import constrain, entities  # noqa: E402

LABELS = ["O", "B-PER", "I-PER", "B-LOC", "I-LOC"]
WORDS = ["ada", "lives", "in", "new", "york", "lon", "##don", "##dale", "##s", "met", "bob", ".", ",", "and"]
TEXT = "Ada lives in London, Londondale and New Yorks. Bob met Adas and lives in New London."
STRATEGIES = ("none", "simple", "first", "average", "max")
pytestmark = pytest.mark.filterwarnings("default")


def tokenizer(longest):
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors

    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    vocabulary = {word: k for k, word in enumerate([*special, *WORDS])}
    fast = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    fast.normalizer = normalizers.BertNormalizer()
    fast.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    fast.decoder = decoders.WordPiece()
    marks = [("[CLS]", vocabulary["[CLS]"]), ("[SEP]", vocabulary["[SEP]"])]
    fast.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=marks)
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=fast, unk_token="[UNK]", pad_token="[PAD]", cls_token="[CLS]", sep_token="[SEP]",
        model_max_length=longest,
    )  # fmt: skip


def tiny(longest=64, seed=5):
    config = transformers.BertConfig(
        vocab_size=5 + len(WORDS), hidden_size=32, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32,
        max_position_embeddings=64, id2label=dict(enumerate(LABELS)), label2id={n: k for k, n in enumerate(LABELS)},
    )  # fmt: skip
    model = transformers.BertForTokenClassification(config).eval()
    random = np.random.default_rng(seed)  # not torch's own, so that weights depend on no version of it
    with torch.no_grad():
        for name, weights in sorted(model.named_parameters()):
            if "LayerNorm" not in name:
                weights.copy_(torch.tensor(random.normal(scale=0.4, size=weights.shape)))
    return transformers.pipeline(
        "token-classification", model=model, tokenizer=tokenizer(longest), device="cpu"
    )


@pytest.fixture(scope="module")
def plain():
    return tiny()


def logits_of(pipeline, text):
    encoding = pipeline.tokenizer(text, return_offsets_mapping=True)
    with torch.no_grad():
        rows = pipeline.model(torch.tensor([encoding["input_ids"]])).logits[0]
    return encoding, rows


def same(mine, theirs):
    assert len(mine) == len(theirs) > 0
    for one, other in zip(mine, theirs):
        assert list(one) == list(other)
        assert isinstance(one["score"], float)
        assert one["score"] == pytest.approx(float(other["score"]), abs=2e-5)
        assert one | {"score": 0} == other | {"score": 0}


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("ignored", [["O"], [], ["O", "PER", "I-LOC"]])
def test_without_rules_the_entities_are_those_of_the_library(plain, strategy, ignored):
    wanted = plain(TEXT, aggregation_strategy=strategy, ignore_labels=ignored)
    same(constrain(plain, [])(TEXT, aggregation_strategy=strategy, ignore_labels=ignored), wanted)
    encoding, rows = logits_of(plain, TEXT)
    mine = entities(
        rows, plain.model.config.id2label, encoding.word_ids(), encoding["offset_mapping"], text=TEXT,
        pieces=encoding.tokens(), to_text=plain.tokenizer.convert_tokens_to_string,
        aggregation_strategy=strategy, ignore_labels=ignored,
    )  # fmt: skip
    same(mine, wanted)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_rules_hold_and_both_ways_agree(plain, strategy):
    rules = [C.at_most_runs("PER", 1), C.at_most_runs("LOC", 1), C.requires_present("LOC", "PER")]
    mine = constrain(plain, rules)(TEXT, aggregation_strategy=strategy)
    encoding, rows = logits_of(plain, TEXT)
    other = entities(
        rows, plain.model.config.id2label, encoding.word_ids(), encoding["offset_mapping"], rules, text=TEXT,
        pieces=encoding.tokens(), to_text=plain.tokenizer.convert_tokens_to_string, aggregation_strategy=strategy,
    )  # fmt: skip
    same(mine, other)
    if strategy != "none":
        assert sorted(each["entity_group"] for each in mine) in (["LOC"], ["LOC", "PER"], ["PER"])
        before = [each["entity_group"] for each in plain(TEXT, aggregation_strategy=strategy)]
        assert max(before.count("PER"), before.count("LOC")) > 1


def test_many_texts_batches_generators_and_empty_texts_are_taken_as_by_the_library(plain):
    rules = [C.at_most_runs("PER", 1), C.at_most_runs("LOC", 1)]
    under = constrain(plain, rules)
    texts = [TEXT, "Bob met Ada.", ""]
    single = [under(text, aggregation_strategy="simple") for text in texts]
    assert single[2] == []
    assert under(texts, aggregation_strategy="simple") == single
    batch = under(texts[:2], aggregation_strategy="simple", batch_size=2)
    assert [[e["word"] for e in each] for each in batch] == [[e["word"] for e in each] for each in single[:2]]
    assert list(under((text for text in texts), aggregation_strategy="simple")) == single
    assert type(under) is type(plain) and "postprocess" not in vars(plain)


@pytest.mark.parametrize("combine", ["center", "mean"])
def test_rules_hold_across_the_windows_of_a_long_text(combine):
    short = tiny(longest=16)
    text = " ".join([TEXT] * 3)
    found = short(text, aggregation_strategy="first", stride=4)
    assert [each["entity_group"] for each in found].count("PER") > 1
    under = constrain(short, [C.exactly_runs("PER", 1)], combine=combine)
    constrained = under(text, aggregation_strategy="first", stride=4)
    assert [each["entity_group"] for each in constrained].count("PER") == 1
    assert all(text[each["start"] : each["end"]] for each in constrained)

    windows = short.tokenizer(
        text, return_offsets_mapping=True, return_overflowing_tokens=True, truncation=True, stride=4
    )
    rows = [short.model(torch.tensor([ids])).logits[0] for ids in windows["input_ids"]]
    ids = [windows.word_ids(w) for w in range(len(rows))]
    merged = merge_windows(rows, windows["offset_mapping"], word_ids=ids, text=text, combine=combine)
    labels = short.model.config.id2label
    mine = entities(
        merged.logits, labels, merged.word_ids, merged.offsets, [C.exactly_runs("PER", 1)], text=text,
        aggregation_strategy="first",
    )  # fmt: skip
    places = [(each["entity_group"], each["start"], each["end"]) for each in mine]
    assert places == [(each["entity_group"], each["start"], each["end"]) for each in constrained]
    scores = [each["score"] for each in constrained]
    assert [each["score"] for each in mine] == pytest.approx(scores, abs=1e-5)


def test_half_precision_and_split_words(plain):
    half = tiny()
    half.model.to(torch.bfloat16)
    average = {"aggregation_strategy": "average"}
    same(constrain(half, [])(TEXT, **average), half(TEXT, **average))
    words = TEXT.replace(".", " .").split()
    try:
        wanted = plain(words, is_split_into_words=True, aggregation_strategy="simple")
    except (TypeError, ValueError):
        pytest.skip("this version of transformers takes no split words")
    mine = constrain(plain, [])(words, is_split_into_words=True, aggregation_strategy="simple")
    assert len(mine) == len(wanted) == 1
    same(mine[0], wanted[0])


def test_a_rule_that_looks_at_the_text_of_words(plain):
    rules = [C.contains_only("PER", words=["bob", "ada"]), C.tag_at("PER", words=["bob"])]
    found = constrain(plain, rules)(TEXT, aggregation_strategy="first")
    words = [each["word"] for each in found if each["entity_group"] == "PER"]
    assert "bob" in words and set(words) <= {"bob", "ada"}


def test_no_labelling_and_wrong_pipelines_are_told(plain):
    with pytest.raises(AdapterError, match="status infeasible"):
        constrain(plain, [C.at_least_tokens("PER", 1000)])(TEXT)
    with pytest.raises(ValueError, match='no field "PERS"'):
        constrain(plain, [C.at_most_runs("PERS", 1)])


def test_a_constrained_pipeline_can_be_pickled(plain):
    under = constrain(plain, [C.at_most_runs("PER", 1)])
    again = pickle.loads(pickle.dumps(under))
    assert again(TEXT, aggregation_strategy="simple") == under(TEXT, aggregation_strategy="simple")


def test_scores_are_probabilities_of_the_model_where_wanted(plain):
    rules = [C.at_most_runs("PER", 1), C.at_most_runs("LOC", 1)]
    rows = np.asarray(logits_of(plain, TEXT)[1].detach(), float)
    shares = np.exp(rows - np.logaddexp.reduce(rows, axis=1, keepdims=True))
    for each in constrain(plain, rules, score="model")(TEXT, aggregation_strategy="none"):
        assert each["score"] == pytest.approx(shares[each["index"], LABELS.index(each["entity"])], abs=1e-5)
