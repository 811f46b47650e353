"""Single calls and batches on one core."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import cycle, islice
from pathlib import Path

import numpy as np

import ilpinfer
from benchmarks.compiled.lines import Line, shares
from benchmarks.compiled.timing import Clock, Work, time_rounds
from benchmarks.compiled.unit import viterbi_calls
from benchmarks.data import corpora
from benchmarks.data.sets import Scale
from formulations import LabelSet, RuleSet, Trellis, load_rules
from formulations import constraints as C
from ilpinfer.models.hmm import HMM

LENGTH, SIZE = 2000, 60
QUIET, NOISY = 0.5, 1.9
"""Standard deviations of emissions, in nats, at which about 0 and 45 of 60 fields have too many runs."""


@dataclass(frozen=True)
class Sequences:
    """Sequences under rules, and what decodes them.

    Parameters
    ----------
    name : what they are
    rules : of the decoder
    decoder : with the model, where there is one
    trellises : at least one, all with the same transitions
    """

    name: str
    rules: RuleSet
    decoder: ilpinfer.Decoder
    trellises: Sequence[Trellis]

    @classmethod
    def of(cls, name: str, rules: RuleSet, hmm: HMM, examples: Sequence[corpora.Labelled]) -> "Sequences":
        """Examples under a model."""
        trellises = [hmm.trellis(tokens) for tokens, _ in examples]
        return cls(name, rules, ilpinfer.Decoder(rules, model=hmm), trellises)

    def __str__(self) -> str:
        """What they are, and what they take."""
        solutions = [self.decoder.decode(trellis) for trellis in self.trellises]
        proved = np.mean([solution.status == "optimal" for solution in solutions])
        length = np.mean([len(trellis) for trellis in self.trellises])
        size = (
            f"{len(self.trellises)} sequences of {length:.0f} tokens, {len(self.trellises[0].labels)} labels"
        )
        how = shares([solution.method for solution in solutions])
        return f"{self.name}: {size}, {len(self.rules)} rules; proved {proved:.0%}; {how}"


def cora(folder: Path, size: int, scale: Scale) -> Sequences:
    """References under the citation rules, scored by an HMM of so many others."""
    train, dev = (corpora.read_labelled(folder / "cora" / f"{name}.tsv") for name in ("train", "dev"))
    name = f"citations, HMM of {size} references"
    return Sequences.of(name, load_rules("citations"), HMM.train(train[:size]), dev[: scale(100, 20)])


def umass(folder: Path, scale: Scale) -> Sequences:
    """References with hierarchical labels under mined rules."""
    train, dev = (corpora.read_labelled(folder / "umass_cfe" / f"{name}.tsv") for name in ("train", "dev"))
    hmm = HMM.train(train)
    rules = RuleSet(tuple(corpora.soft_rules(train, corpora.UMASS_RULES)))
    return Sequences.of("UMass, mined rules", rules, hmm, dev[: scale(100, 20)])


def long(noise: float, scale: Scale) -> Sequences:
    """Documents in which each field has one run, under noise, and a soft rule that says so."""
    T, K = (30, 5) if scale.smoke else (LENGTH, SIZE)
    labels = LabelSet(tuple(f"field {k}" for k in range(K)))
    rules = RuleSet((C.at_most_runs(C.EACH_FIELD, 1, penalty=5.0),))
    trellises = [planted(T, seed, labels, noise) for seed in range(scale(5, 2))]
    broken = np.mean([repeated(ilpinfer.decode(t, method="viterbi").ids) for t in trellises])
    name = f"T = {T}, K = {K}, noise {noise:g}, {broken:.0f} fields with too many runs"
    return Sequences(name, rules, ilpinfer.Decoder(rules, labels), trellises)


def planted(T: int, seed: int, labels: LabelSet, noise: float) -> Trellis:
    """One run of each field in a random order; scores as in `synthetic.reference`."""
    rng, K = np.random.default_rng([T, len(labels), seed]), len(labels)
    ends = np.sort(rng.choice(np.arange(1, T), K - 1, replace=False))
    fields = np.repeat(rng.permutation(K), np.diff([0, *ends, T]))
    emissions = noise * rng.normal(size=(T, K))
    emissions[np.arange(T), fields] += 3.0
    return Trellis.from_emissions(emissions, np.where(np.eye(K, dtype=bool), -0.2, -4.0), labels=labels)


def repeated(ids: np.ndarray) -> int:
    """How many labels have more than one run."""
    begins = ids[np.concatenate([[True], ids[1:] != ids[:-1]])]
    return int((np.bincount(begins) > 1).sum())


def of_tokens(sequences: Sequences) -> list[Work]:
    """From token texts to a Solution."""
    return [partial(sequences.decoder.decode_tokens, trellis.tokens) for trellis in sequences.trellises]


def of_trellises(sequences: Sequences) -> list[Work]:
    """From a Trellis to a Solution."""
    return [partial(sequences.decoder.decode, trellis) for trellis in sequences.trellises]


def of_tokens_to_labels(sequences: Sequences) -> list[Work]:
    """From token texts to the names of labels."""
    decode = sequences.decoder.decode_tokens
    return [lambda tokens=trellis.tokens: decode(tokens).labels for trellis in sequences.trellises]


def read_whole(sequences: Sequences) -> list[Work]:
    """From token texts to a Solution of which every field is read."""

    def work(tokens: Sequence[str]) -> object:
        solution = sequences.decoder.decode_tokens(tokens)
        return solution.labels, solution.violations, solution.certificate

    return [partial(work, trellis.tokens) for trellis in sequences.trellises]


def beam_of_10(sequences: Sequences) -> list[Work]:
    """A beam on token texts, with its own compiled rules."""
    beam = ilpinfer.Decoder(sequences.rules, model=sequences.decoder.model, method="beam", width=10)
    return [partial(beam.decode_tokens, trellis.tokens) for trellis in sequences.trellises]


def single(
    sequences: Sequences,
    starts: dict[str, tuple[Callable[[Sequences], list[Work]], dict[str, float]]],
    repeats: int,
    clock: Clock = time.perf_counter,
) -> Iterator[Line]:
    """A line for each way to begin."""
    works = {name: make(sequences) for name, (make, _) in starts.items()}
    spent = time_rounds(
        {"bare": viterbi_calls(sequences.trellises, sequences.rules), **works}, repeats, clock
    )
    for name, (_, targets) in starts.items():
        yield Line(name, spent["bare"], spent[name], targets)


def batch(sequences: Sequences, number: int, most: float, repeats: int) -> Iterator[Line]:
    """So many sequences in one call, from trellises and from tokens; its unit is as many passes, one after the other."""
    trellises = list(islice(cycle(sequences.trellises), number))
    texts = [trellis.tokens for trellis in trellises]
    units, decoder = (
        list(islice(cycle(viterbi_calls(sequences.trellises, sequences.rules)), number)),
        sequences.decoder,
    )
    works: dict[str, list[Work]] = {
        "bare": [lambda: [unit() for unit in units]],
        "batch of trellises": [lambda: list(decoder.decode_many(trellises))],
    }
    if decoder.model is not None:
        works["batch of tokens"] = [lambda: list(decoder.decode_texts(texts))]
    spent = {
        name: seconds / number for name, seconds in time_rounds(works, repeats, time.process_time).items()
    }
    for name in list(works)[1:]:
        yield Line(name, spent["bare"], spent[name], {"mean": most}, number)
