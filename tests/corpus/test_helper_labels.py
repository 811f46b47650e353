"""Helper labels in training and gold data: their tokens are left out, in every entrance."""

import json
import warnings
from pathlib import Path

import numpy as np
import pytest

import ilpinfer
from ilpinfer import Trellis, classification_report
from ilpinfer import constraints as C
from ilpinfer.corpus.examples import Example, InputError, InputNotice, input_at
from ilpinfer.corpus.helper_labels import without_helpers
from ilpinfer.evaluation.evaluation import Pair, evaluate
from ilpinfer.learning import CODL, RuleMiner
from ilpinfer.models.crf import CRF
from ilpinfer.models.files import record_of
from ilpinfer.models.hmm import HMM
from ilpinfer.models.training import train

HELPERS = ("[CLS]", "X", "[PAD]")
PIECES = (
    ["<s>", "Ada", "Love", "##lace", "in", "1843", "<p>"],
    ["[CLS]", "B-name", "I-name", "X", "O", "B-year", "[PAD]"],
)
WORDS = (["Ada", "Love", "in", "1843"], ["B-name", "I-name", "O", "B-year"])
OPTIONS = " ".join(f"--never {name}" for name in HELPERS)
LEFT_OUT = "left out: 36 tokens in 12 sequences, with the helper labels 'X', '[CLS]', '[PAD]'"
RULES = 'fields = ["name"]\n[[rule]]\ntemplate = "at_most_runs"\nfield = "name"\nn = 1\npenalty = 1.0\n'


def columns(pairs):
    return "\n".join("".join(f"{t}\t{y}\n" for t, y in zip(*pair, strict=True)) for pair in pairs)


@pytest.fixture
def files(here):
    Path("pieces.tsv").write_text(columns([PIECES] * 12))
    Path("words.tsv").write_text(columns([WORDS] * 12))
    Path("rules.toml").write_text(RULES)


@pytest.mark.parametrize("kind", ["hmm", "hmm2", "crf"])
@pytest.mark.parametrize("scheme", ["", "bio", "iobes"])
def test_models_are_those_of_the_other_tokens(kind, scheme):
    with (
        pytest.warns(InputNotice, match="left out: 6 tokens in 2 sequences"),
        pytest.warns(InputNotice, match="left out: 3 tokens in 1 sequence"),
    ):
        model = train(kind, [PIECES] * 2, scheme=scheme, never=HELPERS, held_out=[PIECES])
    assert record_of(model) == record_of(train(kind, [WORDS] * 2, scheme=scheme))


def test_a_name_that_no_token_has_is_a_notice():
    with pytest.warns(UserWarning, match=r"never: no token has the labels 'X', '\[PADD\]'"):
        train("hmm", [WORDS], never=["[PADD]", "X"])


def test_messages_name_what_the_caller_can_do():
    for learn in (
        lambda: train("hmm", [PIECES]),
        lambda: HMM.train([PIECES]),
        lambda: CRF.train([PIECES]),
        lambda: RuleMiner().fit([PIECES] * 12),
        lambda: CODL().fit([PIECES] * 2, [PIECES[0]]),
    ):
        with pytest.raises(ValueError, match=r'never=\["X", "\[CLS\]"|never=\["\[CLS\]", "X"') as refused:
            learn()
        assert "ilpinfer.corpus.helper_labels.without_helpers" in str(refused.value)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert without_helpers([PIECES], HELPERS) == [WORDS]
    with pytest.raises(ValueError, match="sequence 1 has 1 label for 2 tokens"):
        without_helpers([WORDS, (["a", "b"], ["X"])], ["X"])


def test_gold_of_helper_labels_is_not_counted_and_such_predictions_are_outside():
    tokens, gold = map(tuple, PIECES)
    found = ("O", "B-name", "X", "O", "X", "B-year", "[PAD]")
    with pytest.warns(UserWarning, match="left out: 3 tokens in 1 sequence"):
        result = evaluate([Pair(tokens, found, gold)], never=HELPERS)
    assert (result.tokens.tolist(), result.accuracy, result.fields) == ([4], 0.75, ("name", "year"))
    assert result.of_all("spans").tolist() == [2, 2, 1]
    with pytest.warns(UserWarning, match="left out"):
        report = classification_report([gold], [found], never=HELPERS)
    assert report == classification_report([WORDS[1]], [["B-name", "O", "O", "B-year"]])
    with pytest.warns(UserWarning, match=r"counted as fields; give never=.* to leave these tokens out"):
        evaluate([Pair(tokens, gold, gold)])


