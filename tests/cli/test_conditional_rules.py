"""Commands under rules that hold for some sequences only, against each class of sequences by itself with its own rules."""

import json
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from support import cbc
from support.service import post

from ilpinfer import Decoder, RuleSet, dump_rules
from ilpinfer import constraints as C
from ilpinfer.core.rule_compiler import compiler_of
from ilpinfer.corpus.sequences import read
from ilpinfer.pipelines.scored_stream import by_rules
from ilpinfer.pipelines.trellises import score

RULES = RuleSet(
    (
        C.at_most_runs("a", 1, penalty=0.4),
        C.at_least_tokens("b", 2, when="intent = flight"),
        C.at_least_tokens("b", 2, penalty=3.0, when="intent != flight"),
        C.at_most_tokens("b", 1, penalty=1.5, when="intent = fare"),
        C.starts_with("a", when="intent = flight"),
    ),
    fields=("a", "b"),
)
KINDS = {"flight": {"intent": "flight"}, "fare": {"intent": "fare"}, "none": {}}


@pytest.fixture(scope="module")
def records():
    random = np.random.default_rng(3)
    result = []
    for kind in random.permutation(np.repeat([*KINDS], 8)):
        T = int(random.integers(3, 6))
        result.append(
            {
                "tokens": [f"w{t}" for t in range(T)],
                "label_names": ["a", "b"],
                "labels": random.choice(["a", "b"], T).tolist(),
                "emissions": random.normal(size=(T, 2)).round(2).tolist(),
                "transitions": random.normal(size=(2, 2)).round(2).tolist(),
                "metadata": KINDS[kind],
            }
        )
    return result


@pytest.fixture
def places(here, records):
    """The places of each class; each is a corpus with its own rules, beside the whole one."""
    places = {kind: [n for n, one in enumerate(records) if one["metadata"] == KINDS[kind]] for kind in KINDS}
    for name, own, rules in (
        ("all", range(len(records)), RULES),
        *((kind, places[kind], RULES.of(KINDS[kind])) for kind in KINDS),
    ):
        Path(f"{name}.jsonl").write_text("".join(json.dumps(records[n]) + "\n" for n in own))
        Path(f"{name}.toml").write_text(dump_rules(rules))
    return places


def lines(path):
    return [json.loads(line) for line in Path(path).read_text().splitlines()]


def decoded(cli, name):
    cli.done(f"decode {name}.jsonl --rules {name}.toml --output {name}.out.jsonl")
    return lines(f"{name}.out.jsonl")


def of_results(row):
    return {key: row[key] for key in ("status", "labels", "score", "penalty", "violations")}


@pytest.mark.parametrize("jobs", [1, 2])
def test_reprocess(cli, places, jobs):
    cli.done(f"reprocess all.jsonl --rules all.toml --output all --shard-size 7 --jobs {jobs}")
    rows = [row for path in sorted(Path("all").glob("*.parquet")) for row in pq.read_table(path).to_pylist()]
    for kind, own in places.items():
        for place, row in zip(own, decoded(cli, kind), strict=True):
            found = rows[place]
            assert (found["labels"], found["score"]) == (row["labels"], row["score"])


def test_compare(cli, places):
    for name in ("all", *places):
        cli.done(
            f"compare {name}.jsonl --rules {name}.toml --methods auto,beam:width=2,viterbi --output {name}"
        )
    keys = ("method", "status", "labels", "score", "penalty", "violations", "gold_score", "error")
    rows = {name: lines(f"{name}/results.jsonl") for name in ("all", *places)}
    every = {(row["sequence"], row["method"]): row for row in rows["all"]}
    known = [key for key in keys if key in rows["all"][0]]
    assert len(known) > 5 and len(every) == 3 * sum(map(len, places.values()))
    for kind, own in places.items():
        for row in rows[kind]:
            found = every[own[row["sequence"]], row["method"]]
            assert {key: found[key] for key in known} == {key: row[key] for key in known}
    assert "report.html" in {path.name for path in Path("all").iterdir()}


