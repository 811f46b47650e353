"""Every entrance takes the same scores, names and rules to the same labelling, or to the same error."""

import json
import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.command_line import rows
from support.effort import examples
from support.service import post

import ilpinfer
from ilpinfer import Decoder, Trellis
from ilpinfer.adapters.huggingface import entities
from ilpinfer.adapters.windows import join_windows
from ilpinfer.cli import main
from ilpinfer.models.external import from_logits

Span = tuple[int, int, str]


@dataclass(frozen=True)
class Problem:
    """Scores (T, K) in nats, K names with the mark and field of each, rules as TOML text, helper labels."""

    scores: list[list[float]]
    names: tuple[str, ...]
    roles: tuple[tuple[str, str], ...]
    rules: str
    never: tuple[str, ...] = ()

    @property
    def tokens(self) -> list[str]:
        return [f"w{t}" for t in range(len(self.scores))]

    @property
    def steps(self) -> list[list[float]]:
        return np.zeros((len(self.names),) * 2).tolist()

    @property
    def record(self) -> dict:
        scores = [[x if math.isfinite(x) else None for x in row] for row in self.scores]
        return {
            "emissions": scores,
            "transitions": self.steps,
            "label_names": self.names,
            "tokens": self.tokens,
        }

    def spans(self, labels: list[str]) -> list[Span]:
        """The entities of a labelling that keeps BIO: begin, end and field."""
        found: list[Span] = []
        for t, (mark, field) in enumerate(self.roles[self.names.index(label)] for label in labels):
            if mark == "B":
                found.append((t, t + 1, field))
            elif mark == "I":
                assert found[-1][1:] == (t, field)
                found[-1] = (found[-1][0], t + 1, field)
        return found


class Refused(Exception):
    """The message of an entrance that refuses a problem."""


def trellis(p: Problem) -> list[Span]:
    given = Trellis.from_emissions(p.scores, p.steps, labels=p.names, tokens=p.tokens, never=p.never)
    return p.spans(ilpinfer.decode(given, ilpinfer.parse_rules(p.rules)).labels)


def logits(p: Problem) -> list[Span]:
    given = from_logits(
        np.array(p.scores), dict(enumerate(p.names)), scale="raw", tokens=p.tokens, never=p.never
    )
    return p.spans(Decoder(ilpinfer.parse_rules(p.rules), given.labels).decode(given).labels)


def windows(p: Problem) -> list[Span]:
    cut = len(p.scores) // 2
    parts, firsts = ([p.scores[: cut + 1], p.scores[cut:]], [0, cut]) if cut else ([p.scores], [0])
    given = join_windows(parts, firsts, p.names, scale="raw", tokens=p.tokens, never=p.never)
    return p.spans(ilpinfer.decode(given, ilpinfer.parse_rules(p.rules)).labels)


def huggingface(p: Problem) -> list[Span]:
    found = entities(
        p.scores,
        p.names,
        rules=p.rules,
        pieces=p.tokens,
        aggregation_strategy="none",
        ignore_labels=(),
        crf={"transitions": p.steps},
        never=p.never,
    )
    return p.spans([each["entity"] for each in found])


def spacy(p: Problem) -> list[Span]:
    from spacy import blank
    from spacy.tokens import Doc

    nlp = blank("en")
    config = {"labels": list(p.names), "rules": p.rules, "scale": "raw", "never": list(p.never)}
    nlp.add_pipe("ilpinfer_ner", config=config)
    doc = Doc(nlp.vocab, words=p.tokens)
    doc.user_data["ilpinfer_scores"] = p.scores
    return [(span.start, span.end, span.label_) for span in nlp(doc).ents]


def service(p: Problem) -> list[Span]:
    response = post(Decoder([]), "/decode", {**p.record, "rules": p.rules, "never": p.never})
    if response.status_code != 200:
        raise Refused(response.json()["detail"])
    return p.spans(response.json()["labels"])


ENTRANCES: dict[str, Callable[[Problem], list[Span]]] = {
    each.__name__: each for each in (trellis, logits, windows, huggingface, spacy, service)
}


def from_files(problems: list[Problem], folder: Path, capsys) -> list[list[Span]]:
    """The same of records in a file, which all have the names, rules and helper labels of the first."""
    (folder / "scores.jsonl").write_text("".join(json.dumps(p.record) + "\n" for p in problems))
    (folder / "rules.toml").write_text(problems[0].rules)
    never = [word for name in problems[0].never for word in ("--never", name)]
    code = main(["decode", str(folder / "scores.jsonl"), "--rules", str(folder / "rules.toml"), *never])
    out, err = capsys.readouterr()
    if code:
        raise Refused(err)
    return [p.spans(row["labels"]) for p, row in zip(problems, rows(out), strict=True)]