def test_comparisons_do_not_count_them():
    names = [*dict.fromkeys(PIECES[1])]
    scores = np.eye(len(names))[[names.index(name) for name in PIECES[1]]]
    zeros = np.zeros((len(names), len(names)))
    trellis = Trellis.from_emissions(scores, zeros, labels=names, never=HELPERS)
    frame = ilpinfer.compare([trellis], [C.at_most_runs("year", 3)], ["auto"], gold=[PIECES[1]]).frame
    [row] = frame.to_dict("records")
    assert (row["gold_tokens"], row["correct"], row["differs_by"]) == (4, 4, "")


@pytest.mark.parametrize(
    "command",
    [
        "train {} --output out",
        "train {} --output out --kind crf --option max_iterations=2",
        "train {} --output out --scheme iobes --cross-validate 2",
        "train {} --output out --held-out words.tsv",
        "mine {} --output out --families one-run,words",
        "codl {} words.tsv --output out --cycles 1 --gamma 0.5 --rules rules.toml",
        "learn {} --kind hmm --rules rules.toml --output out --update counts --folds 2",
        "check rules.toml {} --write out",
        "evaluate {} {} --output out",
    ],
)
def test_commands(command, files, cli):
    results = []
    for name, options in (("words.tsv", ""), ("pieces.tsv", OPTIONS)):
        for source, target in (("words.tsv", "gold.tsv"), (name, "data.tsv")):
            Path(target).write_bytes(Path(source).read_bytes())
        _, out, err = cli.done(f"{command.replace('{}', 'data.tsv')} {options}")
        assert (LEFT_OUT in err) == bool(options), err
        results.append((out, Path("out").read_text()))
    (out, written), (own_out, own) = results
    assert own_out == out
    if command.startswith("check"):
        own = own.replace('never = ["X", "[CLS]", "[PAD]"]\n', "")
    assert own == written


def test_errors_found_by_a_model_have_no_helper_tokens(files, cli):
    found = [(PIECES[0], ["X", "B-name", "X", "O", "O", "B-year", "X"])] * 12
    Path("found.tsv").write_text(columns(found))
    err = cli.done(f"mine pieces.tsv --predictions found.tsv --families words --output out {OPTIONS}")[2]
    assert LEFT_OUT in err and "X" not in Path("out").read_text()


def test_learning_from_scores_names_the_token(files, cli):
    names = [*dict.fromkeys(PIECES[1])]
    record = {
        "tokens": PIECES[0],
        "labels": PIECES[1],
        "label_names": names,
        "emissions": np.zeros((7, len(names))).tolist(),
        "transitions": np.zeros((len(names),) * 2).tolist(),
    }
    Path("in.jsonl").write_text(json.dumps(record) + "\n")
    said = cli.refused(f"learn in.jsonl --rules rules.toml --output out {OPTIONS}")
    assert "in.jsonl, line 1: token 0 has scores and the helper label '[CLS]'; remove the token" in said


def test_comparison_of_a_model_without_these_labels(files, cli):
    cli.done("train words.tsv --output hmm.json")
    arguments = "pieces.tsv --model hmm.json --methods auto --output out"
    assert 'if it is a helper label, give never=["[CLS]"] (--never' in cli.refused(f"compare {arguments}")
    err = cli.done(f"compare {arguments} {OPTIONS}")[2]
    assert "gold labels that are not counted: 36 tokens in 12 sequences" in err
    row = json.loads(Path("out/results.jsonl").read_text().splitlines()[0])
    assert (row["gold_tokens"], row["correct"]) == (4, 4)


def test_predictions_of_helper_labels_are_outside_in_comparisons(files, cli):
    cli.done(f"train pieces.tsv --output hmm.json {OPTIONS}")
    found = (PIECES[0], ["[CLS]", "X", "I-name", "X", "O", "B-year", "X"])
    Path("found.tsv").write_text(columns([found] * 12))
    command = "compare pieces.tsv --model hmm.json --methods auto --predictions own=found.tsv --output out"
    cli.done(f"{command} {OPTIONS}")
    rows = [json.loads(line) for line in Path("out/results.jsonl").read_text().splitlines()]
    own = next(row for row in rows if row["method"] == "own")
    assert (own["gold_tokens"], own["correct"]) == (4, 3)


