"""What other programs are given has the same optimum, and so have the files that are written for them."""

import signal
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from pandas import DataFrame
from support.tables import lines_of

import ilpinfer
from benchmarks.data.synthetic import document, document_rules, labels_of_size
from benchmarks.methods import CannotState
from benchmarks.report import Report
from benchmarks.studies.peers import constrained_hmm, constraint_program, newcomer, weighted_csp
from benchmarks.studies.peers.report import report as write
from benchmarks.study import Missing, require
from formulations import LabelSet, RuleSet, Trellis, load_rules
from formulations import constraints as C
from formulations.grid import nats
from formulations.problem.compiled_rules import compile_problem

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning")

LABELS = labels_of_size(7)
ONCE = RuleSet((C.at_most_runs(C.EACH_FIELD, 1),))
NEWCOMER_RULES = RuleSet(
    (
        *document_rules(LABELS, penalty=2.0),
        C.requires_present("author", "date", penalty=1.0),
        C.tag_at("booktitle", words=["Proc", "J"], penalty=1.5),
    )
)


def check(answer, trellis, rules) -> None:
    """It is worth the optimum, and claims so."""
    exact = pytest.approx(ilpinfer.decode(trellis, rules).score, abs=1e-4)
    assert answer.path is not None
    assert nats(compile_problem(trellis, rules).value(answer.path).score) == exact
    assert answer.claimed in (None, exact)


@pytest.mark.parametrize("seed", range(4))
def test_what_a_newcomer_writes_has_the_same_optimum(seed: int) -> None:
    trellis = document(9, seed, LABELS, 2.5)
    answer = newcomer.decode(trellis, NEWCOMER_RULES, 30.0)
    assert answer.proved and answer.claimed is not None
    check(answer, trellis, NEWCOMER_RULES)


def test_a_newcomer_writes_every_citation_rule() -> None:
    rules = load_rules("citations")
    labels = LabelSet(rules.fields)
    K, rng = len(labels), np.random.default_rng(0)
    tokens = ["Smith", ".", "pp", "1994", '"', "note", "NY", "tech", "Proc", "editors"]
    emissions, transitions = rng.normal(size=(len(tokens), K)), rng.normal(size=(K, K))
    trellis = Trellis.from_emissions(emissions, transitions, labels=labels, tokens=tokens)
    check(newcomer.decode(trellis, rules, 60.0), trellis, rules)


@pytest.mark.skipif(find_spec("cpmpy") is None, reason="cpmpy is not installed")
def test_cpmpy_has_the_same_optimum() -> None:
    trellis = document(9, 1, LABELS, 2.5)
    answer = constraint_program.decode(trellis, NEWCOMER_RULES, 30.0)
    assert answer.proved
    check(answer, trellis, NEWCOMER_RULES)


@pytest.mark.skipif(find_spec("pytoulbar2") is None, reason="pytoulbar2 is not installed")
@pytest.mark.parametrize("direct", [0, 40])
@pytest.mark.parametrize("seed", range(3))
def test_toulbar2_has_the_same_optimum(seed: int, direct: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(weighted_csp, "DIRECT", direct)
    sums = [C.exactly_tokens("author", 3, penalty=0.7), C.min_run_length("date", 2)]
    for rules in (NEWCOMER_RULES, ONCE, RuleSet(tuple(sums))):
        trellis = document(9, seed, LABELS, 2.5)
        answer = weighted_csp.decode(trellis, rules, 30.0)
        assert answer.proved and answer.claimed is not None
        check(answer, trellis, rules)


@pytest.mark.skipif(find_spec("pytoulbar2") is None, reason="pytoulbar2 is not installed")
def test_toulbar2_says_where_there_is_no_labelling() -> None:
    rules = RuleSet((C.exactly_tokens("author", 20),))
    answer = weighted_csp.decode(document(9, 0, LABELS, 1.0), rules, 30.0)
    assert answer.path is None
    assert answer.proved


@pytest.mark.skipif(find_spec("pytoulbar2") is None, reason="pytoulbar2 is not installed")
def test_no_timer_of_toulbar2_goes_on() -> None:
    weighted_csp.decode(document(9, 0, LABELS, 1.0), RuleSet(()), 30.0)
    assert signal.getitimer(signal.ITIMER_VIRTUAL) == (0.0, 0.0)


@pytest.mark.skipif(find_spec("conin") is None, reason="conin is not installed")
def test_conin_has_the_same_optimum_and_no_soft_rules() -> None:
    trellis = document(7, 1, LABELS, 1.5)
    for decode in (constrained_hmm.decode, constrained_hmm.search):
        check(decode(trellis, ONCE, 30.0), trellis, ONCE)
        with pytest.raises(CannotState, match="soft"):
            decode(trellis, document_rules(LABELS), 30.0)


def test_peers_name_what_they_cannot_state() -> None:
    trellis = document(7, 1, LABELS, 1.5)
    with pytest.raises(CannotState, match="my rule"):
        newcomer.decode(trellis, RuleSet((C.ends_with("date", penalty=1.0, name="my rule"),)), 5.0)


def test_a_package_that_is_not_installed_is_named() -> None:
    with pytest.raises(Missing, match="no_such_package"):
        require("pulp", "no_such_package")


def test_the_report_has_ratios_and_reasons(tmp_path: Path) -> None:
    about = {"part": "pulp", "data": "cora 20", "first": 0, "T": 9, "K": 7}
    auto = {"method": "auto", "status": "optimal", "proved": True}
    bare = {"method": "bare Viterbi pass", "status": "without rules", "seconds": 0.0005}
    rows = [
        about | auto | {"item": "1", "seconds": 0.001},
        about | auto | {"item": "2", "seconds": 0.003},
        *(about | bare | {"item": item} for item in "12"),
        about | {"method": "pulp", "item": "1", "seconds": 0.5, "status": "optimal"},
        about | {"method": "pulp", "item": "2", "status": "cannot state", "note": "my rule"},
    ]
    report = Report(tmp_path)
    write(DataFrame(rows), report)
    lines = lines_of(report)
    assert "| PuLP, rule by rule | Cora references, citation rules | 1 of 1 | 500 | 500 | 1000 |" in lines
    assert (
        "| PuLP, rule by rule | Cora references, citation rules | cannot state: my rule | 1 of 2 |" in lines
    )
    assert "on 1 of the 1 instances" in report.markdown()
