"""The component of spaCy on blank pipelines and on a recognizer that is trained for a few steps."""

import itertools
import math
import pickle

import numpy as np
import pytest
from support.processes import python

spacy = pytest.importorskip("spacy")

from spacy.tokens import Doc, Span, SpanGroup  # noqa: E402
from spacy.training import Example  # noqa: E402

import ilpinfer  # noqa: E402
from formulations import constraints as C  # noqa: E402
from formulations.errors import RuleNotice  # noqa: E402

TEXT = "Ada met Bob Byron today"
LABELS = ["O", "B-PER", "I-PER"]
SCORES = np.array([[0.0, 2.0, 0.0], [1.0, 0.0, 0.5], [0.0, 3.0, 0.0], [0.0, 0.0, 1.0], [0.5, 0.0, 0.6]])
ONE_PERSON = 'fields = ["PER"]\n[[rule]]\ntemplate = "at_most_runs"\nfield = "PER"\n'


def scores_by_length(doc):
    return np.array([[0.0, 2.0 if token.text.istitle() else -2.0, 0.0] for token in doc])


@spacy.registry.misc("ilpinfer_test_scores.v1")
def make_scores():
    return scores_by_length


def pipeline(**config):
    nlp = spacy.blank("en")
    nlp.add_pipe("ilpinfer_ner", config={"labels": LABELS, **config})
    return nlp


def scored(nlp, scores=SCORES, text=TEXT):
    doc = nlp.make_doc(text)
    doc.user_data["ilpinfer_scores"] = scores
    return doc


def entities(doc):
    return [(ent.text, ent.label_) for ent in doc.ents]


def by_enumeration(limit):
    """The best BIO labelling with at most so many entities, and its marginals."""
    shares = SCORES - np.logaddexp.reduce(SCORES, axis=1, keepdims=True)
    scores = {}
    for y in itertools.product(range(3), repeat=5):
        if any(k == 2 and (t == 0 or y[t - 1] == 0) for t, k in enumerate(y)) or y.count(1) > limit:
            continue
        scores[y] = sum(shares[t, k] for t, k in enumerate(y))
    best = max(scores, key=lambda y: scores[y])
    total = sum(math.exp(score) for score in scores.values())
    chances = [sum(math.exp(s) for y, s in scores.items() if y[t] == k) / total for t, k in enumerate(best)]
    return best, chances


@pytest.mark.parametrize("limit", [0, 1, 5])
def test_entities_are_those_of_the_best_labelling_that_the_scheme_and_the_rules_allow(limit):
    rules = ONE_PERSON + f"n = {limit}\n"
    doc = pipeline(rules=rules, spans_key="found")(scored(pipeline()))
    best, chances = by_enumeration(limit)
    labels = [(token.ent_iob_, token.ent_type_) for token in doc]
    assert labels == [{0: ("O", ""), 1: ("B", "PER"), 2: ("I", "PER")}[k] for k in best]
    group = doc.spans["found"]
    assert [(span.start, span.end) for span in group] == [(ent.start, ent.end) for ent in doc.ents]
    wanted = [np.mean(chances[span.start : span.end]) for span in group]
    assert group.attrs["scores"] == pytest.approx(wanted, abs=1e-4)
    whole = pipeline(rules=rules, spans_key="found", score="entity")(scored(pipeline())).spans["found"]
    assert all(own < mean for own, mean in zip(whole.attrs["scores"], group.attrs["scores"], strict=True))


def test_scores_come_from_user_data_an_extension_or_a_function():
    given = entities(pipeline(rules=ONE_PERSON)(scored(pipeline())))
    assert given == [("Bob Byron today", "PER")]
    Doc.set_extension("ilpinfer_test", default=None, force=True)
    nlp = pipeline(rules=ONE_PERSON, source="extension:ilpinfer_test")
    doc = nlp.make_doc(TEXT)
    doc._.ilpinfer_test = SCORES.tolist()
    assert entities(nlp(doc)) == given
    nlp = pipeline(rules=ONE_PERSON + "n = 2\n", source={"@misc": "ilpinfer_test_scores.v1"})
    found = [text for text, _ in entities(nlp(TEXT))]
    assert len(found) == 2 and set(found) < {"Ada", "Bob", "Byron"}
    assert nlp.config["components"]["ilpinfer_ner"]["source"] == {"@misc": "ilpinfer_test_scores.v1"}