SPELLINGS = (
    "{mark}-{field}",
    "{mark}:{field}",
    "{mark}_{field}",
    "{mark} {field}",
    "{field}-{mark}",
    "{field}_{mark}",
)
HELPERS = ((), ("[PAD]",), ("[CLS]", "<unk>"), ("X",))
VALID = '[[rule]]\ntemplate = "valid_scheme"\n'


@st.composite
def problems(draw: st.DrawFn) -> list[Problem]:
    """Sequences with names in one spelling, helper labels that have the best scores, and near ties."""
    spelling, helpers = draw(st.sampled_from(SPELLINGS)), draw(st.sampled_from(HELPERS))
    fields = draw(st.sampled_from([("PER",), ("PER", "LOC")]))
    roles = [("O", ""), *((mark, field) for field in fields for mark in "BI")]
    labels = [(spelling.format(mark=m, field=f) if f else m, (m, f)) for m, f in roles]
    if draw(st.booleans()):
        labels = [(name.lower(), (mark, field.lower())) for name, (mark, field) in labels]
    labels = draw(st.permutations([*labels, *((name, ("", "")) for name in helpers)]))
    names, roles = zip(*labels, strict=True)
    field = next(f for _, f in roles if f)
    limit = f'[[rule]]\ntemplate = "at_most_runs"\nfield = "{field}"\n'
    penalty = draw(st.sampled_from(["", "penalty = 1.5\n"]))
    rules = f'fields = ["{field}"]\n{VALID}{limit}{penalty}'
    numbers = st.integers(-8, 8).map(lambda n: n / 4)
    result = []
    for _ in range(draw(st.integers(1, 3))):
        T = draw(st.integers(1, 5))
        row = st.tuples(*(st.just(9.0) if name in helpers else numbers for name in names)).map(list)
        scores = draw(st.lists(row, min_size=T, max_size=T))
        result.append(Problem(scores, names, roles, rules, helpers))
    return result


@pytest.fixture(scope="module", autouse=True)
def _libraries():
    pytest.importorskip("spacy")


@settings(max_examples=examples(100, 6))
@given(problems())
def test_same_labelling(tmp_path_factory, capsys, problems):
    expected = [trellis(p) for p in problems]
    assert from_files(problems, tmp_path_factory.mktemp("files"), capsys) == expected
    for name, entrance in ENTRANCES.items():
        assert [entrance(p) for p in problems] == expected, name


BIO = ("O", "B-PER", "I-PER")
ROLES = (("O", ""), ("B", "PER"), ("I", "PER"))
ONE = 'fields = ["{0}"]\n[[rule]]\ntemplate = "at_most_runs"\nfield = "{0}"\n'
ZEROS = [[0.0, 0.0, 0.0]] * 2
REFUSED = {
    "no scheme": (Problem(ZEROS, ("O", "PER", "LOC"), ROLES, VALID), "valid_scheme"),
    "an undeclared helper": (Problem(ZEROS, ("B-PER", "I-PER", "[PAD]"), ROLES, VALID), r"never.*\[PAD\]"),
    "prefixes without a field": (Problem(ZEROS, ("O", "B", "I"), ROLES, VALID), "valid_scheme"),
    "a name given twice": (Problem(ZEROS, ("O", "B-PER", "B-PER"), ROLES, VALID), "'B-PER' is given twice"),
    "too few names": (Problem(ZEROS, ("O", "B-PER"), ROLES, ""), "3.*2|2.*3"),
    "a field of no label": (
        Problem(ZEROS, BIO, ROLES, '[[rule]]\ntemplate = "at_most_runs"\nfield = "LOC"\n'),
        'no field "LOC"',
    ),
    "a helper that is no label": (Problem(ZEROS, BIO, ROLES, "", ("[PAD]",)), r"\[PAD\]"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_same_error(case, tmp_path, capsys):
    problem, words = REFUSED[case]
    entrances = {**ENTRANCES, "files": lambda p: from_files([p], tmp_path, capsys)}
    if problem.never:
        del entrances["files"]  # an option serves models with other labels, too: a notice
    for name, entrance in entrances.items():
        with pytest.raises((ValueError, Refused)) as error:
            entrance(problem)
        assert re.search(words, str(error.value), re.DOTALL), (name, str(error.value))
