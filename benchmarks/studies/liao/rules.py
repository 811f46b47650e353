"""High-precision rules about names, mined from labelled text: the five of Liao et al. 2009, section 3.1, adapted."""

from collections import Counter
from collections.abc import Iterable, Sequence

from formulations import Rule
from formulations import constraints as C
from formulations.tokens.token_pattern import TokenPattern

Pair = tuple[Sequence[str], Sequence[str]]

COMPANY = "ORG"
CAPITALISED = C.tokens(token_class="capitalised")
NO_CAPITAL = r"(?![\d.,]*\d[\d.,]*$)[^A-ZÀ-ÖØ-Þ]+"
"""A token without a capital that is not a pure number."""


def entity_rules(
    pairs: Sequence[Pair],
    *,
    exception_rate: float = 0.005,
    always: int = 20,
    never: int = 5,
    companies: int = 3,
    precision: float = 0.95,
) -> dict[str, list[Rule]]:
    """Hard rules on single tokens, in order of priority; `always`, `never` and `companies` are least occurrences."""
    seen, inside, beginning = Counter[str](), Counter[str](), Counter[str]()
    for tokens, labels in pairs:
        for token, label in zip(tokens, labels, strict=True):
            seen[token] += 1
            inside[token] += label != "O"
            beginning[token] += label.startswith("B-")
    small = [word for word in seen if TokenPattern(pattern=NO_CAPITAL, ignore_case=False).matches(word)]
    exceptions = sorted(w for w in small if inside[w] >= 2 and inside[w] >= exception_rate * seen[w])
    inner = [word for word in exceptions if not beginning[word]]
    outside = sorted(
        w for w in seen.keys() - set(small) if w[:1].isupper() and not inside[w] and seen[w] >= never
    )
    lower = C.tokens(pattern=NO_CAPITAL, ignore_case=False, unless=exceptions)
    others = {label for _, labels in pairs for label in labels if not label.startswith("B-")}
    either = C.group("no beginning", sorted(others))
    rules = {
        "rule 1": _always(pairs, always),
        "rule 2": _companies(pairs, companies, precision),
        "rule 3": _long_names(pairs),
        "rule 4": [
            C.tag_at("O", pattern=NO_CAPITAL, ignore_case=False, unless=exceptions, name="rule 4"),
            *([C.tag_at(either, words=inner, ignore_case=False, name="rule 4, inner")] if inner else []),
        ],
        "rule 5": [C.tag_at("O", words=outside, ignore_case=False, following=lower, name="rule 5")]
        if outside
        else [],
    }
    return {name: some for name, some in rules.items() if some}


def company_words(pairs: Iterable[Pair], times: int, precision: float) -> tuple[list[str], list[str]]:
    """Suffixes and first words of companies: so often, and in such a share of cases, within one beside a capitalised word."""
    suffixes: dict[str, list[int]] = {}
    firsts: dict[str, list[int]] = {}
    for tokens, labels in pairs:
        for t in range(1, len(tokens)):
            together = labels[t] == f"I-{COMPANY}"
            for table, word, other in (
                (suffixes, tokens[t], tokens[t - 1]),
                (firsts, tokens[t - 1], tokens[t]),
            ):
                if CAPITALISED.matches(other) and any(map(str.isalpha, word)):
                    count = table.setdefault(word, [0, 0])
                    count[0] += together and (table is suffixes or labels[t - 1] == f"B-{COMPANY}")
                    count[1] += 1

    def frequent(table: dict[str, list[int]]) -> list[str]:
        return sorted(
            word for word, (held, all_) in table.items() if held >= times and held >= precision * all_
        )

    return frequent(suffixes), frequent(firsts)


def _companies(pairs: Sequence[Pair], times: int, precision: float) -> list[Rule]:
    """Rule 2, both words in one company; the labels' scheme does the rest."""
    suffixes, firsts = company_words(pairs, times, precision)
    sequences = {
        "suffix": [CAPITALISED, C.tokens(suffixes, ignore_case=False)] if suffixes else None,
        "first word": [C.tokens(firsts, ignore_case=False), CAPITALISED] if firsts else None,
    }
    return [
        C.tag_sequence(COMPANY, sequence, name=f"rule 2, {name}")
        for name, sequence in sequences.items()
        if sequence
    ]


def _always(pairs: Iterable[Pair], times: int) -> list[Rule]:
    """Rule 1: words that are one name by themselves, as often as this and never anything else."""
    alone: dict[str, Counter[str]] = {}
    for tokens, labels in pairs:
        after = [*labels[1:], "O"]
        for token, label, following in zip(tokens, labels, after, strict=True):
            single = label.startswith("B-") and not following.startswith("I-")
            alone.setdefault(token, Counter())[label if single else ""] += 1
    result: dict[str, list[str]] = {}
    for word, counts in alone.items():
        (label, number), *others = counts.most_common()
        if label and number >= times and not others and word.isalpha():
            result.setdefault(label, []).append(word)
    return [
        C.tag_at(label, words=sorted(words), ignore_case=False, name=f"rule 1, {label}")
        for label, words in sorted(result.items())
    ]


def _long_names(pairs: Iterable[Pair]) -> list[Rule]:
    """Rule 3: names of more than three words that were seen twice at least."""
    names: dict[str, Counter[str]] = {}
    for tokens, labels in pairs:
        start = 0
        for t in range(1, len(tokens) + 1):
            if t < len(tokens) and labels[t].startswith("I-"):
                continue
            if t - start > 3 and labels[start] != "O":
                names.setdefault(labels[start][2:], Counter())[" ".join(tokens[start:t])] += 1
            start = t
    return [
        C.tag_phrases(field, sorted(repeated), longer_than=3, ignore_case=False, name=f"rule 3, {field}")
        for field, result in sorted(names.items())
        if (repeated := [name for name, times in result.items() if times > 1])
    ]
