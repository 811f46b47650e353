"""Labels that are never predicted, in every entrance; and rules on a scheme where there is none."""

import json
from pathlib import Path

import numpy as np
import pytest

import ilpinfer
from formulations.errors import RuleNotice
from ilpinfer import Decoder, LabelSet, Trellis, load_rules, parse_rules, references
from ilpinfer import constraints as C
from ilpinfer.adapters import join_windows
from ilpinfer.adapters.huggingface import entities
from ilpinfer.models.external import from_logits

NAMES = ("O", "B-x", "I-x", "[PAD]")
SCORES = np.array([[0.0, 1.0, 2.0, 3.0], [0.0, 1.0, 2.5, 3.0], [1.0, 0.0, 0.0, 3.0]])
BEST = ["B-x", "I-x", "O"]  # without I-x at the start
PAD = ["[PAD]"]
VALID = [C.valid_scheme()]
IN_RULES = parse_rules('never = ["[PAD]"]\n[[rule]]\ntemplate = "valid_scheme"\n')


def trellis(**more):
    return Trellis.from_emissions(SCORES, np.zeros((4, 4)), **{"labels": NAMES, **more})


ENTRANCES = {
    "Trellis": lambda: ilpinfer.decode(trellis(never=PAD), VALID),
    "LabelSet": lambda: ilpinfer.decode(trellis(labels=LabelSet(NAMES, never=PAD)), VALID),
    "with_never": lambda: ilpinfer.decode(trellis().with_never(PAD), VALID),
    "rules": lambda: ilpinfer.decode(trellis(), IN_RULES),
    "Decoder": lambda: Decoder(VALID, never=PAD).decode(trellis()),
    "Decoder of labels": lambda: Decoder(VALID, NAMES, never=PAD).decode(trellis()),
    "Decoder of label set": lambda: Decoder(VALID, LabelSet(NAMES, never=PAD)).decode(trellis(never=PAD)),
    "decode_many": lambda: [*Decoder(IN_RULES).decode_many([trellis()] * 5)][-1],
    "decode_many in threads": lambda: [*Decoder(IN_RULES).decode_many([trellis()] * 5, threads=2)][-1],
    "top": lambda: ilpinfer.decode(trellis(), IN_RULES, top=2)[0],
    "time limit": lambda: ilpinfer.decode(trellis(), IN_RULES, time_limit=60.0),
    "scheme": lambda: ilpinfer.decode(trellis(scheme="bio", never=PAD), VALID),
    "beam": lambda: ilpinfer.decode(trellis(), IN_RULES, method="beam"),
    "two phases": lambda: ilpinfer.decode_two_phase(trellis(), IN_RULES, tau=1),
    "from_logits": lambda: ilpinfer.decode(from_logits(SCORES, NAMES, never=PAD), VALID),
    "join_windows": lambda: ilpinfer.decode(join_windows([SCORES], [0], NAMES, never=PAD), VALID),
    "to_dict": lambda: ilpinfer.decode(Trellis.from_dict(trellis(never=PAD).to_dict()), VALID),
}


@pytest.mark.parametrize("entrance", ENTRANCES)
def test_never_in_every_entrance(entrance):
    assert ENTRANCES[entrance]().labels == BEST


def test_never_of_entities():
    offsets = [(0, 3), (4, 9), (10, 13)]
    [found] = entities(SCORES, NAMES, offset_mapping=offsets, text="Ada Byron and", rules=VALID, never=PAD)
    assert (found["entity_group"], found["word"]) == ("x", "Ada Byron")


def test_proofs_and_probabilities_know_what_is_never_predicted():
    solution = ilpinfer.decode(trellis(), IN_RULES)
    assert solution.status == "optimal" and ilpinfer.verify(trellis(), IN_RULES, solution).proved
    assert not ilpinfer.verify(trellis(), VALID[:0], solution).ok, "the rules are others"
    table = ilpinfer.marginals(trellis(), IN_RULES).labels
    assert (table[:, 3] == 0).all() and np.allclose(table.sum(axis=1), 1)
    assert ilpinfer.evaluate_labelling(trellis(), IN_RULES, ["[PAD]"] * 3).score == -np.inf
    reference = references.make(trellis(), IN_RULES)
    assert references.verify(reference).holds and reference.named(reference.optima[0]) == BEST
    direct = references.make(trellis(never=PAD), VALID)
    assert references.verify(direct, depth="meaning").holds and direct.trellis.labels.never == {"[PAD]"}


