"""Changed input through the command line: `python tests/stress/fuzz.py [--cases N] [--processes N] [--seed N]`.

Every case is a command on good files, of which one is changed, or on odd options. It has to end with exit code 0, 1 or 2, with
one line that is no notice where it fails, within 10 s and 1 GB, and with nothing half written. Most run in this
process through the entry function, some as processes of their own.
"""

import argparse
import contextlib
import io
import json
import math
import os
import random
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent))

import ilpinfer
from formulations import Trellis
from formulations import constraints as C
from ilpinfer.cli import main
from ilpinfer.core.trees import Leaf
from stress import mutations, seeds

Change = Callable[[bytes, random.Random], bytes]
SECONDS, BYTES = 10, 2**30
"""What a case may take."""
RAW = re.compile(r"ILPINFER_TRACEBACK|Traceback|\b[A-Z]\w*(Error|Exception|Warning)\b: ")
OUTPUT = "out"


@dataclass(frozen=True)
class Target:
    """A kind of file, how it is changed, and the commands that read it; {} stands for its name."""

    name: str
    file: str
    change: Change
    commands: tuple[str, ...]


MODEL, TO_ROWS = "--model hmm.json", "--rules rules.toml --output out/o.jsonl"
TRAIN_CRF = "train train.tsv --kind crf --option template={} --option max_iterations=1 --output out/crf.json"
RULES = ("decode scores.jsonl --rules {}", "check {}")
COLUMNS = (
    f"decode {{}} {MODEL}",
    "train {} --output out/model.json",
    "evaluate {} gold.tsv",
    "check rules.toml {}",
)
MODELS = ("decode gold.tsv --model {}", "check rules.toml --model {}")
TARGETS = (
    Target("rules", "rules.toml", mutations.text, (*RULES, "check {} train.tsv")),
    Target("formulas", "formulas.toml", mutations.text, RULES),
    Target("columns", "train.tsv", mutations.text, COLUMNS),
    Target("scores", "scores.jsonl", mutations.json_lines, (f"decode {{}} {TO_ROWS}",)),
    Target("archives", "scores.npz", mutations.archive, ("decode {} --label-names names.json",)),
    Target("models", "hmm.json", mutations.sealed(seeds.seal), MODELS),
    Target("second order", "hmm2.json", mutations.sealed(seeds.seal), MODELS[:1]),
    Target("crf", "crf.json", mutations.sealed(seeds.seal), MODELS[:1]),
    Target("templates", "template.toml", mutations.text, (TRAIN_CRF,)),
    Target("predictions", "predictions.jsonl", mutations.json_lines, ("evaluate {} gold.tsv",)),
    Target("journals", "out/o.jsonl.part", mutations.json_lines, (f"decode gold.tsv {MODEL} {TO_ROWS}",)),
)
OPTIONS = (
    *("--method", "--rules", "--scheme", "--top", "--tau", "--bound", "--within"),
    *("--time-limit", "--jobs", "--option", "--label-names", "--pool"),
)
TEXTS = (
    *("", "0", "1", "2", "-1", "1e999", "nan", "auto", "beam", "lds", "viterbi", "cbc,auto", "iobes"),
    *("plain", "citations", "bio", "x=", "=", "seed=1"),
)


@dataclass
class Tally:
    """Exit codes of all cases, and what went wrong in which of them."""

    codes: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)


def faults(code: int, err: str, seconds: float, peak: int) -> Iterator[str]:
    """What is wrong with how a command ended."""
    lines = err.splitlines()
    said = [line for line in lines if line.startswith("ilpinfer: ")]
    fatal = [line for line in said if not line.startswith("ilpinfer: notice: ")]
    strange = [line for line in lines if code and not line.startswith(("ilpinfer: ", "  "))]
    if code not in (0, 1, 2):
        yield f"exit code {code}"
    if RAW.search(err) or strange:
        yield "a raw error"
    if len(fatal) != (code != 0):
        yield f"{len(fatal)} lines for exit code {code}"
    if seconds > SECONDS:
        yield f"{seconds:.0f} s"
    if peak > BYTES:
        yield f"{peak / 2**20:.0f} MiB"


def leftovers(code: int) -> Iterator[str]:
    """Files that are only half written, or that nobody asked for."""
    for path in Path(OUTPUT).glob("*"):
        if path.suffix == ".jsonl":
            with contextlib.suppress(ValueError):
                [json.loads(line) for line in path.read_text("utf-8").removesuffix("\n").split("\n")]
                continue
            yield f"{path} is half written"
        elif path.suffix != ".part" and code == 2:
            yield f"{path} was written although the command failed"
    extra = set(os.listdir()) - set(seeds.FILES) - {OUTPUT}
    if extra:
        yield f"left behind: {', '.join(sorted(extra))}"


