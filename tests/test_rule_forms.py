"""Every function and class that takes rules takes them in every form."""

import inspect

import numpy as np
import pytest
from test_docstrings import _methods, _public

import ilpinfer
from formulations import RuleSet, Trellis, dump_rules, formulate
from formulations import constraints as C
from ilpinfer import learning, references
from ilpinfer.adapters.huggingface import entities
from ilpinfer.adapters.sklearn import ConstrainedTagger
from ilpinfer.corpus.examples import Example
from ilpinfer.evaluation.broken_rules import broken_rules
from ilpinfer.evaluation.checking import check_rules
from ilpinfer.evaluation.evaluation import Pair
from ilpinfer.models.crf.templates import load_template, with_rules
from ilpinfer.models.hmm import HMM
from ilpinfer.pipelines.cross_validation import cross_validate, predict
from ilpinfer.pipelines.fit import unfit, unfit_rules
from ilpinfer.pipelines.trellises import ScoredExample

RULE = C.tag_at("a", words=["y"], penalty=0.5)
TEXT = dump_rules([RULE])
FORMS = {
    "a list": lambda folder: [RULE],
    "a tuple": lambda folder: (RULE,),
    "an iterator": lambda folder: iter([RULE]),
    "a rule set": lambda folder: RuleSet((RULE,), ("a",)),
    "a path": lambda folder: folder / "rules.toml",
    "the text of a path": lambda folder: str(folder / "rules.toml"),
    "TOML text": lambda folder: TEXT,
}
LABELS = ["O", "B-a", "I-a"]
PAIRS = [(["x", "y", "z"], ["O", "B-a", "I-a"]), (["x", "y", "z"], ["O", "B-a", "O"])] * 2
TRELLIS = Trellis.from_emissions(
    [[1.0, 0.0, 0.0], [0.25, 0.0, 0.0], [1.0, 0.0, 0.5]],
    np.zeros((3, 3)),
    labels=LABELS,
    tokens=["x", "y", "z"],
)
BEST = ["O", "B-a", "O"]
GOLD = [Example(tuple(tokens), tuple(labels), "here") for tokens, labels in PAIRS]
EVALUATED = [Pair(tuple(tokens), tuple(labels), tuple(BEST)) for tokens, labels in PAIRS]
HMM_OF_PAIRS = HMM.train(PAIRS)


def entities_of(rules):
    logits = [[1.0, 0.0, 0.0], [0.25, 0.0, 0.0], [1.0, 0.0, 0.5]]
    offsets = [(0, 1), (2, 3), (4, 5)]
    return entities(logits, LABELS, rules=rules, text="x y z", offset_mapping=offsets)


