"""The deterministic tagger: known titles and congruent numbers (Trompper 2016, chapter Tagging Elements)."""

import re
from collections.abc import Sequence

from formulations.tokens.token_pattern import continues, item_numbers
from ilpinfer.corpus import NEWLINE

NUMBER, TITLE, TEXT, BREAK = LABELS = ("NR", "SECTION_TITLE", "TEXT_BLOCK", "NEWLINE")

MODIFIERS = """
    aangevallen ambtshalve bestreden bijzondere bewezen_verklaarde buitengerechtelijke eerste feitelijke gevorderde
    inhoudelijke juridische materiële mondelinge nadere overige primaire procedurele relevante ten_laste_gelegde
    toegepaste toepasselijke tweede vaststaande verdere voorlopige wettelijke
"""
"""Words that may stand between article and head of a title; `_` is a blank."""

HEADS = """
    achtergrond afwijzing aanleiding aansprakelijkheid behandeling benadeelde_partij beoordeling beschouwing(en)? beslag
    beslissing(en)? besluitvorming bevoegdheid bewezenverklaring bewezenverklaarde bewijs bewijsmiddelen bewijsoverweging(en)?
    bewijsvoering bezwaar bijlagen? cassatiemiddel(en)? conclusies? dictum eis feiten geding geschil grieven griffierecht gronden
    hoger_beroep hoofdstraf hoofdzaak in_beslag_genomen_voorwerpen incident inleiding kader klachten? kosten kwalificatie
    loop_van_(het_geding|de_procedure) middel(en)? motivering omvang onderzoek ontstaan ontvankelijkheid oordeel
    op_te_leggen_straf overweging(en)? procedure procesgang procespartijen procesverloop proceskosten
    proceskostenveroordeling rechtsmiddel(en)? rechtsoverweging(en)? rechtsvraag resumerend samenvatting schade
    schadevergoeding schadevergoedingsmaatregel slotsom slotoverweging(en)? standpunt(en)? straf strafbaarheid strafmaat
    strafmotivering strafoplegging tenlastelegging tenuitvoerlegging toepassing uitgangspunt(en)? verloop
    vermogensschade verweer verweren verzoek(en)? voorgeschiedenis voorschriften voorvragen vordering(en)? vrijspraak
    wetsartikelen wijziging
"""
"""Nouns that head sections, as regular expressions; `_` is a blank."""

DECISIONS = "arrest beschikking (eind|tussen)?uitspraak (eind|tussen)?vonnis"
"""Nouns of decisions, which head sections only with an article; by themselves they head whole documents."""

COMPLEMENTS = "van in op en ter te tot door over omtrent bij tegen voor tussen naar uit met aan waarvan of benadeelde officier om"
"""Words that lead on from the head."""

VERBS = "is zijn was waren wordt worden werd zal zullen heeft hebben kan moet dient blijkt blijken luidt luiden volgt als"
"""Words that tell a sentence from a title."""

LONGEST = 12
"""Largest number of words of a title."""


def _any_of(words: str) -> str:
    return "|".join(words.split()).replace("_", " ")


_TITLE = re.compile(
    rf"(((de|het|een|tussen partijen) )?(({_any_of(MODIFIERS)}) )*({_any_of(HEADS)})"
    rf"|(de|het) (({_any_of(MODIFIERS)}) )*({_any_of(DECISIONS)}))"
    rf"( ({_any_of(COMPLEMENTS)})\b.*)?",
    re.IGNORECASE,
)
_VERB = re.compile(rf"\b({_any_of(VERBS)})\b", re.IGNORECASE)
_SPACED = re.compile(r"(\S )+\S")
_FRAMED = re.compile(r"[(\[]?\d{1,2}(\.\d+)*[.)\]]?|[(\[]?[A-Za-z]+[.)\]]")
"""A text that may be the number of a section: letters need a dot or bracket, and years are excluded."""


def is_known_title(text: str) -> bool:
    """Whether a text element reads like a title that judgments use, such as "De beoordeling van het hoger beroep"."""
    words = text.strip(" .:;?").split()
    line = " ".join(words)
    line = line.replace(" ", "") if _SPACED.fullmatch(line) else line
    return len(line.split()) <= LONGEST and bool(_TITLE.fullmatch(line)) and not _VERB.search(line)


def tag(tokens: Sequence[str]) -> list[str]:
    """Labels of whole text elements by rules alone."""
    names: list[str] = []
    earlier: list[str] = []
    for token in tokens:
        begins = not names or names[-1] == BREAK
        if token == NEWLINE:
            names.append(BREAK)
        elif _FRAMED.fullmatch(token) and item_numbers(token) and (begins or _congruent(token, earlier)):
            names.append(NUMBER)
            earlier.append(token)
        elif (begins or names[-1] == NUMBER) and is_known_title(token):
            names.append(TITLE)
        else:
            names.append(TEXT)
    return names


def _congruent(token: str, earlier: Sequence[str]) -> bool:
    """Whether a number begins a list, or continues one before."""
    first = any(numbers[-1] == 1 for _, numbers in item_numbers(token))
    return first or any(continues(before, token) for before in earlier)
