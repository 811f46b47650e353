"""Limits and thresholds of the engine, read as `limits.NAME`. They affect only speed, and which problems stay open.

A pass is one Viterbi pass over a sequence; a step extends a prefix, or a joint state, to the next token.
"""

from ilpinfer.kernels.native import kernels

# One call of the kernels for one sequence.
PASSES = 30
"""Budget of label setting per token, in passes. Later stages cost more, but do not repeat this work."""
LEAST_STEPS = 2**22
"""Least budget of steps for any sequence: later stages have larger start-up costs."""
EFFORT = 8
"""Factor of both budgets for a list of labellings, for which other methods take hundreds of times as long."""
LIST_PASSES, LIST_STEPS = EFFORT * PASSES, EFFORT * LEAST_STEPS
"""Passes and steps of a list of labellings of one ground problem."""
FIRST_SHARE = 64
"""The first attempt at a list, before machines are multiplied, has 1 / FIRST_SHARE of the steps: many lists need no more."""
WATCHED_SHARES = (0.0, *(2.0**-k for k in (16, 14, 12, 10, 8, 6, 4, 2, 0)))
"""Shares of the limits in successive calls with a callback; without one there is a single call."""
DIRECT = 2**17
"""Largest number of slots of a direct index of label setting; above it, keys are hashed, since the index exceeds the cache."""
KERNEL_SHARE = 1 / 10
"""Share of a time limit for label setting, so that passes and products, which have no own limit, end in time."""
STEPS_PER_SECOND = 2e8
"""Kernel steps per second on a slow machine; converts remaining seconds into steps."""
IMPORT_SECONDS = 1.0
"""Seconds that the first import of `scipy.optimize` in a process may take on a busy machine."""

# Tables of compiled rules.
MOST_POOLS = 8
"""Number of pools of edge scores for which tables are kept, which bounds memory."""
MOST_SCORES = 2**22
"""Number of scores of tokens or token classes above which new tables are made; an eighth of it for a kept pool."""
MOST_ENTRIES = 2**24
"""Step-table entries of all components; above, only components that a labelling breaks get machines, which bounds memory."""
MOST_SYMBOLS = 256
"""Number of joint symbols above which symbols that never occur are left out, to keep tables short."""
SECONDS_AN_ENTRY = 2e-7
"""Seconds to pack one machine for one token, on a slow computer; used to check a time limit before the work begins."""

# Beams.
BEAM, BEAMS = 30, 6
"""Prefixes per token, and number of beams; each beam adds the rules broken by the previous one. Wider beams find little more."""

# Products of many machines.
LARGEST_PRODUCT = 2**24
"""Values of the recursion over a product, bounded by memory."""
LARGEST_SEARCH = 2**22
"""Prefixes of a search bounded by such a product, fewer for long keys; limited by memory."""
STEPS_OF_TOKEN, STEPS_OF_CHECK = 2**24, 2**29
"""Steps through a product into one token, and into all tokens: the certificate checker refuses more."""
KEYS_OF_TOKEN, KEYS_OF_CHECK = 2**23, 2**27
"""Machine states of all prefixes at one token, and at all tokens: the checker refuses more."""
FIRST_STEP = kernels.FIRST_STEP
"""Grid units from the bound down to the first floor, the same as in the kernels."""
GROWTH, MOST_SEARCHES = 2, 16
"""Factor to the next distance, since most searches are short, and largest number of searches."""
SUMS_INSIDE = 1024
"""Joint states of a product with sums that have multipliers: other machines need the memory more."""
PARTS = 64
"""Number of parts of the gap after a linear relaxation; the first part is searched first, as the bound is often nearly tight."""
WORK_PER_CALL = 500_000
"""Steps of label setting between two checks of the clock: a few milliseconds."""
MOST_PREFIXES = 2**25
"""Prefixes of any other search, limited by memory."""
MOST_INSIDE, MOST_WORK = 729, 4_000_000
"""Joint states of a product for a proof, and steps of a pass over it: the proof has to be fast to check."""

# The linear relaxation of sums.
MOST_SUMS = 400
"""Largest number of sums in a linear program; above it, only active sums take part, since columns take too long."""
COLUMN_STEPS = 500
"""Iterations of the column generation: later ones change little."""
NEARER = 0.7
"""Weight of the best multipliers so far in the next multipliers, which stabilises the column generation."""
NEAR = 1e-6
"""Relative tolerance of the column generation: the precision of its linear programs."""

# Branch and bound, and decomposition.
DEEPEST = 100
"""Largest depth of a case: `verify` accepts trees twice as deep."""
BRANCH_CASES, DECOMPOSITION_CASES = 4000, 1000
"""Cases of either before a solver takes over, which is then faster."""
DECOMPOSITION_STEPS, DECOMPOSITION_ROUNDS = 2**22, 4
"""Steps of a sweep over a lattice multiplied with machines, about 4 ms, and number of times machines are added."""
SWEEPS, FEWEST_SWEEPS = 40, 3
"""Largest and least number of sweeps of a case before states are pruned: bounds stall earlier in most cases."""
PRUNINGS = 4
"""Prunings of a case, each of which the proof repeats."""
FEW_STATES = 50
"""Pruning continues while it removes at least one state in this many: the proof repeats it."""
STALLED = 0.02
"""Share of the gap that a sweep has to close for another sweep."""

# Solvers.
MORE_TIES = 50
"""Number of extra labellings that a solver lists, so that label ids decide among equal scores."""
MARGIN, MOST_MARGIN = 0.05, 1 / 4
"""Seconds from a solver's stop to the deadline, in which its answer is checked; at most this share of the remaining time."""
SECONDS_A_COLUMN = 2e-6
"""Seconds to build and transfer a column of a program, on a slow machine."""

# Problems with many labels.
FIRST_LABELS = 4
"""Number of best labels of each token, by its own scores, that the first labelling may use."""
SECONDS_A_STEP, PREPARING_PASSES = 1e-9, 20
"""Seconds of a step between two labels on a slow machine, and cost in passes of preparing step tables."""

# Least costs and frontiers.
FINEST = 2**12
"""Largest factor of scores, so that weights can be fractions of a grid unit and sums fit into 64 bits."""
WEIGHT_STEP = 8
"""Factor from one weight to the next larger one."""
MOST_WEIGHTS = 20
"""Largest number of weights between two neighbours of a score: halving ends long before."""
MOST_LOCAL = 40
"""Largest number of rules on single steps that label setting includes initially: more make keys long."""
WIDTHS = (256, 4096, 65536)
"""Prefixes per token in successive searches; a beam of an eighth of the width runs in between."""

# Sums over all labellings.
BUDGET = 4_000_000
"""Joint states that a call of `marginals` may build: one or two seconds for K up to 136, and less than a gigabyte."""
NAMED_RULES = 3
"""Number of largest rules that a refusal names."""

# Explanations of infeasibility.
TIME_LIMIT = 10.0
"""Seconds for an explanation if there is no time limit."""
CONFLICT_SHARE, QUESTION_SHARE = 1 / 2, 1 / 4
"""Share of the time for the conflict; share of its remaining time for one question of whether rules can hold together."""
MOST_NEEDED = 12
"""Number of needed tokens of a conflict after which further tokens are not minimised: readers need no more."""
MOST_NAMED = 8
"""Largest number of rules of a conflict in a reason."""
MOST_SHOWN = 3
"""Largest number of tokens without a label in a reason, and of labels of a token."""
MOST_LISTED = 64
"""Largest number of labellings with equal rounded scores whose exact scores are compared."""
