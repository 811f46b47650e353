"""Bad input: exit code 2, one clear line on standard error, nothing half written."""

import os
from pathlib import Path

import pytest

GOOD = "a\tB-title\nb\tI-title\n"
BAD_INPUT = [
    # file, content, arguments, message
    ("x.tsv", b"", "", "x.tsv: empty; expected token<TAB>label lines or JSON lines"),
    ("x.tsv", b"\n \n", "", "x.tsv: empty"),
    ("x.tsv", b"a\tB-title\nb I-title\n", "", "x.tsv, line 2: 'b I-title' has no tab; expected token<TAB>label"),
    ("x.tsv", b"\tB-title\n", "", "x.tsv, line 1: '\\tB-title' has an empty token"),
    ("x.tsv", b"a\t\n", "", "has an empty label"),
    ("x.tsv", b"a\tB-title\n\xff\tO\n", "", "x.tsv, line 2: byte 0xff is not UTF-8"),
    ("x.jsonl", b'{"tokens": []}\n', "", "x.jsonl, line 1: an empty sequence"),
    ("x.jsonl", b'{"tokens": ["a"]\n', "", "x.jsonl, line 1: not JSON"),
    ("x.jsonl", b'{"tokens": ["a"], "labels": ["O", "O"]}\n', "", "2 labels for 1 tokens"),
    ("x.jsonl", b'{"start": [0, NaN], "edges": []}\n', "", "x.jsonl, line 1: start[1] is nan: give a finite number, or -inf"),
    ("x.jsonl", b'{"start": [0, 1]}\n', "", "x.jsonl, line 1: has start; expected start and edges, or emissions and"),
    ("x.jsonl", b'{"start": [0, 1], "edges": [[[1]]]}\n', "", "edges has shape (1, 1, 1); expected (T-1, 2, 2)"),
    ("x.jsonl", b'{"emissions": [], "transitions": [[0]]}\n', "", "emissions has shape (0,); expected (T, K)"),
    ("x.jsonl", b'{"tokens": ["a"]}\n', "--no-model", "x.jsonl, line 1: no scores; name a model with --model"),
    ("x.tsv", GOOD.encode(), "--rules citation", 'citation: no such rule file, and no catalogue entry of that name; did you mean "citations"?'),
    ("x.tsv", GOOD.encode(), "--method hgihs", 'no method "hgihs"; did you mean "highs"?'),
    ("x.tsv", GOOD.encode(), "--scheme billo", 'no scheme "billo"'),
    ("x.tsv", GOOD.encode(), "--time-limit -1", "time_limit is -1.0; expected seconds above 0"),
    ("x.tsv", GOOD.encode(), "--time-limit soon", "See ilpinfer decode -h"),
    ("x.jsonl", b'{"tokens": ["a", "\\ud800"]}\n', "", "x.jsonl, line 1: tokens: '\\ud800' has half of a surrogate pair"),
    ("x.tsv", GOOD.encode(), "--tau 0.5 --option width=3", "--option width=3: has no effect with --tau; leave it out"),
    ("x.tsv", GOOD.encode(), "--tau 0.5 --method viterbi", "two-phase inference needs an exact method: auto, cbc, cp-sat, highs, scip; not 'viterbi'"),
    ("x.tsv", GOOD.encode(), "--tau 0.5 --within 1", "--within 1: has no effect with --tau; leave it out"),
    ("x.tsv", GOOD.encode(), "--bound odds", "--bound odds: is an option of --tau; add --tau, or leave it out"),
    ("x.tsv", GOOD.encode(), "--output ''", "--output is empty; name a file"),
    ("x.tsv", GOOD.encode(), "--bogus", "bogus"),
    ("x.tsv", GOOD.encode(), "--model nowhere.json", "nowhere.json: the model cannot be read"),
    ("x.tsv", GOOD.encode(), "--output .", "is a folder; name a file"),
    ("x.tsv", GOOD.encode(), "--output train.tsv/x", "cannot be written"),
    ("x.jsonl", b'{"start": [' + b"9" * 401 + b', 0], "edges": []}\n', "", "start holds a number beyond 2^31 nats"),
    ("x.jsonl", b'{"start": [' + b"9" * 5001 + b'], "edges": []}\n', "", "x.jsonl, line 1: a number is too long"),
    ("x.jsonl", b'{"start": ["1", "2"], "edges": []}\n', "", "start must hold numbers, not '1'"),
    ("x.tsv", GOOD.encode(), "--top 100000000", "top is 100000000; expected a whole number from 1 to 10000"),
    ("x.tsv", GOOD.encode(), "--method beam --width 1000000000", "width is 1000000000; expected a whole number"),
    ("x.tsv", GOOD.encode(), "--rules ''", "no such rule file"),
    ("y.tsv", None, "", "y.tsv: cannot be read: No such file or directory"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "content", "arguments", "message"), BAD_INPUT)
def test_bad_input_is_one_clear_line(folder, cli, name, content, arguments, message):
    if content is not None:
        Path(name).write_bytes(content)
    before = sorted(os.listdir())
    model = "" if "model" in arguments else "--model hmm.json"
    assert message in cli.refused(f"decode {name} {model} {arguments.removeprefix('--no-model')}")
    assert sorted(os.listdir()) == before


MODEL = "train.tsv --model hmm.json"
DEEP = "[" * 100_000
REFUSED = [
    (f"decode {MODEL} --method lds --option variant", "--option variant: expected NAME=VALUE"),
    (f"decode {MODEL} --method lds --option zero=best --option zero=score", "zero is given twice"),
    (f"decode {MODEL} --method lds --option branching=0", "branching is 0"),
    (f"decode {MODEL} --method viterbi --option seed=1", "no option 'seed'"),
    (f"decode {MODEL} --option seed={DEEP}", "--option seed: lists are nested too deeply\n"),
    (f"decode {MODEL} --scheme plain", "the model's labels are bio; train it with --scheme plain"),
    (f"decode {MODEL} --trace --jobs 2", "--trace and --jobs: give one of them"),
    (
        f"decode {MODEL} --output /dev/full",
        "/dev/full: cannot be written: No space left on device; choose another place\n",
    ),
    (f"compare {MODEL} --output x --option tenure=4", "--option tenure: expected METHOD.NAME=VALUE\n"),
    (
        "evaluate train.tsv train.tsv --output x --picture ./x",
        "./x: is given for --output and for --picture; name two files\n",
    ),
]


@pytest.mark.parametrize(("command", "message"), REFUSED, ids=[message[:40] for _, message in REFUSED])
def test_commands_that_make_no_sense_are_refused(folder, cli, command, message):
    assert message in cli.refused(command)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[rule]\n", "rules.toml: not TOML: "),
        ('[[rule]]\nfield = "a"\n', "rules.toml, rule 1: no template; there are adjacency"),
    ],
)
def test_bad_rule_files_are_one_clear_line_and_their_place(folder, cli, text, message):
    Path("rules.toml").write_text(text)
    code, out, err = cli("decode train.tsv --model hmm.json --rules rules.toml")
    assert (code, out) == (2, "")
    first, *excerpt = err.splitlines()
    assert message in first and excerpt[1:] == [f"{' ' * excerpt[1].index('^')}^"]