ENTRANCES = {
    "ilpinfer.decode": lambda rules: ilpinfer.decode(TRELLIS, rules).labels,
    "ilpinfer.decode_many": lambda rules: [s.labels for s in ilpinfer.decode_many([TRELLIS], rules)],
    "ilpinfer.Decoder": lambda rules: ilpinfer.Decoder(rules).decode(TRELLIS).labels,
    "ilpinfer.Decoder.with_rules": lambda rules: (
        ilpinfer.Decoder([]).with_rules(rules).decode(TRELLIS).labels
    ),
    "ilpinfer.decode_two_phase": lambda rules: ilpinfer.decode_two_phase(TRELLIS, rules, 0.5).labels,
    "ilpinfer.decode_scores": lambda rules: (
        ilpinfer.decode_scores(
            TRELLIS.emissions[None],
            TRELLIS.transitions[0],
            rules=rules,
            labels=TRELLIS.labels,
            tokens=[TRELLIS.tokens],
        ).scores
    ),
    "ilpinfer.decode_frontier": lambda rules: ilpinfer.decode_frontier(TRELLIS, rules).points,
    "ilpinfer.evaluate_labelling": lambda rules: ilpinfer.evaluate_labelling(TRELLIS, rules, BEST).score,
    "ilpinfer.marginals": lambda rules: ilpinfer.marginals(TRELLIS, rules).labels.tolist(),
    "ilpinfer.verify": lambda rules: ilpinfer.verify(TRELLIS, rules, ilpinfer.decode(TRELLIS, [RULE])).proved,
    "ilpinfer.select_spans": lambda rules: (
        ilpinfer.select_spans(["x", "y", "z"], [(0, 1, "a", 0.9), (2, 3, "a", 0.8)], rules).solution.labels
    ),
    "ilpinfer.next_question": lambda rules: ilpinfer.next_question(TRELLIS, rules).chances,
    "ilpinfer.prove": lambda rules: ilpinfer.prove(TRELLIS, rules, ilpinfer.decode(TRELLIS)).labels,
    "ilpinfer.compare": lambda rules: ilpinfer.compare([TRELLIS], rules).summary().solved.tolist(),
    "formulations.formulate": lambda rules: formulate(TRELLIS, rules).row_names,
    "formulations.dump_rules": lambda rules: dump_rules(rules),
    "ilpinfer.references.make": lambda rules: references.make(TRELLIS, rules).rules,
    "ilpinfer.adapters.huggingface.entities": entities_of,
    "ilpinfer.adapters.sklearn.ConstrainedTagger": lambda rules: (
        ConstrainedTagger(rules, "hmm").fit(*zip(*PAIRS, strict=True)).predict([["x", "y", "z"]])
    ),
    "ilpinfer.evaluation.broken_rules.broken_rules": lambda rules: broken_rules(EVALUATED, rules),
    "ilpinfer.evaluation.checking.check_rules": lambda rules: check_rules(rules, GOLD, TRELLIS.labels),
    "ilpinfer.learning.CODL.fit": lambda rules: (
        learning.CODL(cycles=1).fit(PAIRS, [["x", "y"]], rules).model.trellis(("x", "y")).edges.tolist()
    ),
    "ilpinfer.learning.WeightLearner.fit": lambda rules: (
        learning.WeightLearner(epochs=1)
        .fit([ScoredExample(TRELLIS, tuple(BEST))] * 5, rules)
        .rules.rules[0]
        .penalty
    ),
    "ilpinfer.learning.WeightLearner.fit_model": lambda rules: (
        learning.WeightLearner(folds=2, epochs=1).fit_model(PAIRS, HMM.train, rules).rules.rules[0].penalty
    ),
    "ilpinfer.learning.WeightLearner.fits": lambda rules: learning.WeightLearner().fits(9, rules),
    "ilpinfer.models.crf.templates.with_rules": lambda rules: (
        with_rules(load_template("general"), rules).source
    ),
    "ilpinfer.pipelines.cross_validation.cross_validate": lambda rules: list(
        cross_validate(PAIRS, HMM.train, [[0], [1]], list(rules) if hasattr(rules, "__next__") else rules)
    ),
    "ilpinfer.pipelines.cross_validation.predict": lambda rules: predict(HMM_OF_PAIRS, PAIRS[:1], rules),
    "ilpinfer.pipelines.fit.unfit": lambda rules: unfit([TRELLIS] * 10, rules).partition(
        " does not seem to fit"
    )[2],
    "ilpinfer.pipelines.fit.unfit_rules": lambda rules: unfit_rules([TRELLIS] * 10, rules),
}
"""A function of rules for each public function or class that takes them, with a result to compare."""
ELSEWHERE = {
    "ilpinfer.adapters.huggingface.constrain": "hands them to a Decoder; needs a pipeline",
    "ilpinfer.adapters.spacy.ConstrainedNER.set_rules": "hands them to a Decoder; needs spaCy",
    "ilpinfer.pipelines.rules_first.rules_first": "below, as it needs hard rules and a CRF",
}
RECORDS = (
    "Batch",
    "Comparison",
    "LearntWeights",
    "MinedRules",
    "DroppedCandidates",
    "Instance",
    "Reference",
    "RulesFirst",
)
"""Results, which hold rules."""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "rules.toml").write_text(TEXT)
    return tmp_path


@pytest.mark.parametrize("entrance", ENTRANCES)
def test_the_form_of_rules_changes_nothing(entrance, folder):
    results = {form: ENTRANCES[entrance](make(folder)) for form, make in FORMS.items()}
    expected = results.pop("a rule set")
    for form, result in results.items():
        assert repr(result) == repr(expected), form


def test_the_table_names_every_entrance():
    taking = set()
    for name, value in _public().items():
        owners = {name: value}
        if isinstance(value, type):
            owners |= {f"{name}.{method}": function for method, function in _methods(value).items()}
        for place, function in owners.items():
            error = isinstance(function, type) and issubclass(function, Exception)
            names = () if error else inspect.signature(function).parameters
            if "rules" in names and not place.endswith(RECORDS):
                taking.add(place)
    handed_on = {
        f"ilpinfer.{name.removeprefix('formulations.')}" for name in taking if "formulations" in name
    }
    assert taking - handed_on <= set(ENTRANCES) | set(ELSEWHERE)
