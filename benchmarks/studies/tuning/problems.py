"""Sequences that parameters are tuned on, and others on which that is judged, with their proved optima."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial

from benchmarks.data.corpora import read_labelled, resume_rules
from benchmarks.data.generated import noisy_document
from benchmarks.data.models import trained
from benchmarks.data.sets import Labelled
from benchmarks.data.synthetic import document_rules, labels_of_size
from benchmarks.optimum import optimum
from benchmarks.study import Sources
from formulations import RuleSet, Trellis, load_rules
from formulations import constraints as C

FIRST_TRAINED, LARGEST_CHUNK = 20, 3
CHUNKS = 6
"""Of held-out sequences; the scale decides how many of them are taken."""
TRAINING = "training"


@dataclass(frozen=True)
class Problem:
    """A sequence under rules, made afresh for each decoding, with its proved optimum."""

    make: Callable[[], Trellis]
    rules: RuleSet
    best: float


def held_out_names(sources: Sources) -> list[str]:
    """Data sets that tuning has not seen; those of missing corpora are left out."""
    folders = {"cora": "cora/dev.tsv", "resume": "resume/experience_train.tsv"}
    corpora = ("cora, soft", "cora, hard", "resume, soft", "resume, hard")
    lengths, labels = sources(smoke=((12,), 5), sample=((60, 240, 480), 13), full=((60, 240, 480), 13))
    there = [name for name in corpora if (sources.folder / folders[name.partition(",")[0]]).exists()]
    return [*(f"generator, {T} tokens, {labels} labels" for T in lengths), *there]


@cache
def training(sources: Sources) -> tuple[Problem, ...]:
    """Planted documents of seeds of their own, and references of the training part that the model has not seen."""
    lengths, K, number = sources(smoke=((12,), 5, 1), sample=((60, 240), 13, 4), full=((60, 240), 13, 4))
    result = [
        problem
        for T in lengths
        for problem in _solved(
            [partial(noisy_document, T, K, 100 + n) for n in range(number)], document_rules(labels_of_size(K))
        )
    ]
    if (sources.folder / "cora" / "train.tsv").exists():
        train = read_labelled(sources.folder / "cora" / "train.tsv")
        rest = train[FIRST_TRAINED:]
        some = [rest[n * len(rest) // number] for n in range(number)]
        result += _solved(_references(train, some), load_rules("citations"))
    return tuple(result)


@cache
def held_out(sources: Sources, name: str, chunk: int) -> tuple[Problem, ...]:
    """Some sequences of a data set; chunks are spread over all of it, and are disjoint."""
    kind, _, rest = name.partition(", ")
    if kind == "generator":
        T, K = (int(word) for word in rest.split() if word.isdigit())
        makes = [partial(noisy_document, T, K, seed) for seed in _chosen(CHUNKS * LARGEST_CHUNK, chunk)]
        return tuple(_solved(makes, document_rules(labels_of_size(K))))
    if kind == "cora":
        train, dev = (read_labelled(sources.folder / "cora" / f"{part}.tsv") for part in ("train", "dev"))
        rules = load_rules("citations") if rest == "soft" else RuleSet((C.at_most_runs(C.EACH_FIELD, 1),))
    else:
        every = read_labelled(sources.folder / "resume" / "experience_train.tsv")
        train, dev = every[::2], every[1::2]
        rules = resume_rules(hard=rest == "hard")
    some = [dev[place] for place in _chosen(len(dev), chunk)]
    return tuple(_solved(_references(train, some, every=kind == "resume"), rules))


def _chosen(number: int, chunk: int) -> Sequence[int]:
    total = CHUNKS * LARGEST_CHUNK
    return [(n * CHUNKS + chunk) * number // total for n in range(LARGEST_CHUNK)]


def _references(
    train: Sequence[Labelled], some: Sequence[Labelled], *, every: bool = False
) -> list[Callable[[], Trellis]]:
    hmm = trained("hmm", train if every else train[:FIRST_TRAINED])
    return [partial(hmm.trellis, tokens) for tokens, _ in some]


def _solved(makes: Sequence[Callable[[], Trellis]], rules: RuleSet) -> list[Problem]:
    """Those whose optimum is proved."""
    solutions = [(make, optimum(make(), rules)) for make in makes]
    return [Problem(make, rules, one.score) for make, one in solutions if one.status == "optimal"]
