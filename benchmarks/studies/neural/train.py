"""Train the taggers and write their logits: `python -m benchmarks.studies.neural.train --data FOLDER [PART-DRAW…]`; it needs torch.

Files that are there are kept. A tagger is a bidirectional LSTM over hashed words, affixes and shapes, with a CRF layer or, in parts with `-softmax`, without.
"""

import argparse
import re
import sys
import time
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from benchmarks.data.sets import Labelled
from benchmarks.studies.neural.draws import FOLDER, LAYER, PARTS, SOFTMAX, Draw, draw_of, path_of, save

BUCKETS, WIDTH, HIDDEN = 2**14, 12, 80
"""Rows and columns of the table of features, and units of each direction of the LSTM."""
BATCH, RATE, DROPOUT, UNKNOWN = 16, 4e-3, 0.4, 0.2
"""Windows of a step, its largest size, share of units that are left out, and share of words whose form is."""
EPOCHS = {"cora": 30, "umass": 12, "resume": 10, "names": 8}
WINDOW = 100
"""Tokens of a part of a long text in training."""
TINY = 1e-30


def features(word: str) -> list[int]:
    """Rows of the table: the word, its parts and its shape."""
    shape = re.sub("[A-ZÀ-Þ]", "X", re.sub("[a-zß-ÿ]", "x", re.sub("[0-9]", "9", word)))
    low, parts = word.lower(), [shape[:8], re.sub(r"(.)\1+", r"\1", shape)]
    parts += [re.sub("[0-9]", "9", low), *(low[:n] for n in (1, 2, 3)), *(low[-n:] for n in (1, 2, 3, 4))]
    return [1 + zlib.crc32(f"{n} {part}".encode()) % (BUCKETS - 1) for n, part in enumerate(parts)]


WORD, FEATURES = 2, len(features("a"))


def tagger(K: int) -> Any:
    net = nn.ModuleDict(
        {
            "table": nn.Embedding(BUCKETS, WIDTH, padding_idx=0),
            "lstm": nn.LSTM(FEATURES * WIDTH, HIDDEN, batch_first=True, bidirectional=True),
            "out": nn.Linear(2 * HIDDEN, K),
            "drop": nn.Dropout(DROPOUT),
            "layer": nn.ParameterDict(
                {"transitions": torch.zeros(K, K), "start": torch.zeros(K), "end": torch.zeros(K)}
            ),
        }
    )
    nn.init.normal_(net["table"].weight, std=0.3)
    return net


def emissions(net: Any, rows: Any, lengths: Any) -> Any:
    """Logits (N, T, K) of features (N, T, FEATURES)."""
    inputs = net["drop"](net["table"](rows).flatten(2))
    packed = nn.utils.rnn.pack_padded_sequence(inputs, lengths, batch_first=True, enforce_sorted=False)
    outputs, _ = nn.utils.rnn.pad_packed_sequence(net["lstm"](packed)[0], batch_first=True)
    return net["out"](net["drop"](outputs))


def loss(net: Any, rows: Any, gold: Any, lengths: Any, alone: bool) -> Any:
    """Mean negative log likelihood of the label of a token, given the others or `alone`."""
    scores, layer = emissions(net, rows, lengths), net["layer"]
    N, T, _ = scores.shape
    mask, steps = torch.arange(T)[None] < lengths[:, None], layer["transitions"]
    if alone:
        return nn.functional.cross_entropy(scores[mask], gold[mask])
    own = (scores.gather(2, gold[:, :, None])[:, :, 0] * mask).sum()
    own = own + (steps[gold[:, :-1], gold[:, 1:]] * mask[:, 1:]).sum()
    own = own + layer["start"][gold[:, 0]].sum() + layer["end"][gold[torch.arange(N), lengths - 1]].sum()
    alpha, chances = layer["start"] + scores[:, 0], steps.exp()
    for t in range(1, T):
        top = alpha.max(dim=1, keepdim=True).values
        after = ((alpha - top).exp() @ chances).clamp_min(TINY).log() + top + scores[:, t]
        alpha = torch.where(mask[:, t, None], after, alpha)
    return ((alpha + layer["end"]).logsumexp(dim=1).sum() - own) / lengths.sum()


