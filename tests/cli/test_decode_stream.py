"""decode writes a row as soon as its sequence is there, keeps few sequences, and goes on from whole rows."""

import json
import subprocess
import time
from pathlib import Path

import pytest
from support.command_line import SCORES, TRAIN, rows, rule_text
from support.processes import started

from ilpinfer.cli import decode
from ilpinfer.core.solution import Solution
from ilpinfer.corpus.streams import ExampleStream
from ilpinfer.models.hmm import HMM

DECODE = "decode in.tsv --model hmm.json --rules rules.toml --output x.jsonl"


@pytest.mark.parametrize("more", ["", "--jobs 2", "--method viterbi", "--top 2"])
def test_a_row_comes_while_the_writer_of_the_pipe_waits(folder, more):
    command = f"decode - --model hmm.json --rules rules.toml {more}"
    first, second = TRAIN.split("\n\n")
    with started("-m", "ilpinfer", *command.split(), stdin=subprocess.PIPE) as process:
        for number, text in enumerate((first, second, first)):
            process.stdin.write(f"{text}\n\n")
            process.stdin.flush()
            row = json.loads(process.stdout.readline())
            assert row["sequence"] == number and row["status"] in ("optimal", "feasible")
            for _ in range(row.get("ranks", 1) - 1):
                assert json.loads(process.stdout.readline())["sequence"] == number
        process.stdin.close()
        assert process.stdout.read() == ""
    assert process.returncode == 0


def test_few_sequences_are_kept(folder, cli, monkeypatch):
    """What was taken and is not written stays below two chunks, however many there are."""
    Path("in.tsv").write_text((TRAIN + "\n") * 400)
    taken, most = [0], [0]

    def take(self, honest=ExampleStream.__next__):
        taken[0] += 1
        return honest(self)

    from ilpinfer.system.checkpoint import RowCheckpoint

    def write(self, lines, mark="", honest=RowCheckpoint.write):
        most[0] = max(most[0], taken[0] - self.groups)
        honest(self, lines, mark)
        assert self.groups > 1 or taken[0] <= 2, "the first row waits for more than its own sequence"

    monkeypatch.setattr(ExampleStream, "__next__", take)
    monkeypatch.setattr(RowCheckpoint, "write", write)
    cli.done(DECODE)
    assert len(rows(Path("x.jsonl"))) == 800
    assert most[0] <= 130


def test_a_bad_line_ends_the_work_and_leaves_the_rows_before_it(folder, cli):
    text = "\n".join([TRAIN] * 3)
    Path("in.tsv").write_text(text + "\nbad\n\n" + TRAIN)
    code, _, err = cli(DECODE)
    line = text.count("\n") + 2
    assert code == 2
    said = "'bad' has no tab; expected token<TAB>label, as on other lines"
    assert err == f"ilpinfer: in.tsv, line {line}: {said}\n"
    left = rows(Path("x.jsonl.part"))
    assert [row["sequence"] for row in left] == list(range(6)) and not Path("x.jsonl").exists()
    Path("in.tsv").write_text(text + "\n" + TRAIN)
    cli.done(DECODE)
    assert rows(Path("x.jsonl"))[:6] == left and len(rows(Path("x.jsonl"))) == 8


def test_a_folder_is_decoded_in_order(folder, cli):
    Path("corpus").mkdir()
    for name, text in zip("ab", TRAIN.split("\n\n"), strict=True):
        Path("corpus", f"{name}.tsv").write_text(text)
    out = cli.done("decode corpus --model hmm.json").out
    assert [json.loads(line)["tokens"][0] for line in out.splitlines()] == ["Ada", "Grace"]


@pytest.mark.parametrize(("kind", "method"), [(HMM, "trellis"), (Solution, "explain"), (decode, "questions")])
def test_all_that_is_done_for_a_sequence_counts_in_its_seconds(folder, cli, monkeypatch, kind, method):
    honest = getattr(kind, method)

    def slowly(self, *arguments, **options):
        time.sleep(0.2)
        return honest(self, *arguments, **options)

    monkeypatch.setattr(kind, method, slowly)
    cli.done(f"{DECODE.replace('in.tsv', 'train.tsv')} --explain --questions 1")
    assert all(row["seconds"] >= 0.2 for row in rows(Path("x.jsonl")))


def test_a_file_of_labellings_is_named_with_its_counts(folder, cli):
    Path("two.jsonl").write_text((json.dumps(SCORES) + "\n") * 2)
    command = "decode two.jsonl --rules rules.toml --output x.jsonl"
    assert cli.done(command) == (0, "", "x.jsonl: 2 sequences, 2 proved\n")
    assert cli.done(f"{command} --top 3").err == "x.jsonl: 2 sequences, 2 proved\n"
    Path("rules.toml").write_text(rule_text("at_most_runs", field="title", n=0, penalty=0.1))
    assert cli.done(f"{command} --method viterbi").err == "x.jsonl: 2 sequences, 0 proved\n"
    assert cli.done(f"{command} --quiet").err == cli.done("decode two.jsonl --rules rules.toml").err == ""
