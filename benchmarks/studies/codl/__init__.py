"""Models from few labelled sequences, a pool of unlabelled ones and rules, and what rules add in the end."""

from benchmarks.studies.codl import cells
from benchmarks.studies.codl.report import WRITERS
from benchmarks.study import Study

STUDY = Study(
    title="Constraint-driven learning",
    source="Chang, Ratinov, Roth 2007: Table 2 (a)",
    corpus="Cora references; each draw takes N at random to learn from, and 100 others to measure on. The pool has 1000 citations "
    "of Rexa (Table 2 (a)), or the other references",
    model="HMMs. Plain: a state for each field, words in lower case, which the paper does not mention; best: fields begin and end, and numbers, initials "
    "and months are read alike",
    rules="`citations`, 9.21 nats each; labels of the best HMM keep their scheme in every column",
    methods="H: hard EM; W: weighted with the supervised model, which has γ = 0.9 (and 0.1) as the paper does not say what its γ = 0.1 "
    "multiplies; C: rules in the E-step; 5 cycles; top 50: fifty exact labellings a sequence, where the paper has a beam. Probabilities "
    "are mixed, in other settings counts, as `CODL` does. Rules in the end: exact decoding",
    limits="none; every optimum is rechecked",
    seeds="the number of the draw; 1, 3, 20 draws at the three scales. Smoke: N = 5, pools and tests of 10. Sample: Table 2 whole, "
    "elsewhere N = 5 and 20; all settings at N = 20. Full: N = 5, 10, 15, 20, 25, and both HMMs",
    measures="right tokens, F1 of exact spans and whole sequences in per cent, without and with rules in the end",
    stand_ins="the 1000 unlabelled citations of the paper (Grenager et al. 2005) are Rexa citations here, and its draws are others. Why hard EM "
    "stays below the published figures (72.3 against 82.4 % at N = 20 with rules in the end) we do not know; the pool is one difference. "
    "Table 2 (b) is not repeated: the apartment advertisements are not public",
    parts=cells.PARTS,
    cells=cells.cells,
    measure=cells.measure,
    report=WRITERS,
)