def test_rules_may_be_named_a_file_or_set_in_python(tmp_path):
    path = tmp_path / "one.toml"
    path.write_text(ONE_PERSON)
    wanted = entities(pipeline(rules=ONE_PERSON)(scored(pipeline())))
    assert entities(pipeline(rules=str(path))(scored(pipeline()))) == wanted
    nlp = pipeline(rules="bio")
    assert len(entities(nlp(scored(nlp)))) == 2
    nlp.get_pipe("ilpinfer_ner").set_rules([C.at_most_runs("PER", 1)])
    assert entities(nlp(scored(nlp))) == wanted


def test_entities_of_before_are_replaced_and_spans_are_kept():
    nlp = pipeline(rules=ONE_PERSON)
    doc = scored(nlp)
    doc.set_ents([Span(doc, 0, 2, "LAW")])
    doc.spans["mine"] = [Span(doc, 1, 3, "X")]
    assert entities(nlp(doc)) == [("Bob Byron today", "PER")]
    assert list(doc.spans) == ["mine"] and doc.spans["mine"][0].label_ == "X"


def test_a_pipeline_is_saved_with_its_rules(tmp_path):
    path = tmp_path / "rules.toml"
    path.write_text(ONE_PERSON)
    nlp = pipeline(rules=str(path), spans_key="found", scheme="BIO")
    wanted = entities(nlp(scored(nlp)))
    nlp.to_disk(tmp_path / "saved")
    path.unlink()
    again = spacy.load(tmp_path / "saved")
    assert entities(again(scored(again))) == wanted
    assert (tmp_path / "saved" / "ilpinfer_ner" / "rules.toml").read_text().count("at_most_runs") == 1

    other = pipeline()
    assert entities(other(scored(other))) != wanted
    other.from_bytes(nlp.to_bytes())
    assert entities(other(scored(other))) == wanted
    assert other.get_pipe("ilpinfer_ner").to_bytes() == nlp.get_pipe("ilpinfer_ner").to_bytes()
    copied = pickle.loads(pickle.dumps(nlp))
    assert entities(copied(scored(copied))) == wanted


def test_many_documents_and_empty_ones():
    nlp = pipeline(rules=ONE_PERSON)
    assert nlp("").ents == ()
    docs = list(nlp.pipe([scored(nlp), scored(nlp, SCORES[:2], "Ada met"), nlp.make_doc("")], batch_size=2))
    assert [entities(doc) for doc in docs] == [[("Bob Byron today", "PER")], [("Ada", "PER")], []]


def test_evaluation_counts_entities():
    nlp = pipeline(rules=ONE_PERSON)
    reference = scored(nlp)
    reference.set_ents([Span(reference, 2, 5, "PER")])
    result = nlp.evaluate([Example(scored(nlp), reference)])
    assert result["ents_f"] == 1.0


def with_spans(nlp):
    doc = nlp.make_doc("Ada Byron King Ltd today")
    spans = [Span(doc, 0, 2, "PER"), Span(doc, 0, 1, "PER"), Span(doc, 1, 4, "ORG"), Span(doc, 4, 5, "PER")]
    doc.spans["sc"] = SpanGroup(
        doc, name="sc", spans=spans, attrs={"scores": np.array([0.8, 0.6, 0.9, 0.7], "float32")}
    )
    return doc


def test_spans_with_probabilities_become_entities_that_do_not_overlap():
    nlp = pipeline(source="spans:sc", labels=[])
    assert entities(nlp(with_spans(nlp))) == [("Ada", "PER"), ("Byron King Ltd", "ORG"), ("today", "PER")]
    nlp = pipeline(source="spans:sc", labels=["PER"], rules=ONE_PERSON, spans_key="best")
    doc = nlp(with_spans(nlp))
    assert entities(doc) == [("Byron King Ltd", "ORG"), ("today", "PER")] and len(doc.spans["sc"]) == 4
    odds = [p / (1 - p) for p in (0.8, 0.6, 0.9, 0.7)]
    without_org = 1 + odds[0] + odds[1] + odds[3]
    with_org = odds[2] * (1 + odds[1] + odds[3])
    wanted = [with_org / (with_org + without_org), odds[3] * (1 + odds[2]) / (with_org + without_org)]
    assert doc.spans["best"].attrs["scores"] == pytest.approx(wanted, abs=1e-3)
    empty = nlp.make_doc("nothing here")
    empty.spans["sc"] = SpanGroup(empty, name="sc", attrs={"scores": []})
    assert nlp(empty).ents == ()


