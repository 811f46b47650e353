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
        path.write_text("\n".join(_text(make(rng)) for _ in range(number)), "utf-8")
    ids = "".join(f"ECLI:NL:XX:2000:{n}\n" for n in range(12))
    (folder / "rechtspraak" / "all.ecli.txt").write_text(ids, "utf-8")


def _text(tokens: Tokens) -> str:
    return "".join(f"{token}\t{label}\n" for token, label in tokens)


def _run(words: list[str], label: str) -> Tokens:
    return [(word, f"{'I' if n else 'B'}-{label}") for n, word in enumerate(words)]


def _person(rng: random.Random) -> list[str]:
    return [rng.choice("ABCDEFG"), ".", rng.choice(SURNAMES)]


def _reference(rng: random.Random) -> Tokens:
    """Author, title and a few other fields, each of which ends with punctuation."""
    own: dict[str, Callable[[], list[str]]] = {
        "author": lambda: _person(rng),
        "editor": lambda: ["In", *_person(rng), "(", "ed", ")"],
        "date": lambda: [str(rng.randint(1980, 2005))],
        "pages": lambda: ["pp", ".", f"{rng.randint(1, 99)}-{rng.randint(100, 199)}"],
        "volume": lambda: [str(rng.randint(1, 40))],
        "location": lambda: [rng.choice(PLACES)],
        "journal": lambda: ["Journal", "of", rng.choice(WORDS)],
        "booktitle": lambda: ["Proc", ".", "of", rng.choice(WORDS), rng.choice(WORDS)],
    }
    others = [field for field in FIELDS if field not in ("author", "title")]
    result: Tokens = []
    for field in ["author", "title", *rng.sample(others, rng.randint(2, 5))]:
        words = own.get(
            field, lambda: [rng.choice(WORDS).title(), *rng.choices(WORDS, k=rng.randint(1, 4))]
        )()
        result += _run([*words, rng.choice([".", ","])], field)
    return result


def _nested(rng: random.Random) -> Tokens:
    """A reference with labels on up to three levels."""
    result: Tokens = [("[1]", "B-ref-marker")] if rng.random() < 0.5 else []
    first, dot, last = _person(rng)
    result += [
        (first, "B-authors/B-person/B-person-first"),
        (dot, "I-authors/I-person/I-person-first"),
        (last, "I-authors/I-person/B-person-last"),
        (",", "I-authors"),
    ]
    result += _run([*rng.choices(WORDS, k=rng.randint(2, 6)), "."], "title")
    venue = ["In", "Proc", ".", "of", rng.choice(WORDS)]
    result += [
        (word, f"{'I' if n else 'B'}-venue/{'I' if n else 'B'}-booktitle") for n, word in enumerate(venue)
    ]
    result += [(",", "I-venue"), (str(rng.randint(1980, 2005)), "I-venue/B-date/B-year"), (".", "O")]
    return result


def _experience(rng: random.Random) -> Tokens:
    line: Tokens = [("@newline@", "O")]
    result: Tokens = [("WORK", "O"), ("EXPERIENCE", "O"), *line]
    for _ in range(rng.randint(1, 4)):
        result += [*_run(rng.choice(JOBS).split(), "Designation"), ("at", "O")]
        result += [*_run([rng.choice(COMPANIES), "GmbH"], "Companies_worked_at"), ("in", "O")]
        result += _run([rng.choice(PLACES)], "Location") + line
        begin = rng.randint(1990, 2015)
        result += _run(["May", str(begin), "-", str(begin + 2)], "Years_of_Experience") + line
        result += [(word, "O") for word in rng.choices(WORDS, k=rng.randint(4, 15))] + line
    return result


def _decision(rng: random.Random) -> Tokens:
    """Numbered section titles, each on a line of its own, and blocks of text."""
    result: Tokens = [("Rechtbank Utrecht", "TEXT_BLOCK"), ("@newline@", "NEWLINE")]
    for n in range(1, rng.randint(3, 6)):
        title = rng.choice(["Het procesverloop", "De feiten", "De beoordeling", "De beslissing"])
        result += [(f"{n}.", "NR"), (title, "SECTION_TITLE"), ("@newline@", "NEWLINE")]
        for _ in range(rng.randint(1, 4)):
            result += [(" ".join(rng.choices(WORDS, k=8)), "TEXT_BLOCK"), ("@newline@", "NEWLINE")]
    return result


def _news(rng: random.Random) -> Tokens:
    """A sentence with names, half of which follow a word that announces them; some begin a document with a dateline."""

    def parts() -> Iterator[Tokens]:
        for _ in range(rng.randint(1, 3)):
            yield [(word, "O") for word in rng.choices(WORDS, k=rng.randint(2, 6))]
            yield rng.choice(
                (
                    _run([rng.choice(PLACES)], "LOC"),
                    _run([rng.choice(COMPANIES), "S.A."], "ORG"),
                    [("Sr.", "O"), *_run([rng.choice(SURNAMES)], "PER")],
                    _run(["Premio", rng.choice(SURNAMES)], "MISC"),
                )
            )

    begins = [*_run(["Madrid"], "LOC"), ("(", "O"), *_run(["EFE"], "ORG"), (")", "O"), (".", "O")]
    return [*(begins if rng.random() < 0.4 else ()), *(pair for part in parts() for pair in part), (".", "O")]