def test_a_comparison_of_other_metadata_is_not_continued(cli, places):
    line = "compare all.jsonl --rules all.toml --methods auto --output out"
    cli.done(line)
    before = lines("out/results.jsonl")
    changed = [{**one, "metadata": {"intent": "fare"}} for one in lines("all.jsonl")]
    Path("all.jsonl").write_text("".join(json.dumps(one) + "\n" for one in changed))
    cli(line)
    cli.done("decode all.jsonl --rules all.toml --output again.jsonl")
    expected = [row["score"] for row in lines("again.jsonl")]
    assert [row["score"] for row in lines("out/results.jsonl")] == expected
    assert [row["score"] for row in before] != expected


def reports(cli, name):
    return json.loads(cli.done(f"check {name}.toml {name}.jsonl --json").out)


def test_check(cli, places):
    every = reports(cli, "all")
    assert [each["sequences"] for each in every] == [24, 8, 8, 8, 8]
    own = {kind: reports(cli, kind) for kind in places}
    counts = ("sequences", "broken", "violations", "applies", "holds", "breaks", "applicable")
    for key in counts:
        assert every[0][key] == sum(own[kind][0][key] for kind in places)
    for place, kind, at in ((1, "flight", 1), (2, "fare", 1), (3, "fare", 2), (4, "flight", 2)):
        expected = own[kind][at]
        for key in (*counts, "penalty", "suggested_penalty", "share"):
            assert every[place][key] == expected[key]
        assert [each["tokens"] for each in every[place]["breaches"]] == [
            each["tokens"] for each in expected["breaches"]
        ]


def test_relations_of_rules_that_hold_for_the_same_sequences_alone(here, cli):
    rules = RuleSet(
        (
            C.at_least_tokens("b", 1, when="intent = flight"),
            C.at_least_tokens("b", 2, when="intent = fare"),
            C.at_least_tokens("b", 3),
            C.at_most_tokens("b", 1, when="intent = fare"),
        ),
        fields=("a", "b"),
    )
    Path("rules.toml").write_text(dump_rules(rules))
    gold = [
        {"tokens": list("wxyz"), "labels": list("abab"), "metadata": {"intent": intent}}
        for intent in ("flight", "fare")
    ]
    Path("gold.jsonl").write_text("".join(json.dumps(one) + "\n" for one in gold))
    found = json.loads(cli.done("check rules.toml gold.jsonl --json").out)
    names = [each["rule"] for each in found]
    implied = [[names.index(name) for name in each["implied_by"]] for each in found]
    against = [[names.index(name) for name in each["contradicts"]] for each in found]
    assert implied == [[2], [2], [], []] and against == [[], [3], [3], [1, 2]]


def test_check_writes_rules_with_their_conditions(cli, places):
    cli.done("check all.toml all.jsonl --write new.toml")
    assert 'when = "intent = fare"' in Path("new.toml").read_text()
    assert "at_least_tokens" in cli.done("check all.toml").out


def test_evaluate(cli, places):
    def rows(name):
        decoded(cli, name)
        line = f"evaluate {name}.out.jsonl {name}.jsonl --rules {name}.toml --json"
        return json.loads(cli.done(line).out)["rules"]

    every, own = rows("all"), {kind: rows(kind) for kind in places}
    for side in ("gold", "predicted"):
        for key in ("sequences", "broken", "violations"):
            assert every[0][side][key] == sum(own[kind][0][side][key] for kind in places)
        for place, kind, at in ((1, "flight", 1), (2, "fare", 1), (3, "fare", 2), (4, "flight", 2)):
            assert every[place][side] == own[kind][at][side]
    assert any(row["gold"]["broken"] for row in every[1:])


@pytest.mark.parametrize("command", ["check all.toml", "evaluate all.out.jsonl --rules all.toml"])
def test_files_without_metadata_are_a_notice(cli, places, records, command):
    bare = [{key: one[key] for key in ("tokens", "labels")} for one in records]
    for name in ("bare", "all.out"):
        Path(f"{name}.jsonl").write_text("".join(json.dumps(one) + "\n" for one in bare))
    said = "when: no sequence has intent in its metadata, so rules on it are never applied"
    assert cli.done(f"{command} bare.jsonl").err.count(said) == 1
    assert said not in cli.done(f"{command} all.jsonl").err