def test_the_best_set_of_spans_of_a_categorizer_is_taken():
    spacy.util.fix_random_seed(3)
    nlp = spacy.blank("en")
    categorizer = nlp.add_pipe("spancat", config={"threshold": 0.3, "max_positive": None})
    for label in ("PER", "ORG"):
        categorizer.add_label(label)
    nlp.initialize()
    nlp.add_pipe("ilpinfer_ner", config={"source": "spans:sc"})
    doc = nlp(TEXT)
    group = doc.spans["sc"]
    found = zip(group, group.attrs["scores"])
    spans = [(each.start_char, each.end_char, each.label_, float(score)) for each, score in found]
    chosen = [(each.start, each.end, each.label) for each in ilpinfer.select_spans(TEXT, spans).spans]
    assert [(each.start_char, each.end_char, each.label_) for each in doc.ents] == chosen and len(spans) > 5


@pytest.fixture(scope="module")
def recognizer():
    """A pipeline with a recognizer of a few steps of training."""
    spacy.util.fix_random_seed(1)
    nlp = spacy.blank("en")
    tok2vec = {"@architectures": "spacy.HashEmbedCNN.v2", "width": 16, "depth": 1, "embed_size": 200,
               "window_size": 1, "maxout_pieces": 2, "subword_features": True, "pretrained_vectors": None}  # fmt: skip
    nlp.add_pipe("ner", config={"model": {"tok2vec": tok2vec}})
    texts = [("Ada met Bob", [(0, 3, "PER"), (8, 11, "PER")]), ("Ada lives in Rome", [(0, 3, "PER"), (13, 17, "LOC")]),
             ("Bob saw Rome", [(0, 3, "PER"), (8, 12, "LOC")]), ("we met", [])]  # fmt: skip
    examples = [Example.from_dict(nlp.make_doc(text), {"entities": spans}) for text, spans in texts]
    optimizer = nlp.initialize(lambda: examples)
    for _ in range(30):
        nlp.update(examples, sgd=optimizer)
    return nlp


def test_beams_of_a_recognizer_are_searched_again_under_rules(recognizer):
    text = "Ada met Bob and Ada saw Rome"
    with recognizer.select_pipes(enable=["ner"]):
        plain = entities(recognizer(text))
    assert [label for _, label in plain].count("PER") > 1
    nlp = recognizer
    nlp.add_pipe("ilpinfer_ner", config={"source": "beam:ner", "spans_key": "found"})
    try:
        assert entities(nlp(text)) == plain
        nlp.get_pipe("ilpinfer_ner").set_rules([C.exactly_runs("PER", 1), C.exactly_runs("LOC", 1)])
        doc = nlp(text)
        assert sorted(label for _, label in entities(doc)) == ["LOC", "PER"]
        assert set(entities(doc)) <= set(plain) and ("Rome", "LOC") in entities(doc)
        assert all(0 < score <= 1 for score in doc.spans["found"].attrs["scores"])
    finally:
        nlp.remove_pipe("ilpinfer_ner")


def test_an_error_of_the_recognizer_leaves_the_entities(recognizer, monkeypatch):
    from ilpinfer.adapters import spacy_sources

    doc = recognizer("Ada met Bob")
    before = doc.ents

    class Broken:
        labels = ("PER",)

        def beam_parse(self, docs, **_):
            assert docs[0].ents == ()
            raise RuntimeError("broken")

    labels = spacy_sources.beam_labels(Broken(), "ner")
    with pytest.raises(RuntimeError, match="broken"):
        spacy_sources.beam_rows(doc, Broken(), labels, 4, 0.0, 1e-4)
    assert doc.ents == before


def test_a_field_that_rules_declare_and_no_label_carries_counts_as_absent():
    nlp = pipeline(rules=ONE_PERSON.replace("PER", "LOC"))
    with pytest.warns(RuleNotice, match="no label for LOC: counted as absent"):
        assert len(entities(nlp(scored(nlp)))) == 2
    nlp = pipeline(source="spans:sc", labels=[], rules=ONE_PERSON.replace("PER", "LOC"))
    assert len(nlp(with_spans(nlp)).ents) == 3  # declared fields have labels there: no notice


def test_spacy_finds_the_component_without_an_import_and_loads_nothing_heavy_before():
    code = (
        "import sys, spacy; nlp = spacy.blank('en'); nlp.factory_names; spacy.registry.factories.get_all();"
        "assert 'ilpinfer.adapters.spacy_factory' in sys.modules;"
        "assert not {'ilpinfer.kernels', 'lark', 'scipy', 'ilpinfer.adapters.spacy'} & set(sys.modules);"
        "nlp.add_pipe('ilpinfer_ner', config={'labels': ['O', 'x']}); print(nlp.pipe_names)"
    )
    run = python("-c", code)
    assert run.stdout.strip() == "['ilpinfer_ner']", run.stderr
