"""The study of learning from few labelled references, on made-up ones."""

import numpy as np

from benchmarks import __main__ as program
from benchmarks.codl import planned
from benchmarks.codl.cells import Cell, softened, split, start
from benchmarks.codl.cells import _corpora as corpora
from benchmarks.data.sets import SCALES
from formulations import load_rules

NAMES = ("Smith", "Jones", "Brown", "White", "Ada", "Grace")
WORDS = ("trees", "graphs", "winter", "engines", "notes", "machines", "logic")


def reference(random):
    tokens = [str(random.choice(NAMES)), ",", "A", ".", *map(str, random.choice(WORDS, 3)), "."]
    labels = ["B-author", "I-author", "I-author", "I-author", "B-title", *["I-title"] * 3]
    return [*tokens, str(random.integers(1950, 2007)), "."], [*labels, "B-date", "I-date"]


def write(folder, name, count, seed):
    random = np.random.default_rng(seed)
    folder.mkdir(parents=True, exist_ok=True)
    blocks = ["\n".join(f"{t}\t{y}" for t, y in zip(*reference(random))) for _ in range(count)]
    (folder / name).write_text("\n\n".join(blocks) + "\n")


def corpora_in(folder):
    write(folder / "cora", "train.tsv", 120, 0)
    write(folder / "cora", "dev.tsv", 10, 1)
    write(folder / "rexa", "unlabelled_silver.tsv", 30, 2)


def test_the_study_runs_and_goes_on(tmp_path, capsys):
    corpora_in(tmp_path)
    arguments = [
        "run",
        "codl",
        "--scale",
        "smoke",
        "--data",
        str(tmp_path),
        "--output",
        str(tmp_path / "out"),
    ]
    assert program.main(arguments) == 0
    rows = (tmp_path / "out" / "rows.jsonl").read_bytes()
    assert rows.count(b"\n") == 1 + len(
        {cell.key for section in SECTIONS for cell in planned(section, SCALES["smoke"])}
    )
    assert program.main(arguments) == 0
    assert (tmp_path / "out" / "rows.jsonl").read_bytes() == rows
    text = (tmp_path / "out" / "results.txt").read_text()
    assert "pool cora, plain HMM: F1 of fields" in text
    assert "beam 50 - H&W&C" in text
    assert (tmp_path / "out" / "cora-plain.svg").exists()


SECTIONS = ("cora", "gamma", "posterior", "top-k", "rexa", "confidence")


def test_what_is_measured_is_neither_labelled_nor_in_the_pool(tmp_path):
    corpora_in(tmp_path)
    start(tmp_path)
    labelled, test, pool = split(corpora[0], Cell("cora", "cora", "plain", 20, "H", 3))
    assert (len(labelled), len(test), len(pool)) == (20, 100, 10)
    known = [tokens for tokens, _ in corpora[0].references]
    assert sorted([*(t for t, _ in labelled), *(t for t, _ in test), *pool]) == sorted(known)
    assert not {tokens for tokens, _ in corpora[0].references} & set(corpora[0].citations)


def test_softer_penalties_are_those_of_one_column():
    rules = load_rules("citations")
    assert softened(rules, "posterior").items == rules.items
    penalties = [item.penalty for item in softened(rules, "posterior, softer").items]
    assert penalties.count(3.0) == 1
    assert len(set(penalties)) == 2
