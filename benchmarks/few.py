"""The best few labellings by compiled rules beside the engine without them: `python -m benchmarks.few FOLDER`.

The folder holds the corpora. Cora: HMMs of some references in IOBES under the citation rules; with `--umass MODEL`, the UMass
references under 240 mined rules, and a model of one's own. Wall time for a sequence, in one run: best labellings one by one, and
lists by `Decoder.best_labellings` and by `Decoder.decode`; the engine without the kernel decodes fewer sequences. All lists are
compared.
"""

import argparse
import statistics
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

import ilpinfer
from benchmarks.data.corpora import UMASS_RULES, read_labelled, soft_rules
from benchmarks.machine import header
from formulations import RuleSet, Trellis, load_rules
from formulations import constraints as C
from formulations.problem.problem import RuleNotice
from ilpinfer.core.request import Request
from ilpinfer.core.rule_compiler import compiler_of
from ilpinfer.corpus.conversion import iobes
from ilpinfer.decoding.single import run_top
from ilpinfer.models.files import load_model
from ilpinfer.models.hmm import HMM
from ilpinfer.models.hmm.vocabulary import Vocabulary

SIZES, TOPS = (5, 20, 300), (1, 2, 10, 50)

Row = dict[str, Any]


def seconds(call: Callable[[Any], object], items: Sequence[Any]) -> list[float]:
    """Wall time of a call for each item."""
    result = []
    for item in items:
        began = time.perf_counter()
        call(item)
        result.append(time.perf_counter() - began)
    return result


def rows(
    name: str, trellises: Sequence[Trellis], rules: RuleSet, tops: Sequence[int], few: int
) -> Iterator[Row]:
    """Milliseconds for a sequence: means, and medians of single calls; `few` of the sequences without the kernel."""
    decoder, compiler = ilpinfer.Decoder(rules), compiler_of(rules)
    request, chosen = Request.of("auto", None, {}), trellises[:: max(1, len(trellises) // few)][:few]
    for warm in (decoder.decode, lambda one: decoder.decode(one, top=2)):
        warm(trellises[0])
    best = [seconds(lambda one: decoder.decode(one).ids, trellises) for _ in range(3)][-1]
    for top in tops:
        began = time.perf_counter()
        lists = [one.ids.tolist() for one in decoder.best_labellings(trellises, top)]
        arrays = (time.perf_counter() - began) / len(trellises)
        alone = seconds(lambda one, top=top: [s.ids for s in decoder.decode(one, top=top)], trellises)
        expected: list[Any] = []
        before = seconds(
            lambda one, top=top, to=expected: to.append(run_top(one, compiler, request, top)), chosen
        )
        places = [next(n for n, one in enumerate(trellises) if one is c) for c in chosen]
        same = [[s.ids.tolist() for s in solutions] for solutions in expected] == [lists[n] for n in places]
        yield {
            "data": name,
            "top": top,
            "best": 1e3 * statistics.fmean(best),
            "arrays": 1e3 * arrays,
            "decode": 1e3 * statistics.fmean(alone),
            "median": 1e3 * statistics.median(alone),
            "without": 1e3 * statistics.fmean(before),
            "times": statistics.fmean(before) / statistics.fmean(alone[n] for n in places),
            "same": same,
        }


def cora(folder: Path, size: int) -> tuple[str, list[Trellis], RuleSet]:
    """The references of the development part under the citation rules and the scheme."""
    train, dev = (read_labelled(folder / "cora" / f"{name}.tsv") for name in ("train", "dev"))
    hmm = HMM.train([(t, iobes(y)) for t, y in train[:size]], vocabulary=Vocabulary(alike=True))
    rules = load_rules("citations")
    return (
        f"Cora, HMM of {size}",
        [hmm.trellis(t) for t, _ in dev],
        RuleSet((*rules, C.valid_scheme()), rules.fields),
    )


def umass(folder: Path, path: str) -> tuple[str, list[Trellis], RuleSet]:
    """The references of the development part under mined rules."""
    train, dev = (read_labelled(folder / "umass_cfe" / f"{name}.tsv") for name in ("train", "dev"))
    model = load_model(path)
    rules = RuleSet(tuple(soft_rules(train, UMASS_RULES)))
    return f"UMass, {len(rules)} rules", [model.trellis(t) for t, _ in dev], rules


def report(result: Sequence[Row]) -> Table:
    """The rows as a table."""
    table = Table(
        "data", "top", "best", "as arrays", "decode", "its median", "without", "ratio", "same", box=None
    )
    for row in result:
        figures = [f"{row[key]:.3g}" for key in ("best", "arrays", "decode", "median", "without", "times")]
        table.add_row(row["data"], str(row["top"]), *figures, "yes" if row["same"] else "NO")
    return table


def main() -> None:
    """Measure, and print milliseconds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--umass", metavar="MODEL", help="a model file; tops are 10 and 50")
    parser.add_argument("--few", type=int, default=20, help="sequences without the kernel")
    parser.add_argument("--sequences", type=int, default=200, help="of each corpus")
    chosen = parser.parse_args()
    warnings.simplefilter("ignore", RuleNotice)
    if chosen.umass:
        name, trellises, rules = umass(chosen.folder, chosen.umass)
        result = list(rows(name, trellises[: chosen.sequences], rules, (10,), chosen.few))
    else:
        result = []
        for size in SIZES:
            name, trellises, rules = cora(chosen.folder, size)
            result += rows(name, trellises[: chosen.sequences], rules, TOPS, chosen.few)
    console = Console(width=160)
    console.print(header(), "\nmilliseconds a sequence", highlight=False)
    console.print(report(result), highlight=False)


if __name__ == "__main__":
    main()