def test_known_labels_that_are_never_predicted():
    for call in (
        lambda: trellis(never=PAD).with_given({1: "[PAD]"}),
        lambda: trellis().with_given({1: "[PAD]"}).with_never(PAD),
        lambda: ilpinfer.decode(trellis(), IN_RULES, given={1: "[PAD]"}),
    ):
        with pytest.raises(
            ValueError, match=r"given: token 1 has the label '\[PAD\]', which is never predicted"
        ):
            call()


def test_a_name_that_is_no_label():
    with pytest.raises(ValueError, match="never: no label 'PAD'"):
        trellis(never=["PAD"])
    with pytest.raises(ValueError, match="never: no label 'PAD'"):
        Decoder(VALID, NAMES, never=["PAD"])
    rules = parse_rules('never = ["[PAD]", "[CLS]"]\n[[rule]]\ntemplate = "valid_scheme"\n')
    with pytest.warns(RuleNotice, match=r"never: the model has no label \[CLS\]"):
        assert ilpinfer.decode(trellis(), rules).labels == BEST


def test_rule_files_keep_it(tmp_path):
    Path(tmp_path, "r.toml").write_text(ilpinfer.dump_rules(IN_RULES))
    assert load_rules(Path(tmp_path, "r.toml")).never == ("[PAD]",)
    assert ilpinfer.join_rules([IN_RULES, parse_rules('never = ["X"]\n')]).never == ("X", "[PAD]")


NO_SCHEME = [NAMES, ("O", "B", "I"), ("O", "I-x", "I-y"), ("O", "B-x", "I_x"), ("a", "b")]


@pytest.mark.parametrize("names", NO_SCHEME)
def test_a_hard_rule_on_a_scheme_that_is_not_there(names):
    scores = np.zeros((3, len(names)))
    scored = Trellis.from_emissions(scores, np.zeros((len(names),) * 2), labels=names)
    calls = [
        lambda: ilpinfer.decode(scored, VALID),
        lambda: ilpinfer.decode(scored, VALID, method="beam"),
        lambda: [*ilpinfer.decode_many([scored], VALID)],
        lambda: Decoder(VALID, names),
        lambda: ilpinfer.marginals(scored, VALID),
        lambda: ilpinfer.formulate(scored, VALID),
        lambda: ilpinfer.evaluate_labelling(scored, VALID, [0, 0, 0]),
        lambda: entities(scores, names, offset_mapping=[(0, 1), (1, 2), (2, 3)], rules=VALID),
        lambda: C.valid_scheme().violations([names[1]], labels=names),
    ]
    for call in calls:
        with pytest.raises(ValueError, match=r"valid_scheme\(\): "):
            call()
    with pytest.warns(RuleNotice, match=r'rule "valid_scheme\(\)": '):
        ilpinfer.decode(scored, [C.valid_scheme(penalty=1.0, reason=str(names))])


def test_commands_and_records(tmp_path, monkeypatch, cli):
    monkeypatch.chdir(tmp_path)
    record = {
        "tokens": ["a", "b", "c"],
        "label_names": NAMES,
        "emissions": SCORES.tolist(),
        "transitions": np.zeros((4, 4)).tolist(),
    }
    Path("in.jsonl").write_text(json.dumps(record) + "\n")
    Path("never.jsonl").write_text(json.dumps({**record, "never": PAD, "scheme": "bio"}) + "\n")
    Path("valid.toml").write_text('[[rule]]\ntemplate = "valid_scheme"\n')
    Path("both.toml").write_text(ilpinfer.dump_rules(IN_RULES))
    for arguments in (
        "in.jsonl --rules valid.toml --never [PAD]",
        "in.jsonl --rules valid.toml --never [PAD] --scheme bio",
        "in.jsonl --rules both.toml",
        "never.jsonl --rules valid.toml",
    ):
        out, err = cli.done(f"decode {arguments}")[1:]
        assert json.loads(out)["labels"] == BEST and err == "", arguments
    said = cli.refused("decode in.jsonl --rules valid.toml")
    assert "'[PAD]' does not fit the scheme bio of the other labels" in said and 'never=["[PAD]"]' in said
    assert (
        cli.done("compare in.jsonl --rules both.toml --methods auto,beam,viterbi --output out")[2].count(
            "notice"
        )
        == 0
    )
    rows = [json.loads(line) for line in Path("out/results.jsonl").read_text().splitlines()]
    assert all("[PAD]" not in row["labels"] for row in rows)