def test_evaluate_knows_the_metadata_of_either_file(cli, places, records):
    decoded(cli, "all")
    bare = [{key: one[key] for key in ("tokens", "labels")} for one in records]
    Path("bare.jsonl").write_text("".join(json.dumps(one) + "\n" for one in bare))
    found = [
        json.loads(cli.done(f"evaluate all.out.jsonl {gold}.jsonl --rules all.toml --json").out)["rules"]
        for gold in ("all", "bare")
    ]
    assert found[0] == found[1]


@pytest.mark.parametrize("options", ["", "--format wcsp", "--program hard", "--program two-phase"])
def test_export(cli, places, options):
    for name in ("all", *places):
        cli.done(f"export {name}.jsonl --rules {name}.toml --output {name} {options}")
    end = "wcsp" if "wcsp" in options else "lp"
    for kind, own in places.items():
        for at, place in enumerate(own, 1):
            whole = Path(f"all/{place + 1:04}.{end}").read_text()
            assert whole == Path(f"{kind}/{at:04}.{end}").read_text()


def test_solutions_are_checked_against_the_program_of_their_sequence(cli, places):
    cli.done("export all.jsonl --rules all.toml --output all")
    for file in Path("all").glob("*.lp"):
        cbc.run(file, file.with_suffix(".sol"))
    found = json.loads(cli.done("export all.jsonl --rules all.toml --check all --json").out)
    assert [each["score"] for each in found] == [row["score"] for row in decoded(cli, "all")]
    assert all(each["claim_agrees"] and each["status"] == "optimal" for each in found)


def test_references(cli, places):
    for name in ("all", *places):
        cli.done(f"reference make {name}.jsonl --rules {name}.toml --output {name}.references.jsonl")
    cli.done("reference verify all.references.jsonl")
    every = {one["name"]: one for one in lines("all.references.jsonl")}
    for kind, own in places.items():
        for one, place in zip(lines(f"{kind}.references.jsonl"), own, strict=True):
            assert every[f"all.jsonl, line {place + 1}"]["levels"] == one["levels"]


def test_serve(cli, places, records):
    expected = decoded(cli, "all")
    sent = [{key: value for key, value in one.items() if key != "labels"} for one in records]
    for decoder in (Decoder(RULES), Decoder(RULES, labels=["a", "b"])):
        results = post(decoder, "/batch", {"sequences": sent}).json()["results"]
        assert list(map(of_results, results)) == list(map(of_results, expected))
    for record, row in zip(sent[:6], expected, strict=False):
        answer = post(Decoder(()), "/decode", {**record, "rules": dump_rules(RULES)}).json()
        assert of_results(answer) == of_results(row)
        assert answer["metadata"] == record["metadata"]


def test_the_workers_of_decode_are_one(cli, places):
    said = cli.refused("decode all.jsonl --rules all.toml --jobs 2 --output out.jsonl")
    assert "all.toml: rule 'at_least_tokens(b, 2)' holds only where intent = flight: --jobs 2: " in said
    assert not Path("out.jsonl").exists()


@pytest.mark.parametrize(
    "line",
    [
        "train all.jsonl --held-out all.jsonl --rules all.toml --output m.json",
        "learn all.jsonl --rules all.toml --output r.toml",
        "codl all.jsonl all.jsonl --rules all.toml --output m.json",
        "decode all.jsonl --rules-first --model no.json --rules all.toml",
    ],
)
def test_commands_that_know_no_metadata_refuse_conditions(cli, places, line):
    said = cli.refused(line)
    assert "all.toml: rule 'at_least_tokens(b, 2)' holds only where intent = flight: " in said
    assert "rules.of" not in said


def test_a_resumed_run_has_met_the_keys_of_the_sequences_before(cli, places):
    head = lines("all.jsonl")[:2]
    bare = [{**one, "metadata": {}} for one in lines("all.jsonl")[2:6]]
    text = "".join(json.dumps(one) + "\n" for one in [{**head[0], "metadata": {"intent": "fare"}}, *bare])
    Path("x.jsonl").write_text(text)
    line = "decode x.jsonl --rules all.toml --output out.jsonl"
    assert "no sequence has" not in cli.done(line).err
    rows = Path("out.jsonl").read_text().splitlines(keepends=True)
    for kept in (1, 3, 5):
        Path("out.jsonl").unlink(missing_ok=True)
        Path("out.jsonl.part").write_text("".join(rows[:kept]))
        ended = cli.done(line)
        assert "no sequence has" not in ended.err
        assert [row["score"] for row in lines("out.jsonl")] == [json.loads(row)["score"] for row in rows]


