"""Small made-up corpora with the files and labels of the real ones, so that studies run where those are missing."""

import random
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks.data.synthetic import FIELDS

Tokens = list[tuple[str, str]]
SURNAMES = ["Abel", "Brandt", "Castro", "Dietrich", "Eklund", "Fischer", "Grant", "Hansen", "Ivanov"]
WORDS = ["exact", "search", "under", "rules", "for", "long", "sequences", "with", "learnt", "costs", "text"]
PLACES = ["Leiden", "Ghent", "Torino", "Madrid", "Sevilla", "Utrecht"]
COMPANIES = ["Nordwind", "Datahaus", "Ferrum", "Optik", "Meridian", "Kontor"]
JOBS = ["software engineer", "data analyst", "team lead", "project manager", "tester"]
NEWLINE = "@newline@"


def write_corpora(folder: Path, seed: int = 0) -> None:
    """Write every file; the same seed writes the same files."""
    rng = random.Random(seed)
    for name, number, make in (
        ("cora/train", 60, _reference),
        ("cora/dev", 30, _reference),
        ("umass_cfe/train", 60, _nested),
        ("umass_cfe/dev", 20, _nested),
        ("rexa/unlabelled_silver", 60, _reference),
        ("resume/experience_train", 30, _experience),
        ("rechtspraak/all", 12, _decision),
        ("conll2002_esp/train", 80, _news),
        ("conll2002_esp/dev", 25, _news),
    ):
        path = folder / f"{name}.tsv"
        path.parent.mkdir(parents=True, exist_ok=True)
        texts = ("".join(f"{token}\t{label}\n" for token, label in make(rng)) for _ in range(number))
        path.write_text("\n".join(texts), "utf-8")


def _run(words: list[str], label: str) -> Tokens:
    return [(word, f"{'I' if n else 'B'}-{label}") for n, word in enumerate(words)]


def _outside(words: list[str]) -> Tokens:
    return [(word, "O") for word in words]


def _reference(rng: random.Random) -> Tokens:
    """Author, title and a few other fields, each of which ends with punctuation."""
    own: dict[str, Callable[[], list[str]]] = {
        "author": lambda: [rng.choice("ABCDEFG"), ".", rng.choice(SURNAMES)],
        "date": lambda: [str(rng.randint(1980, 2005))],
        "pages": lambda: ["pp", ".", f"{rng.randint(1, 99)}-{rng.randint(100, 199)}"],
        "location": lambda: [rng.choice(PLACES)],
        "booktitle": lambda: ["Proc", ".", "of", *rng.choices(WORDS, k=2)],
    }
    others = [field for field in FIELDS if field not in ("author", "title")]
    result: Tokens = []
    for field in ["author", "title", *rng.sample(others, rng.randint(2, 5))]:
        make = own.get(field, lambda: [rng.choice(WORDS).title(), *rng.choices(WORDS, k=rng.randint(1, 4))])
        result += _run([*make(), rng.choice([".", ","])], field)
    return result


def _nested(rng: random.Random) -> Tokens:
    """A reference with labels on up to three levels."""
    venue = ["In", "Proc", ".", "of", rng.choice(WORDS)]
    return [
        *([("[1]", "B-ref-marker")] if rng.random() < 0.5 else []),
        (rng.choice("ABCDEFG"), "B-authors/B-person/B-person-first"),
        (rng.choice(SURNAMES), "I-authors/I-person/B-person-last"),
        (",", "I-authors"),
        *_run([*rng.choices(WORDS, k=rng.randint(2, 6)), "."], "title"),
        *((word, f"{'I' if n else 'B'}-venue/{'I' if n else 'B'}-booktitle") for n, word in enumerate(venue)),
        (",", "I-venue"),
        (str(rng.randint(1980, 2005)), "I-venue/B-date/B-year"),
        (".", "O"),
    ]


def _experience(rng: random.Random) -> Tokens:
    result = _outside(["WORK", "EXPERIENCE", NEWLINE])
    for _ in range(rng.randint(1, 4)):
        begin = rng.randint(1990, 2015)
        result += [*_run(rng.choice(JOBS).split(), "Designation"), ("at", "O")]
        result += [*_run([rng.choice(COMPANIES), "GmbH"], "Companies_worked_at"), ("in", "O")]
        result += [*_run([rng.choice(PLACES)], "Location"), (NEWLINE, "O")]
        result += [*_run(["May", str(begin), "-", str(begin + 2)], "Years_of_Experience"), (NEWLINE, "O")]
        result += _outside([*rng.choices(WORDS, k=rng.randint(4, 15)), NEWLINE])
    return result


def _decision(rng: random.Random) -> Tokens:
    """Numbered section titles, each on a line of its own, and blocks of text."""
    result: Tokens = [("Rechtbank Utrecht", "TEXT_BLOCK"), (NEWLINE, "NEWLINE")]
    for n in range(1, rng.randint(3, 6)):
        title = rng.choice(["Het procesverloop", "De feiten", "De beoordeling", "De beslissing"])
        result += [(f"{n}.", "NR"), (title, "SECTION_TITLE"), (NEWLINE, "NEWLINE")]
        for _ in range(rng.randint(1, 4)):
            result += [(" ".join(rng.choices(WORDS, k=8)), "TEXT_BLOCK"), (NEWLINE, "NEWLINE")]
    return result


def _news(rng: random.Random) -> Tokens:
    """A sentence with names; some begin a document with a dateline."""

    def parts() -> Iterator[Tokens]:
        if rng.random() < 0.4:
            yield [*_run(["Madrid"], "LOC"), ("(", "O"), *_run(["EFE"], "ORG"), (")", "O"), (".", "O")]
        for _ in range(rng.randint(1, 3)):
            yield _outside(rng.choices(WORDS, k=rng.randint(2, 6)))
            names = ("LOC", [rng.choice(PLACES)]), ("ORG", [rng.choice(COMPANIES), "S.A."])
            kind, words = rng.choice((*names, ("PER", [rng.choice(SURNAMES)]), ("MISC", ["Premio", "X"])))
            yield _run(words, kind)

    return [*(pair for part in parts() for pair in part), (".", "O")]
