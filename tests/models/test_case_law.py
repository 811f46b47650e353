"""The tagger of case law by hand-written rules."""

import json
from pathlib import Path

import pytest
from support.places import CORPORA

from ilpinfer.evaluation.counts import precision, recall
from ilpinfer.evaluation.evaluation import Pair, evaluate
from ilpinfer.models.case_law import CaseLawTagger, is_known_title

SHORT = {"N": "NR", "S": "SECTION_TITLE", "T": "TEXT_BLOCK", "/": "NEWLINE"}


def tagged(*elements: str) -> str:
    tokens = ["@newline@" if element == "/" else element for element in elements]
    letters = {name: letter for letter, name in SHORT.items()}
    return "".join(letters[name] for name in CaseLawTagger().tag(tokens))


@pytest.mark.parametrize(
    ("elements", "labels"),
    [
        (("1.", "Het procesverloop", "/", "De man kwam te laat."), "NS/T"),
        (("/", "B E S L I S S I N G", "/", "2.1", "Eiser heeft gelijk."), "/S/NT"),
        (("Tekst", "1.", "meer", "2.", "meer", "7.", "meer"), "TNTNTTT"),
        (("/", "7.", "meer", "8.", "meer", "8.1", "meer"), "/NTNTNT"),
        (("U", "I", "T", "S", "P", "R", "A", "A", "K"), "TTTTTTTTT"),
        (("1997", "2.", "(a)", "iv)"), "TTNT"),
        (("Daar", "De beslissing"), "TT"),
    ],
)
def test_numbers_go_on_and_titles_are_known(elements, labels):
    assert tagged(*elements) == labels


@pytest.mark.parametrize(
    ("text", "known"),
    [
        ("De beoordeling van het hoger beroep", True),
        ("MOTIVERING", True),
        ("3 appels", False),
        ("De vordering wordt afgewezen", False),
        ("Het vonnis", True),
        ("Vonnis", False),
        ("De beoordeling " + "van de zaak " * 5, False),
    ],
)
def test_known_titles(text, known):
    assert is_known_title(text) is known


def test_the_trellis_prefers_its_labels_and_yields_to_rules(here, cli):
    Path("in.tsv").write_text("1.\nDe feiten\n@newline@\n")
    code, out, _ = cli("decode in.tsv --model case-law --method viterbi")
    row = json.loads(out)
    assert (code, row["labels"], row["score"]) == (0, ["NR", "SECTION_TITLE", "NEWLINE"], 0.0)
    assert CaseLawTagger(2.5).trellis(["1.", "De feiten"]).score(["TEXT_BLOCK"] * 2) == -5.0
    assert len(CaseLawTagger().trellis([])) == 0


CORPUS = CORPORA / "rechtspraak" / "all.tsv"


@pytest.mark.skipif(not CORPUS.is_file(), reason=f"needs the case law in {CORPUS}")
def test_it_is_no_worse_than_published():
    from ilpinfer.corpus.sequences import read, require_labels

    tagger = CaseLawTagger()
    result = evaluate(
        [Pair(t, tuple(tagger.tag(t)), g) for t, g in require_labels(read(CORPUS))], scheme="plain"
    )
    titles = result.of_field("SECTION_TITLE", "tokens")
    assert float(precision(titles)) >= 0.96
    assert float(recall(titles)) >= 0.74
