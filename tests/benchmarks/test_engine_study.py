"""The study of the engine against its rivals, on the parts that need no corpora."""

import json
from pathlib import Path

import numpy as np
import pytest

import ilpinfer
from benchmarks import __main__ as program
from benchmarks.data import corpora
from benchmarks.data.generated import SHARE, TOLERANCE, noise_for
from benchmarks.data.sets import Item, spread
from benchmarks.data.synthetic import document, document_rules, labels_of_size
from benchmarks.engine import agreement, constrained_hmm, figures, newcomer, summary, weighted_csp
from benchmarks.engine.peers import CannotState, is_installed
from benchmarks.journal import Journal
from benchmarks.study import Disagreement
from formulations import LabelSet, RuleSet, load_rules
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


@pytest.fixture(scope="module")
def output(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("study")
    assert (
        program.main(
            ["run", "engine", "--scale", "smoke", "--parts", "generator,extra", "--output", str(folder)]
        )
        == 0
    )
    return folder


def test_a_tiny_study_writes_rows_tables_and_pictures(output: Path) -> None:
    result = json.loads((output / "summary.json").read_text("utf-8"))
    sets = result["data sets"]
    assert list(sets) == ["generator 12 5", "generator 24 5"]
    for one in sets.values():
        assert one["proved"] == 1.0
        assert one["all"]["auto"]["total / auto"] == 1.0
        assert {"viterbi", "beam 10", "cbc", "pulp"} <= one["all"].keys()
    assert "99th percentile" in (output / "results.txt").read_text("utf-8")
    assert (output / "cost.png").stat().st_size > 10_000


def test_what_is_measured_once_is_there(output: Path) -> None:
    extra = json.loads((output / "summary.json").read_text("utf-8"))["extra"]
    assert extra["anytime"]["calls"] == len(extra["anytime"]["late_ms"])
    assert extra["memory"]["peak_mib"] >= extra["memory"]["before_mib"] > 0


def test_an_interrupted_study_goes_on(output: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = output / "rows.jsonl"
    lines = rows.read_text("utf-8").splitlines()
    rows.write_text("\n".join(lines[:-3]) + "\n" + lines[-3][:20], "utf-8")
    ran = []
    monkeypatch.setattr("benchmarks.engine.running.warm_up", lambda method, data: ran.append(method))
    assert (
        program.main(
            ["run", "engine", "--scale", "smoke", "--parts", "generator,extra", "--output", str(output)]
        )
        == 0
    )
    assert len(ran) <= 1
    assert len(rows.read_text("utf-8").splitlines()) == len(lines)


def test_rows_of_other_code_are_not_kept(tmp_path: Path) -> None:
    row = {"data": "d", "item": "1", "method": "auto"}
    first = Journal(tmp_path / "rows.jsonl", {"code": "a"})
    first.add(row)
    first.close()
    again = Journal(tmp_path / "rows.jsonl", {"code": "a"})
    again.close()
    assert again.has("d", "1", "auto")
    other = Journal(tmp_path / "rows.jsonl", {"code": "b"})
    other.close()
    assert not other.rows


def test_unknown_and_missing_parts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    where = ["--output", str(tmp_path)]
    assert program.main(["run", "engine", "--parts", "nothing", *where]) == 2
    assert "nothing" in capsys.readouterr().err
    assert program.main(["run", "engin", *where]) == 2
    assert 'did you mean "engine"' in capsys.readouterr().err
    assert program.main(["report", "engine", *where]) == 2
    assert "no rows" in capsys.readouterr().err
    arguments = ["run", "engine", "--scale", "smoke", "--parts", "cora", "--data", str(tmp_path), *where]
    assert program.main(arguments) == 0
    assert "left out" in capsys.readouterr().err


@pytest.mark.parametrize("seed", range(4))
def test_what_a_newcomer_writes_has_the_same_optimum(seed: int) -> None:
    trellis = document(9, seed, LABELS, 2.5)
    answer = newcomer.decode(trellis, NEWCOMER_RULES, 30.0)
    exact = ilpinfer.decode(trellis, NEWCOMER_RULES)
    assert answer.proved
    assert answer.claimed == pytest.approx(exact.score, abs=1e-4)
    assert answer.path is not None
    assert _score(trellis, NEWCOMER_RULES, answer.path) == pytest.approx(exact.score, abs=1e-4)


def test_a_newcomer_writes_every_citation_rule() -> None:
    rules = load_rules("citations")
    labels = LabelSet(tuple(f"{prefix}-{field}" for field in rules.fields for prefix in "BI"))
    rng = np.random.default_rng(0)
    tokens = ["Smith", ".", "pp", "1994", '"', "note", "NY", "tech", "Proc", "editors"]
    trellis = document(len(tokens), 0, labels, 2.0)
    trellis = type(trellis).from_emissions(
        rng.normal(size=(len(tokens), len(labels))),
        rng.normal(size=(len(labels),) * 2),
        labels=labels,
        tokens=tokens,
    )
    answer, exact = newcomer.decode(trellis, rules, 60.0), ilpinfer.decode(trellis, rules)
    assert answer.claimed == pytest.approx(exact.score, abs=1e-4)


@pytest.mark.skipif(not is_installed("toulbar2"), reason="pytoulbar2 is not installed")
@pytest.mark.parametrize("direct", [0, 40])
@pytest.mark.parametrize("seed", range(3))
def test_toulbar2_has_the_same_optimum(seed: int, direct: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(weighted_csp, "DIRECT", direct)
    sums = [C.exactly_tokens("author", 3, penalty=0.7), C.min_run_length("date", 2)]
    for rules in (NEWCOMER_RULES, ONCE, RuleSet(tuple(sums))):
        trellis = document(9, seed, LABELS, 2.5)
        answer, exact = weighted_csp.decode(trellis, rules, 30.0), ilpinfer.decode(trellis, rules)
        assert answer.proved
        assert answer.claimed == pytest.approx(exact.score, abs=1e-4)
        assert answer.path is not None
        assert _score(trellis, rules, answer.path) == pytest.approx(exact.score, abs=1e-4)


@pytest.mark.skipif(not is_installed("toulbar2"), reason="pytoulbar2 is not installed")
def test_toulbar2_says_where_there_is_no_labelling() -> None:
    answer = weighted_csp.decode(
        document(9, 0, LABELS, 1.0), RuleSet((C.exactly_tokens("author", 20),)), 30.0
    )
    assert answer.path is None
    assert answer.proved


@pytest.mark.skipif(not is_installed("conin"), reason="conin is not installed")
def test_conin_has_the_same_optimum_and_no_soft_rules() -> None:
    trellis = document(7, 1, LABELS, 1.5)
    exact = ilpinfer.decode(trellis, ONCE)
    for decode in (constrained_hmm.decode, constrained_hmm.search):
        answer = decode(trellis, ONCE, 30.0)
        assert answer.path is not None
        assert _score(trellis, ONCE, answer.path) == pytest.approx(exact.score, abs=1e-4)
        with pytest.raises(CannotState, match="soft"):
            decode(trellis, document_rules(LABELS), 30.0)


def test_rivals_name_what_they_cannot_state() -> None:
    trellis = document(7, 1, LABELS, 1.5)
    with pytest.raises(CannotState, match="my rule"):
        newcomer.decode(trellis, RuleSet((C.ends_with("date", penalty=1.0, name="my rule"),)), 5.0)


def test_disagreements_are_named() -> None:
    exact = {"data": "d", "item": "1", "method": "auto", "status": "optimal", "score": 1.0, "bound": 1.0}
    agreement.check({**exact, "method": "cbc", "score": 1.0005}, exact)
    with pytest.raises(Disagreement, match="cbc found"):
        agreement.check({**exact, "method": "cbc", "score": 1.1, "bound": 1.1}, exact)
    with pytest.raises(Disagreement, match="cbc claims"):
        agreement.check({**exact, "method": "cbc", "score": 0.9, "bound": 0.9}, exact)
    with pytest.raises(Disagreement, match="is worth"):
        agreement.check({**exact, "method": "pulp", "claimed": 2.0}, exact)


def test_noise_makes_half_of_the_viterbi_labellings_break_a_rule() -> None:
    noise, share = noise_for(24, 5)
    assert abs(share - SHARE) <= TOLERANCE
    assert noise_for(24, 5) == (noise, share)


@pytest.mark.parametrize(("T", "K"), [(12, 5), (60, 13), (200, 27)])
def test_planted_documents_keep_their_rules(T: int, K: int) -> None:
    labels = labels_of_size(K)
    assert len(labels) == K
    for seed in range(5):
        solution = ilpinfer.decode(document(T, seed, labels, 0.0), document_rules(labels), method="viterbi")
        assert not any(solution.violations.values())


def test_mined_penalties_are_log_odds() -> None:
    """Of two kinds of sequences, 60 each; fields that never occur together would do so 30 times, were they independent."""
    one, other = (("x", "x"), ("B-a", "B-b")), (("x",), ("B-c",))
    mined = {rule.title: rule.penalty for rule in corpora.soft_rules([one, other] * 60, 100)}
    assert mined["requires_present(a, b)"] == pytest.approx(np.log(60.5 / 0.5))
    assert mined["requires_before(a, b)"] == pytest.approx(np.log(60.5 / 0.5))
    assert mined["never_together(a, c)"] == pytest.approx(np.log(30.5 / 0.5))
    assert [rule.title for rule in corpora.implications([one, other] * 6, 1)] == ["requires_present(a, b)"]


def test_a_sample_is_spread_evenly() -> None:
    items = tuple(Item(str(number), lambda: document(4, 0, LABELS, 0.0)) for number in range(10))
    assert [item.key for item in spread(items, 4)] == ["0", "2", "5", "7"]
    assert spread(items, 20) == items


def test_a_slope_is_the_exponent() -> None:
    assert summary.slope({T: 3e-6 * T**1.5 for T in (120, 240, 960)}) == pytest.approx(1.5)


def test_bounds_are_drawn_where_they_are_reported(tmp_path: Path) -> None:
    rows: list[dict[str, object]] = []
    traces = [[(0.001, None, 5.0), (0.002, 1.0, 4.0), (0.01, 2.0, 2.0)]]
    assert figures.draw(rows, {"extra": {"bounds": {"traces": traces}}}, tmp_path) == ["bounds.png"]


def _score(trellis, rules, path) -> float:
    return nats(compile_problem(trellis, rules).value(path).score)
