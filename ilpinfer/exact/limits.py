"""All limits and thresholds of the engine. Modules read them as `limits.NAME`. They affect only speed, and which problems stay open.

A pass is one of Viterbi's over a sequence; a step is one from a prefix, or a joint state, to the next token.
"""

from ilpinfer.kernels.native import kernels

# One call of the kernels for one sequence.
PASSES = 30
"""Passes: what label setting may take for each token. Later stages cost more, but they need not repeat this work."""
LEAST_STEPS = 2**22
"""Steps that any sequence may take: later stages have larger costs of their own before they begin."""
EFFORT = 8
"""Factor of both for a list of labellings, for which other methods take hundreds of times as long."""
LIST_PASSES, LIST_STEPS = EFFORT * PASSES, EFFORT * LEAST_STEPS
"""Passes and steps of a list of labellings of one ground problem."""
FIRST_SHARE = 64
"""The first attempt of a list, before machines are multiplied, has 1 / FIRST_SHARE of the steps: many lists need no more."""
WATCHED_SHARES = (0.0, *(2.0**-k for k in (16, 14, 12, 10, 8, 6, 4, 2, 0)))
"""Shares of the limits in successive calls with a callback; without one there is a single call."""
DIRECT = 2**17
"""Slots of the largest direct index of label setting; beyond, keys are hashed, since the index would leave the cache."""
KERNEL_SHARE = 1 / 10
"""Share of a time limit for label setting, so that passes and products, which have no limit of their own, end in time."""
STEPS_PER_SECOND = 2e8
"""Steps per second of kernels on a slow machine; it turns seconds that are left into steps."""
IMPORT_SECONDS = 1.0
"""Seconds that the first import of `scipy.optimize` in a process may take on a busy machine."""

# Tables of compiled rules.
MOST_POOLS = 8
"""Pools of edge scores for which tables are kept: more would fill memory."""
MOST_SCORES = 2**22
"""Scores of tokens, or of their classes, beyond which new tables are made; an eighth of it for a pool that is kept."""
MOST_ENTRIES = 2**24
"""Entries of the steps of all components, beyond which components have machines only where a labelling breaks them: memory."""
MOST_SYMBOLS = 256
"""Joint symbols beyond which those that never occur are left out: tables would be long."""
SECONDS_AN_ENTRY = 2e-7
"""Seconds to pack a machine for a token, on a slow machine: a time limit is seen before the work begins."""

# Beams.
BEAM, BEAMS = 30, 6
"""Prefixes at a token, and beams; each includes the rules that the last one broke. Wider ones find little more."""

# Products of many machines.
LARGEST_PRODUCT = 2**24
"""Values of the recursion over a product: memory."""
LARGEST_SEARCH = 2**22
"""Prefixes of a search that such a product bounds, fewer where their keys are long: memory."""
STEPS_OF_TOKEN, STEPS_OF_CHECK = 2**24, 2**29
"""Steps through a product into one token, and into all: the checker of certificates refuses more."""
KEYS_OF_TOKEN, KEYS_OF_CHECK = 2**23, 2**27
"""States of machines of all prefixes at one token, and at all: the checker refuses more."""
FIRST_STEP = kernels.FIRST_STEP
"""Grid units from the bound down to the first floor, the same as in the kernels."""
GROWTH, MOST_SEARCHES = 2, 16
"""Factor to the next such distance, since most searches are short, and searches at most."""
SUMS_INSIDE = 1024
"""Joint states of a product with sums that have multipliers: the others need the room more."""
PARTS = 64
"""Parts of the gap after a linear relaxation, the first of which is searched first: its bound is often nearly tight."""
WORK_PER_CALL = 500_000
"""Steps of label setting between two looks at the clock: a few milliseconds."""
MOST_PREFIXES = 2**25
"""Prefixes of any other search: memory."""
MOST_INSIDE, MOST_WORK = 729, 4_000_000
"""Joint states of a product for a proof, and steps of a pass over it: the proof is to be checked fast."""

# The linear relaxation of sums.
MOST_SUMS = 400
"""Sums of a linear program, beyond which only active ones take part: columns take too long."""
COLUMN_STEPS = 500
"""Steps of the column generation: later ones change little."""
NEARER = 0.7
"""Share of the best multipliers so far in the next ones, which stabilises the column generation."""
NEAR = 1e-6
"""Relative tolerance of the column generation: the precision of its linear programs."""

# Branch and bound, and decomposition.
DEEPEST = 100
"""Splits above a case: `verify` accepts trees that are twice as deep."""
BRANCH_CASES, DECOMPOSITION_CASES = 4000, 1000
"""Cases of either before a solver takes over, which then is faster."""
DECOMPOSITION_STEPS, DECOMPOSITION_ROUNDS = 2**22, 4
"""Steps of a sweep over a lattice multiplied with machines, about 4 ms, and how often machines are added."""
SWEEPS, FEWEST_SWEEPS = 40, 3
"""Sweeps of a case before states are pruned, at most and at least: bounds stall earlier in most cases."""
PRUNINGS = 4
"""Prunings of a case, each of which the proof repeats."""
FEW_STATES = 50
"""Pruning goes on while it removes at least one state in this many: the proof repeats it, too."""
STALLED = 0.02
"""Share of the gap that a sweep has to close for another one."""

# Solvers.
MORE_TIES = 50
"""Labellings beyond the wanted number that a solver lists, so that label ids decide among equal scores."""
MARGIN, MOST_MARGIN = 0.05, 1 / 4
"""Seconds between a solver's stop and the deadline, in which its answer is checked; at most this share of what is left."""
SECONDS_A_COLUMN = 2e-6
"""Seconds to build and transfer a column of a program, on a slow machine."""

# Problems with many labels.
FIRST_LABELS = 4
"""Labels of each token, the best ones by its own scores, that the first labelling may have."""
SECONDS_A_STEP, PREPARING_PASSES = 1e-9, 20
"""Seconds of a step between two labels, and passes that preparing tables of steps is worth, on a slow machine."""

# Least costs and frontiers.
FINEST = 2**12
"""The largest factor of scores, so that a weight can be a fraction of a grid unit, and sums fit into 64 bits."""
WEIGHT_STEP = 8
"""Factor from one weight to the next heavier one."""
MOST_WEIGHTS = 20
"""Weights between two neighbours of a score: halving has ended long before."""
MOST_LOCAL = 40
"""Rules on single steps that label setting includes from the beginning: more make keys long."""
WIDTHS = (256, 4096, 65536)
"""Prefixes at a token in successive searches; a beam of an eighth of the width runs in between."""

# Sums over all labellings.
BUDGET = 4_000_000
"""Joint states that a call of `marginals` may build: one or two seconds for K up to 136, and less than a gigabyte."""
NAMED_RULES = 3
"""Largest rules that a refusal names."""

# Explanations of infeasibility.
TIME_LIMIT = 10.0
"""Seconds for an explanation if there is no time limit."""
CONFLICT_SHARE, QUESTION_SHARE = 1 / 2, 1 / 4
"""Share of the time for the conflict; and of what is left of that, for one question of whether rules can hold together."""
MOST_NEEDED = 12
"""Tokens of a conflict beyond which the others are no longer left out one by one: readers need no more."""
MOST_NAMED = 8
"""Rules of a conflict that a reason names."""
MOST_SHOWN = 3
"""Tokens without a label that a reason lists, and labels of a token."""
MOST_LISTED = 64
"""Labellings whose scores are compared where rounded ones are equal."""
