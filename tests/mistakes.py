"""Right and wrong uses of the public interface, for type checkers; it is never run."""

from collections.abc import Iterator

import ilpinfer
from formulations import Program, Rule, Trellis, formulate
from formulations import constraints as C
from ilpinfer.learning import MinedRules, RuleMiner

trellis = Trellis([0.0, -1.0], [], labels=["a", "b"])
rules: list[Rule] = [C.at_most_runs("a", 1, penalty=0.5)]
solution: ilpinfer.Solution = ilpinfer.decode(trellis, rules, time_limit=1.0)
several: list[ilpinfer.Solution] = ilpinfer.decode(trellis, rules, method="beam", top=3, width=20)
stream: Iterator[ilpinfer.Solution] = ilpinfer.decode_many([trellis], rules, on_error="row")
phases: ilpinfer.TwoPhaseSolution = ilpinfer.decode_two_phase(trellis, rules, 0.9, "odds")
decoder = ilpinfer.Decoder(rules, method="evolutionary", offspring=5)
best: ilpinfer.Solution = decoder.decode(trellis)
text: str = solution.status
proved: bool = solution.status is ilpinfer.Status.OPTIMAL
program: Program = formulate(trellis, rules, program="two-phase", tau=0.8, best_score=-1.0)
names: list[str] = program.standard().labelling({"x[0,START,a]": 1.0})
verdict: ilpinfer.Verdict = ilpinfer.verify(trellis, rules, solution)
mined: MinedRules = RuleMiner(["one-run"], confidence="cross-validated").fit([(["x"], ["a"])])


class OfOnesOwn(C.Template):
    field: str
    n: int = 1

    def trials(self, reading: object) -> list[C.Trial]:
        return []


of_ones_own = C.template(OfOnesOwn)
rules += [
    of_ones_own("a", 2, penalty=1),
    C.at_most_runs("title", 1, penalty=2),
    C.tag_at("journal", words=["a"], previous=C.tokens(["x"]), name="n", scope="each label", reason="r"),
    C.should_be_tagged(-1, "title", distance="count", partial="forced"),
    C.exactly_tokens(["a", C.group("b", ["c"])], 2),
    C.matches("a+", over="runs", groups=[C.group("a", ["b"])]),
    C.tag_sequence("c", [C.tokens(["a"]), C.tokens(["b"])]),
    C.changes_only_after(),
]

ilpinfer.decode(trellis, rules, methd="auto")  # mistake
ilpinfer.decode(trellis, rules, width="wide")  # mistake
ilpinfer.decode(trellis, rules, method="lds", variant="popular")  # mistake
ilpinfer.decode(trellis, rules, top="3")  # mistake
ilpinfer.decode(trellis, rules).scores  # mistake
ilpinfer.decode(trellis, rules, top=2).labels  # mistake
ilpinfer.decode_many([trellis], rules, on_error="skip")  # mistake
ilpinfer.decode_two_phase(trellis, rules, 0.9, "absolute")  # mistake
ilpinfer.Decoder(rules, tenur=5)  # mistake
ilpinfer.Status.SOLVED  # mistake
ilpinfer.prove(trellis, solution, rules)  # mistake
ilpinfer.no_such_function(trellis)  # mistake
C.at_most_runs("title", tipo=3)  # mistake
C.at_most_runs("title", 1, penalty="high")  # mistake
C.at_most_runs("title", "one")  # mistake
C.at_most_runs()  # mistake
C.at_most_runs("title", 1, 2.0)  # mistake
C.between_runs("title", low=1)  # mistake
C.should_be_tagged("last", "title")  # mistake
C.tag_at("journal", token_class="yeer")  # mistake
C.matches("a+", over="rums")  # mistake
C.changes_only_after("a")  # mistake
number: int = C.at_most_runs("title")  # mistake
of_ones_own("a", m=2)  # mistake
C.requires_before("author")  # mistake
C.at_most_runs("title", 1).penaltys  # mistake
Trellis([0.0], [], label=["a"])  # mistake
formulate(trellis, rules, program="softer")  # mistake
formulate(trellis, rules, fold=True)  # mistake
program.write("x.lp", unit="grid")  # mistake
program.labelling("optimal", 1)  # mistake
RuleMiner(pruning="some")  # mistake
RuleMiner(supports=3)  # mistake
mined.entries[0].penalty  # mistake