def windows(pairs: Sequence[Labelled]) -> list[Labelled]:
    return [(x[n : n + WINDOW], y[n : n + WINDOW]) for x, y in pairs for n in range(0, len(x), WINDOW)]


def train(pairs: Sequence[Labelled], labels: Sequence[str], part: str, seed: int) -> Any:
    torch.manual_seed(seed)
    rng, net, ids = (
        np.random.default_rng(seed),
        tagger(len(labels)),
        {name: k for k, name in enumerate(labels)},
    )
    data = [
        (torch.tensor([features(word) for word in x]), torch.tensor([ids[name] for name in y]))
        for x, y in windows(pairs)
    ]
    optimizer = torch.optim.Adam(net.parameters(), lr=RATE, betas=(0.9, 0.98), fused=True)
    epochs = EPOCHS[part.removesuffix(SOFTMAX)]
    steps = epochs * -(-len(data) // BATCH)
    plan = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda n: min(1.0, (n + 1) / 50) * (1 - n / steps))
    for _ in range(epochs):
        order = np.argsort([len(y) + 10 * rng.random() for _, y in data])
        batches = [order[n : n + BATCH] for n in range(0, len(data), BATCH)]
        for number in rng.permutation(len(batches)):
            some = [data[place] for place in batches[number]]
            rows, gold = (
                nn.utils.rnn.pad_sequence(each, batch_first=True) for each in zip(*some, strict=True)
            )
            rows[:, :, WORD][torch.rand(gold.shape) < UNKNOWN] = 0
            value = loss(net, rows, gold, torch.tensor([len(y) for _, y in some]), part.endswith(SOFTMAX))
            optimizer.zero_grad()
            value.backward()
            nn.utils.clip_grad_norm_(net.parameters(), 1.0)
            optimizer.step()
            plan.step()
    net.eval()
    return net


def logits(net: Any, tokens: Sequence[str]) -> Any:
    rows = torch.tensor([[features(word) for word in tokens]])
    with torch.no_grad():
        return emissions(net, rows, torch.tensor([len(tokens)]))[0].numpy()


def write(draw: Draw, path: Path, part: str, seed: int) -> None:
    """The taggers of a draw, and the file of their logits."""
    labels = sorted({label for document in draw.training for _, gold in document for label in gold})
    found, layers = [], []
    for n, (training, some) in enumerate(((draw.training, draw.evaluated), (draw.rest, draw.held_out))):
        began = time.process_time()
        net = train([pair for document in training for pair in document], labels, part, seed + n)
        pairs = [pair for document in some for pair in document]
        found.append([logits(net, x) for x, _ in pairs])
        layers.append({name: net["layer"][name].detach().numpy() for name in LAYER})
        best = [labels[k] for rows in found[-1] for k in rows.argmax(axis=1)]
        share = np.mean([a == b for a, b in zip(best, (name for _, y in pairs for name in y), strict=True)])
        print(
            f"{path.stem} {n}: {time.process_time() - began:.0f} s, {share:.4f} by logits alone", flush=True
        )
    save(path, labels, found, layers)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "draws", nargs="*", metavar="PART-DRAW", default=[f"{name}-{n}" for n in range(2) for name in PARTS]
    )
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    options = parser.parse_args()
    torch.set_num_threads(1)
    for name in options.draws:
        part, _, number = name.rpartition("-")
        path = path_of(part, int(number))
        if not path.exists():
            write(draw_of(options.data, part, int(number)), path, part, 100 * int(number))
    print(f"{sum(path.stat().st_size for path in FOLDER.glob('*.npz'))} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