def in_process(arguments: list[str]) -> tuple[int, str, float, int]:
    """Exit code, standard error, seconds of processor time, and by how many bytes the process had to grow."""
    out, err = io.StringIO(), io.StringIO()
    began, before = time.process_time(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = main(arguments)
        except BaseException as error:  # whatever escapes is a finding
            print(f"Traceback: {type(error).__name__}: {error}", file=sys.stderr)
            code = -1
    growth = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    return code, err.getvalue(), time.process_time() - began, growth * 1024


def as_process(arguments: list[str]) -> tuple[int, str, float, int]:
    """The same of a process of its own, with the seconds and memory of all such processes so far."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [sys.executable, "-m", "ilpinfer", *arguments],
        capture_output=True,
        stdin=subprocess.DEVNULL,
        timeout=120,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return done.returncode, done.stderr.decode("utf-8", "replace"), seconds, after.ru_maxrss * 1024


Way = Callable[[list[str]], tuple[int, str, float, int]]


def judged(arguments: list[str], way: Way) -> tuple[int, str, list[str]]:
    """Exit code, standard error and faults of a command that writes to an empty folder."""
    Path(OUTPUT).mkdir(exist_ok=True)
    try:
        code, err, seconds, peak = way(arguments)
        return code, err, [*faults(code, err, seconds, peak), *leftovers(code)]
    finally:
        shutil.rmtree(OUTPUT)


def file_case(target: Target, rng: random.Random, way: Way) -> tuple[str, int, list[str]]:
    """One command on one changed file; the file is whole again afterwards."""
    original = seeds.FILES[target.file]
    changed = target.change(original, rng)
    arguments = [word.replace("{}", target.file) for word in rng.choice(target.commands).split()]
    Path(OUTPUT).mkdir()
    Path(target.file).write_bytes(changed)
    try:
        code, err, result = judged(arguments, way)
    finally:
        if "/" not in target.file:
            Path(target.file).write_bytes(original)
    return f"{' '.join(arguments)}: {changed[:2000]!r}: {err[-500:]}", code, result


def option_case(rng: random.Random, way: Way) -> tuple[str, int, list[str]]:
    """`decode` with up to three odd options."""
    arguments = ["decode", "scores.jsonl", "--output", "out/o.jsonl"]
    for _ in range(rng.randint(1, 3)):
        arguments += [rng.choice(OPTIONS), rng.choice(TEXTS)]
    code, err, result = judged(arguments, way)
    return f"{' '.join(arguments)}: {err[-500:]}", code, result


def certificate_case(rng: random.Random) -> tuple[str, int, list[str]]:
    """A solution of which one claim or one piece of the proof is changed: verified without an error, never falsely."""
    draw = np.random.default_rng(rng.randrange(2**32))
    trellis = Trellis(draw.normal(size=3), draw.normal(size=(4, 3, 3)), labels=["a", "b", "O"])
    rules = [C.at_most_runs("a", 1, penalty=1.0), C.requires_before("a", "b")]
    solution = ilpinfer.decode(trellis, rules)
    bound = solution.bound - rng.choice((0, 0, 2.0**-20, 1, math.inf, math.nan))
    certificate, value = solution.certificate, rng.choice(mutations.VALUES)
    tree: Any = certificate.tree
    leaf = Leaf({rng.choice(mutations.VALUES[:8]): rng.randrange(-9, 9)})
    changes: tuple[dict[str, Any], ...] = (
        {"bound": bound, "score": bound},
        {"certificate": replace(certificate, tree=rng.choice((value, leaf)))},
        {"certificate": replace(certificate, tree=replace(tree, stages=value))},
        {"certificate": replace(certificate, tree=replace(tree, product=value))},
        {"path": rng.choice((value, draw.integers(0, 3, 5)))},
        {rng.choice(("status", "penalty", "violations", "names", "model_score")): value},
    )
    change = rng.choice(changes)
    changed: Any = replace(solution, **change)
    try:
        verdict = ilpinfer.verify(trellis, rules, changed)
    except Exception as error:
        return repr(change), -1, [f"a raw error: {type(error).__name__}: {error}"]
    false = verdict.proved and not (changed.bound >= solution.score and changed.score == solution.score)
    return repr(change), int(not verdict.proved), ["a false claim is proved"] * false


def case(rng: random.Random, way: Way) -> tuple[str, str, int, list[str]]:
    """Kind, description, exit code and faults of a case drawn by chance."""
    kinds = [*TARGETS, "options", "certificates"]
    kind = rng.choice(kinds if way is in_process else kinds[:-1])
    if isinstance(kind, Target):
        return kind.name, *file_case(kind, rng, way)
    return (kind, *(option_case(rng, way) if kind == "options" else certificate_case(rng)))


def run(cases: int, seed: int, way: Way, tally: Tally) -> None:
    """So many cases from one seed, in the current folder."""
    for number in range(cases):
        name, shown, code, result = case(random.Random(f"{seed} {number}"), way)
        tally.codes[f"{name} {code}"] += 1
        tally.failures += [f"seed {seed}, case {number}, {name}: {fault}: {shown}" for fault in result]
        if number % 1000 == 999:
            text = f"{number + 1} cases, {len(tally.failures)} failures"
            print(text, *tally.failures[-1:], file=sys.stderr, flush=True)


@contextlib.contextmanager
def workplace() -> Iterator[None]:
    """A folder with the good files, current until it goes."""
    place = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            seeds.write()
            yield
        finally:
            os.chdir(place)


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Changed input through the command line.")
    parser.add_argument("--cases", type=int, default=100_000)
    parser.add_argument("--processes", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args()


if __name__ == "__main__":
    given, total = parse(), Tally()
    with workplace():
        run(given.cases, given.seed, in_process, total)
        run(given.processes, given.seed + 1, as_process, total)
    for entry, count in sorted(total.codes.items()):
        print(f"{entry:24} {count}")
    for failure in total.failures[:100]:
        print(failure)
    print(f"{given.cases + given.processes} cases, {len(total.failures)} failures")
    sys.exit(bool(total.failures))