HELPERS_ALONE = (["<p>", "<p>"], ["[PAD]", "X"])


@pytest.mark.filterwarnings("default::ilpinfer.corpus.examples.InputNotice")
def test_a_sequence_of_helper_labels_alone_is_left_out(files, cli):
    Path("some.tsv").write_text(columns([PIECES] * 12 + [HELPERS_ALONE]))
    for more in ("--update counts", "--weights all --output-model m.json"):
        err = cli.done(
            f"learn some.tsv --kind hmm --rules rules.toml --output o.toml --folds 2 {more} {OPTIONS}"
        ).err
        assert "left out, as they have no token: 1 sequence" in err
    err = cli.done(f"train some.tsv --output hmm.json {OPTIONS}").err
    assert "left out, as they have no token: 1 sequence" in err
    learn = f"learn some.tsv --model hmm.json --rules rules.toml --output o.toml --folds 2 {OPTIONS}"
    assert "was trained on some.tsv" in cli.done(learn).err


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("learn all.tsv --kind hmm --rules rules.toml --output o", "all.tsv: no token is left to learn from"),
        ("check rules.toml all.tsv", "all.tsv: no token is left to check rules on"),
        (
            "codl all.tsv words.tsv --rules rules.toml --output o",
            "all.tsv: no token has a label; expected at least two",
        ),
    ],
)
def test_files_of_helper_labels_alone_are_refused(command, said, files, cli):
    Path("all.tsv").write_text(columns([HELPERS_ALONE]))
    code, out, err = cli(f"{command} {OPTIONS}")
    assert (code, out) == (2, "") and said in err.splitlines()[-1]


def test_broken_rules_are_at_the_tokens_of_the_file(files, cli):
    twice = (["<s>", "Ada", "Love", "##lace", "in", "Bob"], ["[CLS]", "B-name", "I-name", "X", "O", "B-name"])
    Path("twice.tsv").write_text(columns([twice]))
    [row] = json.loads(cli(f"check rules.toml twice.tsv --json {OPTIONS}").out)
    assert [each["tokens"] for each in row["breaches"]] == [[5]]


def test_one_label_without_a_prefix_may_be_a_helper_label():
    with pytest.raises(ValueError, match=r'never=\["\[PAD\]"\]'):
        train("hmm", [(["a", "b"], ["B-n", "[PAD]"])])


def test_notices_count_sequences_and_list_three_labels():
    pairs = [(["a", "b"], ["[A]", "O"]), (["c"], ["O"]), (list("defg"), ["[B]", "[C]", "[D]", "[D]"])]
    never, said = ["[A]", "[B]", "[C]", "[D]", "[E]"], []
    first = "left out: 5 tokens in 2 sequences, with the helper labels '[A]', '[B]', '[C]' and 1 more"
    without_helpers(pairs, never, said.append)
    assert said == [first, "never: no token has the label '[E]'"]
    said.clear()
    without_helpers(pairs, never, said.append, absent=True)
    assert said == [first]


@pytest.mark.filterwarnings("ignore:left out")
def test_predicted_helper_labels_count_as_the_outside_label_of_gold():
    pair = Pair(("a", "b", "c"), ("X", "B-x", "o"), ("o", "B-x", "X"))
    assert evaluate([pair], never=["X"]).accuracy == 1.0


def test_held_out_sequences_may_lack_helper_labels():
    with pytest.warns(InputNotice) as told:
        train("hmm", [(["a", "b"], ["X", "O"])], never=["X"], held_out=[(["a"], ["O"])])
    assert [str(each.message) for each in told] == [
        "left out: 1 token in 1 sequence, with the helper label 'X'"
    ]


def test_some_tokens_of_an_example():
    example = Example(("a", "b", "c"), ("X", "O", "n"), "here", given={0: "X", 2: "n"})
    some = example.at([1, 2])
    assert (some.tokens, some.labels, some.given, some.where) == (("b", "c"), ("O", "n"), {1: "n"}, "here")


def test_an_input_error_keeps_its_place():
    with pytest.raises(InputError, match=r"^here: no$"), input_at("there"):
        raise InputError("here: no")
    with pytest.raises(InputError, match=r"^there: no$"), input_at("there"):
        raise ValueError("no")
    with pytest.raises(InputError, match=r"^there: lists are nested too deeply$"), input_at("there"):
        raise RecursionError
