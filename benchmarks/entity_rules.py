"""High-precision rules about names, found in labelled text: the five of Liao et al. 2009, section 3.1, adapted.

Rule 1: a word that is always one name by itself is that name. Rule 2: a suffix of companies after a capitalised word
goes on with its name. Rule 3: a listed name of more than three words is one. Rule 4: a word without a capital that is
neither a number nor in the list of exceptions is no part of a name; exceptions that never begin a name do not. Rule 5:
a capitalised word that is never in a name, with rule 4 fulfilled by what follows, is none.
"""

from collections import Counter
from collections.abc import Iterable, Sequence

from formulations import Rule
from formulations import constraints as C
from formulations.tokens.token_pattern import TokenPattern

Pair = tuple[Sequence[str], Sequence[str]]

NO_CAPITAL = r"(?![\d.,]*\d[\d.,]*$)[^A-ZÀ-ÖØ-Þ]+"
"""A token without a capital that is not a pure number."""


def entity_rules(
    pairs: Sequence[Pair], *, exception_rate: float = 0.005, always: int = 20, never: int = 5
) -> list[Rule]:
    """Hard rules on single tokens, in order of priority.

    Parameters
    ----------
    pairs : tokens and BIO labels
    exception_rate : share of a word's occurrences in names from which it is an exception to rule 4
    always : occurrences that make a word rule 1's
    never : occurrences outside names that make a word rule 5's
    """
    seen, inside, beginning = Counter[str](), Counter[str](), Counter[str]()
    alone: dict[str, Counter[str]] = {}
    for tokens, labels in pairs:
        after = [*labels[1:], "O"]
        for token, label, following in zip(tokens, labels, after, strict=True):
            seen[token] += 1
            inside[token] += label != "O"
            beginning[token] += label.startswith("B-")
            single = label.startswith("B-") and not following.startswith("I-")
            alone.setdefault(token, Counter())[label if single else ""] += 1
    small = [word for word in seen if TokenPattern(pattern=NO_CAPITAL, ignore_case=False).matches(word)]
    exceptions = sorted(w for w in small if inside[w] >= 2 and inside[w] >= exception_rate * seen[w])
    inner = [word for word in exceptions if not beginning[word]]
    outside = sorted(
        w for w in seen.keys() - set(small) if w[:1].isupper() and not inside[w] and seen[w] >= never
    )
    lower = C.tokens(pattern=NO_CAPITAL, ignore_case=False, unless=exceptions)
    rules = [_always(alone, always)] if always else []
    return [
        *(rule for group in rules for rule in group),
        *_long_names(pairs),
        C.tag_at("O", pattern=NO_CAPITAL, ignore_case=False, unless=exceptions, name="rule 4"),
        C.tag_at(
            C.group("no beginning", _not_beginning(pairs)),
            words=inner,
            ignore_case=False,
            name="rule 4, inner",
        ),
        C.tag_at("O", words=outside, ignore_case=False, following=lower, name="rule 5"),
    ]


def _not_beginning(pairs: Iterable[Pair]) -> list[str]:
    return sorted({label for _, labels in pairs for label in labels if not label.startswith("B-")})


def _always(alone: dict[str, Counter[str]], times: int) -> list[Rule]:
    """Rule 1: words that are one name by themselves, as often as this and never anything else."""
    result: dict[str, list[str]] = {}
    for word, labels in alone.items():
        (label, number), *others = labels.most_common()
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
