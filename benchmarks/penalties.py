"""Penalties as published, as counted from gold, and as learnt, beside no rules: `python -m benchmarks.penalties DATA [--draws 20] [--sizes 5,20,300]`.

Each draw takes 5, 20 or 300 Cora references at random to train on, and 100 others to decode, exactly. Penalties of the
catalogue's citation rules are learnt from the training references alone: each is scored by a model that was trained without its part.
"check" has the suggestions of `ilpinfer check --write`. "learnt, and order" has the rules of the catalogue's `citations-order`, too. Labels keep their scheme in every column, also without rules. Measures are of fields.
"""

import argparse
import json
import warnings
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import partial
from itertools import product
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.data.corpora import Labelled, read_labelled
from benchmarks.machine import header
from formulations import RuleSet, load_rules
from formulations import constraints as C
from formulations.problem.problem import RuleNotice
from ilpinfer.learning import PenaltyLearner, ScoredExample, held_out_examples
from ilpinfer.learning.log_odds import log_odds
from ilpinfer.learning.measures import Measures
from ilpinfer.learning.training_set import TrainingSet
from ilpinfer.models.sequence_model import TrainedModel
from ilpinfer.models.training import rewrite, train

KINDS: Mapping[str, tuple[str, str, Mapping[str, Any]]] = {
    "best HMM": ("hmm", "iobes", {"alike": True}),
    "usual HMM": ("hmm", "bio", {}),
    "CRF": ("crf", "bio", {"template": "citations", "c1": 0.05, "c2": 0.3, "max_iterations": 100}),
}
"""Kind, scheme and options of each model."""
COLUMNS = ("no rules", "published", "check", "learnt", "learnt, and order")
SIZES = (5, 20, 300)
TEST, DRAWS, PROCESSES = 100, 20, 2
MOST_FOLDS = 20
"""Models for few references leave one out in turn."""

Cell = tuple[str, int, int]
"""Model, number of training references, draw."""


def references(folder: Path) -> list[Labelled]:
    """The references of the parts that are there."""
    return [pair for name in ("train", "dev") for pair in read_labelled(folder / "cora" / f"{name}.tsv")]


def measure(known: Sequence[Labelled], cell: Cell) -> dict[str, Any]:
    """Token accuracy, span F1 and whole sequences of every column, and what was learnt."""
    warnings.simplefilter("ignore", RuleNotice)
    name, size, draw = cell
    kind, scheme, options = KINDS[name]
    order = np.random.default_rng(draw).permutation(len(known)).tolist()
    training, test = (
        rewrite([known[i] for i in some], scheme) for some in (order[:size], order[size : size + TEST])
    )

    def make(some: Sequence[Any]) -> TrainedModel:
        return train(kind, some, scheme=scheme, **options)

    folds = MOST_FOLDS if size <= MOST_FOLDS else 5
    examples = held_out_examples(training, make, folds=folds, seed=draw)
    model = make(training)
    unseen = [ScoredExample(model.trellis(tuple(tokens)), tuple(gold)) for tokens, gold in test]
    given = load_rules("citations")
    given = replace(given, items=(*given, C.valid_scheme()))
    with_order = replace(given, items=(*given, *load_rules("citations-order")))
    counted = TrainingSet(examples, given)
    learner = PenaltyLearner(seed=draw)
    learnt = learner.fit(examples, given)
    rule_sets = {
        "no rules": counted.with_weights(0 * counted.given),
        "published": given,
        "check": counted.with_weights(log_odds(counted, counted.given, range(size))),
        "learnt": learnt.rules,
        "learnt, and order": learner.fit(examples, with_order).rules,
    }
    return {
        "cell": cell,
        "algorithm": learnt.algorithm,
        "left out": [verdict.name for verdict in learnt.verdicts if not verdict.learnt],
        **{column: measured(unseen, rules) for column, rules in rule_sets.items()},
    }


def measured(examples: Sequence[ScoredExample], rules: RuleSet) -> list[float]:
    """Token accuracy, span F1 and whole sequences in percent, all optima proved."""
    data = TrainingSet(examples, rules)
    return [100 * share for share in Measures.of_counts(data.measure(data.given))]


def table(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Means over draws, with the standard error of the difference to no rules."""
    yield f"{'':24}{'token accuracy':>24}{'span F1':>24}{'whole references':>24}"
    for name, size in sorted({(row["cell"][0], row["cell"][1]) for row in rows}):
        some = [row for row in rows if (row["cell"][0], row["cell"][1]) == (name, size)]
        none = np.array([row["no rules"] for row in some])
        yield f"{name}, {size} labelled, {len(some)} draws"
        for column in COLUMNS:
            values = np.array([row[column] for row in some])
            gain = values - none
            error = gain.std(axis=0) / np.sqrt(len(some))
            figures = (
                f"{mean:10.2f}{f'{g:+.2f} ± {e:.2f}':>14}"
                for mean, g, e in zip(values.mean(axis=0), gain.mean(axis=0), error, strict=True)
            )
            yield f"  {column:22}{''.join(figures)}"
        taken = [row["algorithm"] for row in some]
        names = ", ".join(f"{each} {taken.count(each)}" for each in dict.fromkeys(taken))
        left = np.mean([len(row["left out"]) for row in some])
        yield f"  taken: {names}; {left:.1f} of 11 rules left out in the mean"


def read_rows(path: Path | None) -> list[dict[str, Any]]:
    """Rows of an earlier run."""
    if path is None or not path.exists():
        return []
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def main() -> None:
    """Run all cells and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--draws", type=int, default=DRAWS)
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)))
    parser.add_argument("--models", default=",".join(KINDS))
    parser.add_argument("--first", type=int, default=0, help="the first draw")
    parser.add_argument("--rows", type=Path, help="a file that keeps what was run, and goes on from it")
    options = parser.parse_args()
    known = references(options.data)
    sizes = [int(size) for size in options.sizes.split(",")]
    draws = range(options.first, options.first + options.draws)
    cells = [(name, size, draw) for draw, name, size in product(draws, options.models.split(","), sizes)]
    rows = read_rows(options.rows)
    done = {tuple(row["cell"]) for row in rows}
    with ProcessPoolExecutor(PROCESSES, mp_context=get_context("fork")) as pool:
        for row in pool.map(partial(measure, known), [cell for cell in cells if cell not in done]):
            rows.append(row)
            if options.rows:
                with options.rows.open("a", encoding="utf-8") as stream:
                    stream.write(json.dumps(row) + "\n")
    print(header())
    print("\n".join(table(rows)))


if __name__ == "__main__":
    main()
