// What kernels read: compiled rules and scores as flat arrays; tables.py describes every field.
#pragma once

#include "grid.hpp"

namespace ilpinfer {

enum Purpose { NODES, EDGES, MACHINES };
enum Layout { ARC, WIDTH, STRIDE, FINAL, STATES, WEIGHT };
enum Sum { LOW, HIGH, LEAST, MOST };
enum Code { PROVED, TOO_MUCH_WORK, NO_PATH, NO_LABELLING, UNKNOWN_CLASS, WRONG_VALUE };

// Columns of results; those of lists have the number of labellings and the work in other places.
enum Result { CODE, VALUE, BOUND, RELAXED, WORK, MULTIPLIERS, ACTIVE, RESULTS };

struct Windows {
    View<const Small, 3> numbers;
    View<const Int, 1> start;
    View<const Int, 2> shape;
    View<const Small, 1> classes;
};

struct Scores {
    View<const Int, 2> node;
    View<const Int, 3> edge;
    View<const Int, 2> which;
    View<const Int, 1> base;
    Int labels;

    Int states() const { return edge.shape(1); }
    // Entries of a row of steps, a multiple of 8, so that compilers leave out the rest of a vector loop.
    Int padded() const { return edge.shape(2) & ~Int{7}; }
    // Entries of a row of completions: any state, and padding.
    Int width() const { return base[base.size() - 1] + edge.shape(2); }
};

struct Machines {
    View<const Short, 1> symbols;
    View<const Int, 2> table;
    View<const Int, 2> layout;
    View<const Small, 1> next_state;
    View<const Int, 1> cost;
    View<const Int, 1> last_cost;
    View<const Small, 1> begin;
    View<const Short, 2> event;
    View<const Small, 1> owing;
    View<const Int, 1> weight;
    View<const Int, 2> sums;
    View<const bool, 1> charged;
    View<const Int, 1> mark;
    View<const Int, 1> penalty;
    View<const Int, 1> violations;
    View<const Int, 1> last;

    Int size() const { return layout.size(); }
    bool may_have_multiplier(Int m) const { return sums(m, LEAST) < sums(m, MOST); }
    bool listed() const { return begin.size() > 1; }
    Int symbol(Int m, Int token_class, Int before, Int state) const
    {
        return symbols[table(token_class, m) + before * layout(m, STRIDE) + state];
    }
    Int arc(Int m, Int state, Int symbol) const
    {
        return layout(m, ARC) + state * layout(m, WIDTH) + symbol;
    }
};

struct Counts {
    View<const Small, 1> node_begin;
    View<const Small, 1> edge_begin;
    View<const Int, 2> event;
    View<const bool, 1> overruled;
    View<const Small, 1> owner;
    View<const Int, 2> rules;
    View<const Int, 3> pool;
};

struct Instance {
    Windows windows;
    Scores scores;
    Machines machines;
    Counts counts;
};

// What of an instance depends on the sequence, by token.
struct Sequence {
    View<const Int, 2> emission;  // (V, S) scores of states
    View<const Int, 1> rows;      // (T,) of the emission
    View<const Int, 1> nodes;     // (T,) classes of node scores
    View<const Int, 1> edges;     // (T,) rows of `Scores::edge`, of the step into each token
    View<const Int, 1> classes;   // (T,) of machines

    Int size() const { return rows.size(); }
};

// The place among events of the step into a state at a token of a class; `before` is the state before plus 1, or 0.
inline Int step_of(const Scores& scores, Int token_class, Int before, Int state)
{
    const Int S = scores.states(), B = scores.labels;
    return S == B ? (token_class * (B + 1) + before) * B + state : token_class * S + state;
}

}  // namespace ilpinfer
