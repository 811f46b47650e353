// The product of a lattice with its rules' machines, built token by token.
#pragma once

#include <tuple>

#include "joint_states.hpp"

namespace ilpinfer {

// Targets of arcs that break a hard rule, and of arcs that no step reads.
enum Lead : Small { BREAKS = -1, UNREAD = -2 };

// Numbers for the symbols of all machines on steps; steps with equal symbols have one. N kinds of tokens.
struct Readings {
    View<const Small, 3> number;   // (N, K+1, K) of each step, START first
    View<const Small, 2> symbols;  // (R, M) the machines' symbols for each number
    View<const Int, 1> begin;      // (N+1,) the first number of each kind
    View<const Int, 1> kind;       // (T,) of each token

    View<const Small, 2> numbers(Int t) const { return number[kind[t]]; }
    Int width(Int t) const { return begin[kind[t] + 1] - begin[kind[t]]; }
    Row<const Small> symbols_of(Int t, Int n) const { return symbols[begin[kind[t]] + n]; }
};

// Groups of labels before a step with the same readings; N kinds of steps.
struct Groups {
    View<const Small, 2> alike;     // (N, K)
    View<const Small, 2> possible;  // (N, K) labels with different possible edges are apart, too
    View<const Int, 1> pair;        // (T-1,) the kind of each step
    View<const Int, 1> step;        // (T-1,) the index of its edge scores
};

// V reachable vectors of machine states, and their A arcs.
struct Expansion {
    View<const Int, 1> first;     // (T+1,) vectors of token t are first[t] … first[t+1] - 1
    View<const Small, 2> states;  // (V, J) machine states; 0 for rules that count once and are paid
    View<const bool, 2> labels;   // (V, K) whether a vector is reached with a label
    View<const Int, 1> arc_at;    // (V+1,) the first arc of each vector, entry 0 being that of START
    View<const Small, 1> leads;   // (A,) the vector that an arc leads to, or `BREAKS` or `UNREAD`
    View<const double, 1> cost;   // (A,) nats
    View<const double, 1> end;    // (V,) nats charged after the last token, 0 for vectors of other tokens
    Int passed;                   // token at which the budget was exceeded, or T
};

// The fields of an expansion that owns its arrays.
using Expanded =
    std::tuple<Array<Int>, Array<Small, 2>, Array<bool, 2>, Array<Int>, Array<Small>, Array<double>, Array<double>, Int>;

// The product, token by token; joint states have `size` numbers. `possible` (T, K) is true where a path leads
// from a label to the end, rules apart; `budget` limits the joint states.
Expanded expand(const Rules& rules, Int size, const Readings& readings, const Groups& groups,
                View<const bool, 2> possible, View<const Int, 3> pool, Int budget);

// Add the expected violations of each rule to expected (R,), from the probabilities of arcs, mass (A,), and
// of last vectors, last (V,); `rule` is that of each machine (M,).
void expected_counts(const Rules& rules, ConstInts rule, const Readings& readings, const Expansion& product,
                     Row<const double> mass, Row<const double> last, Row<double> expected);

}  // namespace ilpinfer
