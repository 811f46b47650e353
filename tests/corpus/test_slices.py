"""Reading goes on at any place with what comes after it, and digests of slices are those of the bytes between two places."""

import contextlib
import gzip
import hashlib
import json
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from ilpinfer.corpus.examples import Rejection
from ilpinfer.corpus.slices import InputPosition, SliceReader
from ilpinfer.corpus.streams import ExampleStream
from ilpinfer.corpus.text_formats import CorpusForm

ROWS = [{"tokens": ["Ada", "é"], "id": n} for n in range(4)]
LINES = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in ROWS)
CONLLU = "# sent_id = {0}\n1\tAda\tada\tX\t_\t_\t0\troot\t_\t_\n\n"
BC = "x 0 0 Ada NNP (S* - - - _ (PER) * -\nx 0 1 é VBD *) - - - _ * -\n\n"
FILES = {
    "tabs.tsv": "Ada\tX\né\tO\n\n\nb\tO\n\nc\tO\n\n",
    "no end.tsv": "Ada\tX\n\nb\tO\n\nc\tO",
    "header.tsv": "token\tlabel\nAda\tX\n\nb\tO\n\nc\tO\n",
    "faults.tsv": "Ada\tX\nx\ty\tz\n\nb\tO\n\n\tO\nc\tO\n\nd\tO\n",
    "returns.tsv": "Ada\tX\r\n\r\nb\tO\r\nc\tO\r\n\r\nd\tO\r\n",
    "spaces.txt": "Ada NNP X\nb NN O\n\nc NN O\n",
    "words.txt": "Ada\nb\n\nc\n\nd\n",
    "numbers.tsv": "Sentence #\tWord\tTag\n1\tAda\tX\n1\tb\tO\n2\tc\tO\n3\td\tO\n3\te\tO\n",
    "lines.jsonl": LINES + "{}\n\n" + LINES,
    "list.json": json.dumps([*ROWS, {"tokens": 1}, *ROWS]),
    "indented.json": json.dumps(ROWS, indent=1),
    "ud.conllu": "".join(map(CONLLU.format, range(4))),
    "bytes.tsv": b"Ada\tX\n\n\xff\tO\n\nb\tO\n\nc\tO\n",
    "mark.tsv": b"\xef\xbb\xbfAda\tX\n\nb\tO\n\nc\tO\n",
    "zero.tsv": b"Ada\tX\n\nb\tO\n\nc\0\tO\n\nd\tO\n",
    "packed.tsv.gz": gzip.compress("Ada\tX\n\né\tO\n\nc\tO\n".encode() * 3),
    "packed.jsonl.gz": gzip.compress(LINES.encode()),
    "ends.tsv": "token\tlabel\teos\nAda\tX\t_\né\tO\t1\nb\tO\t1\nc\tO\t_\n\nd\tO\t1\n",
    "p.fasta": ">P1 first\nMKé\niii\n>P2\nMK\nii\n\n>P3\nMK\ni\n>P4\n>P5\nMKL\niii\n",
    "names.xml": "<a>\n<b><c>Ada</c> é</b> <b>no</b>\n<b><c>x</c></b>\n</a>\n",
    "lines.xml": "<c>Ada</c> é\n\n<c>x</c> y\n<c>open\n<c>z</c>\n",
    "data.crfsuite": "X\tw=Ada\tf\nO\tw=é\n\nO\tw=b\tg=2\n\nO\tg=2\n\nX\tw=c\n",
    "bc.v4_gold_conll": "#begin document (x); part 000\n"
    + BC
    + BC
    + "#end document\n#begin document (y)\n"
    + BC,
    "seq.in": "to Rome\n\nhé you\nno one\n",
    "seq.out": "O X\n\nO\nO O\n",
    "label": "go\nnothing\ngreet\ngreet\n",
    "note.txt": "Ada met Bob.\nGrace slept.\n",
    "note.ann": "T1\tP 0 3\tAda\n",
}

NOTHING = hashlib.sha256().hexdigest()


def write(folder):
    for name, content in FILES.items():
        Path(folder, name).write_bytes(content if isinstance(content, bytes) else content.encode())
    np.savez(
        Path(folder, "logits.npz"),
        logits_0=np.zeros((2, 2)),
        logits_1=np.ones((1, 2)),
        label_names=["a", "b"],
    )
    parquet, arrow = pytest.importorskip("pyarrow.parquet"), pytest.importorskip("pyarrow")
    table = arrow.table({"tokens": [["Ada"], ["b", "c"], ["d"]] * 200, "id": list(range(600))})
    parquet.write_table(table, Path(folder, "rows.parquet"), row_group_size=100)
    beside = ("note.txt", "seq.out", "label")
    return sorted(str(each) for each in Path(folder).iterdir() if each.name not in beside)


def shown(found):
    if isinstance(found, Rejection):
        return found.file, found.message
    scores = None if found.scores is None else found.scores.start is None
    return found.where, found.tokens, found.labels, found.about, scores


def opened(files):
    return ExampleStream(files, CorpusForm(slices=True), lambda _: None)


def slices(stream):
    """Of each slice, which ends with an example or the input: its records, its end, its digest."""
    result, records = [], []
    for each in stream:
        records.append(shown(each))
        if not isinstance(each, Rejection):
            result.append((records, stream.place, stream.end_slice()))
            records = []
    return [*result, (records, stream.place, stream.end_slice())]


def check(files, *, every=1):
    with opened(files) as stream:
        whole = slices(stream)
    ends = [end for _, end, _ in whole]
    with contextlib.closing(SliceReader(files)) as reader:
        assert [reader.digest(*pair) for pair in pairwise([InputPosition(), *ends])] == [
            each[2] for each in whole
        ]
    for n in range(0, len(ends), every):
        with opened(files) as stream:
            stream.go_to(ends[n])
            assert slices(stream) == (whole[n + 1 :] or [([], ends[-1], NOTHING)]), (files, n, ends[n])


@pytest.mark.parametrize("chunk", [16, 2**20])
def test_reading_goes_on_at_each_place_of_a_file(tmp_path, monkeypatch, chunk):
    monkeypatch.setattr("ilpinfer.corpus.lines.CHUNK_SIZE", chunk)
    monkeypatch.setattr("ilpinfer.corpus.streams.CHUNK_SIZE", chunk)
    for file in write(tmp_path):
        check([file], every=50 if file.endswith(".parquet") else 1)


def test_reading_goes_on_in_many_files(tmp_path):
    check(write(tmp_path), every=97)


def test_a_changed_byte_changes_its_slice_alone(tmp_path):
    files = write(tmp_path)
    with opened(files) as stream:
        whole = slices(stream)
    changed = Path(tmp_path, "tabs.tsv")
    changed.write_text(changed.read_text().replace("b\tO", "b\tX"))
    with contextlib.closing(SliceReader(files)) as reader:
        now = [reader.digest(*pair) for pair in pairwise([InputPosition(), *(end for _, end, _ in whole)])]
    odd = [files[end.file] for (_, end, one), two in zip(whole, now, strict=True) if one != two]
    assert odd == [str(changed)]
