"""`ilpinfer train` for every kind of model: options, held-out scores, cross-validation, and what it says of bad input."""

import json

import pytest

import ilpinfer
from formulations import load_rules
from ilpinfer.cli import main
from ilpinfer.corpus.conversion import convert
from ilpinfer.models.crf import CRF
from ilpinfer.models.files import load_model
from ilpinfer.models.hmm import HMM, SecondOrderHMM
from ilpinfer.models.training import KINDS, train
from ilpinfer.pipelines.cross_validation import cross_validate, make_folds

REFERENCES = [
    (
        "Smith , J . Trees in winter . 1994 .",
        "B-author I-author I-author I-author B-title I-title I-title I-title B-date I-date",
    ),
    (
        "Jones , A . Winter graphs . 1987 .",
        "B-author I-author I-author I-author B-title I-title I-title B-date I-date",
    ),
    (
        "Brown , B . On trees . 2001 .",
        "B-author I-author I-author I-author B-title I-title I-title B-date I-date",
    ),
    (
        "White , C . Graphs and trees . 1999 .",
        "B-author I-author I-author I-author B-title I-title I-title I-title B-date I-date",
    ),
]
PAIRS = [(tuple(tokens.split()), tuple(labels.split())) for tokens, labels in REFERENCES * 3]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = ["\n".join(f"{t}\t{y}" for t, y in zip(*pair)) for pair in PAIRS]
    (tmp_path / "train.tsv").write_text("\n\n".join(blocks) + "\n")
    return tmp_path


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_trained_saved_and_decodes(kind, folder, capsys):
    assert main(["train", "train.tsv", "--kind", kind, "--output", "model.json"]) == 0
    assert f"model.json: {KINDS[kind].title}, 6 labels (bio)" in capsys.readouterr().err
    model = load_model("model.json")
    assert model.trellis(PAIRS[0][0]).lattice.shape == (10, 6)
    decode = ["decode", "train.tsv", "--model", "model.json", "--rules", "citations", "--output", "out.jsonl"]
    assert main(decode) == 0
    assert main(["evaluate", "out.jsonl", "train.tsv"]) == 0
    assert "token accuracy 100.00 %" in capsys.readouterr().out


def test_options_reach_the_model(folder):
    option = ["--option", "c2=0.5", "--option", "template=citations", "--option", "max_iterations=5"]
    assert main(["train", "train.tsv", "--kind", "crf", "--output", "crf.json", *option]) == 0
    assert load_model("crf.json").template.source["title"].startswith("References")
    option = ["--option", "emissions=absolute-discounting", "--option", "alike=true"]
    assert main(["train", "train.tsv", "--output", "hmm.json", *option]) == 0
    hmm = load_model("hmm.json")
    assert hmm.emissions.smoothing.method == "absolute-discounting"
    assert hmm.emissions.vocabulary.alike


@pytest.mark.parametrize("kind", ["hmm", "crf"])
def test_held_out_and_cross_validated_scores(kind, folder, capsys):
    command = ["train", "train.tsv", "--kind", kind, "--output", "m.json", "--rules", "bio"]
    assert main([*command, "--held-out", "0.25", "--cross-validate", "3"]) == 0
    out, err = capsys.readouterr()
    lines = [line.split() for line in out.splitlines()]
    assert [line[0] for line in lines] == ["cross-validation", "fold", "fold", "fold", "all", "held", "3"]
    assert lines[4][1] == "12"
    assert "from 9 sequences" in err
    assert main([*command, "--held-out", "train.tsv"]) == 0
    assert capsys.readouterr().out.splitlines()[1].startswith("12 sequences")