def test_sequences_that_follow_each_other_under_the_same_rules_are_decoded_together(places):
    scored = score(read("all.jsonl"), None)
    kinds, seen = [], []
    for metadata, some in by_rules(iter(scored), RULES):
        trellises = list(some)
        assert [item.trellis for item in some.waiting] == trellises and not some.paused
        seen += trellises
        kinds.append((RULES.holding(metadata), len(trellises)))
    assert seen == [item.trellis for item in scored]
    assert all(one[0] != two[0] for one, two in zip(kinds, kinds[1:], strict=False))
    assert max(size for _, size in kinds) > 1


def test_sequences_are_read_when_they_are_needed(places):
    class Live:
        """A stream that has to be waited for."""

        def __init__(self):
            self.items, self.read, self.paused = iter(score(read("all.jsonl"), None)), 0, True

        def __iter__(self):
            return self

        def __next__(self):
            self.read += 1
            return next(self.items)

    live, number = Live(), 0
    for metadata, trellises in by_rules(live, RULES):
        for solution in Decoder(RULES).of(metadata).decode_many(trellises):
            number += 1
            assert solution.status == "optimal" and live.read == number and trellises.paused
    assert number == 24


def test_rules_are_compiled_once_for_each_class():
    compiler, decoder = compiler_of(RULES), Decoder(RULES, labels=["a", "b"])
    for metadata in KINDS.values():
        own = compiler.of(metadata)
        assert own is compiler.of({**metadata, "page": 3}) and own.rules is RULES.of(metadata)
        assert own.of(metadata) is own
        assert decoder.of(metadata).labels == decoder.labels
        assert decoder.of(metadata).rules is RULES.of(metadata)
    assert Decoder(()).of({"intent": "fare"}).rules == RuleSet(())


def test_errors_of_rules_of_any_class_are_found_at_the_start():
    with pytest.raises(ValueError, match="c"):
        Decoder(RuleSet((C.at_most_runs("c", 1, when="x = y"),)), labels=["a", "b"])


def test_nested_spans(here, cli):
    rules = RuleSet((C.at_most_runs("P/Q", 0, when="kind = a"), C.at_most_runs("Z", 0, when="kind = b")))
    spans = [[0, 3, "P", 0.9], [0, 1, "Q", 0.8], [4, 5, "Q", 0.7]]
    kinds = ["a", "b", "a", "", "b"]
    records = [
        {"tokens": ["x"] * 5, "candidates": spans, "metadata": {"kind": kind} if kind else {}}
        for kind in kinds
    ]
    Path("x.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    Path("rules.toml").write_text(dump_rules(rules))
    line = "decode x.jsonl --nested --rules rules.toml --output out.jsonl"
    said = cli.done(line).err
    assert said.count("notice") == 1 and "no text has a candidate for Z: counted as absent" in said
    rows = Path("out.jsonl").read_text().splitlines(keepends=True)
    assert [len(json.loads(row)["spans"]) for row in rows] == [2 if kind == "a" else 3 for kind in kinds]
    Path("rules.toml").write_text(dump_rules(RuleSet((rules.items[0],))))
    Path("bare.jsonl").write_text(json.dumps({**records[0], "candidates": []}) + "\n")
    Path("x.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records[:1] * 2))
    with Path("x.jsonl").open("a") as stream:
        stream.write(Path("bare.jsonl").read_text())
    Path("out.jsonl").unlink()
    assert "notice" not in cli.done(line).err
    Path("out.jsonl").rename("whole.jsonl")
    Path("out.jsonl.part").write_text("".join(Path("whole.jsonl").read_text().splitlines(keepends=True)[:2]))
    assert "notice" not in cli.done(line).err
    assert len(lines("out.jsonl")) == 3
