"""Sequences of files of any size: the first come at once, what is bad is rejected alone, and memory stays small."""

import io
import json
import os
import threading
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ilpinfer.corpus.examples import Example, InputError, Rejection
from ilpinfer.corpus.lines import Lines
from ilpinfer.corpus.sequences import read
from ilpinfer.corpus.streams import open_stream
from ilpinfer.corpus.text_formats import CorpusForm

ADA = {"tokens": ["Ada", "."], "labels": ["B-a", "O"]}


def found(source, **form):
    with open_stream(source, CorpusForm(**form), lambda _: None) as stream:
        return list(stream)


def short(each):
    """Tokens, or the line and reason of a rejection."""
    return list(each.tokens) if isinstance(each, Example) else (each.line, each.reason)


LONG, WORD = "a sequence of more than 2 tokens", "\t_\tX" + "\t_" * 6
BROKEN = {
    "columns": (
        {"x.tsv": "a\tO\nb\tO\n\nc\tO\nd\n\n\tO\n\n\udcff\tO\n\na\tO\nb\tO\nc\tO\n\ng\tO\n"},
        [
            *(["a", "b"], (5, "'d' has no tab; expected token<TAB>label"), (7, "'\\tO' has an empty token")),
            *((9, "byte 0xff is not UTF-8; save it as UTF-8"), (11, LONG), ["g"]),
        ],
    ),
    "CoNLL-U": (
        {"x.conllu": f"1\tAda{WORD}\n\n1\tNo\n\n1\ta{WORD}\n2\tb{WORD}\n3\tc{WORD}\n\n1\tg{WORD}\n"},
        [["Ada"], (3, "'1\\tNo' has 2 columns"), (5, LONG), ["g"]],
    ),
    "records": (
        {"x.jsonl": '{"tokens": ["Ada"]}\n{"tokens": [\n\n{"tokens": []}\n{"tokens": ["a", "b", "c"]}\n'},
        [["Ada"], (2, "not JSON: "), [], (5, LONG)],
    ),
    "tasks": (
        {
            "x.jsonl": '{"text": "x", "spans": [{"start": 0, "end": 9, "label": "x"}]}\n{"text": "a b c"}\n{"text": "g"}\n'
        },
        [(1, "span 0"), (2, LONG), ["g"]],
    ),
    "BRAT": (
        {"x/a.ann": "T1\n", "x/a.txt": "Ada\n", "x/b.ann": "", "x/b.txt": "Ada\na b c\ng\n"},
        [(0, "'T1' is not an annotation"), ["Ada"], (2, LONG), ["g"]],
    ),
}
"""Files, and the tokens of good sequences among the lines and reasons of rejections."""


@pytest.mark.parametrize(("files", "expected"), BROKEN.values(), ids=BROKEN)
def test_what_is_bad_or_too_long_costs_itself_alone(here, files, expected):
    for name, content in files.items():
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text(content, "utf-8", "surrogateescape")
    source = next(iter(files)).partition("/")[0]
    for each, wanted in zip(found(source, longest=2), expected, strict=True):
        if isinstance(each, Rejection):
            assert each.line == wanted[0] and each.reason.startswith(wanted[1]), each.message
            assert each.message.startswith(source)
        else:
            assert list(each.tokens) == wanted
    with pytest.raises(InputError, match=f"^{source}"):
        read(source)


def test_a_million_tokens_without_a_border_are_not_kept(tmp_path):
    path = tmp_path / "x"
    path.write_text("a\tO\n" * 1_000_000 + "\nb\tO\n")
    assert list(map(short, found(path, longest=1000))) == [(1, "a sequence of more than 1000 tokens"), ["b"]]


def test_an_endless_line_ends_the_file():
    lines = Lines(io.BytesIO(b"x" * 3_000_000), "x", longest=2_000_000)
    ((number, line),) = lines
    assert (number, line.message) == (1, "x, line 1: longer than 2000000 bytes; write a sequence a line")


@pytest.mark.parametrize(
    "text",
    [
        "a\tO\nb\tO\n\nc\tO\n",
        "# c\n1\tAda\tX\n\n# c\n1\tNo\tY\n",
        "token\tlabel\na\tO\n\nb\tO\n",
        f"{json.dumps(ADA)}\n" * 3,
        f"[{json.dumps(ADA)},\n{json.dumps(ADA)}]\n",
        json.dumps(ADA, indent=1),
        "[1]\nAda\n\n[\n{\n",
        "a b\nc d\n\ne f\n",
    ],
)
@pytest.mark.parametrize("most", [1, 12, 2**20])
def test_a_stream_reads_what_the_list_reader_does(tmp_path, text, most, monkeypatch):
    path = tmp_path / "x"
    path.write_bytes(text.encode())
    column = "2,3" if "#" in text else ""
    whole = read(path, column=column, notify=lambda _: None)
    monkeypatch.setattr("ilpinfer.corpus.lines.CHUNK_SIZE", 16)
    assert found(path, column=column, most=most) == whole


def test_a_late_tab_or_header_word_is_said_and_not_misread(tmp_path, monkeypatch):
    monkeypatch.setattr("ilpinfer.corpus.lines.CHUNK_SIZE", 16)
    path = tmp_path / "x"
    path.write_text("a\nb\n\nc\nd\ne\nf\ng\nh\n\ni\tO\n\nj\n")
    *_, tab, last = map(short, found(path, most=4))
    assert tab == (11, "'i\\tO' has a tab, but no line before has one; separate all columns by tabs")
    assert last == ["j"]
    path.write_text("token\tlabel\n" + "a\tO\n\n" * 10 + "b\tlabel\n")
    *good, label = found(path, most=4)
    assert len(good) == 10
    assert "line 22: 'label' is a label here, but line 1 was read as a header" in label.message


