"""`ilpinfer train` for every kind of model: options, held-out scores, cross-validation, and what it says of bad input."""

import json

import pytest
from support.command_line import columns

import ilpinfer
from formulations import load_rules
from ilpinfer.corpus.conversion import convert
from ilpinfer.models.crf import CRF
from ilpinfer.models.files import load_model
from ilpinfer.models.hmm import HMM, SecondOrderHMM
from ilpinfer.models.training import KINDS, train
from ilpinfer.pipelines.cross_validation import cross_validate, make_folds

REFERENCES = [
    ("Smith , J .", "Trees in winter .", "1994 ."),
    ("Jones , A .", "Winter graphs .", "1987 ."),
    ("Brown , B .", "On trees .", "2001 ."),
    ("White , C .", "Graphs and trees .", "1999 ."),
]


def pair(texts):
    tokens, labels = [], []
    for field, text in zip(("author", "title", "date"), map(str.split, texts), strict=True):
        tokens += text
        labels += [f"B-{field}", *[f"I-{field}"] * (len(text) - 1)]
    return tuple(tokens), tuple(labels)


PAIRS = [pair(texts) for texts in REFERENCES * 3]


@pytest.fixture
def folder(here):
    (here / "train.tsv").write_text(columns(*PAIRS))
    return here


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_trained_saved_and_decodes(kind, folder, cli):
    err = cli.done(f"train train.tsv --kind {kind} --output model.json").err
    assert f"model.json: {KINDS[kind].title}, 6 labels (bio)" in err
    model = load_model("model.json")
    assert model.trellis(PAIRS[0][0]).lattice.shape == (10, 6)
    cli.done("decode train.tsv --model model.json --rules citations --output out.jsonl")
    assert "token accuracy 100.00 %" in cli.done("evaluate out.jsonl train.tsv").out


def test_options_reach_the_model(folder, cli):
    options = "--option c2=0.5 --option template=citations --option max_iterations=5"
    cli.done(f"train train.tsv --kind crf --output crf.json {options}")
    assert load_model("crf.json").template.source["title"].startswith("References")
    options = "--option emissions=absolute-discounting --option alike=true"
    cli.done(f"train train.tsv --output hmm.json {options}")
    hmm = load_model("hmm.json")
    assert hmm.emissions.smoothing.method == "absolute-discounting"
    assert hmm.emissions.vocabulary.alike


@pytest.mark.parametrize("kind", ["hmm", "crf"])
def test_held_out_and_cross_validated_scores(kind, folder, cli):
    command = f"train train.tsv --kind {kind} --output m.json --rules bio"
    _, out, err = cli.done(f"{command} --held-out 0.25 --cross-validate 3")
    lines = [line.split() for line in out.splitlines()]
    assert [line[0] for line in lines] == ["cross-validation", "fold", "fold", "fold", "all", "held", "3"]
    assert lines[4][1] == "12"
    assert "from 9 sequences" in err
    assert cli.done(f"{command} --held-out train.tsv").out.splitlines()[1].startswith("12 sequences")


def test_documents_stay_together(folder, cli):
    (folder / "documents.txt").write_text("\n".join("aabbccddeeff") + "\n")
    command = "train train.tsv --output m.json --documents documents.txt --cross-validate"
    assert cli.done(f"{command} 6").out.count("2 sequences") == 6
    result = make_folds("aabbbcd", 2, seed=1)
    assert sorted(i for part in result for i in part) == list(range(7))
    assert all(len({part.index(i) for part in result if i in part}) == 1 for i in range(7))
    assert any({2, 3, 4} <= set(part) for part in result)
    assert result == make_folds("aabbbcd", 2, seed=1)


def test_cross_validation_never_labels_what_the_model_has_seen():
    seen = []

    def make(pairs):
        seen.append({tokens for tokens, _ in pairs})
        return train("hmm", pairs)

    distinct, result = PAIRS[:4], []
    for part in cross_validate(distinct, make, [[0, 1], [2, 3]]):
        assert not seen[-1] & {pair.tokens for pair in part}
        result += [pair.tokens for pair in part]
    assert result == [tokens for tokens, _ in distinct]


@pytest.mark.parametrize(("share", "count"), [("0.1", 1), ("0.4", 5), ("0.9", 11), ("0.99", 11)])
def test_a_share_is_what_is_held_out(share, count, folder, cli):
    _, out, err = cli.done(f"train train.tsv --output m.json --held-out {share}")
    assert out.splitlines()[1].startswith(f"{count} sequence")
    assert f"from {12 - count} sequence{'s' * (count < 11)} of " in err


def test_held_out_labels_are_read_in_the_scheme_of_the_model(folder, cli):
    plain = (folder / "train.tsv").read_text().replace("B-", "").replace("I-", "")
    (folder / "plain.tsv").write_text(plain)

    def accuracy(command):
        return float(cli.done(f"train {command} --output m.json").out.splitlines()[1].split()[2])

    assert accuracy("plain.tsv --held-out plain.tsv") == accuracy("plain.tsv --held-out train.tsv") > 50
    assert accuracy("train.tsv --scheme iobes --held-out train.tsv") == 100.0


def test_a_place_that_cannot_be_written_is_named_before_training(folder, cli, monkeypatch):
    monkeypatch.setattr("ilpinfer.models.training.KINDS", {"hmm": None})
    (folder / "file").write_text("")
    err = cli.refused("train train.tsv --output file/m.json")
    assert "file/m.json: cannot be written" in err


@pytest.mark.parametrize(
    ("kind", "scheme"),
    [
        *(("hmm", scheme) for scheme in ("", "plain", "bio", "iob1", "BIOES", "bilou", "bmes")),
        ("hmm2", "iobes"),
        ("crf", "iobes"),
    ],
)
def test_a_scheme_converts_in_python_as_the_command_does(kind, scheme, folder, cli):
    own = f"--scheme {scheme}" if scheme else ""
    cli.done(f"train train.tsv --kind {kind} --output command.json {own}")
    model = train(kind, PAIRS, scheme=scheme)
    model.save("python.json")
    command, python = (json.loads((folder / f"{each}.json").read_text()) for each in ("command", "python"))
    made = command.pop("made")
    assert (made["kind"], made["options"], made["sequences"]) == (kind, {}, len(PAIRS))
    assert command == python
    known = model.labels.scheme
    expected = {name for _, labels in PAIRS for name in convert(labels, "bio", known)}
    assert set(model.labels.names) == expected
    rules = () if known == "plain" else load_rules("bio")
    assert ilpinfer.decode(model.trellis(PAIRS[0][0]), rules).status == "optimal"


def test_held_out_sequences_are_converted_too():
    right = []
    watched = {"held_out": PAIRS, "progress": lambda iteration: right.append(iteration.held_out)}
    train("crf", PAIRS, scheme="iobes", **watched)
    assert right[-1] == 1


@pytest.mark.parametrize("kind", [HMM, SecondOrderHMM, CRF])
def test_a_model_takes_labels_of_its_scheme(kind):
    for scheme in ("bio", "iobes"):
        pairs = [(tokens, convert(labels, "bio", scheme)) for tokens, labels in PAIRS]
        assert kind.train(pairs, scheme=scheme).labels.scheme == scheme
