"""Good files of every kind that commands read, as the beginning of mutations."""

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
from support.command_line import SCORES, TRAIN

from ilpinfer.cli import main
from ilpinfer.models import files

RULES = """\
fields = ["author", "title", "date", "pages"]

[groups]
names = ["author", "title"]

[[rule]]
name = "one title"
template = "at_most_runs"
field = "title"
n = 1
penalty = 2.5

[[rule]]
template = "changes_only_after"
words = [".", ","]
penalty = 1.5

[[rule]]
template = "tag_at"
field = "date"
pattern = "(19|20)[0-9]{2}"

[[rule]]
template = "matches"
regex = "author? title .*"
over = "runs"
penalty = 1

[[feature]]
label = "title"
words = ["Notes"]
weight = 0.5
"""
FORMULAS = """\
fields = ["author", "title"]

[[rule]]
template = "logic"
formula = "forall t: title(t) and not word(t) = 'on' -> exists s < t: author(s) or first(s)"
penalty = 0.5

[[rule]]
template = "linear"
formula = "2*runs(title) - tokens(author) <= 3"
"""
TEMPLATE = """\
features = ["word[-1..1]", "prefix:1..3", "shape & year"]

[words]
months = ["May", "June"]

[patterns]
year = "[0-9]{4}"
"""
FILES: dict[str, bytes] = {}
"""Content by name, once `write` has made it."""


def seal(record: dict[str, Any]) -> dict[str, Any]:
    """A model's record with the digest that its body has."""
    body = record.get("model")
    return {**record, "sha256": files._digest(body)} if isinstance(body, dict) else record


def write() -> None:
    if not FILES:
        _make()
    for name, content in FILES.items():
        if "/" not in name:
            Path(name).write_bytes(content)


def _make() -> None:
    texts = {
        "train.tsv": TRAIN,
        "gold.tsv": TRAIN,
        "rules.toml": RULES,
        "formulas.toml": FORMULAS,
        "template.toml": TEMPLATE,
        "names.json": json.dumps(["title", "O"]),
        "scores.jsonl": f"{json.dumps(SCORES)}\n{json.dumps({**SCORES, 'end': [0, -1]})}\n",
    }
    for name, text in texts.items():
        Path(name).write_text(text)
    packed = io.BytesIO()
    np.savez_compressed(packed, logits=np.zeros((1, 4, 2)))
    Path("scores.npz").write_bytes(packed.getvalue())
    commands = (
        "train train.tsv --output hmm.json",
        "train train.tsv --kind hmm2 --output hmm2.json",
        "train train.tsv --kind crf --option template=template.toml --option max_iterations=3 --output crf.json",
        "decode gold.tsv --model hmm.json --output predictions.jsonl",
        "decode gold.tsv --model hmm.json --rules rules.toml --output out.jsonl",
    )
    for command in commands:
        if main(command.split()):
            raise RuntimeError(f"{command} failed")
    FILES["out/o.jsonl.part"] = b"".join(Path("out.jsonl").read_bytes().splitlines(keepends=True)[:1])
    Path("out.jsonl").unlink()
    for path in sorted(Path().iterdir()):
        FILES[path.name] = path.read_bytes()