def test_sequences_of_a_pipe_come_before_its_writer_ends(tmp_path):
    for text, rest in ((f"{json.dumps(ADA)}\n", f"{json.dumps(ADA)}\n"), ("a\tO\n\n", "b\tO\n")):
        pipe = tmp_path / f"pipe{len(text)}"
        os.mkfifo(pipe)
        go_on = threading.Event()

        def write(pipe=pipe, text=text, rest=rest, go_on=go_on):
            with pipe.open("w") as stream:
                stream.write(text)
                stream.flush()
                go_on.wait(60)
                stream.write(rest)

        thread = threading.Thread(target=write)
        thread.start()
        with open_stream(pipe, CorpusForm(), lambda _: None) as stream:
            assert isinstance(next(stream), Example)
            assert stream.paused
            go_on.set()
            assert len(list(stream)) == 1
        thread.join()


def test_folders_and_patterns_are_read_in_order(tmp_path):
    (tmp_path / "b").mkdir()
    for name in ("c.tsv", "a.tsv", "b/x.jsonl", ".hidden.tsv", "notes.md"):
        text = json.dumps({"tokens": [name]}) if name.endswith("l") else f"{name}\tO\n"
        (tmp_path / name).write_text(text)
    names = [each.tokens[0] for each in found(tmp_path)]
    assert names == ["a.tsv", "b/x.jsonl", "c.tsv"]
    assert [each.tokens[0] for each in found(tmp_path / "*.tsv")] == ["a.tsv", "c.tsv"]
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="no readable file in this folder"):
        found(tmp_path / "empty")
    with pytest.raises(InputError, match="no file matches this pattern"):
        found(tmp_path / "*.csv")


def test_a_file_that_cannot_be_read_is_one_rejection(tmp_path):
    (tmp_path / "a.tsv").write_text("")
    (tmp_path / "b.tsv").write_bytes(b"\xff\xfex")
    (tmp_path / "c.tsv").write_text("x\tO\n")
    first, second, third = found(tmp_path)
    assert first.reason.startswith("empty") and first.line == 0
    assert "UTF-16" in second.message
    assert third.tokens == ("x",)


TABLE = pa.table({"tokens": [["Ada", "."], [], None, ["x"]], "labels": [["B-a", "O"], [], None, None]})


def write_arrow(path, kind):
    if kind == "parquet":
        pq.write_table(TABLE, path)
        return
    make = pa.ipc.new_file if kind == "file" else pa.ipc.new_stream
    with make(str(path), TABLE.schema) as writer:
        writer.write_table(TABLE, max_chunksize=2)


@pytest.mark.parametrize("kind", ["parquet", "file", "stream"])
def test_a_table_is_read_and_one_that_is_cut_off_is_a_rejection(tmp_path, kind):
    path = tmp_path / ("x.parquet" if kind == "parquet" else "x.arrow")
    write_arrow(path, kind)
    results = found(path)
    assert [each.line for each in results] == [1, 2, 3, 4]
    assert (results[0].tokens, results[0].labels) == (("Ada", "."), ("B-a", "O"))
    assert (results[1].tokens, results[1].labels) == ((), ())
    assert (results[3].tokens, results[3].labels) == (("x",), None)
    path.write_bytes(path.read_bytes()[:-40])
    last = found(path)[-1]
    assert isinstance(last, Rejection) and last.line == 0
    assert str(path) in last.message and "\n" not in last.message


@pytest.mark.parametrize("token", ["a", "李", "ё"])
def test_the_size_of_what_was_taken_is_in_bytes(tmp_path, token):
    path = tmp_path / "x.tsv"
    path.write_text(f"{token}\tO\n\n" * 1000, "utf-8")
    with open_stream(path, CorpusForm(), print) as stream:
        sizes = [stream.size for _ in stream]
        assert sizes[499] == pytest.approx(stream.total / 2, rel=0.01)
        assert stream.size == stream.total == path.stat().st_size


def test_a_parquet_file_is_read_by_shares_of_its_size(tmp_path):
    path = tmp_path / "x.parquet"
    pq.write_table(pa.table({"tokens": [["x"]] * 4}), path)
    with open_stream(path, CorpusForm(), print) as stream:
        assert [round(stream.size * 4 / stream.total) for _ in stream] == [1, 2, 3, 4]
        assert stream.size == stream.total == path.stat().st_size


def test_unknown_columns_of_a_table_are_named(tmp_path):
    pq.write_table(pa.table({"token": [["x"]]}), tmp_path / "x.parquet")
    (only,) = found(tmp_path / "x.parquet")
    assert "unknown column 'token'; did you mean \"tokens\"?" in only.message


def test_scores_of_a_table_are_those_of_json(tmp_path):
    record = {"emissions": [[0.0, -1.0]], "transitions": [[0.0, 0.5], [0.0, 0.0]], "label_names": ["a", "b"]}
    pq.write_table(pa.Table.from_pylist([record]), tmp_path / "x.parquet")
    Path(tmp_path / "x.jsonl").write_text(json.dumps(record))
    table, text = found(tmp_path / "x.parquet")[0], found(tmp_path / "x.jsonl")[0]
    assert table.scores.to_plain() == text.scores.to_plain()