def test_documents_stay_together(folder, capsys):
    (folder / "documents.txt").write_text("\n".join("aabbccddeeff") + "\n")
    command = ["train", "train.tsv", "--output", "m.json", "--documents", "documents.txt"]
    assert main([*command, "--cross-validate", "6"]) == 0
    assert capsys.readouterr().out.count("2 sequences") == 6
    assert main([*command, "--cross-validate", "7"]) == 2
    assert "cannot make 7 folds of 6 documents" in capsys.readouterr().err
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


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--kind", "crff"], 'no kind of model "crff"; did you mean "crf"?'),
        (["--option", "vocabulry=1"], 'no option "vocabulry"'),
        (["--option", "emissions=witten"], 'no smoothing "witten"; did you mean "witten-bell"?'),
        (["--option", "emissions=3"], "emissions is 3; expected the name of a smoothing"),
        (["--kind", "crf", "--option", "c3=1"], 'lbfgs has no parameter "c3"'),
        (["--kind", "crf", "--option", "template=citation"], "citation"),
        (["--kind", "crf", "--option", "algorithm=sgd"], 'no algorithm "sgd"'),
        (["--held-out", "1.5"], "--held-out 1.5: expected a file, or a share between 0 and 1"),
        (["--held-out", "none.tsv"], "none.tsv: cannot be read"),
        (["--cross-validate", "1"], "cannot make 1 folds of 12 documents; expected 2 to 12"),
        (["--cross-validate", "2", "--documents", "none.txt"], "none.txt: cannot be read"),
        (["--cross-validate", "2", "--documents", "train.tsv"], "train.tsv: 114 lines for 12 sequences"),
        (
            ["--documents", "train.tsv"],
            "--documents train.tsv: is used in an evaluation only; add --held-out",
        ),
        (
            ["--rules", "bio"],
            "--rules bio: is used in an evaluation only; add --held-out or --cross-validate",
        ),
        (["--held-out", "0.5", "--first", "1"], "cannot keep a share of 1 document"),
        (["--option", "scheme=plain"], 'no option "scheme"'),
        (["--kind", "crf", "--option", "held_out=1"], 'lbfgs has no parameter "held_out"'),
        (["--option", "alike=yes"], "alike is 'yes'; expected true or false"),
        (
            ["--kind", "crf", "--option", "c1=-1"],
            "lbfgs: c1 is -1; its usual value is 0.0, expected a number",
        ),
        (["--kind", "crf", "--option", "c2=NaN"], "lbfgs: c2 is nan;"),
        (["--kind", "crf", "--option", "max_iterations=1.5"], "expected a whole number from 0"),
        (["--kind", "crf", "--option", "linesearch=More"], "expected one of MoreThuente"),
    ],
)
def test_bad_options_are_one_line_and_no_model_is_written(arguments, message, folder, capsys):
    assert main(["train", "train.tsv", "--output", "m.json", *arguments]) == 2
    err = capsys.readouterr().err
    assert message in err and len(err.strip().splitlines()) == 1
    assert not (folder / "m.json").exists()


@pytest.mark.parametrize("kind", KINDS)
def test_mixed_schemes_are_named(kind, folder, capsys):
    (folder / "mixed.tsv").write_text("a\tB-x\nb\tI-x\n\nc\ty\n")
    assert main(["train", "mixed.tsv", "--kind", kind, "--output", "m.json"]) == 2
    err = capsys.readouterr().err
    assert "'B-x'" in err and "'y'" in err


@pytest.mark.parametrize("kind", KINDS)
def test_one_sequence_is_enough(kind, folder, capsys):
    assert main(["train", "train.tsv", "--first", "1", "--kind", kind, "--output", "m.json"]) == 0
    assert main(["decode", "train.tsv", "--model", "m.json", "--output", "o.jsonl"]) == 0


@pytest.mark.parametrize(("share", "count"), [("0.1", 1), ("0.4", 5), ("0.9", 11), ("0.99", 11)])
def test_a_share_is_what_is_held_out(share, count, folder, capsys):
    assert main(["train", "train.tsv", "--output", "m.json", "--held-out", share]) == 0
    out, err = capsys.readouterr()
    assert out.splitlines()[1].startswith(f"{count} sequences")
    assert f"from {12 - count} sequence{'s' * (count < 11)} of " in err


def test_held_out_labels_are_read_in_the_scheme_of_the_model(folder, capsys):
    plain = (folder / "train.tsv").read_text().replace("B-", "").replace("I-", "")
    (folder / "plain.tsv").write_text(plain)
    tables = []
    for held_out in ("plain.tsv", "train.tsv"):
        assert main(["train", "plain.tsv", "--output", "m.json", "--held-out", held_out]) == 0
        tables.append(capsys.readouterr().out)
    assert tables[0] == tables[1]
    assert float(tables[0].splitlines()[1].split()[2]) > 50
    assert (
        main(["train", "train.tsv", "--scheme", "iobes", "--output", "i.json", "--held-out", "train.tsv"])
        == 0
    )
    assert capsys.readouterr().out.splitlines()[1].split()[2] == "100.00"
    assert main(["train", "train.tsv", "--output", "b.json", "--held-out", "plain.tsv"]) == 2
    err = capsys.readouterr().err
    assert "plain.tsv, line 1: label 'author' does not fit scheme bio" in err and "--scheme plain" in err
    assert not (folder / "b.json").exists()


@pytest.mark.parametrize("kind", KINDS)
def test_a_place_that_cannot_be_written_is_named_before_training(kind, folder, capsys, monkeypatch):
    monkeypatch.setattr("ilpinfer.models.training.KINDS", {kind: None})
    (folder / "file").write_text("")
    assert main(["train", "train.tsv", "--kind", kind, "--output", "file/m.json"]) == 2
    assert "file/m.json: cannot be written" in capsys.readouterr().err


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("scheme", ["", "plain", "bio", "iob1", "iobes", "BIOES", "bilou", "bmes"])
def test_a_scheme_converts_in_python_as_the_command_does(kind, scheme, folder):
    own = [] if not scheme else ["--scheme", scheme]
    assert main(["train", "train.tsv", "--kind", kind, "--output", "command.json", *own]) == 0
    model = train(kind, PAIRS, scheme=scheme)
    model.save("python.json")
    command, python = (json.loads((folder / f"{each}.json").read_text()) for each in ("command", "python"))
    made = command.pop("made")
    assert (made["kind"], made["options"], made["sequences"]) == (kind, {}, len(PAIRS))
    assert command == python
    known = model.labels.scheme
    expected = {name for _, labels in PAIRS for name in convert(labels, "bio", known)}
    assert set(model.labels.names) == expected
    solution = ilpinfer.decode(model.trellis(PAIRS[0][0]), load_rules("bio"))
    assert solution.status == "optimal"


def test_held_out_sequences_are_converted_too():
    right = []
    train(
        "crf",
        PAIRS,
        scheme="iobes",
        held_out=PAIRS,
        progress=lambda iteration: right.append(iteration.held_out),
    )
    assert right[-1] == 1


@pytest.mark.parametrize("kind", [HMM, SecondOrderHMM, CRF])
def test_a_model_refuses_labels_of_another_scheme(kind):
    iobes = [(tokens, convert(labels, "bio", "iobes")) for tokens, labels in PAIRS]
    with pytest.raises(ValueError, match=r"labels are bio, not iobes: .*train\(…, scheme=.iobes.\)"):
        kind.train(PAIRS, scheme="bioes")
    with pytest.raises(ValueError, match="labels are bio, not iob1"):
        kind.train(PAIRS, scheme="iob1")
    with pytest.raises(ValueError, match="does not fit scheme bio"):
        kind.train(iobes, scheme="bio")
    with pytest.raises(ValueError, match="no scheme 'bios'"):
        kind.train(PAIRS, scheme="bios")
    nested = [(("a", "b"), ("B-venue/B-editor", "I-venue/I-editor"))]
    with pytest.raises(ValueError, match="labels are paths, not iobes: take the scheme paths"):
        kind.train(nested, scheme="iobes")
    assert kind.train(iobes, scheme="iobes").labels.scheme == "iobes"
    assert kind.train(PAIRS, scheme="bio").labels.scheme == "bio"


@pytest.mark.parametrize("scheme", ["bio", "iobes"])
def test_labels_without_a_form_in_the_scheme_are_refused_alike(scheme, folder, capsys):
    (folder / "plain.tsv").write_text("Ada\tname\n1815\tyear\n")
    with pytest.raises(ValueError, match=f"label 'name' does not fit scheme {scheme}") as caught:
        train("hmm", [(("Ada", "1815"), ("name", "year"))], scheme=scheme)
    assert main(["train", "plain.tsv", "--scheme", scheme, "--output", "m.json"]) == 2
    assert str(caught.value) in capsys.readouterr().err
